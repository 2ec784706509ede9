import { alias, call, callWith, field, from, groupBy, literal, select } from '../../language/ast/build.ts'
import type { Expr } from '../../language/ast/nodes.ts'
import type { QueryContext } from '../kind.ts'
import { named } from '../origin.ts'
import { at, eventsTable } from '../scope.ts'
import { mathFacts, type NumberOf } from '../series/maths.ts'
import type { SeriesNode } from '../series/series.ts'
import { allOf } from '../series/series-condition.ts'
import type { UnitPlan } from './groups.ts'
import { partColumns, partFields, readGroups } from './groups.ts'
import type { PlanContext, StoredParts } from './plan-context.ts'
import { actorOf, pathOf, timeFilter, type Unit } from './unit.ts'

// Math that a single aggregate computes from the events of a bucket.

/** `avg(x)`, `quantile(0.9)(x)` */
export const aggregate = (of: NumberOf, value: Expr): Expr =>
  typeof of === 'number' ? callWith('quantile', { params: [literal(of)], args: [value] }) : call(of, value)

/** The number that sums and averages use, null if it is missing. */
export function numberOf(unit: Unit, env: QueryContext): Expr {
  const { node } = unit
  const path = pathOf(unit)
  const property = node.math_property ?? ''
  const value =
    property === '$time'
      ? call('toUnixTimestamp', field('timestamp'))
      : propertyOf(property, node.math_property_type, `${path}__math_property`, env)
  const number = converted(call('toFloat', value), node, `${path}__math_property_revenue_currency`, env)
  return node.math_multiplier == null ? number : call('multiply', number, literal(node.math_multiplier))
}

function propertyOf(property: string, type: string | null | undefined, attr: string, env: QueryContext): Expr {
  if (type === 'person_properties') return field('person', 'properties', property)
  if (type === 'session_properties') return named(field('session', property), property, attr, env)
  return field('properties', property)
}

function converted(amount: Expr, { math_property_revenue_currency: currency }: SeriesNode, attr: string, env: QueryContext): Expr {
  if (!currency) return amount
  const { baseCurrency = 'USD' } = env.project
  if (currency.static === baseCurrency) return amount
  const given = currency.static ? literal(currency.static) : currency.property ? field('properties', currency.property) : null
  if (!given) return amount
  return named(call('convertCurrency', given, literal(baseCurrency), amount, call('toDate', field('timestamp'))), baseCurrency, attr, env)
}

export interface Aggregation {
  readonly value: Expr
  readonly condition: Expr
}

/** Persons who are created, or split from others, between the read of the largest number and the statement. More in that moment are not counted. */
const laterPersons = 16_384

/** The memory limit for the bitmaps of all buckets together. */
const bitmapBytes = 32 * 2 ** 20

/** Distinct actors of a group. Persons have dense numbers: with few groups, bitmaps are the fastest way to count. */
export function uniqueActors({ unit, env, size, mostParts }: PlanContext): Expr {
  const { expr, group } = actorOf(unit)
  const most = (env.lastPersonNo ?? Number.POSITIVE_INFINITY) + laterPersons
  const isDense = group === null && (size * mostParts * (most + 1)) / 8 <= bitmapBytes
  return isDense ? callWith('uniqNumbers', { params: [literal(most)], args: [expr] }) : call('uniqExact', expr)
}

/**
 * Counts and sums by the stored values first, then by their texts: the engine groups a column with few values by the column's own
 * dictionary, and each value is converted to text once instead of once per event.
 */
function planByStored({ unit, query, bucketOf, events, size }: PlanContext, stored: StoredParts, value: Expr): UnitPlan {
  const bucket = bucketOf(at)
  const names = stored.values.map((_, i) => `stored_${i}`)
  const keys = [...(bucket ? ['bucket'] : []), ...names].map((name) => field(name))
  const inner = select({
    columns: [
      ...(bucket ? [alias(bucket, 'bucket')] : []),
      ...stored.values.map((one, i) => alias(one, names[i]!)),
      alias(value, 'value_of_stored'),
    ],
    from: eventsTable(query.samplingFactor),
    where: allOf(timeFilter(unit), events),
    groupBy: groupBy(...keys),
  })
  const outer = select({
    columns: [
      ...(bucket ? [field('bucket')] : []),
      ...partColumns(stored.texts(names.map((name) => field(name)))),
      alias(call('sum', field('value_of_stored')), 'value'),
    ],
    from: from(inner, 'by_stored'),
    groupBy: groupBy(...(bucket ? [field('bucket')] : []), ...partFields(names.length)),
  })
  return { query: outer, read: (answer) => readGroups(answer, names.length, size) }
}

export function planAggregate(context: PlanContext, { value, condition }: Aggregation): UnitPlan {
  const { parts, size, bucketOf, stored } = context
  const { counts, of } = mathFacts(context.unit.node.math)
  if (stored && (counts === 'events' || of === 'sum')) return planByStored(context, stored, value)
  const bucket = bucketOf(at)
  const query = select({
    columns: [...(bucket ? [alias(bucket, 'bucket')] : []), ...partColumns(parts), alias(value, 'value')],
    from: eventsTable(context.query.samplingFactor),
    where: allOf(timeFilter(context.unit), context.events, condition),
    groupBy: groupBy(...(bucket ? [field('bucket')] : []), ...partFields(parts.length)),
    having: context.having,
  })
  return { query, read: (answer) => readGroups(answer, parts.length, size) }
}

/** Running totals of uniques: each actor counts once, in the bucket where it is first seen. */
export function planFirstSightings(context: PlanContext): UnitPlan {
  const { parts, size, bucketOf } = context
  const actor = actorOf(context.unit)
  const inner = select({
    columns: [...partColumns(parts), alias(actor.expr, 'actor'), alias(call('min', at), 'first_at')],
    from: eventsTable(context.query.samplingFactor),
    where: allOf(timeFilter(context.unit), context.events, actor.condition),
    groupBy: groupBy(...partFields(parts.length), field('actor')),
  })
  const query = select({
    columns: [alias(bucketOf(field('first_at'))!, 'bucket'), ...partFields(parts.length), alias(call('count'), 'value')],
    from: from(inner, 'sightings'),
    groupBy: groupBy(field('bucket'), ...partFields(parts.length)),
  })
  return { query, read: (answer) => readGroups(answer, parts.length, size) }
}

/** The number of a session, null if it is missing. */
export function sessionDuration({ node }: Pick<Unit, 'node'>, duration: Expr = field('session', '$session_duration')): Expr {
  const number = call('toFloat', duration)
  return node.math_multiplier == null ? number : call('multiply', number, literal(node.math_multiplier))
}

/** One number per session, because a session lasts as long however many events it has. */
export function planSessionDuration(context: PlanContext): UnitPlan {
  const { parts, size, bucketOf, unit } = context
  const bucket = bucketOf(at)
  const keys = [...(bucket ? [field('bucket')] : []), ...partFields(parts.length)]
  const duration = call('any', field('session', '$session_duration'))
  const inner = select({
    columns: [
      ...(bucket ? [alias(bucket, 'bucket')] : []),
      ...partColumns(parts),
      alias(field('$session_id'), 'session_key'),
      alias(duration, 'duration'),
    ],
    from: eventsTable(context.query.samplingFactor),
    where: allOf(timeFilter(unit), context.events),
    groupBy: groupBy(...keys, field('session_key')),
  })
  const query = select({
    columns: [...keys, alias(aggregate(mathFacts(unit.node.math).of!, sessionDuration(unit, field('duration'))), 'value')],
    from: from(inner, 'session_lengths'),
    groupBy: groupBy(...keys),
    having: context.having,
  })
  return { query, read: (answer) => readGroups(answer, parts.length, size) }
}

/** Events per actor, then an aggregate over the actors that have any. */
export function planCountPerActor(context: PlanContext): UnitPlan {
  const { parts, size, bucketOf, unit } = context
  const actor = actorOf(unit)
  const bucket = bucketOf(at)
  const keys = [...(bucket ? [field('bucket')] : []), ...partFields(parts.length)]
  const inner = select({
    columns: [
      ...(bucket ? [alias(bucket, 'bucket')] : []),
      ...partColumns(parts),
      alias(actor.expr, 'actor'),
      alias(call('count'), 'events_of_actor'),
    ],
    from: eventsTable(context.query.samplingFactor),
    where: allOf(timeFilter(unit), context.events, actor.condition),
    groupBy: groupBy(...keys, field('actor')),
  })
  const query = select({
    columns: [...keys, alias(aggregate(mathFacts(unit.node.math).of!, field('events_of_actor')), 'value')],
    from: from(inner, 'counts'),
    groupBy: groupBy(...keys),
    having: context.having,
  })
  return { query, read: (answer) => readGroups(answer, parts.length, size) }
}
