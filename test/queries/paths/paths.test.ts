import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type LocalWaymark, open } from '../../../src/engine.ts'
import type { PathsResponse } from '../../../src/index.ts'
import type { LocalProject } from '../../../src/project.ts'

// Cases that generated queries do not cover: persons and cohorts, the rules of the project, where a question is answered, and errors.

let waymark: LocalWaymark
let project: LocalProject

beforeAll(async () => {
  waymark = await open({ dataDir: ':memory:', clock: () => new Date('2026-03-05T20:00:00Z') })
  project = await waymark.createProject({
    name: 'paths',
    timezone: 'America/New_York',
    test_account_filters: [{ type: 'person', key: 'plan', value: 'test', operator: 'is_not' }],
    path_cleaning_filters: [{ regex: '\\d+', alias: ':id' }],
  })
  const plans: Readonly<Record<string, string>> = { ana: 'pro', ben: 'free', cid: 'test' }
  const visits = [
    ['ana', '15:00', '/shop/1'],
    ['ana', '15:01', '/shop/2'],
    ['ana', '15:02', '/cart'],
    ['ben', '15:00', '/shop/1'],
    ['ben', '15:05', '/cart'],
    ['cid', '15:00', '/shop/1'],
    ['cid', '15:03', '/help'],
  ] as const
  await project.ingest({
    batch: visits.map(([who, at, url]) => ({
      event: '$pageview',
      distinct_id: who,
      timestamp: `2026-03-04T${at}:00Z`,
      properties: { $current_url: url, $set: { plan: plans[who] } },
    })),
  })
})
afterAll(() => waymark.close())

const ask = async (more: object, pathsFilter: object = {}) =>
  (await project.answer({ kind: 'PathsQuery', pathsFilter, ...more })) as PathsResponse & { readonly explain?: readonly object[] }
const shown = ({ results }: PathsResponse) => results.map(({ source, target, value }) => `${source} ${target} ${value}`)

describe.each([['core'], ['sql']])('on the road %s', (road) => {
  test.each<[name: string, query: object, filter: object, edges: readonly string[]]>([
    ['everything', {}, {}, ['1_/shop/1 2_/cart 1', '1_/shop/1 2_/help 1', '1_/shop/1 2_/shop/2 1', '2_/shop/2 3_/cart 1']],
    ['a property of persons', { properties: [{ type: 'person', key: 'plan', value: 'free' }] }, {}, ['1_/shop/1 2_/cart 1']],
    ['no test accounts', { filterTestAccounts: true }, { pathReplacements: true }, ['1_/shop/:id 2_/cart 2']],
    [
      'the rules of the project and those of the query',
      {},
      {
        pathReplacements: true,
        localPathCleaningFilters: [
          { regex: ':id', alias: '*' },
          { regex: 'shop', alias: 'store' },
        ],
      },
      ['1_/store/* 2_/cart 2', '1_/store/* 2_/help 1'],
    ],
    [
      'rules in their own order',
      {},
      {
        localPathCleaningFilters: [
          { regex: '1$', alias: 'two', order: 2 },
          { regex: '[0-9]', alias: '1', order: 1 },
        ],
      },
      ['1_/shop/two 2_/cart 2', '1_/shop/two 2_/help 1'],
    ],
    ['an excluded page', {}, { excludeEvents: ['/shop/1'] }, ['1_/shop/2 2_/cart 1']],
    ['an excluded event', {}, { excludeEvents: ['$pageview'] }, []],
    ['a grouping is text, not a pattern', {}, { pathGroupings: ['/s.op', '/shop*'] }, ['1_/shop* 2_/cart 2', '1_/shop* 2_/help 1']],
    ['a range without events', { dateRange: { date_from: '2026-01-01', date_to: '2026-01-02' } }, {}, []],
  ])('%s', async (_, query, filter, edges) => {
    expect(shown(await ask({ ...query, modifiers: { road } }, filter))).toEqual(edges)
  })
})

describe('a comparison', () => {
  const dateRange = { date_from: '2026-03-05', date_to: '2026-03-05' }
  const compared = { dateRange, compareFilter: { compare: true } }

  test('has edges of both periods, each with its limit', async () => {
    const answer = await ask(compared, { edgeLimit: 1 })
    expect(answer.results.map(({ compare, compare_label, target }) => [compare, compare_label, target])).toEqual([
      [true, 'previous', '2_/cart'],
    ])
    expect(answer).toMatchObject({
      hasMore: true,
      resolved_date_range: { date_from: '2026-03-05T00:00:00-05:00' },
      resolved_compare_date_range: { date_from: '2026-03-04T00:00:00-05:00' },
    })
    const same = await ask({ ...compared, compareFilter: { compare: true, compare_to: '-1d' } }, { edgeLimit: 1 })
    expect(same.results).toEqual(answer.results)
  })

  test('the actors of both, and their choices', async () => {
    const source = { kind: 'InsightActorsQuery', source: { kind: 'PathsQuery', ...compared, pathsFilter: { pathEndKey: '2_/cart' } } }
    const list = async (more: object) =>
      ((await project.answer({ kind: 'ActorsQuery', source: { ...source, ...more }, select: ['id'] })) as { results: unknown[] }).results
        .length
    expect([await list({}), await list({ compare: 'previous' })]).toEqual([0, 1])
    expect(await project.answer({ kind: 'InsightActorsQueryOptions', source })).toMatchObject({
      compare: [{ value: 'current' }, { value: 'previous' }],
    })
    const alone = { ...source.source, compareFilter: null }
    await expect(list({ source: alone, compare: 'previous' })).rejects.toMatchObject({ attr: 'source__compare' })
  })

  test('a period that is none is refused, also around a funnel', async () => {
    const wrong = { compareFilter: { compare: true, compare_to: '1 May' } }
    await expect(ask(wrong)).rejects.toMatchObject({ attr: 'compareFilter__compare_to' })
    const funnelSource = {
      kind: 'FunnelsQuery',
      series: [
        { kind: 'EventsNode', event: '$pageview' },
        { kind: 'EventsNode', event: 'buy' },
      ],
    }
    const around = { funnelPathsFilter: { funnelPathType: 'funnel_path_after_step', funnelStep: 1, funnelSource } }
    await expect(ask({ ...wrong, ...around })).rejects.toMatchObject({ attr: 'compareFilter__compare_to' })
  })
})

test('edges that nothing leads to are counted', async () => {
  const all = await ask({})
  expect([all.hasMore, all.unconnected]).toEqual([false, 0])
  const light = await ask({}, { pathReplacements: true, startPoint: '/shop/:id', maxEdgeWeight: 1 })
  expect([shown(light), light.unconnected]).toEqual([['1_/shop/:id 2_/help 1'], 0])
  await project.ingest({
    batch: ['a', 'b', 'c'].map((event, i) => ({ event, distinct_id: 'dan', timestamp: `2026-03-01T10:0${i}:00Z` })),
  })
  await project.ingest({ batch: [{ event: 'a', distinct_id: 'eve', timestamp: '2026-03-01T10:00:00Z' }] })
  await project.ingest({ batch: [{ event: 'b', distinct_id: 'eve', timestamp: '2026-03-01T10:01:00Z' }] })
  const march = { dateRange: { date_from: '2026-03-01', date_to: '2026-03-01' } }
  for (const road of ['core', 'sql']) {
    const cut = await ask({ ...march, modifiers: { road } }, { maxEdgeWeight: 1 })
    expect([road, cut.results, cut.unconnected, cut.hasMore]).toEqual([road, [], 1, false])
    const first = await ask({ ...march, modifiers: { road } }, { edgeLimit: 1 })
    expect([road, shown(first), first.unconnected, first.hasMore]).toEqual([road, ['1_a 2_b 2'], 0, true])
  }
})

test('the dates of the range, and where it was answered', async () => {
  const { resolved_date_range, explain } = await ask({ dateRange: { date_from: '2026-03-04' }, explain: true })
  expect(resolved_date_range).toEqual({ date_from: '2026-03-04T00:00:00-05:00', date_to: '2026-03-05T23:59:59.999999-05:00' })
  expect(explain).toEqual([expect.objectContaining({ label: 'paths', road: 'core' })])
  const random = await ask({ properties: [{ key: 'rand() < 2', type: 'hogql' }], explain: true })
  expect(random.explain).toContainEqual(
    expect.objectContaining({ label: 'paths', road: 'sql', reason: 'a condition or a value is not deterministic' }),
  )
})

test('Arrow has a row for each edge', async () => {
  const table = await project.queryArrow({ kind: 'PathsQuery', dateRange: { date_from: '2026-03-04' } })
  expect(table.schema.fields.map(({ name, type }) => `${name} ${String(type)}`)).toEqual([
    'source Utf8',
    'target Utf8',
    'value Float64',
    'average_conversion_time Float64',
  ])
  expect(table.numRows).toBe(4)
})

test('persons of an edge', async () => {
  const source = {
    kind: 'InsightActorsQuery',
    source: { kind: 'PathsQuery', pathsFilter: { pathStartKey: '1_/shop/1', pathEndKey: '2_/cart' } },
  }
  const { results } = (await project.answer({
    kind: 'ActorsQuery',
    source,
    select: ['person_display_name', 'event_count', 'properties.plan'],
  })) as { results: unknown[][] }
  expect(results.map(([, count, plan]) => [count, plan])).toEqual([[1, 'free']])
})

const funnelSource = { kind: 'FunnelsQuery', series: ['a', 'b'].map((event) => ({ kind: 'EventsNode', event })) }
const after = { funnelPathType: 'funnel_path_after_step', funnelSource, funnelStep: 1 }

test.each<[name: string, query: object, attr: string, words: string]>([
  ['more steps than are possible', { pathsFilter: { stepLimit: 101 } }, 'pathsFilter__stepLimit', '100'],
  ['no edges', { pathsFilter: { edgeLimit: 0 } }, 'pathsFilter__edgeLimit', '1'],
  ['no funnel', { funnelPathsFilter: { funnelPathType: 'funnel_path_after_step' } }, 'funnelPathsFilter__funnelSource', ''],
  ['no step', { funnelPathsFilter: { ...after, funnelStep: null } }, 'funnelPathsFilter__funnelStep', 'funnelStep'],
  ['a step too many', { funnelPathsFilter: { ...after, funnelStep: 3 } }, 'funnelPathsFilter__funnelStep', '2 steps'],
  [
    'nothing before the first step',
    { funnelPathsFilter: { ...after, funnelPathType: 'funnel_path_between_steps' } },
    'funnelPathsFilter__funnelStep',
    'first one',
  ],
  [
    'a funnel of one step',
    { funnelPathsFilter: { ...after, funnelSource: { ...funnelSource, series: funnelSource.series.slice(1) } } },
    'funnelPathsFilter__funnelSource__series',
    'two steps',
  ],
  [
    'other actors',
    { funnelPathsFilter: { ...after, funnelSource: { ...funnelSource, aggregation_group_type_index: 0 } } },
    'funnelPathsFilter__funnelSource__aggregation_group_type_index',
    'same actors',
  ],
  [
    'values of an expression',
    { funnelPathsFilter: { ...after, funnelSource: { ...funnelSource, funnelsFilter: { funnelAggregateByHogQL: 'distinct_id' } } } },
    'funnelPathsFilter__funnelSource__funnelsFilter__funnelAggregateByHogQL',
    'expression',
  ],
])('%s', async (_, query, attr, words) => {
  const failing = project.answer({ kind: 'PathsQuery', ...query })
  await expect(failing).rejects.toMatchObject({ attr, detail: expect.stringContaining(words) as string })
  const source = { kind: 'InsightActorsQuery', source: { kind: 'PathsQuery', ...query } }
  await expect(project.answer({ kind: 'ActorsQuery', source })).rejects.toMatchObject({ attr: `source__source__${attr}` })
})
