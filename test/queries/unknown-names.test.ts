import { afterAll, beforeAll, expect, test } from 'vitest'
import { open, type Project, type Query, type Waymark, type WaymarkError } from '../../src/index.ts'

// Unknown names of properties, events and actions: the answer has a warning where the query can still be answered.

let waymark: Waymark
let project: Project
let action: number
beforeAll(async () => {
  waymark = await open({ dataDir: ':memory:', threads: 1, clock: () => new Date('2026-02-01T12:00:00Z') })
  project = await waymark.createProject()
  const said = { price: 10, 'unit price': 2, $groups: { company: 'acme' }, $set: { email: 'a@b.c' }, $session_id: 's' }
  await project.ingest([{ event: 'signup', distinct_id: 'u', timestamp: '2026-01-31T12:00:00Z', properties: said }])
  await project.importGroups([{ group_type: 'company', group_key: 'acme', properties: { size: 40 } }])
  action = (await project.createAction({ name: 'Joined', steps: [{ event: 'signup' }] })).id
})
afterAll(() => waymark.close())

const failure = (query: string): Promise<WaymarkError> =>
  project.query({ kind: 'SqlLikeQuery', query }).then(
    () => Promise.reject(new Error(`it was answered: ${query}`)),
    (error: WaymarkError) => error,
  )

test.each([
  ['select price from events', ['properties.price']],
  ['select e.price from events e', ['properties.price']],
  ['select prce from events', ['properties.price']],
  ['select `unit price` from events', ["properties['unit price']"]],
  ['select email from events', ['person.properties.email']],
  ['select person.email from events', ['person.properties.email']],
  ['select person.emial from events', ['person.properties.email']],
  ['select email from persons', ['properties.email']],
  ['select company.size from events', ['company.properties.size']],
  ['select group_0.size from events', ['group_0.properties.size']],
  ['select size from events', ['company.properties.size']],
  ['select $entry_current_url from events', ['session.$entry_current_url']],
  ['select e.$session_duration from events e', ['session.$session_duration']],
])('a name that is one of a property leads to it: %s', async (query, suggestions) => {
  const error = await failure(query)
  expect(error).toMatchObject({ code: 'unknown-field', suggestions })
  expect(error.message).toContain(`Did you mean: ${suggestions.join(', ')}?`)
  const [known] = suggestions
  await project.query({ kind: 'SqlLikeQuery', query: query.replace(/^select (`.*?`|\S+)/, `select ${known}`) })
})

test('a name that is none leads nowhere', async () => {
  expect(await failure('select something_else from events')).toMatchObject({ code: 'unknown-field', suggestions: [] })
})

const series = [{ kind: 'EventsNode', event: 'signup' }] as const
const dateRange = { date_from: '2026-01-30' }
const trend = (parts: object = {}): Query => ({ kind: 'TrendsQuery', series, dateRange, ...parts })
const price = { code: 'unknown-property', property: 'prise', scope: 'event', suggestions: ['price'] }
const signup = { code: 'unknown-event', event: 'signp', suggestions: ['signup'] }
const emial = { code: 'unknown-property', property: 'emial', scope: 'person', suggestions: ['email'] }
const misspelledNode = { kind: 'EventsNode', event: 'signp' } as const

test.each<[string, () => Query, object[]]>([
  ['nothing unknown', () => trend({ breakdownFilter: { breakdown: 'price' } }), []],
  ['a property to sum', () => trend({ series: [{ ...series[0], math: 'sum', math_property: 'prise' }] }), [price]],
  ['a breakdown', () => trend({ breakdownFilter: { breakdown: 'prise', breakdown_type: 'event' } }), [price]],
  ['a filter', () => trend({ properties: [{ type: 'person', key: 'emial', value: 'x' }] }), [emial]],
  ['an event of a trend', () => trend({ series: [misspelledNode] }), [signup]],
  ['an event of a funnel', () => ({ kind: 'FunnelsQuery', dateRange, series: [series[0], misspelledNode] }), [signup]],
  ['an event of a lifecycle', () => ({ kind: 'LifecycleQuery', dateRange, series: [misspelledNode] }), [signup]],
  [
    'an event of a retention',
    () => ({ kind: 'RetentionQuery', dateRange, retentionFilter: { targetEntity: { id: 'signp' }, returningEntity: { id: 'signup' } } }),
    [signup],
  ],
  ['an event of a stickiness', () => ({ kind: 'StickinessQuery', dateRange, series: [misspelledNode] }), [signup]],
  ['an event of paths', () => ({ kind: 'PathsQuery', dateRange, pathsFilter: { includeEventTypes: ['signp', 'signup'] } }), [signup]],
  [
    'an event of a conversion goal',
    () => ({ kind: 'WebOverviewQuery', dateRange, conversionGoal: { customEventName: 'signp' } }),
    [signup],
  ],
  ['names that a table of a site adds', () => ({ kind: 'WebStatsTableQuery', dateRange, breakdownBy: 'FrustrationMetrics' }), []],
  ['an event of a list', () => ({ kind: 'EventsQuery', select: ['event'], event: 'signp' }), [signup]],
  ['a property of a list', () => ({ kind: 'EventsQuery', select: ['properties.prise'] }), [price]],
  ['a property of people', () => ({ kind: 'ActorsQuery', select: ['properties.emial'] }), [emial]],
  ['an event of a statement', () => ({ kind: 'SqlLikeQuery', query: "select count() from events where event = 'signp'" }), [signup]],
  [
    'events in a list',
    () => ({ kind: 'SqlLikeQuery', query: "select countIf(event in ('signup', 'signp', 'zzzzz')) from events" }),
    [signup, { code: 'unknown-event', event: 'zzzzz', suggestions: [] }],
  ],
  [
    'a value',
    () => ({ kind: 'SqlLikeQuery', query: 'select count() from events where event = {name}', values: { name: 'signp' } }),
    [signup],
  ],
  ['an action that is there', () => trend({ series: [{ kind: 'ActionsNode', id: action }] }), []],
  [
    'an action that is not there',
    () => trend({ series: [series[0], { kind: 'ActionsNode', id: 77 }] }),
    [{ code: 'unknown-action', action: 77, message: expect.stringContaining('There is no action 77') }],
  ],
  [
    'an action of a funnel',
    () => ({ kind: 'FunnelsQuery', dateRange, series: [series[0], { kind: 'ActionsNode', id: 78 }] }),
    [{ code: 'unknown-action', action: 78 }],
  ],
  [
    'filters without a place',
    () => ({ kind: 'SqlLikeQuery', query: 'select 1', filters: { dateRange } }),
    [{ code: 'unused-filters', message: expect.stringContaining('{filters}') }],
  ],
  [
    'filters with a place',
    () => ({ kind: 'SqlLikeQuery', query: 'select count() from events where { filters }', filters: { dateRange } }),
    [],
  ],
  ['filters that say nothing', () => ({ kind: 'SqlLikeQuery', query: 'select 1', filters: { properties: [] } }), []],
])('the answer warns of what nobody ever sent: %s', async (_, query, warnings) => {
  const answer = await project.query(query())
  expect(answer.warnings ?? []).toMatchObject(warnings)
  expect(answer.warnings ?? []).toHaveLength(warnings.length)
})

test('it takes no statement more', async () => {
  const right = await project.query(trend({ explain: true }))
  const wrong = await project.query(trend({ series: [misspelledNode], explain: true }))
  expect(wrong.explain).toHaveLength(right.explain!.length)
})
