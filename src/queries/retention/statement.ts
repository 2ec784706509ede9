import { noSpan } from '../../errors/span.ts'
import {
  alias,
  and,
  call,
  callWith,
  equals,
  field,
  from,
  groupBy,
  join,
  literal,
  or,
  select,
  table,
  tuple,
} from '../../language/ast/build.ts'
import type { Cte, Expr, Query, Select } from '../../language/ast/nodes.ts'
import { at, eventsTable, memberOf, since, until } from '../scope.ts'
import { allOf } from '../series/series-condition.ts'
import { bucketNumber } from '../time/bucket-number.ts'
import { hasFirst, type RetentionPlan } from './plan.ts'

// A retention as one statement: the ticks in which actors start or return, and each start joined with the returns after it.

/** The cohort that a breakdown by cohorts is read for. */
export type CohortSplit = number | 'all' | null

export const partColumn = (i: number): string => `breakdown_${i}`
const partNames = ({ parts }: RetentionPlan): string[] => parts.map((_, i) => partColumn(i))
const partFields = (plan: RetentionPlan): Expr[] => partNames(plan).map((name) => field(name))
const isAbove = (expr: Expr, least: number): Expr => call('greater', expr, literal(least))
const isSet = (name: string): Expr => isAbove(field(name), 0)

/** Ticks in which an actor starts or returns. */
const ticksName = 'retention_ticks'
/** A tick before the range. */
const noTick = -1
/** Events that start or return, with the number of their tick. */
function events(plan: RetentionPlan, cohort: CohortSplit): Select {
  const { query, range, ticks, actor, start, named, returning, filters, parts, value, isSame, type } = plan
  const isFirst = hasFirst(plan)
  const searched = type === 'first ever' ? named : start
  const inRange = call('greaterOrEquals', at, literal(range.from))
  const tick = isFirst ? call('if', inRange, bucketNumber(at, ticks), literal(noTick)) : bucketNumber(at, ticks)
  const where = isFirst
    ? allOf(until(range.to), filters, or(searched, allOf(since(range.from), returning)))
    : allOf(since(range.from), until(range.to), filters, or(start, returning))
  const inner = select({
    columns: [
      alias(actor, 'actor'),
      ...parts.map((part, i) => alias(part, partColumn(i))),
      alias(tick, 'tick'),
      alias(at, 'at'),
      alias(field('@log_seq'), 'record'),
      alias(start, 'starts'),
      alias(type === 'first ever' ? named : literal(true), 'is_named'),
      alias(returning, 'returns'),
      ...(value ? [alias(value, 'number')] : []),
    ],
    from: eventsTable(query.samplingFactor),
    where: cohort === null || cohort === 'all' ? where : and(where, memberOf(cohort)),
  })
  if (!value || isSame) return inner
  // In the interval of the start, what follows the first start counts.
  const over = {
    kind: 'window' as const,
    partitionBy: [field('actor'), ...keysOfEvents(plan), field('tick')],
    orderBy: [],
    frame: null,
    span: noSpan,
  }
  return select({
    columns: [
      ...['actor', ...partNames(plan), 'tick', 'at', 'record', 'starts', 'is_named', 'returns', 'number'].map((name) => field(name)),
      alias(callWith('min', { args: [call('if', field('starts'), field('at'), literal(null))], over }), 'first_start'),
    ],
    from: from(inner, 'found'),
  })
}

/** The value of an event splits its actor, except where only the first one does. */
const keysOfEvents = (plan: RetentionPlan): Expr[] => (plan.type === 'first ever' ? [] : partFields(plan))

/** One row per actor, value of the breakdown and tick. */
function byTick(plan: RetentionPlan, cohort: CohortSplit): Select {
  const { value, isSame, type } = plan
  const keys = [field('actor'), ...keysOfEvents(plan), field('tick')]
  const order = tuple(field('at'), field('record'))
  const size = isSame
    ? call('sumIf', field('number'), field('starts'))
    : call('sumIf', field('number'), and(field('returns'), call('greater', field('at'), field('first_start'))))
  return select({
    columns: [
      ...keys,
      alias(call('countIf', field('starts')), 'starts_in'),
      alias(call('countIf', field('returns')), 'returns_in'),
      ...(hasFirst(plan) ? [alias(call('minIf', field('at'), field('starts')), 'first_at')] : []),
      ...(type === 'first ever'
        ? [
            alias(call('countIf', field('is_named')), 'named_in'),
            alias(call('minIf', field('at'), field('is_named')), 'first_named'),
            ...partNames(plan).map((name) => alias(call('argMinIf', field(name), order, field('starts')), `first_${name}`)),
          ]
        : []),
      ...(value ? [alias(size, 'size_number'), alias(call('sumIf', field('number'), field('returns')), 'return_number')] : []),
    ],
    from: from(events(plan, cohort), 'events_found'),
    groupBy: groupBy(...keys),
  })
}

/** Where the intervals of actors begin: at every tick with a start, or at one per actor. */
function starts(plan: RetentionPlan): Select {
  const { type, hasWindows, ticks, range } = plan
  const isStart = isSet('starts_in')
  if (type === 'recurring' && !hasWindows)
    return select({
      columns: [field('actor'), ...partFields(plan), alias(field('tick'), 'start_tick')],
      from: table(ticksName),
      where: isStart,
    })
  const first = hasFirst(plan) ? call('minIf', field('first_at'), isStart) : null
  const having = first
    ? allOf(
        isAbove(call('countIf', isStart), 0),
        call('greaterOrEquals', first, literal(range.from)),
        ...(type === 'first ever' ? [equals(first, call('minIf', field('first_named'), isSet('named_in')))] : []),
      )
    : isAbove(call('countIf', isStart), 0)
  return select({
    columns: [
      field('actor'),
      ...partNames(plan).map((name) =>
        type === 'first ever' ? alias(call('argMinIf', field(`first_${name}`), field('first_at'), isStart), name) : field(name),
      ),
      alias(first ? bucketNumber(first, ticks) : call('minIf', field('tick'), isStart), 'start_tick'),
    ],
    from: table(ticksName),
    groupBy: groupBy(field('actor'), ...keysOfEvents(plan)),
    having,
  })
}

/** One row per start, and tick that counts after it: a return, or the start itself, which counts as the size of the row. */
function startsAndReturns(plan: RetentionPlan): Select {
  const { type, value, hasWindows, minimum, width, offsets } = plan
  const own = (name: string) => field('s', name)
  const other = (name: string) => field('r', name)
  // With windows, ticks are shorter than what has to be filled.
  const enough = call('greaterOrEquals', field('returns_in'), literal(hasWindows ? 1 : minimum))
  const returns = select({
    columns: [
      field('actor'),
      ...keysOfEvents(plan),
      alias(field('tick'), 'return_tick'),
      alias(call('if', enough, field('returns_in'), literal(0)), 'return_count'),
      ...(value ? [field('size_number'), field('return_number')] : []),
    ],
    from: table(ticksName),
    where: allOf(or(enough, isSet('starts_in')), hasFirst(plan) ? call('greaterOrEquals', field('tick'), literal(0)) : literal(true)),
  })
  const shared = ['actor', ...(type === 'first ever' ? [] : partNames(plan))]
  const ticks = call('minus', other('return_tick'), own('start_tick'))
  const isSize = equals(other('return_tick'), own('start_tick'))
  const isInside = and(
    call('greaterOrEquals', ticks, literal(width)),
    call('less', ticks, literal(offsets.at(-1)! * width)),
    call('greater', other('return_count'), literal(0)),
  )
  return select({
    columns: [
      ...['actor', ...partNames(plan), 'start_tick'].map((name) => alias(own(name), name)),
      alias(width === 1 ? ticks : call('intDiv', ticks, literal(width)), 'offset'),
      ...(hasWindows ? [alias(other('return_count'), 'return_count')] : []),
      ...(value ? [alias(call('if', isSize, other('size_number'), other('return_number')), 'number')] : []),
    ],
    from: join(from(starts(plan), 's'), from(returns, 'r'), and(...shared.map((name) => equals(own(name), other(name))))),
    where: or(isSize, isInside),
  })
}

/** One row per actor, value of the breakdown, row and value in it. */
export function retentionCells(plan: RetentionPlan, cohort: CohortSplit): Select {
  const { value, hasWindows, hasBrackets, minimum, offsets, rowTicks } = plan
  const numbers = value ? [field('number')] : []
  const actors = [field('actor'), ...partFields(plan), field('row')]
  const pairs = from(startsAndReturns(plan), 'pairs')
  const placed = [field('actor'), ...partFields(plan), alias(bucketNumber(field('start_tick'), rowTicks), 'row'), field('offset')]
  const isSize = equals(field('offset'), literal(0))
  // A tick is a calendar interval, and comes once; windows have several.
  const filled: Select = hasWindows
    ? select({
        columns: placed,
        from: pairs,
        groupBy: groupBy(...actors, field('offset')),
        having: minimum > 1 ? or(isSize, isAbove(call('sum', field('return_count')), minimum - 1)) : null,
      })
    : select({ columns: [...placed, ...numbers], from: pairs })
  const column = hasBrackets
    ? call('if', isSize, literal(0), call('plus', bucketNumber(field('offset'), offsets), literal(1)))
    : field('offset')
  const valued = select({ columns: [...actors, alias(column, 'value'), ...numbers], from: from(filled, 'filled') })
  const ticks: Cte = {
    kind: 'cte',
    name: ticksName,
    columns: [],
    materialized: null,
    usingKey: [],
    body: byTick(plan, cohort),
    span: noSpan,
  }
  if (!hasBrackets) return { ...valued, with: [ticks] }
  return select({
    with: [ticks],
    columns: [...actors, field('value'), ...(value ? [alias(call('sum', field('number')), 'number')] : [])],
    from: from(valued, 'valued'),
    groupBy: groupBy(...actors, field('value')),
  })
}

/** Numbers of actors per row, value and value of the breakdown. A cumulative retention counts each actor in the last value that it reaches. */
export function retentionCounts(plan: RetentionPlan, cohort: CohortSplit): Query {
  const cells = retentionCells(plan, cohort)
  const reached = plan.isCumulative
    ? select({
        columns: [field('actor'), ...partFields(plan), field('row'), alias(call('max', field('value')), 'reached')],
        from: from(cells, 'cells'),
        groupBy: groupBy(field('actor'), ...partFields(plan), field('row')),
      })
    : cells
  const keys = [field('row'), field(plan.isCumulative ? 'reached' : 'value'), ...partFields(plan)]
  return select({
    columns: [
      alias(keys[0]!, 'row_number'),
      alias(keys[1]!, 'value_number'),
      ...partFields(plan),
      alias(call('count'), 'actors'),
      ...(plan.value ? [alias(call('sum', field('number')), 'amount')] : []),
    ],
    from: from(reached, 'reached_cells'),
    groupBy: groupBy(...keys),
  })
}
