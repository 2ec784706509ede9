import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { answerQuery } from '../../../src/engine/execution/answer.ts'
import type { FunnelsAnswer, FunnelTrend } from '../../../src/queries/funnels/index.ts'
import { openTestProject, type TestProject } from '../../harness/duckdb.ts'
import { fillStore, personUuid, type StoreEvent } from '../../harness/store.ts'
import { type StepResults, stepRows } from './expected.ts'

// Small streams with expected answers written by hand, for rules that generated streams rarely reach.

let project: TestProject
beforeAll(async () => {
  project = await openTestProject({ now: new Date('2024-06-01T00:00:00Z') })
})
afterAll(() => project.close())

const minute = 60_000_000
const start = Date.parse('2024-01-02T00:00:00Z') * 1000
type Short = readonly [person: number, minute: number, event: string, properties?: Readonly<Record<string, unknown>>]
const eventsOf = (events: readonly Short[]): readonly StoreEvent[] =>
  events.map(([person, at, event, properties = {}]) => ({ event, person, at: start + at * minute, properties }))
const node = (event: string, more: object = {}) => ({ kind: 'EventsNode', event, ...more })
const funnel = (steps: readonly object[], filter: object = {}, more: object = {}) => ({
  kind: 'FunnelsQuery',
  series: steps,
  dateRange: { date_from: '2024-01-02', date_to: '2024-01-04' },
  funnelsFilter: { funnelWindowInterval: 10, funnelWindowIntervalUnit: 'minute', ...filter },
  ...more,
})
const abc = [node('a'), node('b'), node('c')]
const optional = (event: string) => node(event, { optionalInFunnel: true })
const excluding = (event: string, from: number, to: number) => ({
  exclusions: [{ ...node(event), funnelFromStep: from, funnelToStep: to }],
})
const by = (breakdown: unknown, more: object = {}) => ({ breakdownFilter: { breakdown, breakdown_type: 'event', ...more } })

async function results(events: readonly Short[], query: object): Promise<FunnelsAnswer['results']> {
  await fillStore(project, { events: eventsOf(events), persons: [1, 2, 3].map((person) => ({ person })), isFresh: true })
  return ((await answerQuery(query, project)) as FunnelsAnswer).results
}
/** Counts by the value of the row; '' without a breakdown. */
const counts = async (events: readonly Short[], query: object) =>
  Object.fromEntries(
    stepRows((await results(events, query)) as StepResults).map((row) => [
      row[0]!.breakdown_value === undefined ? '' : String(row[0]!.breakdown_value),
      row.map(({ count }) => count),
    ]),
  )

test('a flow has the numbers of the steps, with optional ones', async () => {
  const events: readonly Short[] = [
    [1, 0, 'a'],
    [1, 1, 'b'],
    [1, 2, 'c'],
    [2, 0, 'a'],
    [2, 3, 'c'],
    [3, 0, 'a'],
  ]
  const steps = [node('a'), optional('b'), node('c')]
  const flow = await results(events, funnel(steps, { funnelVizType: 'flow' }))
  expect((flow as readonly { count: number }[]).map(({ count }) => count)).toEqual([3, 1, 2])
  expect(flow).toEqual(await results(events, funnel(steps)))
})

test.each<[string, object]>([
  ['a property', by('plan')],
  [
    'a property, by attribution to a step',
    { ...by('plan'), funnelsFilter: { breakdownAttributionType: 'step', breakdownAttributionValue: 1 } },
  ],
  [
    'several properties',
    {
      breakdownFilter: {
        breakdowns: [
          { property: 'plan', type: 'event' },
          { property: 'size', type: 'event' },
        ],
      },
    },
  ],
  ['a limit of values', by('plan', { breakdown_limit: 1 })],
  ['a cohort, even one that does not exist', { breakdownFilter: { breakdown: [987654], breakdown_type: 'cohort' } }],
])(
  'the time to convert is that of all, with a breakdown by %s too',
  async (_, { funnelsFilter = {}, ...more }: { funnelsFilter?: object }) => {
    const events: readonly Short[] = [
      [1, 0, 'a', { plan: 'free' }],
      [1, 1, 'b', { plan: 'pro' }],
      [2, 0, 'a', { plan: 'pro' }],
      [2, 5, 'b', { plan: 'pro' }],
      [3, 0, 'a'],
    ]
    const steps = [node('a'), node('b')]
    const asked = { funnelVizType: 'time_to_convert', binCount: 2 }
    const all = await results(events, funnel(steps, asked))
    expect(all).toMatchObject({
      average_conversion_time: 180,
      bins: [
        [60, 1],
        [180, 0],
        [300, 1],
      ],
    })
    expect(await results(events, funnel(steps, { ...asked, ...funnelsFilter }, more))).toEqual(all)
  },
)

describe('who reaches which step', () => {
  test.each<[why: string, events: readonly Short[], query: object, expected: Readonly<Record<string, readonly number[]>>]>([
    [
      'an excluded attempt does not take the place of a clean one that is further',
      [
        [1, 0, 'a'],
        [1, 1, 'b'],
        [1, 2, 'a'],
        [1, 3, 'x'],
        [1, 4, 'b'],
        [1, 5, 'c'],
      ],
      funnel(abc, excluding('x', 0, 1)),
      { '': [1, 1, 1] },
    ],
    [
      'an excluded attempt counts up to the step behind the exclusion, so a clean one as far replaces it',
      [
        [1, 0, 'a'],
        [1, 1, 'x'],
        [1, 2, 'b'],
        [1, 3, 'c'],
        [1, 20, 'a'],
        [1, 21, 'b'],
      ],
      funnel(abc, excluding('x', 0, 1)),
      { '': [1, 1, 0] },
    ],
    [
      'an optional step done too long ago does not keep a later attempt from passing it by',
      [
        [1, 0, 'a'],
        [1, 1, 'b'],
        [1, 20, 'a'],
        [1, 22, 'c'],
      ],
      funnel([node('a'), optional('b'), node('c')]),
      { '': [1, 0, 1] },
    ],
    [
      'unordered, attributed to the first step: whatever a run begins with has the value',
      [
        [1, 0, 'b', { v: 'B' }],
        [1, 1, 'a', { v: 'A' }],
        [1, 2, 'c', { v: 'C' }],
      ],
      funnel(abc, { funnelOrderType: 'unordered', breakdownAttributionType: 'step', breakdownAttributionValue: 0 }, by('v')),
      { B: [1, 1, 1], A: [1, 1, 0], C: [1, 0, 0] },
    ],
    [
      'addresses without what closes them',
      [
        [1, 0, 'a', { url: 'https://x.org/p/?' }],
        [2, 0, 'a', { url: 'https://x.org/p' }],
        [3, 0, 'a', { url: '/' }],
      ],
      funnel([node('a'), node('b')], {}, by('url', { breakdown_normalize_url: true })),
      { '/': [1, 0], 'https://x.org/p': [2, 0] },
    ],
    [
      'the expression person_id names persons',
      [
        [1, 0, 'a'],
        [1, 1, 'b'],
        [2, 1, 'b'],
      ],
      funnel([node('a'), node('b')], { funnelAggregateByHogQL: 'person_id' }),
      { '': [1, 1] },
    ],
  ])('%s', async (_, events, query, expected) => {
    expect(await counts(events, query)).toEqual(expected)
  })
})

test('trends by a property are in the order of the values', async () => {
  const events: Short[] = [
    [1, 0, 'a', { v: 'a b' }],
    [2, 0, 'a', { v: 'a' }],
  ]
  const trends = (await results(events, funnel([node('a'), node('b')], { funnelVizType: 'trends' }, by('v')))) as readonly FunnelTrend[]
  expect(trends.map(({ breakdown_value }) => breakdown_value)).toEqual([['a'], ['a b']])
})

test('steps of an unordered funnel are of the type of their series', async () => {
  const series = [node('a'), { kind: 'ActionsNode', id: 1 }]
  const steps = (await results([[1, 0, 'a']], funnel(series, { funnelOrderType: 'unordered' }))) as StepResults
  expect(steps).toMatchObject([
    { name: 'Completed 1 step', type: 'events', action_id: null },
    { name: 'Completed 2 steps', type: 'actions', action_id: null },
  ])
})

describe('the people behind a step', () => {
  const events: Short[] = [
    [1, 0, 'a'],
    [2, 0, 'a'],
    [2, 1, 'b'],
    [3, 0, 'a'],
    [3, 1, 'c'],
  ]
  const withOptional = funnel([node('a'), optional('b'), node('c')])
  test.each<[why: string, query: object, point: object, persons: readonly number[]]>([
    ['dropped behind an optional step, done or not', withOptional, { funnelStep: -3 }, [1, 2]],
    ['passed an optional step by', withOptional, { funnelStep: -2 }, [1, 3]],
    ['did an optional step', withOptional, { funnelStep: 2 }, [2]],
    ['got so deep and no deeper', funnel([node('a'), node('b')]), { funnelCustomSteps: [1] }, [1, 3]],
    ['got to one of some depths', funnel([node('a'), node('b')]), { funnelCustomSteps: [1, 2], funnelStep: -2 }, [1, 2, 3]],
  ])('%s', async (_, source, point, persons) => {
    await results(events, source)
    const asked = { kind: 'ActorsQuery', source: { kind: 'FunnelsActorsQuery', source, ...point }, select: ['id'], orderBy: ['id'] }
    expect(((await answerQuery(asked, project)) as { results: unknown[][] }).results).toEqual(persons.map((p) => [personUuid(p)]))
  })
})

describe('the times of the people behind a step, wherever a query names them', () => {
  const events: Short[] = [
    [1, 0, 'a'],
    [1, 5, 'b'],
    [2, 0, 'a'],
    [2, 1, 'b'],
    [3, 2, 'a'],
    [3, 4, 'b'],
  ]
  const time = (minutes: number) => `2024-01-02T00:0${minutes}:00.000Z`
  test.each<[where: string, parts: object, expected: readonly (readonly unknown[])[]]>([
    ['in a column', { select: ['final_timestamp'], orderBy: ['id'] }, [[time(5)], [time(1)], [time(4)]]],
    ['in an expression', { select: ['length(step_timestamps) > 10'], orderBy: ['id'] }, [[1], [1], [1]]],
    ['in an aggregate', { select: ['max(first_timestamp)'] }, [[time(2)]]],
    ['in the order alone', { select: ['id'], orderBy: ['final_timestamp DESC'] }, [1, 3, 2].map((p) => [personUuid(p)])],
    [
      'in a filter alone',
      { select: ['id'], orderBy: ['id'], properties: [{ type: 'hogql', key: `first_timestamp = '${time(2)}'` }] },
      [[personUuid(3)]],
    ],
    ['in quotes', { select: ['"first_timestamp"'], orderBy: ['id'], limit: 1 }, [[time(0)]]],
    [
      'in a long text',
      { select: [`if(length('${'x'.repeat(20_000)}') > 0, first_timestamp, '')`], orderBy: ['id'], limit: 1 },
      [[time(0)]],
    ],
    ['nowhere', { select: ['id'], orderBy: ['id'] }, [1, 2, 3].map((p) => [personUuid(p)])],
  ])('%s', async (_, parts, expected) => {
    const source = funnel([node('a'), node('b')])
    await results(events, source)
    const asked = { kind: 'ActorsQuery', source: { kind: 'FunnelsActorsQuery', source, funnelStep: 2 }, ...parts }
    expect(((await answerQuery(asked, project)) as { results: unknown[][] }).results).toEqual(expected)
  })

  test('a misspelled name is corrected', async () => {
    const source = { kind: 'FunnelsActorsQuery', source: funnel([node('a'), node('b')]), funnelStep: 2 }
    const asked = { kind: 'ActorsQuery', source, select: ['frist_timestamp'] }
    await expect(answerQuery(asked, project)).rejects.toThrow('first_timestamp')
  })
})

describe('what there is to choose from behind a funnel', () => {
  const events: Short[] = [
    [1, 0, 'a', { v: 'A', w: 'Z' }],
    [1, 1, 'b'],
    [2, 0, 'a'],
    [3, -1440, 'a', { v: 'P' }],
  ]
  const compared = { compareFilter: { compare: true, compare_to: '-1d' } }
  const day = { dateRange: { date_from: '2024-01-02', date_to: '2024-01-02' } }
  const two = funnel([node('a'), node('b')])
  test.each<[why: string, source: object, expected: object]>([
    ['nothing', two, {}],
    [
      'values',
      { ...two, ...by('v') },
      {
        breakdown: [
          { label: 'A', value: 'A' },
          { label: 'None (i.e. no value)', value: '' },
        ],
      },
    ],
    [
      'several values at once',
      { ...funnel([node('a'), node('b')], {}, by(['v', 'w'])) },
      { breakdown: [{ label: 'A, Z', value: '["A","Z"]' }, expect.anything()] },
    ],
    [
      'two periods, each value once',
      { ...two, ...by('v'), ...compared, ...day },
      {
        compare: [
          { label: 'Current', value: 'current' },
          { label: 'Previous', value: 'previous' },
        ],
        breakdown: [
          { label: 'A', value: 'A' },
          { label: 'None (i.e. no value)', value: '' },
          { label: 'P', value: 'P' },
        ],
      },
    ],
  ])('%s', async (_, source, expected) => {
    await results(events, source)
    const asked = { kind: 'InsightActorsQueryOptions', source: { kind: 'FunnelsActorsQuery', funnelStep: 1, source } }
    const { timings, ...answer } = (await answerQuery(asked, project)) as { timings: unknown }
    expect(answer).toEqual(expected)
  })

  test.each<[why: string, point: object, persons: readonly number[]]>([
    ['the other period', { compare: 'previous' }, [3]],
    ['this one', { compare: 'current' }, [1, 2]],
    ['several values by their choice', { funnelStepBreakdown: '["A","Z"]' }, [1]],
  ])('the people behind a choice: %s', async (_, point, persons) => {
    const source = { ...funnel([node('a'), node('b')], {}, by(['v', 'w'])), ...compared, ...day }
    await results(events, source)
    const asked = { kind: 'ActorsQuery', source: { kind: 'FunnelsActorsQuery', funnelStep: 1, source, ...point }, select: ['id'] }
    expect(((await answerQuery(asked, project)) as { results: unknown[][] }).results).toEqual(persons.map((p) => [personUuid(p)]))
  })
})
