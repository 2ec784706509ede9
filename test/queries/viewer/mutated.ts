import { random } from '../../../bench/random.ts'
import type { Query } from '../../../src/index.ts'
import { asked, asViewer, type Customers } from './customers.ts'

// Requests that a viewer could think of: all parts of a query drawn from lists that hold what it may read and what it may not.

type Draw = () => number
const one = <T>(list: readonly T[], draw: Draw): T => list[Math.floor(draw() * list.length)]!
const some = <T>(list: readonly T[], most: number, draw: Draw): T[] =>
  Array.from({ length: 1 + Math.floor(draw() * most) }, () => one(list, draw))

const events = ['$pageview', 'signup', 'order', 'bolt only', null] as const
const keys = ['customer', 'plan', 'amount', 'secret', 'email', '$session_id', 'nothing', "customer' or 1=1 --", '$group_0'] as const
const values = ['acme', 'bolt', ['acme', 'bolt'], 5, 'pro', '', null, true, 'bolt-secret-5', '%', '^b'] as const
const types = ['event', 'event', 'event', 'person', 'cohort', 'group', 'session', 'hogql', 'element', 'event_metadata'] as const
const operators = ['exact', 'is_not', 'icontains', 'not_icontains', 'regex', 'gt', 'lt', 'is_set', 'is_not_set'] as const
const maths = [
  undefined,
  'total',
  'dau',
  'weekly_active',
  'unique_session',
  'sum',
  'avg',
  'p90',
  'first_time_for_user',
  'unique_group',
  'hogql',
] as const
const expressions = [
  'event',
  'properties.customer',
  'properties.secret',
  'toInt(properties.secret)',
  'toFloat(properties.secret)',
  'person.properties.email',
  'person.created_at',
  'person.id is null',
  'distinct_id',
  'length(properties)',
  'properties.amount',
  'toDate(timestamp)',
  '1',
  "'bolt'",
  'session.$session_duration',
  '$session_id',
  'group_0.properties.x',
  'pdi.distinct_id',
  "if(properties.customer = 'bolt', throwIf(1), 1)",
  'intDiv(1, properties.amount)',
  '(select count() from events)',
  '(select count() from persons)',
  "(select max(properties.secret) from events where properties.customer = 'bolt')",
] as const
const aggregates = [
  'count()',
  'uniq(person_id)',
  'uniq(distinct_id)',
  'sum(properties.amount)',
  'max(properties.secret)',
  'arraySort(groupUniqArray(properties.customer))',
  'avg(toFloat(properties.secret))',
  'min(person.created_at)',
  'uniq(properties.$session_id)',
  "countIf(properties.customer = 'bolt')",
] as const
const tables = [
  'events',
  'events',
  'events',
  'events e',
  'sessions',
  'persons',
  'groups',
  'person_distinct_ids',
  'cohort_people',
  'static_cohort_people',
  'raw_persons',
  '(select * from events)',
  'numbers(5)',
  'events full join events f on 1 = 1',
  "events left join events f on events.uuid = f.uuid and f.event = 'order'",
  '@people',
  'information_schema.tables',
] as const
const conditions = [
  "event = 'order'",
  "event = 'bolt only'",
  "properties.customer = 'bolt'",
  "properties.customer != 'acme'",
  'toInt(properties.secret) > 3',
  '1 = 1',
  "person.properties.email like 'bolt%'",
  'person_id in (select person_id from cohort_people)',
  'person_id in cohort 1',
  "timestamp > '2026-03-10'",
  'distinct_id in (select distinct_id from events)',
  'matchesAction(1)',
  "not (properties.customer = 'acme')",
  'properties.secret is not null',
] as const

const filterOf = (draw: Draw) => {
  const type = one(types, draw)
  const key = type === 'hogql' ? one(conditions, draw) : type === 'cohort' ? 'id' : one(keys, draw)
  return { type, key, operator: one(operators, draw), value: type === 'cohort' ? 1 : one(values, draw) }
}
const seriesOf = (draw: Draw) => {
  const math = one(maths, draw)
  return {
    kind: 'EventsNode',
    event: one(events, draw),
    ...(math && { math }),
    ...(math &&
      ['sum', 'avg', 'p90'].includes(math) && {
        math_property: one(keys, draw),
        ...(draw() < 0.3 && { math_property_type: 'person_properties' }),
      }),
    ...(math === 'hogql' && { math_hogql: one(aggregates, draw) }),
    ...(draw() < 0.4 && { properties: some(keys, 2, draw).map(() => filterOf(draw)) }),
  }
}
const breakdownOf = (draw: Draw) => {
  const breakdown_type = one(types, draw)
  return {
    breakdown: breakdown_type === 'cohort' ? [1, 'all'] : breakdown_type === 'hogql' ? one(expressions, draw) : one(keys, draw),
    breakdown_type,
  }
}
const shared = (draw: Draw) => ({
  dateRange: { date_from: one(['-30d', 'all', '-7d'], draw) },
  ...(draw() < 0.3 && { properties: [filterOf(draw)] }),
  ...(draw() < 0.2 && { filterTestAccounts: true }),
  ...(draw() < 0.1 && { explain: true, modifiers: { road: 'sql' } }),
})

const charts: readonly ((draw: Draw) => object)[] = [
  (draw) => ({
    kind: 'TrendsQuery',
    series: some(events, 2, draw).map(() => seriesOf(draw)),
    ...(draw() < 0.4 && { breakdownFilter: breakdownOf(draw) }),
    ...shared(draw),
  }),
  (draw) => ({
    kind: 'FunnelsQuery',
    series: [seriesOf(draw), seriesOf(draw)].map(({ event, properties }: { event: unknown; properties?: unknown }) => ({
      kind: 'EventsNode',
      event,
      ...(properties !== undefined && { properties }),
    })),
    ...(draw() < 0.4 && { breakdownFilter: breakdownOf(draw) }),
    funnelsFilter: {
      funnelVizType: one(['steps', 'trends', 'time_to_convert'], draw),
      funnelOrderType: one(['ordered', 'strict', 'unordered'], draw),
    },
    ...shared(draw),
  }),
  (draw) => ({
    kind: 'RetentionQuery',
    retentionFilter: {
      totalIntervals: 5,
      period: one(['Day', 'Week'], draw),
      targetEntity: { id: one(events, draw), type: 'events' },
      returningEntity: { id: one(events, draw), type: 'events' },
    },
    ...shared(draw),
  }),
  (draw) => ({ kind: 'StickinessQuery', series: [seriesOf(draw)], ...shared(draw) }),
  (draw) => ({ kind: 'LifecycleQuery', series: [seriesOf(draw)], ...shared(draw) }),
  (draw) => ({ kind: 'PathsQuery', pathsFilter: { includeEventTypes: ['$pageview', 'custom_event'], stepLimit: 4 }, ...shared(draw) }),
]

const kinds: readonly ((draw: Draw) => object)[] = [
  ...charts,
  (draw) => ({
    kind: 'WebStatsTableQuery',
    breakdownBy: one(['Page', 'Browser', 'InitialPage', 'Country'], draw),
    properties: draw() < 0.5 ? [] : [filterOf(draw)],
    dateRange: { date_from: '-30d' },
  }),
  (draw) => one([{ kind: 'TeamTaxonomyQuery' }, namesOf(draw), namesOf(draw)], draw),
  people,
  people,
  (draw) => ({
    kind: one(['ActorsPropertyTaxonomyQuery', 'ActorsQuery', 'EventsQuery', 'DatabaseSchemaQuery', 'ViewerQuery'], draw),
    source: { kind: 'SqlLikeQuery', query: 'select 1' },
    filter: [{ type: 'event', key: 'customer', operator: 'exact', value: 'bolt' }],
  }),
  statement,
  statement,
  statement,
  statement,
]

const namesOf = (draw: Draw): object => ({
  kind: 'EventTaxonomyQuery',
  ...(draw() < 0.9 ? { event: one(events, draw) ?? 'order' } : { actionId: 1 }),
  ...(draw() < 0.5 && { properties: some(keys, 3, draw) }),
})

const cells = [
  'properties.code',
  'properties.plan',
  'person.properties.plan',
  'properties.email',
  'created_at',
  'event_count',
  'count()',
  'uniq(properties.code)',
  'toInt(properties.code)',
  'actor_key',
  'source.actor',
  'source.*',
  'pdi.distinct_id',
  '(select count() from persons)',
  '(select count() from events)',
  '(select max(person.properties.email) from events)',
  "if(properties.code like 'bolt%', throwIf(1), 1)",
] as const

/** Ids of persons differ between projects: the property `code` says who they are. */
function people(draw: Draw): object {
  const select = some(cells, 3, draw)
  const chart = one(charts, draw)(draw) as { kind: string }
  return {
    kind: 'ActorsQuery',
    source: {
      kind: chart.kind === 'FunnelsQuery' ? 'FunnelsActorsQuery' : 'InsightActorsQuery',
      source: chart,
      ...(chart.kind === 'FunnelsQuery' && { funnelStep: one([1, 2, -2], draw) }),
      ...(chart.kind === 'TrendsQuery' && draw() < 0.5 && { day: '2026-03-10' }),
      ...(chart.kind === 'RetentionQuery' && { interval: 0 }),
      ...(chart.kind === 'StickinessQuery' && { day: 1 }),
      ...(chart.kind === 'LifecycleQuery' && { day: '2026-03-10', status: one(['new', 'returning', 'dormant'], draw) }),
    },
    select,
    ...(draw() < 0.3 && { properties: [{ ...filterOf(draw), type: one(['person', 'person', 'cohort', 'hogql'], draw) }] }),
    ...(draw() < 0.3 && { orderBy: [one(cells, draw)] }),
    limit: 1000,
  }
}

function statement(draw: Draw): object {
  const isGrouped = draw() < 0.5
  const selected = isGrouped ? [...some(expressions, 1, draw), ...some(aggregates, 2, draw)] : some(expressions, 3, draw)
  const where = draw() < 0.6 ? ` where ${some(conditions, 2, draw).join(one([' and ', ' or '], draw))}` : ''
  const plain = `select ${selected.join(', ')} from ${one(tables, draw)}${where}${isGrouped ? ' group by 1 limit 9999' : ''}`
  const query = draw() < 0.1 ? `${plain} union all ${plain}` : draw() < 0.1 ? `with x as (${plain}) select count() from x` : plain
  return {
    kind: one(['SqlLikeQuery', 'HogQLQuery'], draw),
    query: isGrouped || query !== plain ? query : `${query} order by ${selected.map((_, i) => i + 1).join(', ')} limit 50`,
  }
}

export interface Finding {
  readonly source: unknown
  readonly seen: unknown
  readonly expected: unknown
}

/** Viewers have no names for them. */
const numberOfPerson = /^Unable to resolve field: (actor_key|source\.actor)\b/

/** Each request is asked as a viewer, and of a project that has its events alone: what is answered is the same, and so is what is refused for another reason. */
export async function mutated({ all, own }: Customers, count: number, seed: number): Promise<Finding[]> {
  const draw = random(seed)
  const findings: Finding[] = []
  for (let i = 0; i < count; i++) {
    const source = one(kinds, draw)(draw)
    const seen = await asked(all, asViewer(source, { personProperties: ['plan', 'code'] }))
    if ('code' in seen && (seen.code === 'not-for-viewers' || numberOfPerson.test(seen.message))) continue
    const expected = await asked(own, source as Query)
    const isSame = 'code' in seen ? 'code' in expected : JSON.stringify(seen) === JSON.stringify(expected)
    if (!isSame) findings.push({ source, seen, expected })
  }
  return findings
}
