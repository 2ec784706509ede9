import type { Table } from 'apache-arrow'
import { type LifecycleCounts, noLifecycle } from '../../core/folds/lifecycle.ts'
import { alias, call, field, groupBy, literal, select } from '../../language/ast/build.ts'
import type { Query } from '../../language/ast/nodes.ts'
import { startOf } from '../../lib/time/calendar.ts'
import type { Micros } from '../../lib/time/zone.ts'
import { codesOf, doubles, integers, TextCodes } from '../answers/vectors.ts'
import { along, type QueryContext, type QueryRun } from '../kind.ts'
import { at, eventsTable, inSample, person, since, until } from '../scope.ts'
import { allOf, nodeCondition, queryFilters } from '../series/series-condition.ts'
import { bucketNumber } from '../time/bucket-number.ts'
import { bucketEdges } from '../time/buckets.ts'
import { type ResolvedRange, resolveDateRange } from '../time/dates.ts'
import { earliestFor } from '../time/earliest.ts'
import { type ActiveRows, type ActivityOverLists, listedActivity, listedStatuses } from './listed.ts'
import { type LifecycleQuery, type Status, statuses } from './schema.ts'

export interface StatusCounts {
  readonly range: ResolvedRange
  readonly counts: Readonly<Record<Status, Float64Array>>
}

export interface Activity {
  readonly range: ResolvedRange
  /** One per actor and bucket in which it has a status. */
  readonly found: readonly { readonly actor: number | string; readonly bucket: number; readonly status: Status }[]
}

/** Without a profile nobody was created, and nobody comes back. */
const hasProfile = call('notEquals', field('person_mode'), literal('propertyless'))

interface Asked {
  readonly range: ResolvedRange
  readonly over: ActivityOverLists
  /** One row per actor and bucket. */
  readonly statement: Query
}

/** Reads one bucket before the range, because it decides who is returning. */
function* asked(query: LifecycleQuery, env: QueryContext): QueryRun<Asked> {
  const interval = query.interval ?? 'day'
  const earliest = yield* earliestFor(query.dateRange)
  const range = resolveDateRange(query.dateRange, interval, env, { earliest })
  const inside = bucketEdges(range)
  const edges = [startOf(interval, inside[0]! - 1, range.calendar), ...inside]
  const group = query.aggregation_group_type_index ?? null
  const actor = group === null ? person : field(`$group_${group}`)
  const created = call('toUnixTimestamp', field(group === null ? 'person' : `group_${group}`, 'created_at'))
  // An actor who is active later in the last bucket counts in it; likewise in the bucket before the first.
  const times = { from: edges[0]!, to: edges.at(-1)! - 1 }
  const condition = allOf(nodeCondition(query.series[0]!, env, 'series__0'), queryFilters(query, env), hasProfile)
  const columns = [alias(actor, 'actor'), alias(bucketNumber(at, edges), 'bucket'), alias(call('min', created), 'created')]
  const where = allOf(since(times.from), until(times.to), condition, group === null ? literal(true) : call('notEquals', actor, literal('')))
  return {
    range,
    over: { condition: allOf(condition, inSample(query.samplingFactor)), group, created, times, edges },
    statement: select({ columns, from: eventsTable(query.samplingFactor), where, groupBy: groupBy(field('actor'), field('bucket')) }),
  }
}

/** How many actors have a status in each bucket. */
export function* statusCounts(query: LifecycleQuery, env: QueryContext): QueryRun<StatusCounts> {
  const { range, over, statement } = yield* asked(query, env)
  const buckets = over.edges.length - 2
  const counts = yield* along<LifecycleCounts>({
    label: 'actors by status and bucket',
    lists: () => listedStatuses(over, env),
    statement: () => ({
      query: statement,
      read: (table) => countsOf(statusesOf(rowsOf(table, over.group !== null), over.edges), buckets),
    }),
  })
  const { fresh, returning, resurrecting, dormant } = counts
  return { range, counts: { new: fresh, returning, resurrecting, dormant } }
}

function countsOf(found: Activity['found'], buckets: number): LifecycleCounts {
  const counts = noLifecycle(buckets)
  for (const { bucket, status } of found) counts[status === 'new' ? 'fresh' : status][bucket]!++
  return counts
}

/** The statuses of each actor per bucket. */
export function* lifecycleOf(query: LifecycleQuery, env: QueryContext): QueryRun<Activity> {
  const { range, over, statement } = yield* asked(query, env)
  const rows = yield* along<ActiveRows>({
    label: 'activity by actor and bucket',
    lists: () => listedActivity(over, env),
    statement: () => ({ query: statement, read: (table) => rowsOf(table, over.group !== null) }),
  })
  return { range, found: statusesOf(rows, over.edges) }
}

function rowsOf(table: Table, isGroup: boolean): ActiveRows {
  const codes = new TextCodes()
  const actors = isGroup ? codesOf(table, 'actor', codes) : integers(table, 'actor')
  const created = doubles(table, 'created')
  return {
    actors,
    buckets: integers(table, 'bucket'),
    createdAt: (row) => created[row]!,
    name: (code) => (isGroup ? codes.values[code]! : code),
  }
}

function statusesOf({ actors, buckets, createdAt, name }: ActiveRows, edges: readonly Micros[]): Activity['found'] {
  const byActor = new Map<number, { active: Set<number>; created: number }>()
  actors.forEach((actor, i) => {
    const known = byActor.get(actor)
    if (known) known.active.add(buckets[i]!)
    else byActor.set(actor, { active: new Set([buckets[i]!]), created: createdAt(i) * 1e6 })
  })
  const found: { actor: number | string; bucket: number; status: Status }[] = []
  // Bucket 0 lies before the range.
  for (const [code, { active, created }] of byActor) {
    const actor = name(code)
    for (const bucket of active) {
      if (bucket > 0) {
        const isNew = created >= edges[bucket]! && created < edges[bucket + 1]!
        const status = isNew ? 'new' : active.has(bucket - 1) ? 'returning' : 'resurrecting'
        found.push({ actor, bucket: bucket - 1, status })
      }
      if (!active.has(bucket + 1) && bucket + 1 < edges.length - 1) found.push({ actor, bucket, status: 'dormant' })
    }
  }
  return found
}

export const wantedStatuses = (query: LifecycleQuery): readonly Status[] => {
  const toggled = query.lifecycleFilter?.toggledLifecycles
  return toggled?.length ? statuses.filter((status) => toggled.includes(status)) : statuses
}
