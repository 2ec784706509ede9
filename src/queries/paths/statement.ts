import { noSpan } from '../../errors/span.ts'
import { alias, and, call, callWith, equals, field, from, groupBy, limit, literal, not, order, select } from '../../language/ast/build.ts'
import type { Expr, Query, Select, WindowSpec } from '../../language/ast/nodes.ts'
import { allOf } from '../series/series-condition.ts'
import { filterOf, type PathsPlan } from './plan.ts'
import { skippedItem, visits } from './visits.ts'

// Paths as one statement of window functions: events by time, sessions, items without repetition, the part of the path that is asked for, its edges.

/** More places than any path has. */
const nowhere = 2 ** 40

const plus = (a: Expr, b: Expr) => call('plus', a, b)
const minus = (a: Expr, b: Expr) => call('minus', a, b)
const atLeast = (a: Expr, b: Expr) => call('greaterOrEquals', a, b)
const atMost = (a: Expr, b: Expr) => call('lessOrEquals', a, b)
const when = (condition: Expr, then: Expr, otherwise: Expr) => call('if', condition, then, otherwise)
const fieldsOf = (...names: readonly string[]) => names.map((name) => field(name))

const over = (partitionBy: readonly string[], orderBy: readonly string[] = []): WindowSpec => ({
  kind: 'window',
  partitionBy: fieldsOf(...partitionBy),
  orderBy: orderBy.map((name) => order(field(name))),
  frame: null,
  span: noSpan,
})
const inWindow = (name: string, window: WindowSpec, ...args: readonly Expr[]) => callWith(name, { args, over: window })

const ofActor = over(['actor'], ['at', 'record'])
const inSession = over(['actor', 'session'], ['at', 'record'])
const ofSession = over(['actor', 'session'])
const alongPath = over(['actor', 'session'], ['step'])

/** One row per item of a session, with its place from 1 on. Of the same item several times in a row, the last one counts. */
function places(plan: PathsPlan): Select {
  const gap = literal(plan.gap)
  const neighbours = select({
    columns: [
      ...fieldsOf('actor', 'at', 'record', 'item'),
      alias(minus(field('at'), inWindow('lag', ofActor, field('at'), literal(1), field('at'))), 'since_last'),
      alias(minus(inWindow('lead', ofActor, field('at'), literal(1), field('at')), field('at')), 'until_next'),
      alias(inWindow('lead', ofActor, field('item'), literal(1), literal('')), 'next_item'),
    ],
    from: from(visits(plan), 'visits_found'),
  })
  const sessions = select({
    columns: [
      ...fieldsOf('actor', 'at', 'record', 'item'),
      alias(not(and(equals(field('next_item'), field('item')), call('less', field('until_next'), gap))), 'is_last'),
      alias(inWindow('sum', ofActor, when(atLeast(field('since_last'), gap), literal(1), literal(0))), 'session'),
    ],
    from: from(neighbours, 'neighbours'),
  })
  return select({
    columns: [...fieldsOf('actor', 'session', 'at', 'item'), alias(inWindow('row_number', inSession), 'place')],
    from: from(sessions, 'sessions'),
    where: field('is_last'),
  })
}

/** With the first place of an item in each session, from another place on. */
const withPlaceOf = (item: string, name: string, columns: readonly string[], rows: Select, isThere: Expr = literal(true)): Select =>
  select({
    columns: [
      ...fieldsOf(...columns),
      alias(inWindow('min', ofSession, when(allOf(equals(field('item'), literal(item)), isThere), field('place'), literal(nowhere))), name),
    ],
    from: from(rows, `with_${name}`),
  })

/** The part of each path that is asked for, with steps from 1 on. */
function steps(plan: PathsPlan): Select {
  const { start, end } = plan
  const most = literal(plan.steps)
  const own = ['actor', 'session', 'at', 'item', 'place']
  const [place, first, last] = fieldsOf('place', 'first_place', 'last_place') as [Expr, Expr, Expr]
  const cut = (rows: Select, step: Expr, where: Expr, item: Expr = field('item')): Select =>
    select({ columns: [...fieldsOf('actor', 'session', 'at'), alias(item, 'item'), alias(step, 'step')], from: from(rows, 'parts'), where })
  const all = places(plan)
  if (start === null && end === null) return cut(all, place, atMost(place, most))
  if (end === null) {
    const rows = withPlaceOf(start!, 'first_place', own, all)
    return cut(rows, plus(minus(place, first), literal(1)), and(atLeast(place, first), call('less', place, plus(first, most))))
  }
  if (start === null) {
    const rows = withPlaceOf(end, 'last_place', own, all)
    const before = call('greatest', minus(last, most), literal(0))
    const isPart = and(call('less', last, literal(nowhere)), atMost(place, last), call('greater', place, before))
    return cut(rows, minus(place, before), isPart)
  }
  // Between both; of a longer path the first and the last items, with a gap between them.
  const begun = withPlaceOf(start, 'first_place', own, all)
  const rows = withPlaceOf(end, 'last_place', [...own, 'first_place'], begun, atLeast(place, first))
  const numbered = select({
    columns: [
      ...fieldsOf('actor', 'session', 'at', 'item'),
      alias(plus(minus(place, first), literal(1)), 'nth'),
      alias(plus(minus(last, first), literal(1)), 'length'),
    ],
    from: from(rows, 'bounded'),
    where: and(call('less', last, literal(nowhere)), atLeast(place, first), atMost(place, last)),
  })
  const [nth, length] = fieldsOf('nth', 'length') as [Expr, Expr]
  const half = Math.floor(plan.steps / 2)
  const isShort = atMost(length, most)
  const isGap = equals(nth, literal(half + 1))
  const isTail = call('greater', nth, minus(length, literal(half)))
  const fromEnd = plus(minus(nth, length), literal(2 * half + 1))
  return cut(
    numbered,
    call('multiIf', isShort, nth, isTail, fromEnd, nth),
    call('or', isShort, atMost(nth, literal(half)), isGap, isTail),
    when(and(not(isShort), isGap), literal(skippedItem), field('item')),
  )
}

/**
 * One row per item of a path: its step, the item before it ('' at the first one), the microseconds since then, and with `withLength` the steps of the
 * whole path.
 */
export const windowedSteps = (plan: PathsPlan, { withLength = false } = {}): Select =>
  select({
    columns: [
      ...fieldsOf('actor', 'item', 'step'),
      alias(inWindow('lag', alongPath, field('item'), literal(1), literal('')), 'source'),
      alias(minus(field('at'), inWindow('lag', alongPath, field('at'), literal(1), field('at'))), 'took'),
      ...(withLength ? [alias(inWindow('count', ofSession), 'steps')] : []),
    ],
    from: from(steps(plan), 'shown'),
  })

export const keyOf = (step: Expr, item: Expr): Expr => call('concat', call('toString', step), literal('_'), item)

/** The heaviest edges of steps, one more than are shown. */
export function pathEdges(plan: PathsPlan, steps: Select): Query {
  const { minEdgeWeight, maxEdgeWeight } = filterOf(plan.query)
  const [step, source, item] = fieldsOf('step', 'source', 'item') as [Expr, Expr, Expr]
  const weight = call('count')
  const having = allOf(
    minEdgeWeight ? atLeast(weight, literal(minEdgeWeight)) : literal(true),
    maxEdgeWeight ? atMost(weight, literal(maxEdgeWeight)) : literal(true),
  )
  const counted = select({
    columns: [
      alias(keyOf(minus(step, literal(1)), source), 'source_key'),
      alias(keyOf(step, item), 'target_key'),
      alias(weight, 'paths'),
      alias(call('sum', call('toFloat', field('took'))), 'took_all'),
    ],
    from: from(steps, 'path_steps'),
    where: call('greater', step, literal(1)),
    groupBy: groupBy(step, source, item),
    having,
  })
  return select({
    columns: fieldsOf('source_key', 'target_key', 'paths', 'took_all'),
    from: from(counted, 'edges'),
    orderBy: [order(field('paths'), 'desc'), order(field('source_key')), order(field('target_key'))],
    limit: limit(plan.edges + 1),
  })
}
