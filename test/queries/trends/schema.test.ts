import { describe, expect, test } from 'vitest'
import { readAs } from '../../../src/errors/validation.ts'
import { trendsSchema } from '../../../src/queries/trends/schema.ts'

const query = (parts: object) => ({ kind: 'TrendsQuery', series: [{ kind: 'EventsNode', event: 'a' }], ...parts })
const problem = (value: unknown) => {
  const read = readAs(trendsSchema, value)
  return 'misfit' in read ? { attr: read.misfit.path.join('__'), message: read.misfit.message } : null
}

describe('a wrong query names the field', () => {
  test.each<[string, object, string, string]>([
    [
      'unknown math',
      { series: [{ kind: 'EventsNode', event: 'a', math: 'mean' }] },
      'series__0__math',
      'series[0].math must be one of total, dau,',
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
    ['action by name', { series: [{ kind: 'ActionsNode', id: 'x' }] }, 'series__0__id', 'numeric id'],
    ['unknown interval', { interval: 'fortnight' }, 'interval', 'interval must be one of second, minute,'],
    [
      'formula with a missing letter',
      { trendsFilter: { formulaNodes: [{ formula: 'A' }, { formula: 'A/B' }] } },
      'trendsFilter__formulaNodes__1__formula',
      'uses B',
    ],
    ['formula in the old spelling', { trendsFilter: { formula: 'A+' } }, 'trendsFilter__formula', 'unexpected end'],
    ['unknown display', { trendsFilter: { display: 'Cake' } }, 'trendsFilter__display', 'but got "Cake"'],
    [
      '27 breakdowns',
      { breakdownFilter: { breakdowns: Array.from({ length: 27 }, (_, i) => ({ property: `p${i}` })) } },
      'breakdownFilter__breakdowns',
      'but got 27',
    ],
    [
      'unknown breakdown type',
      { breakdownFilter: { breakdown: 'x', breakdown_type: 'colour' } },
      'breakdownFilter__breakdown_type',
      'must be one of event, event_metadata',
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
    [
      '4 breakdowns in the older list',
      { breakdownFilter: { breakdown: ['a', 'b', 'c', 'd'], breakdown_type: 'event' } },
      'breakdownFilter__breakdown',
      'at most 3 breakdowns, but got 4',
    ],
    ['a breakdown by nothing', { breakdownFilter: { breakdowns: [{}] } }, 'breakdownFilter__breakdowns__0__property', 'name of a property'],
    ['a breakdown that is an object', { breakdownFilter: { breakdown: {} } }, 'breakdownFilter__breakdown', 'name of a property'],
    ['no rows of a breakdown', { breakdownFilter: { breakdown: 'a', breakdown_limit: 0 } }, 'breakdownFilter__breakdown_limit', '1'],
    [
      'no bins',
      { breakdownFilter: { breakdown: 'a', breakdown_histogram_bin_count: 0 } },
      'breakdownFilter__breakdown_histogram_bin_count',
      '1',
    ],
    ['a date that is a number', { dateRange: { date_from: 5 } }, 'dateRange__date_from', 'must be text, but got 5'],
    ['a range that is a text', { dateRange: '-7d' }, 'dateRange', 'object'],
    ['a formula that is a number', { trendsFilter: { formula: 5 } }, 'trendsFilter__formula', 'text'],
    ['a formula without end', { trendsFilter: { formula: '-'.repeat(100_000) } }, 'trendsFilter__formula', 'at most 1000'],
    ['one of the older formulas', { trendsFilter: { formulas: ['A', 'A+'] } }, 'trendsFilter__formulas__1', 'unexpected end'],
    ['an event that is a number', { series: [{ kind: 'EventsNode', event: 5 }] }, 'series__0__event', 'text'],
    ['several events without any', { series: [{ kind: 'GroupNode', operator: 'OR', nodes: [] }] }, 'series__0__nodes', '1'],
    ['several events, otherwise', { series: [{ kind: 'GroupNode', operator: 'XOR', nodes: [] }] }, 'series__0__operator', 'AND'],
    ['smoothing of nothing', { trendsFilter: { smoothingIntervals: 0 } }, 'trendsFilter__smoothingIntervals', '1'],
    ['a sample of more than all', { samplingFactor: 2 }, 'samplingFactor', '1'],
    ['comparing in words', { compareFilter: { compare: 'yes' } }, 'compareFilter__compare', 'true or false'],
    ['filters that are a number', { properties: 5 }, 'properties', 'list'],
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
