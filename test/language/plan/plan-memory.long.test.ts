import { afterAll, beforeAll, expect, test } from 'vitest'
import { open, type Project, type Waymark } from '../../../src/index.ts'
import { computedFields, fieldsOfEvents } from '../../../src/language/catalog/computed-fields.ts'
import { expansions } from '../../../src/language/catalog/expansions.ts'
import { sessionFields } from '../../../src/language/catalog/sessions.ts'
import { breakdowns } from '../../../src/queries/web/schema.ts'

// What no table stores is an expression of the product. None of them may need memory before there is a single event: the engine has the least that it
// opens with, and every question is asked of an empty project. Of the web they are also asked where sessions are made of an event that names none.

let waymark: Waymark
let project: Project
let made: Project
beforeAll(async () => {
  waymark = await open({ dataDir: ':memory:', memoryLimit: '64MiB', threads: 2, clock: () => new Date('2026-01-06T00:00:00Z') })
  project = await waymark.createProject({ name: 'Empty' })
  made = await waymark.createProject({ name: 'Made' })
  await made.ingest({
    batch: [
      ...['$pageview', '$autocapture'].map((event) => ({ event, distinct_id: 'a', timestamp: '2026-01-05T00:00:00Z' })),
      {
        event: '$pageview',
        distinct_id: 'b',
        timestamp: '2026-01-05T00:00:00Z',
        properties: { $session_id: '0190b0f0-0000-7000-8000-000000000001' },
      },
    ],
  })
})
afterAll(() => waymark.close())

type Body = Readonly<Record<string, unknown>>
/** By what was asked, the error that it ended with. */
async function refused(asked: Readonly<Record<string, Body>>, of = project): Promise<Record<string, string>> {
  const errors: Record<string, string> = {}
  for (const [label, body] of Object.entries(asked))
    await of.query(body as never).catch((error: unknown) => {
      errors[label] = String(error)
    })
  return errors
}
const each = (names: readonly string[], make: (name: string) => Body) => Object.fromEntries(names.map((name) => [name, make(name)]))
const sql = (query: string): Body => ({ kind: 'HogQLQuery', query })
const ofPersons = Object.keys(computedFields).filter((name) => !(name in fieldsOfEvents))

const dateRange = { date_from: '-7d' }
const series = [{ kind: 'EventsNode', event: 'a' }]
const steps = [...series, { kind: 'EventsNode', event: 'b' }]
/** What is filtered and broken down by: those that are computed from several values, and one that is not. */
const fields = [
  ...Object.keys(fieldsOfEvents).map((key) => ({ key, type: 'event' })),
  ...ofPersons.map((key) => ({ key, type: 'person' })),
  ...['$channel_type', '$is_bounce', '$entry_pathname', '$session_duration', '$last_external_click_url', '$num_uniq_urls'].map((key) => ({
    key,
    type: 'session',
  })),
]
type AnyField = (typeof fields)[number]
const filterBy = ({ key, type }: AnyField) => {
  const isNumber = key === '$session_duration' || key === '$num_uniq_urls'
  return { key, type, operator: isNumber ? 'gt' : 'exact', value: isNumber ? 1 : key.includes('is_') ? ['true'] : ['Direct', 'Email'] }
}
const broken: Readonly<Record<string, Body>> = {
  trends: { kind: 'TrendsQuery', series, dateRange },
  totals: { kind: 'TrendsQuery', series, dateRange, trendsFilter: { display: 'ActionsPie' } },
  funnel: { kind: 'FunnelsQuery', series: steps, dateRange },
  'times to convert': { kind: 'FunnelsQuery', series: steps, dateRange, funnelsFilter: { funnelVizType: 'time_to_convert' } },
  retention: { kind: 'RetentionQuery', dateRange, retentionFilter: {} },
}
const plain: Readonly<Record<string, Body>> = {
  lifecycle: { kind: 'LifecycleQuery', series, dateRange },
  stickiness: { kind: 'StickinessQuery', series, dateRange },
  paths: { kind: 'PathsQuery', dateRange, pathsFilter: { includeEventTypes: ['$pageview'] } },
  'calendar heat map': { kind: 'TrendsQuery', series, dateRange, trendsFilter: { display: 'CalendarHeatmap' } },
  events: { kind: 'EventsQuery', select: ['event', 'count()'], after: '-7d' },
  'web overview': { kind: 'WebOverviewQuery', dateRange, compareFilter: { compare: true } },
  'web pages': { kind: 'WebStatsTableQuery', dateRange, breakdownBy: 'Page', includeBounceRate: true, compareFilter: { compare: true } },
  'web channels': { kind: 'WebStatsTableQuery', dateRange, breakdownBy: 'InitialChannelType', compareFilter: { compare: true } },
  'web clicks': { kind: 'WebExternalClicksTableQuery', dateRange },
}
/** Those that make sessions. */
const making: Readonly<Record<string, Body>> = {
  ...Object.fromEntries(Object.entries(plain).filter(([name]) => name.startsWith('web '))),
  trends: { kind: 'TrendsQuery', series, dateRange, madeSessions: true },
}

test('a column of a statement', async () => {
  expect(
    await refused({
      ...each(Object.keys(sessionFields), (name) => sql(`select ${name}, count() from sessions group by 1`)),
      ...each(Object.keys(sessionFields), (name) => sql(`select session.${name}, count() from events group by 1`)),
      ...each(Object.keys(fieldsOfEvents), (name) => sql(`select ${name}, count() from events where ${name} = 'a' group by 1`)),
      ...each(ofPersons, (name) => sql(`select ${name}, count() from persons where ${name} in ('a', 'b') group by 1`)),
      ...each(ofPersons, (name) => sql(`select person.properties.${name}, count() from events where person.${name} != 'a' group by 1`)),
      all: sql(`select ${Object.keys(fieldsOfEvents).join(', ')}, ${ofPersons.map((name) => `person.${name}`).join(', ')} from events`),
      'all of sessions': sql('select * from sessions'),
    }),
  ).toEqual({})
})

test('a function that stands for others', async () => {
  // Those of surveys take constants.
  const names = Object.entries(expansions).flatMap(([name, { args }]) => (args[1] === 1 && !name.includes('Survey') ? [name] : []))
  expect(await refused(each(names, (name) => sql(`select ${name}('a'), ${name}(properties.a) from events`)))).toEqual({})
})

test.each(Object.entries(broken))('%s by a field, and filtered by it', async (_, body) => {
  const by = ({ key, type }: AnyField) => ({
    ...body,
    breakdownFilter: { breakdown: key, breakdown_type: type },
    properties: [filterBy({ key, type })],
  })
  const withGroups = body.kind === 'RetentionQuery' ? fields.filter(({ type }) => type !== 'session') : fields
  expect(await refused(Object.fromEntries(withGroups.map((one) => [`${one.type} ${one.key}`, by(one)])))).toEqual({})
})

test.each(Object.entries(plain))('%s filtered by a field', async (_, body) => {
  expect(
    await refused(Object.fromEntries(fields.map((one) => [`${one.type} ${one.key}`, { ...body, properties: [filterBy(one)] }]))),
  ).toEqual({})
})

test.each(Object.entries(making))('%s filtered by a field of sessions that are made', async (_, body) => {
  const own = fields.filter(({ type }) => type === 'session')
  expect(await refused(Object.fromEntries(own.map((one) => [one.key, { ...body, properties: [filterBy(one)] }])), made)).toEqual({})
})

test('a table of the web, by everything', async () => {
  const table = { kind: 'WebStatsTableQuery', dateRange, properties: [], compareFilter: { compare: true } }
  const withGoal = { ...table, conversionGoal: { customEventName: 'buy' } }
  for (const one of [project, made])
    for (const asked of [table, withGoal])
      expect(
        await refused(
          each(breakdowns, (breakdownBy) => ({ ...asked, breakdownBy })),
          one,
        ),
      ).toEqual({})
})
