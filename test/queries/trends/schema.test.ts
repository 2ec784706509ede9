import { describe, expect, test } from 'vitest'
import { trendsSchema } from '../../../src/queries/trends/schema.ts'

const query = (parts: object) => ({ kind: 'TrendsQuery', series: [{ kind: 'EventsNode', event: 'a' }], ...parts })
const problem = (value: unknown) => {
  const checked = trendsSchema.safeParse(value)
  const issue = checked.success ? null : checked.error.issues[0]!
  return issue && { attr: issue.path.join('__'), message: issue.message }
}

describe('a wrong query names the field', () => {
  test.each<[string, object, string, string]>([
    [
      'unknown math',
      { series: [{ kind: 'EventsNode', event: 'a', math: 'mean' }] },
      'series__0__math',
      '"mean" is not a math. Choose one of total,',
    ],
    ['math without its property', { series: [{ kind: 'EventsNode', math: 'sum' }] }, 'series__0__math_property', 'needs a property'],
    ['expression that is missing', { series: [{ kind: 'EventsNode', math: 'hogql' }] }, 'series__0__math_hogql', 'needs an expression'],
    [
      'group type that is missing',
      { series: [{ kind: 'EventsNode', math: 'unique_group' }] },
      'series__0__math_group_type_index',
      'group type',
    ],
    [
      'group type out of range',
      { series: [{ kind: 'EventsNode', math: 'dau', math_group_type_index: 5 }] },
      'series__0__math_group_type_index',
      '4',
    ],
    ['no series', { series: [] }, 'series', 'at least one series'],
    ['unknown node', { series: [{ kind: 'Nodes' }] }, 'series__0__kind', 'EventsNode'],
    ['action by name', { series: [{ kind: 'ActionsNode', id: 'x' }] }, 'series__0__id', 'number'],
    ['unknown interval', { interval: 'fortnight' }, 'interval', '"fortnight" is not an interval'],
    [
      'formula with a missing letter',
      { trendsFilter: { formulaNodes: [{ formula: 'A' }, { formula: 'A/B' }] } },
      'trendsFilter__formulaNodes__1__formula',
      'uses B',
    ],
    ['formula in the old spelling', { trendsFilter: { formula: 'A+' } }, 'trendsFilter__formula', 'ends too early'],
    ['unknown display', { trendsFilter: { display: 'Cake' } }, 'trendsFilter__display', '"Cake" is not a display'],
    [
      'a display with numbers of its own',
      { trendsFilter: { display: 'BoxPlot' } },
      'trendsFilter__display',
      'The display BoxPlot is not answered here. Choose one of ActionsLineGraph',
    ],
    [
      '27 breakdowns',
      { breakdownFilter: { breakdowns: Array.from({ length: 27 }, (_, i) => ({ property: `p${i}` })) } },
      'breakdownFilter__breakdowns',
      'at most, found 27',
    ],
    [
      'unknown breakdown type',
      { breakdownFilter: { breakdown: 'x', breakdown_type: 'colour' } },
      'breakdownFilter__breakdown_type',
      'not a type of breakdown',
    ],
    [
      'group breakdown without a type',
      { breakdownFilter: { breakdown: 'x', breakdown_type: 'group' } },
      'breakdownFilter__breakdown_group_type_index',
      'group type',
    ],
    [
      'cohorts among other breakdowns',
      { breakdownFilter: { breakdowns: [{ property: 'a' }, { property: 1, type: 'cohort' }] } },
      'breakdownFilter__breakdowns__1',
      'mixed',
    ],
    ['sampling factor of nothing', { samplingFactor: 0 }, 'samplingFactor', '0'],
  ])('%s', (_, parts, attr, message) => {
    expect(problem(query(parts))).toEqual({ attr, message: expect.stringContaining(message) })
  })
})

test('presentation-only fields and nulls pass', () => {
  expect(
    problem(
      query({
        series: [{ kind: 'EventsNode', event: null, name: null, math: null, custom_name: null, properties: [] }],
        trendsFilter: { showLegend: true, decimalPlaces: 2, smoothingIntervals: 1, formula: null },
        breakdownFilter: { breakdown_type: 'event' },
        compareFilter: { compare: false, compare_to: null },
        modifiers: {},
        version: 2,
      }),
    ),
  ).toBeNull()
})
