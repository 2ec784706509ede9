import type { Table } from 'apache-arrow'
import { QueryError } from '../../errors/errors.ts'
import { noSpan } from '../../errors/span.ts'
import { alias, and, call, callWith, equals, field, from, groupBy, limit, literal, order, select, table } from '../../language/ast/build.ts'
import type { Expr, Select } from '../../language/ast/nodes.ts'
import { isObject } from '../../lib/is-object.ts'
import { day } from '../../lib/time/zone.ts'
import { pageLimit } from '../answers/page-limit.ts'
import { columnValues } from '../answers/rows.ts'
import { actionCondition } from '../filters/property-filters.ts'
import type { QueryContext, QueryKind } from '../kind.ts'
import { since } from '../scope.ts'
import { micros } from '../time/dates.ts'
import { actorsTaxonomySchema, type EventTaxonomyQuery, eventTaxonomySchema, teamTaxonomySchema } from './schema.ts'

// What a project has: its events, and the properties of events and actors with some of their values.

export interface TeamTaxonomyAnswer {
  readonly results: readonly { readonly event: string; readonly count: number }[]
  readonly hasMore: boolean
  readonly limit: number
  readonly offset: number
}
export interface EventTaxonomyAnswer {
  /** Values as text; `sample_count` is the number of different ones. */
  readonly results: readonly { readonly property: string; readonly sample_values: readonly string[]; readonly sample_count: number }[]
}
export interface ActorsPropertyTaxonomyAnswer {
  /** In the order of the properties. */
  readonly results: readonly { readonly sample_values: readonly string[]; readonly sample_count: number }[]
}

const recently = (env: QueryContext): Expr => since(micros(env.now) - 30 * day)
const usualEvents = 500
const usualValues = 5
/** Properties that nobody sent are found in none of these. */
const latestEvents = 100
const shownProperties = 500

/** Events of the last 30 days by their number. */
export const teamTaxonomy: QueryKind<'TeamTaxonomyQuery', typeof teamTaxonomySchema, TeamTaxonomyAnswer> = {
  kind: 'TeamTaxonomyQuery',
  isCached: true,
  schema: teamTaxonomySchema,
  *run(query, env) {
    const rows = query.limit ?? usualEvents
    const offset = query.offset ?? 0
    const counted = select({
      columns: [field('event'), alias(call('count'), 'events')],
      from: table('events'),
      where: recently(env),
      groupBy: groupBy(field('event')),
    })
    const found = (yield {
      kind: 'statement',
      label: 'events by their number',
      query: select({
        columns: [field('event'), field('events')],
        from: from(counted, 'counted'),
        orderBy: [order(field('events'), 'desc'), order(field('event'))],
        limit: pageLimit(rows + 1, offset),
      }),
    }) as Table
    const [events, counts] = ['event', 'events'].map((name) => columnValues(found.getChild(name)!, 'UTC'))
    const results = events!.map((event, i) => ({ event: String(event), count: Number(counts![i]) }))
    return { results: results.slice(0, rows), hasMore: results.length > rows, limit: rows, offset }
  },
}

/** What clients send about themselves, and what belongs to nobody else. */
const omitted = /^(?:\$set|\$set_once|\$unset|\$time|\$sent_at|\$ip|distinct_id|\$group_set|token)$|^\$feature\/|__/

/** The properties of an event, those with most values first. */
export const eventTaxonomy: QueryKind<'EventTaxonomyQuery', typeof eventTaxonomySchema, EventTaxonomyAnswer> = {
  kind: 'EventTaxonomyQuery',
  isCached: true,
  schema: eventTaxonomySchema,
  *run(query, env) {
    const most = query.maxPropertyValues ?? usualValues
    const condition = and(recently(env), matching(query, env))
    if (query.properties?.length) {
      const asks = query.properties.map((name) => ({
        kind: 'statement' as const,
        label: `values of ${name}`,
        query: valuesOf(select({ columns: [alias(text(name), 'value')], from: table('events'), where: condition }), call('count'), most),
      }))
      const tables = (yield asks) as readonly Table[]
      const found = query.properties.map((property, i) => ({ property, ...samplesOf(tables[i]!) }))
      return { results: found.filter(({ sample_count }) => sample_count > 0) }
    }
    const latest = (yield {
      kind: 'statement',
      label: 'latest events',
      query: select({
        columns: [alias(call('toString', field('properties')), 'properties')],
        from: table('events'),
        where: condition,
        orderBy: [order(field('timestamp'), 'desc'), order(field('@log_seq'), 'desc')],
        limit: limit(latestEvents),
      }),
    }) as Table
    return { results: sampled(columnValues(latest.getChild('properties')!, 'UTC').map(String), most) }
  },
}

function matching({ event, actionId }: EventTaxonomyQuery, env: QueryContext): Expr {
  const wrong = (message: string, attr: string) => new QueryError('validation-failed', { message, attr })
  if ((event == null) === (actionId == null)) throw wrong('An event taxonomy needs either an event or an actionId.', 'event')
  if (event != null) return equals(field('event'), literal(event))
  const action = env.action(actionId!)
  if (action) return actionCondition(action, env)
  throw wrong(`There is no action ${actionId}.`, 'actionId')
}

/** Of the properties of some events, the latest first. */
function sampled(events: readonly string[], most: number): EventTaxonomyAnswer['results'] {
  const values = new Map<string, Set<string>>()
  for (const event of events) {
    const properties: unknown = JSON.parse(event || '{}')
    if (!isObject(properties)) continue
    for (const [name, value] of Object.entries(properties)) {
      if (value === null || value === '' || omitted.test(name)) continue
      const known = values.get(name) ?? new Set<string>()
      values.set(name, known.add(typeof value === 'string' ? value : JSON.stringify(value)))
    }
  }
  return [...values]
    .map(([property, all]) => ({ property, sample_values: [...all].slice(0, most), sample_count: all.size }))
    .sort((a, b) => b.sample_count - a.sample_count || (a.property < b.property ? -1 : 1))
    .slice(0, shownProperties)
}

/** Values of properties of persons or groups, those of the actors who were created last first. */
export const actorsTaxonomy: QueryKind<'ActorsPropertyTaxonomyQuery', typeof actorsTaxonomySchema, ActorsPropertyTaxonomyAnswer> = {
  kind: 'ActorsPropertyTaxonomyQuery',
  isCached: true,
  schema: actorsTaxonomySchema,
  *run({ properties, groupTypeIndex: group, maxPropertyValues }) {
    const tables = (yield properties.map((name) => {
      const rows = select({
        columns: [alias(text(name), 'value'), field('created_at')],
        from: table(group == null ? 'persons' : 'groups'),
        where: group == null ? null : equals(field('index'), literal(group)),
      })
      return {
        kind: 'statement' as const,
        label: `values of ${name}`,
        query: valuesOf(rows, call('max', field('created_at')), maxPropertyValues ?? usualValues),
      }
    })) as readonly Table[]
    return { results: tables.map(samplesOf) }
  },
}

const text = (name: string): Expr => call('toString', field('properties', name))

/** The first values by a rank, each with the number of all. */
function valuesOf(rows: Select, rank: Expr, most: number): Select {
  const grouped = select({
    columns: [field('value'), alias(rank, 'rank')],
    from: from(rows, 'all_values'),
    where: and(call('isNotNull', field('value')), call('notEquals', field('value'), literal(''))),
    groupBy: groupBy(field('value')),
  })
  const over = { kind: 'window', partitionBy: [], orderBy: [], frame: null, span: noSpan } as const
  return select({
    columns: [field('value'), alias(callWith('count', { over }), 'all')],
    from: from(grouped, 'grouped_values'),
    orderBy: [order(field('rank'), 'desc'), order(field('value'))],
    limit: limit(most),
  })
}

function samplesOf(found: Table): { readonly sample_values: readonly string[]; readonly sample_count: number } {
  const [values, counts] = ['value', 'all'].map((name) => columnValues(found.getChild(name)!, 'UTC'))
  return { sample_values: values!.map(String), sample_count: Number(counts![0] ?? 0) }
}
