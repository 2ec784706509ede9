import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type LocalWaymark, open } from '../src/engine.ts'
import { WaymarkError } from '../src/errors/errors.ts'
import type { LocalProject } from '../src/project.ts'

// Names that the outside chooses, in every place where one can stand: those that every object of JavaScript has, and characters that our own texts use.
// Each is answered or refused with a WaymarkError. What is stored under one comes back under it.

const ofObjects = Object.getOwnPropertyNames(Object.prototype)
const ofOurs = [
  '\u00010\u0002',
  '\u000112345\u0002',
  '\u0001',
  'a\u0001b\u00011\u0002',
  '\u0007',
  '$1',
  '_1',
  '@group_0',
  '$group_0',
  '\\',
  '"',
  '`',
  "'",
]
const all = [...ofObjects, ...ofOurs]
const few = ['constructor', '__proto__', 'toString', '\u00010\u0002', 'a\u0001b\u00011\u0002']
/** Everything everywhere takes minutes: by default some of the names, and in each place of a query one of these in turn. */
const isWhole = process.env.WAYMARK_ALL_NAMES === '1'
const names = isWhole ? all : few
let turn = 0
const namesHere = () => (isWhole ? all : [few[turn++ % few.length]!])

let waymark: LocalWaymark
let project: LocalProject
beforeAll(async () => {
  waymark = await open({ dataDir: ':memory:', threads: 1, memoryLimit: '512MB', clock: () => new Date('2026-01-05T12:00:00Z') })
  project = await waymark.createProject({})
  const batch = Array.from({ length: 6 }, (_, i) => ({
    event: i % 2 === 0 ? 'a' : 'b',
    distinct_id: `u${i % 3}`,
    timestamp: `2026-01-0${1 + (i % 4)}T10:00:00Z`,
    properties: {
      plan: 'pro',
      price: i,
      $current_url: '/x',
      $session_id: '0194b2e0-0000-7000-8000-000000000000',
      $groups: { company: 'acme' },
      $set: { mail: 'x@y.z' },
    },
  }))
  await project.ingest({ batch })
  await project.importGroups([{ group_type: 'company', group_key: 'acme', properties: { size: 1 } }])
  await project.createAction({ name: 'A', steps: [{ event: 'a' }] })
  await project.createCohort({ name: 'C', is_static: true, distinct_ids: ['u1'] })
})
afterAll(() => waymark.close())

/** What is neither an answer nor a refusal of ours, in words. */
const faultOf = async (work: () => Promise<unknown>): Promise<string | null> => {
  try {
    await work()
    return null
  } catch (error) {
    return error instanceof WaymarkError ? null : String(error instanceof Error ? error.stack : error).slice(0, 600)
  }
}

type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json }

/** For every text in the value, and every place where a key can be added: the value with a name there. */
function* places(value: Json): Generator<(name: string) => Json> {
  if (typeof value === 'string') yield (name) => name
  else if (Array.isArray(value))
    for (const [i, one] of value.entries())
      for (const place of places(one)) yield (name) => value.map((old, at) => (at === i ? place(name) : old))
  else if (value !== null && typeof value === 'object') {
    for (const [key, one] of Object.entries(value)) for (const place of places(one)) yield (name) => ({ ...value, [key]: place(name) })
    yield (name) => Object.fromEntries([...Object.entries(value), [name, name]])
  }
}

const filters: readonly Json[] = [
  { type: 'event', key: 'plan', operator: 'exact', value: ['pro'] },
  { type: 'event', key: 'price', operator: 'gt', value: 1 },
  { type: 'person', key: 'mail', operator: 'icontains', value: 'x' },
  { type: 'group', group_type_index: 0, key: 'size', operator: 'is_set', value: 'is_set' },
  { type: 'session', key: '$session_duration', operator: 'gt', value: 0 },
  { type: 'element', key: 'tag_name', operator: 'exact', value: ['a'] },
  { type: 'hogql', key: 'properties.plan = 1' },
  { type: 'event', key: 'at', operator: 'is_date_before', value: '-1d' },
  { type: 'event_metadata', key: 'event', operator: 'semver_gt', value: '1.2.3' },
]
const dateRange: Json = { date_from: '-7d', date_to: '2026-01-05' }
const trends = (more: Record<string, Json>): Json => ({
  kind: 'TrendsQuery',
  dateRange,
  series: [{ kind: 'EventsNode', event: 'a' }],
  ...more,
})
const funnel = (more: Record<string, Json>): Json => ({
  kind: 'FunnelsQuery',
  dateRange,
  series: [
    { kind: 'EventsNode', event: 'a', name: 'A', custom_name: 'First' },
    { kind: 'EventsNode', event: 'b', properties: [{ type: 'event', key: 'plan', operator: 'exact', value: ['pro'] }] },
  ],
  ...more,
})
const queries: Readonly<Record<string, Json>> = {
  'trends, filters of each kind': trends({ properties: { type: 'AND', values: [{ type: 'OR', values: filters }] } }),
  'trends, maths': trends({
    interval: 'day',
    series: [
      {
        kind: 'EventsNode',
        event: 'a',
        name: 'A',
        custom_name: 'Named',
        math: 'avg',
        math_property: 'price',
        math_property_type: 'event_properties',
      },
      { kind: 'ActionsNode', id: 1, name: 'Action', math: 'dau' },
      { kind: 'EventsNode', event: 'b', math: 'hogql', math_hogql: 'count()' },
    ],
    trendsFilter: { display: 'ActionsLineGraph', formulaNodes: [{ formula: 'A + B', custom_name: 'Sum' }] },
    compareFilter: { compare: true, compare_to: '-7d' },
  }),
  'trends, breakdowns': trends({
    breakdownFilter: {
      breakdowns: [
        { property: 'plan', type: 'event' },
        { property: 'mail', type: 'person' },
      ],
    },
  }),
  'trends, one breakdown': trends({
    breakdownFilter: { breakdown: 'plan', breakdown_type: 'event' },
    trendsFilter: { display: 'BoldNumber', formula: 'A' },
  }),
  'a funnel': funnel({
    interval: 'day',
    funnelsFilter: {
      funnelVizType: 'steps',
      funnelOrderType: 'ordered',
      funnelWindowIntervalUnit: 'day',
      breakdownAttributionType: 'first_touch',
      funnelAggregateByHogQL: 'properties.plan',
      exclusions: [{ kind: 'EventsNode', event: 'c', funnelFromStep: 0, funnelToStep: 1 }],
    },
    breakdownFilter: { breakdown: ['plan'], breakdown_type: 'event' },
  }),
  lifecycle: {
    kind: 'LifecycleQuery',
    dateRange,
    interval: 'day',
    series: [{ kind: 'EventsNode', event: 'a' }],
    lifecycleFilter: { toggledLifecycles: ['new'] },
  },
  stickiness: {
    kind: 'StickinessQuery',
    dateRange,
    interval: 'day',
    series: [{ kind: 'EventsNode', event: 'a', math: 'hogql', math_hogql: 'properties.plan' }],
    stickinessFilter: { computedAs: 'cumulative', stickinessCriteria: { operator: 'gte', value: 1 } },
  },
  correlation: {
    kind: 'FunnelCorrelationQuery',
    source: {
      kind: 'FunnelsActorsQuery',
      source: { kind: 'FunnelsQuery', dateRange, series: ['a', 'b'].map((event) => ({ kind: 'EventsNode', event })) },
    },
    funnelCorrelationType: 'event_with_properties',
    funnelCorrelationEventNames: ['c'],
    funnelCorrelationEventExcludePropertyNames: ['plan'],
  },
  paths: {
    kind: 'PathsQuery',
    dateRange,
    pathsFilter: {
      includeEventTypes: ['hogql'],
      pathsHogQLExpression: 'properties.plan',
      startPoint: 'pro',
      endPoint: 'free',
      excludeEvents: ['c'],
      pathGroupings: ['p*'],
      localPathCleaningFilters: [{ regex: 'x', alias: 'y' }],
    },
    funnelPathsFilter: {
      funnelPathType: 'funnel_path_after_step',
      funnelStep: 1,
      funnelSource: { kind: 'FunnelsQuery', dateRange, series: ['a', 'b'].map((event) => ({ kind: 'EventsNode', event })) },
    },
  },
  retention: {
    kind: 'RetentionQuery',
    dateRange,
    retentionFilter: {
      period: 'Day',
      totalIntervals: 3,
      retentionType: 'retention_first_time',
      targetEntity: { id: 'a', type: 'events' },
      returningEntity: { id: 'b', type: 'events' },
      aggregationType: 'sum',
      aggregationProperty: 'n',
    },
    breakdownFilter: { breakdown: 'plan', breakdown_type: 'event' },
  },
  events: {
    kind: 'EventsQuery',
    select: ['*', 'event', 'properties.plan', 'person', 'person_display_name -- Person', 'count()'],
    where: ["properties.plan = 'pro'"],
    event: 'a',
    events: ['a'],
    actionSteps: [{ event: 'a', selector: 'a > b', tag_name: 'a', url: 'x', url_matching: 'contains', text: 't', text_matching: 'regex' }],
    personId: '0194b2e0-0000-7000-8000-000000000000',
    after: '-7d',
    before: '2026-01-06',
    orderBy: ['event ASC'],
    modifiers: { personsOnEventsMode: 'x' },
  },
  actors: {
    kind: 'ActorsQuery',
    select: ['actor', 'id', 'properties.mail', 'created_at'],
    search: 'x',
    orderBy: ['id'],
    properties: [{ type: 'person', key: 'mail', operator: 'exact', value: 'x@y.z' }],
    source: { kind: 'InsightActorsQuery', source: trends({}), day: '2026-01-02', status: 'new', compare: 'current' },
  },
  'actors of a funnel': {
    kind: 'ActorsQuery',
    select: ['actor'],
    source: {
      kind: 'FunnelsActorsQuery',
      funnelStep: 1,
      funnelStepBreakdown: 'pro',
      funnelTrendsEntrancePeriodStart: '2026-01-01 00:00:00',
      source: funnel({ breakdownFilter: { breakdown: 'plan', breakdown_type: 'event' } }),
    },
  },
  'options of actors': {
    kind: 'InsightActorsQueryOptions',
    source: { kind: 'InsightActorsQuery', source: trends({ breakdownFilter: { breakdown: 'plan', breakdown_type: 'event' } }) },
  },
  'a statement': {
    kind: 'SqlLikeQuery',
    query: 'select event as e, {place}, {variables.code} from events where {filters}',
    values: { place: 'x' },
    variables: { one: { code_name: 'code', value: 'x', variableId: 'one' } },
    filters: { properties: [{ type: 'event', key: 'plan', operator: 'exact', value: ['pro'] }], dateRange },
  },
}

describe.each(Object.entries(queries))('%s', (_, query) => {
  test('is itself an answer or a refusal', async () => expect(await faultOf(() => project.query(query as never))).toBeNull())

  test('with an odd name in any of its places', async () => {
    const faults: string[] = []
    for (const place of places(query))
      for (const name of namesHere()) {
        const variant = place(name)
        const fault = await faultOf(() => project.query(variant as never))
        if (fault !== null) faults.push(`${JSON.stringify(variant)}\n${fault}`)
      }
    expect(faults.slice(0, 5)).toEqual([])
  })
})

/** `NAME` stands for a name as it is, `QUOTED` in quotes, `TEXT` as a text. */
const statements = [
  'select NAME(1)',
  'select NAME(1, 2)',
  'select NAME()',
  'select NAME(0.5)(price) from (select 1 as price)',
  'select NAME(event) from events group by event',
  'select NAME(event) over (partition by event) from events',
  'select sumNAME(1)',
  'select arrayReduce(TEXT, [1, 2])',
  'select cast(1 as NAME)',
  'select cast(1, TEXT)',
  'select 1::NAME',
  'select interval 1 NAME',
  'select interval TEXT',
  'select extract(NAME from now())',
  'select dateDiff(TEXT, now(), now())',
  'select dateTrunc(TEXT, now())',
  'select date_add(NAME, 1, now())',
  'select dateName(TEXT, now())',
  'select formatDateTime(now(), TEXT)',
  'select parseDateTime(TEXT, TEXT)',
  'select toTimeZone(now(), TEXT)',
  'select toStartOfInterval(now(), toIntervalNAME(1))',
  'select NAME from events',
  'select QUOTED from events',
  'select events.QUOTED, e.QUOTED from events as e',
  'select event as QUOTED from events order by QUOTED limit 1',
  'select 1 as QUOTED, QUOTED + 1',
  'select person.QUOTED, person.properties.QUOTED, properties.QUOTED, properties.a.QUOTED, session.QUOTED, group_0.QUOTED from events',
  'select properties[TEXT], elements_chain, JSONExtractString(properties, TEXT) from events',
  'select * from NAME',
  'select * from QUOTED',
  'select * from NAME(1)',
  'select * from events as QUOTED limit 1',
  'select QUOTED.event from events as QUOTED limit 1',
  'with QUOTED as (select 1 as x) select * from QUOTED',
  'with 1 as QUOTED select QUOTED',
  'select * from (select 1 as QUOTED) as QUOTED',
  'select arrayMap(QUOTED -> QUOTED + 1, [1, 2])',
  'select x from (select 1 as x) NAME JOIN (select 1 as y) on x = y',
  'select * from (select 1 as QUOTED) a join (select 1 as QUOTED) b on a.QUOTED = b.QUOTED',
  'select * from (select 1 as QUOTED) a join (select 1 as QUOTED) b using QUOTED',
  'select map(TEXT, 1)[TEXT], tuple(1).NAME, TEXT, [TEXT], {NAME}',
  'select event, count() as QUOTED from events group by event having QUOTED > 0',
  'select row_number() over QUOTED from events window QUOTED as (order by timestamp)',
  'select * exclude (QUOTED) from events limit 1',
  'select columns(TEXT) from events limit 1',
  'select * from (select TEXT as k, 1 as v) pivot (sum(v) for k in (TEXT))',
  'select event from events where event in cohort TEXT',
  'select event from events where person_id in cohort QUOTED',
  'select concat(TEXT, QUOTED) from (select TEXT as QUOTED)',
  "select replaceRegexpAll('a', TEXT, TEXT), match('a', TEXT), like('a', TEXT), splitByChar(TEXT, 'a'), extractAll('a', TEXT)",
  "select JSONExtract('{}', TEXT), JSONExtract('{}', 'a', TEXT), JSONHas('{}', TEXT), cutURLParameter('x', TEXT)",
]
const quoted = (name: string) => `\`${name.replaceAll('\\', '\\\\').replaceAll('`', '\\`')}\``
const texted = (name: string) => `'${name.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`

test.each(statements)('%s', async (pattern) => {
  const faults: string[] = []
  for (const name of names) {
    const query = pattern
      .replaceAll('NAME', () => name)
      .replaceAll('QUOTED', () => quoted(name))
      .replaceAll('TEXT', () => texted(name))
    for (const kind of ['SqlLikeQuery', 'HogQLQuery']) {
      const fault = await faultOf(() => project.query({ kind, query } as never))
      if (fault !== null) faults.push(`${query}\n${fault}`)
      if (fault !== null) break
    }
  }
  expect(faults.slice(0, 5)).toEqual([])
})

const conditions: Json = {
  properties: {
    type: 'OR',
    values: [
      { type: 'AND', values: [{ type: 'person', key: 'mail', operator: 'exact', value: 'x@y.z' }] },
      {
        type: 'behavioral',
        key: 'a',
        event_type: 'events',
        value: 'performed_event_multiple',
        operator: 'gte',
        operator_value: 1,
        time_value: 7,
        time_interval: 'day',
        event_filters: [{ type: 'event', key: 'plan', operator: 'exact', value: ['pro'] }],
      },
      { type: 'cohort', key: 'id', value: 1 },
    ],
  },
}
const steps: Json = [
  {
    event: 'a',
    text: 'x',
    text_matching: 'exact',
    href: 'x',
    url: 'x',
    url_matching: 'contains',
    selector: 'a',
    properties: filters.slice(0, 2),
  },
]

test('the condition of a cohort and the steps of an action, with an odd name in any of their places', async () => {
  const faults: string[] = []
  const count = (where: string) => project.query({ kind: 'SqlLikeQuery', query: `select count() from events where ${where}` })
  for (const place of places(conditions))
    for (const name of namesHere()) {
      const fault = await faultOf(async () => {
        const { id } = await project.createCohort({ name: 'Odd', filters: place(name) as never })
        await count(`person_id in cohort ${id}`)
      })
      if (fault !== null) faults.push(`${JSON.stringify(place(name))}\n${fault}`)
    }
  for (const place of places(steps))
    for (const name of namesHere()) {
      const fault = await faultOf(async () => {
        const { id } = await project.createAction({ name: 'Odd', steps: place(name) as never })
        await project.query({ kind: 'TrendsQuery', series: [{ kind: 'ActionsNode', id }] })
      })
      if (fault !== null) faults.push(`${JSON.stringify(place(name))}\n${fault}`)
    }
  expect(faults.slice(0, 5)).toEqual([])
})

test('groups whose keys hold our own separator are found behind a funnel', async () => {
  const keys = ['a\u0001b', 'plain', '\u0001\u0002']
  const event = (name: string, key: string, day: number) => ({
    event: name,
    distinct_id: 'of groups',
    timestamp: `2026-01-0${day}T10:00:00Z`,
    properties: { $groups: { company: key } },
  })
  await project.ingest({ batch: keys.flatMap((key) => [event('begun', key, 1), event('done', key, 2)]) })
  const source = {
    kind: 'FunnelsQuery',
    dateRange: { date_from: '-7d' },
    aggregation_group_type_index: 0,
    series: [
      { kind: 'EventsNode', event: 'begun' },
      { kind: 'EventsNode', event: 'done' },
    ],
  }
  const found = (await project.query({
    kind: 'ActorsQuery',
    select: ['id'],
    source: { kind: 'FunnelsActorsQuery', funnelStep: 2, source },
  } as never)) as { results: readonly [string][] }
  expect(found.results.map(([id]) => id).sort()).toEqual([...keys].sort())
})

describe.each(names)('the name %j', (name) => {
  const row = async (query: string) =>
    ((await project.query({ kind: 'SqlLikeQuery', query })) as { results: readonly unknown[][] }).results[0]

  test('of a column is the name of the column', async () => {
    const asked = project.query({ kind: 'SqlLikeQuery', query: `select 'x' as ${quoted(name)}, ${texted(name)} as other` })
    if (name.startsWith('@')) return expect(asked).rejects.toMatchObject({ code: 'illegal-identifier' })
    expect(await asked).toMatchObject({ columns: [name, 'other'], results: [['x', name]] })
  })

  test('of an event, its properties, its person and its group comes back', async () => {
    const own = (value: unknown) => Object.fromEntries([[name, value]])
    const properties = { ...own('of the event'), $set: own('of the person'), $groups: own(name) }
    const event = { event: name, distinct_id: `of ${name}`, timestamp: '2026-01-04T10:00:00Z', properties }
    expect(await project.ingest({ batch: [event] })).toMatchObject({ accepted: 1, dropped: 0 })
    await project.ingest({ batch: [{ ...event, properties: { $set_once: own('too late') } }] })
    const where = `where event = ${texted(name)} and distinct_id = ${texted(`of ${name}`)} order by timestamp, length(toString(properties)) desc`
    expect(await row(`select event, properties.${quoted(name)}, person.properties.${quoted(name)} from events ${where}`)).toEqual([
      name,
      'of the event',
      'of the person',
    ])
    const person = async (id: string) =>
      (await row(`select any(person.properties.${quoted(name)}) from events where distinct_id = ${texted(id)}`))![0]
    const ofPerson = (id: string, properties: object, more: object = {}) =>
      project.ingest({ batch: [{ event: 'seen', distinct_id: id, timestamp: '2026-01-04T11:00:00Z', properties, ...more }] })
    const [live, past] = [`live ${name}`, `past ${name}`]
    await ofPerson(live, { $set: { other: 1 } })
    await ofPerson(live, { $set_once: own('first') })
    expect(await person(live), 'a property that was not there').toBe('first')
    await ofPerson(live, { $set: own('second') })
    expect(await person(live)).toBe('second')
    await ofPerson(live, { $unset: [name] })
    expect(await person(live)).toBeNull()
    const imported = (properties: object, timestamp: string) =>
      project.ingest({ historical_migration: true, batch: [{ event: 'seen', distinct_id: past, timestamp, properties }] })
    await imported({ $set: own('later') }, '2025-06-02T00:00:00Z')
    await imported({ $set: own('earlier') }, '2025-06-01T00:00:00Z')
    expect(await person(past), 'the latest by the time of its event').toBe('later')
    await imported({ $set: own('latest'), $set_once: own('never') }, '2025-06-03T00:00:00Z')
    expect(await person(past)).toBe('latest')
  })
})
