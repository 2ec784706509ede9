import { alias, call, equals, field, from, groupBy, literal, select, tuple } from '../../language/ast/build.ts'
import type { Expr, Query } from '../../language/ast/nodes.ts'
import { at, eventsTable, until } from '../scope.ts'
import { mathFacts } from '../series/maths.ts'
import { allOf, nodeMatch } from '../series/series-condition.ts'
import { partColumn, partFields, readGroups, type UnitPlan } from './groups.ts'
import type { PlanContext } from './plan-context.ts'
import { actorOf, cohortFilter, pathOf } from './unit.ts'

// Actors whose first event ever is within the range. The search for it has no start, so the range's start applies to the first event only.

/** One row per actor: when its first event was, and the breakdown of that event. */
export function firstEvents(context: PlanContext, isTrueOfFirst: Expr, isTrueOfAll: Expr): Query {
  const { unit, query, parts } = context
  const actor = actorOf(unit)
  // Of events at the same time the one that arrived first is the first, and any of them may satisfy the filters.
  const order = tuple(at, field('@log_seq'))
  return select({
    columns: [
      alias(actor.expr, 'actor'),
      alias(call('min', at), 'first_at'),
      alias(call('minIf', at, isTrueOfFirst), 'matching_at'),
      ...parts.map((part, i) => alias(call('argMinIf', part, order, isTrueOfFirst), partColumn(i))),
    ],
    from: eventsTable(query.samplingFactor),
    where: allOf(until(unit.range.to), nodeMatch(unit.node, context.env, pathOf(unit)), isTrueOfAll, cohortFilter(unit), actor.condition),
    groupBy: groupBy(field('actor')),
  })
}

export const isFirstInRange = ({ unit }: PlanContext): Expr =>
  allOf(equals(field('first_at'), field('matching_at')), call('greaterOrEquals', field('first_at'), literal(unit.range.firstEvent)))

export function planFirstTime(context: PlanContext): UnitPlan {
  const { parts, size, bucketOf, unit, filters } = context
  const inner = mathFacts(unit.node.math).ignoresFilters
    ? firstEvents(context, filters, literal(true))
    : firstEvents(context, literal(true), filters)
  const bucket = bucketOf(field('first_at'))
  const keys = [...(bucket ? [field('bucket')] : []), ...partFields(parts.length)]
  const query = select({
    columns: [...(bucket ? [alias(bucket, 'bucket')] : []), ...partFields(parts.length), alias(call('count'), 'value')],
    from: from(inner, 'firsts'),
    where: isFirstInRange(context),
    groupBy: groupBy(...keys),
    having: context.having,
  })
  return { query, read: (answer) => readGroups(answer, parts.length, size) }
}
