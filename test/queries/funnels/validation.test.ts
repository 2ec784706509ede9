import { describe, expect, test } from 'vitest'
import { funnelsSchema } from '../../../src/queries/funnels/schema.ts'

const event = (name: string | null, more: object = {}) => ({ kind: 'EventsNode', event: name, ...more })
const steps = [event('a'), event('b'), event('c')]
const excluding = (name: string | null, from: number, to: number, more: object = {}) => ({
  exclusions: [event(name, { funnelFromStep: from, funnelToStep: to, ...more })],
})
const filterOf = (key: string, value: string) => ({ key, type: 'event', value })
const checked = (query: object) => {
  const parsed = funnelsSchema.safeParse({ kind: 'FunnelsQuery', ...query })
  return parsed.success ? null : parsed.error.issues[0]!.path.join('__')
}

describe('a wrong funnel is refused by the name of its field', () => {
  const withFilter = (funnelsFilter: object, series: object[] = steps) => ({ series, funnelsFilter })
  test.each<[why: string, query: object, attr: string]>([
    ['one step', { series: [event('a')] }, 'series'],
    ['33 steps', { series: Array.from({ length: 33 }, () => event('a')) }, 'series'],
    ['an unknown math', { series: [event('a', { math: 'magic' }), event('b')] }, 'series__0__math'],
    ['an unknown order', withFilter({ funnelOrderType: 'random' }), 'funnelsFilter__funnelOrderType'],
    ['an unknown unit', withFilter({ funnelWindowIntervalUnit: 'moon' }), 'funnelsFilter__funnelWindowIntervalUnit'],
    ['a window of nothing', withFilter({ funnelWindowInterval: 0 }), 'funnelsFilter__funnelWindowInterval'],
    ['from at the last step', withFilter({ funnelFromStep: 2 }), 'funnelsFilter__funnelFromStep'],
    ['to behind the last step', withFilter({ funnelToStep: 3 }), 'funnelsFilter__funnelToStep'],
    ['to before from', withFilter({ funnelFromStep: 1, funnelToStep: 1 }), 'funnelsFilter__funnelToStep'],
    [
      'attribution to no step',
      withFilter({ breakdownAttributionType: 'step', breakdownAttributionValue: 3 }),
      'funnelsFilter__breakdownAttributionValue',
    ],
    [
      'unordered, attributed to a later step',
      withFilter({ funnelOrderType: 'unordered', breakdownAttributionType: 'step', breakdownAttributionValue: 1 }),
      'funnelsFilter__breakdownAttributionValue',
    ],
    ['an exclusion that ends where it begins', withFilter(excluding('x', 1, 1)), 'funnelsFilter__exclusions__0__funnelToStep'],
    ['an exclusion from the last step', withFilter(excluding('x', 2, 3)), 'funnelsFilter__exclusions__0__funnelFromStep'],
    ['an exclusion beyond the last step', withFilter(excluding('x', 1, 3)), 'funnelsFilter__exclusions__0__funnelToStep'],
    ['an exclusion of a step it spans', withFilter(excluding('b', 0, 1)), 'funnelsFilter__exclusions__0'],
    [
      'an exclusion of a part of a step’s events',
      withFilter(excluding('b', 0, 1, { properties: [{ key: 'p', type: 'event', value: '1' }] })),
      'funnelsFilter__exclusions__0',
    ],
    [
      'an exclusion that asks for less than a step it spans',
      {
        series: [event('a'), event('b', { properties: [filterOf('p', '1'), filterOf('q', '2')] })],
        funnelsFilter: excluding('b', 0, 1, { properties: [filterOf('q', '2')] }),
      },
      'funnelsFilter__exclusions__0',
    ],
    ['an exclusion of everything', withFilter(excluding(null, 0, 1)), 'funnelsFilter__exclusions__0'],
    [
      'unordered, with an exclusion of a part',
      withFilter({ funnelOrderType: 'unordered', ...excluding('x', 0, 1) }),
      'funnelsFilter__exclusions__0',
    ],
    [
      'a breakdown by a group of no type',
      { series: steps, breakdownFilter: { breakdown: 'plan', breakdown_type: 'group' } },
      'breakdownFilter__breakdown_group_type_index',
    ],
    [
      'cohorts beside properties',
      { series: steps, breakdownFilter: { breakdowns: [{ property: 'plan' }, { property: 1, type: 'cohort' }] } },
      'breakdownFilter__breakdowns__1',
    ],
    [
      'a breakdown into bins',
      { series: steps, breakdownFilter: { breakdown: 'price', breakdown_histogram_bin_count: 4 } },
      'breakdownFilter__breakdown_histogram_bin_count',
    ],
    [
      'a breakdown of a list into bins',
      { series: steps, breakdownFilter: { breakdowns: [{ property: 'price', histogram_bin_count: 4 }] } },
      'breakdownFilter__breakdowns__0__histogram_bin_count',
    ],
    ['an optional first step', { series: [event('a', { optionalInFunnel: true }), event('b')] }, 'series__0__optionalInFunnel'],
    [
      'an optional step in an unordered funnel',
      withFilter({ funnelOrderType: 'unordered' }, [event('a'), event('b', { optionalInFunnel: true }), event('c')]),
      'series__1__optionalInFunnel',
    ],
    [
      'an optional step in trends',
      withFilter({ funnelVizType: 'trends' }, [event('a'), event('b', { optionalInFunnel: true }), event('c')]),
      'series__1__optionalInFunnel',
    ],
    [
      'an optional step whose events the one behind it takes',
      { series: [event('a'), event('b', { optionalInFunnel: true, properties: [filterOf('p', '1')] }), event('b')] },
      'series__1',
    ],
    ['an optional step like the one behind it', { series: [event('a'), event('b', { optionalInFunnel: true }), event('b')] }, 'series__1'],
  ])('%s', (_, query, attr) => {
    expect(checked(query)).toBe(attr)
  })
})

describe('what only looks wrong is taken', () => {
  const filter = (value: string) => ({ properties: [filterOf('p', value)] })
  const optional = (name: string) => event(name, { optionalInFunnel: true })
  test.each<[why: string, query: object]>([
    ['an exclusion of an event outside its span', { series: steps, funnelsFilter: excluding('c', 0, 1) }],
    [
      'an exclusion of a step’s event with another filter',
      { series: [event('a', filter('1')), event('b')], funnelsFilter: excluding('a', 0, 1, filter('2')) },
    ],
    ['an optional step like one that is not right behind it', { series: [event('a'), optional('b'), optional('c'), event('b')] }],
    ['an optional step that takes more than the one behind it', { series: [event('a'), optional('b'), event('b', filter('1'))] }],
    ['the same event twice', { series: [event('a'), event('a')] }],
    ['unordered, with an exclusion of all', { series: steps, funnelsFilter: { funnelOrderType: 'unordered', ...excluding('x', 0, 2) } }],
    ['fields nobody knows', { series: steps, funnelsFilter: { layout: 'horizontal', hiddenLegendBreakdowns: [] }, tags: {} }],
  ])('%s', (_, query) => {
    expect(checked(query)).toBeNull()
  })
})
