import { alias, call, equals, field, from, groupBy, join, literal, select } from '../../../language/ast/build.ts'
import type { Expr, Query } from '../../../language/ast/nodes.ts'
import type { QueryContext } from '../../kind.ts'
import { at, eventsTable, until } from '../../scope.ts'
import { allOf } from '../../series/series-condition.ts'
import { bitmask, bitmaskOf, type FunnelScan, firstTimesOf, readingOf } from '../scan.ts'
import { bit, element, less, list, minus, more, most, over, pair, part, when, whole } from './terms.ts'

// Builds one list of events per actor (and value, and period of entry), which the engine then folds.

/** Events of an actor, in the order they are read. */
const read = { at: 1, steps: 2, excluded: 3, value: 4, uuid: 5 } as const
/** In the order in which they are read; `matched` are all steps that they match, `serves` those that they may serve here. `other`: may not start a run. */
export const taken = { at: 1, order: 2, other: 3, count: 4, known: 5, serves: 6, matched: 7, excluded: 8, uuid: 9 } as const
/** An event on its way to the fold. */
const item = { serves: 1, index: 2, at: 3, matched: 4, excluded: 5 } as const
/**
 * The input of an ordered fold: one item for each step that an event serves, deepest first, because an event that matches two steps serves
 * the deeper one. Step 0: none. The first item of an event says what it excludes, the last which steps stay live.
 */
export const move = { step: 1, index: 2, at: 3, keeps: 4, excludes: 5, isMixed: 6 } as const

/** Columns `actor`, `value`, `period`, `taken` and `ends`. `periods`: starts of the periods of entry, followed by the end of the last; without them `period` is -1. */
export function listsOf(
  scan: FunnelScan,
  cohort: number | 'all' | null,
  options: { readonly steps: number; readonly periods: readonly number[] | null },
  env: QueryContext,
): Query {
  return takenLists(scan, options, entries(scan, options.periods, attributed(scan, masked(scan, cohort, env))))
}

/** One row per actor; with attribution to all events one per actor and value. Steps that only a first event serves are kept for that event only. */
function masked(scan: FunnelScan, cohort: number | 'all' | null, env: QueryContext): Query {
  const reading = readingOf(scan, cohort, env)
  const value = list(...(scan.breakdown.parts.length ? scan.breakdown.parts : [literal('')]))
  const perValue = isSplit(scan) && scan.settings.attribution.type === 'all_events'
  const item = pair(
    call('_toInt64', at),
    call('_toInt64', bitmask(reading.steps)),
    reading.exclusions.length ? call('_toInt64', bitmaskOf(reading.exclusions)) : whole(0),
    value,
    scan.withEvents ? call('toString', field('uuid')) : literal(''),
  )
  const gathered = select({
    columns: [alias(reading.actor, 'actor'), ...(perValue ? [alias(value, 'own_value')] : []), alias(call('groupArray', item), 'events')],
    from: eventsTable(scan.query.samplingFactor),
    where: reading.where,
    groupBy: groupBy(reading.actor, ...(perValue ? [value] : [])),
  })
  if (reading.firstTimes.length === 0) return gathered
  const sources = reading.firstTimes.map(({ condition }) => firstTimesOf(reading.actor, allOf(condition, until(scan.range.to))).query)
  const firsts = sources.map((_, i) => field(`first_${i}`, 'first'))
  const bits = reading.firstTimes.map(({ step }) => 1 << step)
  const kept = (event: Expr): Expr =>
    bits.reduce<Expr>(
      (steps, mask, i) => when(equals(part(event, read.at), firsts[i]!), steps, call('bitAnd', steps, whole(~mask))),
      part(event, read.steps),
    )
  const events = over(
    'arrayMap',
    ['e'],
    (e) => pair(part(e, read.at), kept(e), part(e, read.excluded), part(e, read.value), part(e, read.uuid)),
    field('gathered', 'events'),
  )
  return select({
    columns: [
      alias(field('gathered', 'actor'), 'actor'),
      ...(perValue ? [alias(field('gathered', 'own_value'), 'own_value')] : []),
      alias(events, 'events'),
    ],
    from: sources.reduce(
      (left, query, i) => join(left, from(query, `first_${i}`), equals(field('gathered', 'actor'), field(`first_${i}`, 'actor')), 'left'),
      from(gathered, 'gathered') as Parameters<typeof join>[0],
    ),
  })
}

const isSplit = ({ breakdown }: FunnelScan) => breakdown.parts.length > 0
const noValue = ({ breakdown }: FunnelScan): Expr => list(...(breakdown.parts.length ? breakdown.parts : ['']).map(() => literal('')))

/** The value that each list counts under. */
function attributed(scan: FunnelScan, lists: Query): Query {
  const { attribution } = scan.settings
  const none = noValue(scan)
  const events = field('events')
  const set = over('arrayFilter', ['e'], (e) => call('notEquals', part(e, read.value), none), events)
  /** The value at the earliest or latest time, by `sign`; among several values the smallest. */
  const touched = (sign: 1 | -1): Expr => {
    const moments = over(
      'arrayMap',
      ['e'],
      (e) => pair(sign === 1 ? part(e, read.at) : minus(whole(0), part(e, read.at)), part(e, read.value)),
      set,
    )
    return when(call('empty', set), none, part(element(call('arraySort', moments), 1), 2))
  }
  // Any step of an unordered funnel may come first.
  const serves = (e: Expr, step: number) =>
    scan.settings.order === 'unordered' ? call('notEquals', part(e, read.steps), literal(0)) : bit(part(e, read.steps), step)
  const serving = (step: number) => over('arrayFilter', ['e'], (e) => serves(e, step), events)
  const value = (): Expr => {
    if (!isSplit(scan)) return none
    switch (attribution.type) {
      case 'first_touch':
        return touched(1)
      case 'last_touch':
        return touched(-1)
      case 'all_events':
        return field('own_value')
      case 'step':
        return call(
          'arrayJoin',
          call(
            'arrayDistinct',
            over('arrayMap', ['e'], (e) => part(e, read.value), serving(attribution.step)),
          ),
        )
    }
  }
  return select({ columns: [field('actor'), field('events'), alias(value(), 'value')], from: from(lists) })
}

/** One row per period in which an attempt may begin. */
function entries(scan: FunnelScan, periods: readonly number[] | null, lists: Query): Query {
  if (periods === null)
    return select({ columns: [field('actor'), field('events'), field('value'), alias(whole(-1), 'period')], from: from(lists) })
  const edges = list(...periods.map(whole))
  const enters = (e: Expr) =>
    scan.settings.order === 'unordered' ? call('notEquals', part(e, read.steps), literal(0)) : bit(part(e, read.steps), 0)
  const entering = over('arrayFilter', ['e'], enters, field('events'))
  // The last edge is the end of the range: no event is read after it.
  const period = (e: Expr) =>
    minus(
      over('arrayCount', ['edge'], (edge) => most(edge, part(e, read.at)), edges),
      literal(1),
    )
  const found = call(
    'arrayJoin',
    call(
      'arrayDistinct',
      over('arrayMap', ['e'], (e) => call('_toInt64', period(e)), entering),
    ),
  )
  return select({ columns: [field('actor'), field('events'), field('value'), alias(found, 'period')], from: from(lists) })
}

/** Events in the order in which a fold reads them. */
function takenLists(scan: FunnelScan, { steps, periods }: { steps: number; periods: readonly number[] | null }, lists: Query): Query {
  const { order, attribution } = scan.settings
  const isUnordered = order === 'unordered'
  const all = steps >= 32 ? 0xffff_ffff : 2 ** steps - 1
  const edges = periods && list(...periods.map(whole))
  const begins = edges && element(edges, call('plus', field('period'), literal(1)))
  const ends = edges && element(edges, call('plus', field('period'), literal(2)))
  const isAttributed = isSplit(scan) && attribution.type === 'step'
  const isOther = (e: Expr): Expr => call('notEquals', part(e, read.value), field('value'))
  const known = (e: Expr): Expr => {
    const own = call('bitAnd', part(e, read.steps), whole(isUnordered ? 0xffff_ffff : all))
    return isAttributed && !isUnordered ? when(isOther(e), call('bitAnd', own, whole(~(1 << attribution.step))), own) : own
  }
  const serves = (e: Expr): Expr =>
    ends && !isUnordered ? when(less(part(e, read.at), ends), known(e), call('bitAnd', known(e), whole(~1))) : known(e)
  const events = begins
    ? over('arrayFilter', ['e'], (e) => call('greaterOrEquals', part(e, read.at), begins), field('events'))
    : field('events')
  const ordered = over(
    'arrayMap',
    ['e'],
    (e) =>
      pair(
        part(e, read.at),
        when(equals(part(e, read.excluded), literal(0)), whole(1), whole(0)),
        isAttributed && isUnordered ? when(isOther(e), whole(1), whole(0)) : whole(0),
        call('_toInt64', call('bitCount', known(e))),
        known(e),
        serves(e),
        part(e, read.steps),
        part(e, read.excluded),
        part(e, read.uuid),
      ),
    events,
  )
  return select({
    columns: [field('actor'), field('value'), field('period'), alias(call('arraySort', ordered), 'taken'), alias(ends ?? whole(0), 'ends')],
    from: from(lists),
  })
}

/** The items of ordered and strict folds. Different events of the same time are ordered by step. */
export function orderedMoves(steps: number): Expr {
  const taking = field('taken')
  const items = over(
    'arrayMap',
    ['t', 'n'],
    (t, n) => pair(part(t, taken.serves), call('_toInt64', n), part(t, taken.at), part(t, taken.matched), part(t, taken.excluded)),
    taking,
    call('arrayEnumerate', taking),
  )
  const gaps = call(
    'arrayDifference',
    over('arrayMap', ['t'], (t) => part(t, taken.at), taking),
  )
  const hasTies = more(
    over('arrayCount', ['gap'], (gap) => equals(gap, literal(0)), gaps),
    literal(1),
  )
  const instants = over('arraySplit', ['i', 'gap'], (_, gap) => call('notEquals', gap, literal(0)), items, gaps)
  const plain = (events: Expr): Expr =>
    call(
      'arrayFlatten',
      over('arrayMap', ['i'], (i) => moves(i, steps), events),
    )
  return when(
    hasTies,
    call(
      'arrayFlatten',
      over('arrayMap', ['g'], (g) => when(differ(g), apart(g, steps), plain(g)), instants),
    ),
    plain(items),
  )
}

const positions = (bits: Expr, steps: number): Expr =>
  over('arrayFilter', ['step'], (step) => call('bitTest', bits, step), list(...Array.from({ length: steps }, (_, k) => whole(k))))
const differ = (events: Expr): Expr =>
  more(
    call(
      'arrayUniq',
      over('arrayMap', ['i'], (i) => pair(part(i, item.matched), part(i, item.excluded)), events),
    ),
    literal(1),
  )

function moves(i: Expr, count: number): Expr {
  const move = (step: Expr, keeps: Expr, excludes: Expr) => pair(step, part(i, item.index), part(i, item.at), keeps, excludes, whole(0))
  const steps = positions(part(i, item.serves), count)
  const several = over(
    'arrayMap',
    ['step', 'nth'],
    (step, nth) =>
      move(
        call('plus', step, whole(1)),
        when(equals(nth, call('length', steps)), part(i, item.matched), whole(-1)),
        when(equals(nth, literal(1)), part(i, item.excluded), whole(0)),
      ),
    call('arrayReverse', steps),
    call('arrayEnumerate', steps),
  )
  return when(equals(part(i, item.serves), literal(0)), list(move(whole(0), part(i, item.matched), part(i, item.excluded))), several)
}

/** For events of the same time: each event for each of its steps, ordered by step. */
function apart(events: Expr, steps: number): Expr {
  const pairs = over(
    'arrayMap',
    ['i'],
    (i) =>
      over(
        'arrayMap',
        ['step'],
        (step) => pair(call('plus', step, whole(1)), part(i, item.index), part(i, item.at), whole(-1), whole(0), whole(1)),
        positions(part(i, item.serves), steps),
      ),
    events,
  )
  return call('arraySort', call('arrayFlatten', pairs))
}

/** The items of an unordered fold: events, the steps that each may serve, and whether it may not start a run. */
export function unorderedItems(steps: number): Expr {
  const taking = field('taken')
  return over(
    'arrayMap',
    ['t', 'n'],
    (t, n) =>
      pair(
        part(t, taken.at),
        call('_toInt64', n),
        positions(part(t, taken.serves), steps),
        part(t, taken.excluded),
        field('ends'),
        part(t, taken.other),
      ),
    taking,
    call('arrayEnumerate', taking),
  )
}
