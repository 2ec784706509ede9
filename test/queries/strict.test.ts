import { expect, test } from 'vitest'
import { answerQuery } from '../../src/engine/execution/answer.ts'
import { presentation } from '../../src/queries/fields.ts'
import { openTestProject } from '../harness/duckdb.ts'

// Requests are strict: a misspelled field is refused at any depth, with its path and the most similar name.

const series = [{ kind: 'EventsNode', event: 'a' }]
const steps = [...series, { kind: 'EventsNode', event: 'b' }]
const trends = (parts: object) => ({ kind: 'TrendsQuery', series, ...parts })
const funnels = (parts: object) => ({ kind: 'FunnelsQuery', series: steps, ...parts })
const node = (parts: object) => trends({ series: [{ kind: 'EventsNode', event: 'a', ...parts }] })
const people = (source: object) => ({ kind: 'ActorsQuery', source })
const filter = { key: 'plan', value: 'pro' }

const refused: readonly (readonly [query: object, attr: string, likely: string | null])[] = [
  [trends({ date_range: {} }), 'date_range', 'dateRange'],
  [trends({ intervall: 'week' }), 'intervall', 'interval'],
  [trends({ breakdown: 'plan' }), 'breakdown', 'breakdownFilter'],
  [trends({ dateRange: { from: '-7d' } }), 'dateRange__from', 'date_from'],
  [trends({ dateRange: { zzz: 1 } }), 'dateRange__zzz', null],
  [trends({ dateRange: { dateFrom: '-7d' } }), 'dateRange__dateFrom', 'date_from'],
  [trends({ breakdownFilter: { breakdwn: 'plan' } }), 'breakdownFilter__breakdwn', 'breakdown'],
  [trends({ breakdownFilter: { breakdowns: [{ property: 'plan', typ: 'person' }] } }), 'breakdownFilter__breakdowns__0__typ', 'type'],
  [trends({ compareFilter: { compareTo: '-1w' } }), 'compareFilter__compareTo', 'compare_to'],
  [trends({ trendsFilter: { formla: 'A' } }), 'trendsFilter__formla', 'formula'],
  [trends({ modifiers: { convertToProjectTimezon: false } }), 'modifiers__convertToProjectTimezon', 'convertToProjectTimezone'],
  [node({ propertes: [filter] }), 'series__0__propertes', 'properties'],
  [node({ maths: 'dau' }), 'series__0__maths', 'math'],
  [node({ properties: [{ key: 'plan', val: 'pro' }] }), 'series__0__properties__0__val', 'value'],
  [node({ properties: [{ ...filter, op: 'is_not' }] }), 'series__0__properties__0__op', 'operator'],
  [
    trends({ properties: { type: 'AND', values: [{ type: 'OR', values: [{ ...filter, tpe: 'person' }] }] } }),
    'properties__values__0__values__0__tpe',
    'type',
  ],
  [
    trends({ series: [{ kind: 'GroupNode', operator: 'OR', nodes: [{ kind: 'EventsNode', evnt: 'a' }] }] }),
    'series__0__nodes__0__evnt',
    'event',
  ],
  [funnels({ funnelsFilter: { funnelWindow: 3 } }), 'funnelsFilter__funnelWindow', 'funnelWindowInterval'],
  [
    funnels({ funnelsFilter: { exclusions: [{ kind: 'EventsNode', event: 'c', fromStep: 0, funnelFromStep: 0, funnelToStep: 1 }] } }),
    'funnelsFilter__exclusions__0__fromStep',
    'funnelFromStep',
  ],
  [{ kind: 'LifecycleQuery', series, lifecycleFilter: { toggledLifecycle: [] } }, 'lifecycleFilter__toggledLifecycle', 'toggledLifecycles'],
  [{ kind: 'RetentionQuery', retentionFilter: { targetEntity: { ids: 'a' } } }, 'retentionFilter__targetEntity__ids', 'id'],
  [{ kind: 'StickinessQuery', series, stickinessFilter: { computeAs: 'cumulative' } }, 'stickinessFilter__computeAs', 'computedAs'],
  [{ kind: 'PathsQuery', pathsFilter: { stepLimits: 3 } }, 'pathsFilter__stepLimits', 'stepLimit'],
  [
    {
      kind: 'PathsQuery',
      funnelPathsFilter: { funnelPathType: 'funnel_path_after_step', funnelStep: 1, funnelSource: funnels({ intervall: 'day' }) },
    },
    'funnelPathsFilter__funnelSource__intervall',
    'interval',
  ],
  [{ kind: 'EventsQuery', select: ['event'], orderby: ['event'] }, 'orderby', 'orderBy'],
  [people({ kind: 'InsightActorsQuery', dya: '2024-01-01', source: trends({}) }), 'source__dya', 'day'],
  [people({ kind: 'InsightActorsQuery', source: node({ propertes: [] }) }), 'source__source__series__0__propertes', 'properties'],
  [people({ kind: 'FunnelsActorsQuery', funnelstep: 1, source: funnels({}) }), 'source__funnelstep', 'funnelStep'],
  [{ kind: 'ActorsQuery', ordrBy: ['id'] }, 'ordrBy', 'orderBy'],
  [{ kind: 'SqlLikeQuery', query: 'select 1', valus: {} }, 'valus', 'values'],
  [{ kind: 'SqlLikeQuery', query: 'select 1', filters: { daterange: {} } }, 'filters__daterange', 'dateRange'],
]

test('an unknown field is refused with its path and the likely name', async () => {
  const project = await openTestProject()
  for (const [query, attr, likely] of refused) {
    const error = await answerQuery(query, project).then(
      () => null,
      (thrown: { code: string; attr: string; detail: string }) => thrown,
    )
    const name = attr.split('__').at(-1)
    const words = likely === null ? `Unknown field "${name}". Known fields: ` : `Unknown field "${name}". Did you mean "${likely}"?`
    expect({ code: error?.code, attr: error?.attr, detail: error?.detail }, JSON.stringify(query)).toEqual({
      code: 'validation-failed',
      attr,
      detail: expect.stringContaining(words),
    })
  }
  await project.close()
})

test.each<[string, object, string]>([
  ['words', { dateRange: { date_from: 'last week' } }, 'dateRange__date_from'],
  ['words around a date', { dateRange: { date_from: '-7d', date_to: 'until -1d' } }, 'dateRange__date_to'],
  ['a day that does not exist', { dateRange: { date_from: '2026-02-30' } }, 'dateRange__date_from'],
  ['a unit that does not exist', { dateRange: { date_from: '-7x' } }, 'dateRange__date_from'],
])('a date that cannot be read is refused: %s', async (_, parts, attr) => {
  const project = await openTestProject()
  await expect(answerQuery(trends(parts), project)).rejects.toMatchObject({ code: 'validation-failed', attr })
  await project.close()
})

test('fields of the reference system that change no number are accepted, and change no number', async () => {
  const project = await openTestProject()
  await project.project.ingest({ batch: [{ event: 'a', distinct_id: 'u', timestamp: '2024-01-01T00:00:00Z' }] })
  const dateRange = { date_from: '2024-01-01', date_to: '2024-01-02' }
  const all = (names: readonly string[]) => Object.fromEntries(names.map((name) => [name, 1]))
  // `filter` is an echo of the request.
  const numbers = ({ results }: { results?: { filter: unknown }[] }) => results?.map(({ filter: _, ...row }) => row)
  const plain = await answerQuery(trends({ dateRange }), project)
  const dressed = await answerQuery(
    {
      ...all(presentation.query),
      ...trends({ dateRange, trendsFilter: all(presentation.trendsFilter), modifiers: all(presentation.modifiers) }),
      series: [{ ...all(presentation.node), ...series[0], properties: [{ ...all(presentation.filter), key: '' }] }],
      conversionGoal: null,
    },
    project,
  )
  expect(numbers(dressed)).toEqual(numbers(plain))
  await expect(answerQuery(trends({ conversionGoal: { x: 1 } }), project)).rejects.toMatchObject({
    attr: 'conversionGoal__x',
    code: 'validation-failed',
  })
  await project.close()
})

const behind = (query: object, point: object) => people({ kind: 'InsightActorsQuery', source: query, ...point })
const lifecycle = { kind: 'LifecycleQuery', series }
const nowhere = { breakdown: null, compare: null, day: null, interval: null, series: null, status: null }

test.each<[string, object]>([
  ['the series of a query that has one', behind(lifecycle, { series: 0 })],
  ['parts of a point that points of trends do not have', behind(trends({}), nowhere)],
  ['of a lifecycle', behind(lifecycle, nowhere)],
  ['of a retention', behind({ kind: 'RetentionQuery', retentionFilter: {} }, { ...nowhere, series: 0 })],
  ['of a stickiness', behind({ kind: 'StickinessQuery', series }, nowhere)],
  ['of paths', behind({ kind: 'PathsQuery', pathsFilter: {} }, nowhere)],
  ['a statement in this dialect', { kind: 'SqlLikeQuery', query: 'select 1', sendRawQuery: false, connectionId: null }],
])('a field that has no other value here is accepted with it: %s', async (_, query) => {
  const project = await openTestProject()
  await expect(answerQuery(query, project)).resolves.toHaveProperty('results')
  await project.close()
})

test.each<[string, object, string]>([
  ['a second series', behind(lifecycle, { series: 1 }), 'source__series'],
  ['a status of trends', behind(trends({}), { status: 'new' }), 'source__status'],
  ['a row of trends', behind(trends({}), { interval: 0 }), 'source__interval'],
  ['a statement in another dialect', { kind: 'SqlLikeQuery', query: 'select 1', sendRawQuery: true }, 'sendRawQuery'],
])('and refused with another one: %s', async (_, query, attr) => {
  const project = await openTestProject()
  await expect(answerQuery(query, project)).rejects.toMatchObject({
    code: 'validation-failed',
    attr,
    detail: `${attr.split('__').at(-1)} is not supported here: leave it out.`,
  })
  await project.close()
})

test('settings of newer charts are accepted', async () => {
  const project = await openTestProject()
  const charts = [
    trends({
      trendsFilter: {
        metricSummary: 'latest',
        metricShowChange: true,
        xAxisLabel: 'x',
        stackBreakdownValues: true,
        showAnnotations: false,
      },
    }),
    funnels({ funnelsFilter: { legendPosition: 'right', showAnnotations: true, customAggregationTarget: false } }),
    { kind: 'RetentionQuery', retentionFilter: { cohortLabelStartIndex: 1, customAggregationTarget: false } },
    { kind: 'StickinessQuery', series, stickinessFilter: { legendPosition: 'right' } },
    { kind: 'LifecycleQuery', series, lifecycleFilter: { legendPosition: 'right' } },
  ]
  for (const query of charts) await expect(answerQuery(query, project)).resolves.toHaveProperty('results')
  await project.close()
})

test.each<[string, object, string, string]>([
  ['an operator', { ...filter, operator: 'exct' }, 'operator', 'exact'],
  ['a type', { ...filter, type: 'persn' }, 'type', 'person'],
])('what a filter cannot choose is refused with what it can, and the likely value: %s', async (_, one, field, likely) => {
  const project = await openTestProject()
  await expect(answerQuery(trends({ properties: [one] }), project)).rejects.toMatchObject({
    attr: `properties__0__${field}`,
    message: expect.stringMatching(new RegExp(`The ${field} of a filter must be one of .*, but got .*Did you mean "${likely}"`)),
    suggestions: [likely],
  })
  await project.close()
})
