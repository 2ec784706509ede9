import { alias, and, call, callWith, equals, field, from, groupBy, literal, not, or, select } from '../../../language/ast/build.ts'
import type { Expr, Query, QuerySource } from '../../../language/ast/nodes.ts'
import type { QueryContext } from '../../kind.ts'
import { at, eventsTable } from '../../scope.ts'
import type { SeriesNode } from '../../series/series.ts'
import { bitmask, type FunnelScan, type Reading, readingOf } from '../scan.ts'
import type { taken } from './lists.ts'
import { orderedFold } from './ordered.ts'
import { choose, element, less, list, minus, more, most, never, over, pair, part, when, whole } from './terms.ts'

// The usual funnel: in order, without exclusions and optional steps. It needs no fold that goes from event to event: each step is a pass over the lists of all
// actors at once, in which an event either serves the step, and then has the start of the attempt that it carries on, or has none.
//
// An event is one number: the time since the beginning of the range, and in its last bits the steps that it matches.

/** How events are numbered. */
interface Coding {
  readonly bits: number
  /** The last bits of an event. */
  readonly tag: (steps: readonly Expr[]) => Expr
  serves(code: Expr, step: number): Expr
  /** An event may match several steps. */
  readonly areMixed: boolean
}

/** Numbers stay below 2^62, and every event has one. */
const mostBits = 62
const mostMixedSteps = 16
const none = literal(0)

function codingOf({ query, range }: FunnelScan, steps: number): Coding | null {
  const areMixed = !haveOwnNames(query.series.slice(0, steps))
  const bits = areMixed ? steps : Math.ceil(Math.log2(steps + 1))
  if (steps > mostMixedSteps && areMixed) return null
  if (Math.log2(Math.max(2, range.to - range.from)) + bits >= mostBits) return null
  if (areMixed) return { bits, tag: bitmask, serves: (code, step) => call('bitTest', code, literal(step)), areMixed }
  return {
    bits,
    tag: (conditions) =>
      choose(
        conditions.map((condition, step) => [condition, literal(step + 1)] as const),
        literal(0),
      ),
    serves: (code, step) => equals(call('bitAnd', code, whole(2 ** bits - 1)), whole(step + 1)),
    areMixed,
  }
}

/** No event can match two of them. */
const haveOwnNames = (series: readonly SeriesNode[]): boolean => {
  const names = series.map((node) => (node.kind === 'EventsNode' ? node.event : null))
  return names.every((name) => name != null) && new Set(names).size === names.length
}

/** Columns `actor`, `value`, `period`, `depth` and `times`, as `outcomes` has them; null for a funnel of another kind. */
export function plainOutcomes(
  scan: FunnelScan,
  cohort: number | 'all' | null,
  { steps, periods }: { readonly steps: number; readonly periods: readonly number[] | null },
  env: QueryContext,
): Query | null {
  const { settings, breakdown, query } = scan
  const isPlain =
    settings.order === 'ordered' &&
    settings.optional === 0 &&
    (query.funnelsFilter?.exclusions ?? []).length === 0 &&
    !(breakdown.parts.length > 0 && settings.attribution.type === 'step')
  const coding = codingOf(scan, steps)
  if (!isPlain || scan.withEvents || !coding) return null
  const reading = readingOf(scan, cohort, env)
  if (reading.firstTimes.length > 0) return null
  const gathered = gather(scan, reading, steps, coding)
  const entered = periods === null ? null : perPeriod(from(gathered), periods, scan, coding)
  const passed = passes(entered ?? gathered, settings.window, steps, coding, periods !== null)
  return best(scan, { steps, hasEnds: periods !== null }, coding, passed)
}

/** One row per actor, or per actor and value: its events in order. */
function gather(scan: FunnelScan, { actor, steps: conditions, where }: Reading, steps: number, { bits, tag }: Coding): Query {
  const { breakdown, range, settings } = scan
  const noValue = list(...(breakdown.parts.length ? breakdown.parts : ['']).map(() => literal('')))
  const value = breakdown.parts.length ? list(...breakdown.parts) : noValue
  const isSet = call('notEquals', value, noValue)
  /** Of the earliest time, or of the latest by `sign`; among several values the smallest. */
  const touched = (sign: 1 | -1) => {
    const moment = sign === 1 ? call('_toInt64', at) : minus(whole(0), call('_toInt64', at))
    const found = callWith('argMin', { args: [value, pair(moment, value)], filter: isSet })
    return when(equals(callWith('count', { filter: isSet }), literal(0)), noValue, found)
  }
  const perValue = breakdown.parts.length > 0 && settings.attribution.type === 'all_events'
  const ofActor = breakdown.parts.length === 0 ? noValue : perValue ? value : touched(settings.attribution.type === 'first_touch' ? 1 : -1)
  const since = call('multiply', minus(call('_toInt64', at), whole(range.from)), literal(2 ** bits))
  const code = call('plus', since, call('_toInt64', tag(conditions.slice(0, steps))))
  return select({
    columns: [
      alias(actor, 'actor'),
      alias(ofActor, 'value'),
      alias(whole(-1), 'period'),
      alias(call('arraySort', call('groupArray', code)), 'events'),
    ],
    from: eventsTable(scan.query.samplingFactor),
    where,
    groupBy: groupBy(actor, ...(perValue ? [value] : [])),
  })
}

/** Beyond 2^53 a number of JavaScript is not exact. */
const ofCode = (time: number, bits: number): Expr => call('multiply', whole(time), whole(2 ** bits))
const timeOf = (code: Expr, { bits }: Coding): Expr => call('bitShiftRight', code, literal(bits))

/** One row per period in which an attempt may begin, before `ends` as events are numbered. `periods`: their starts, followed by the end of the last. */
function perPeriod(gathered: QuerySource, periods: readonly number[], { range }: FunnelScan, coding: Coding): Query {
  const edges = list(...periods.map((edge) => ofCode(Math.max(0, edge - range.from), coding.bits)))
  const period = (code: Expr) =>
    minus(
      call(
        '_toInt64',
        over('arrayCount', ['edge'], (edge) => most(edge, code), edges),
      ),
      whole(1),
    )
  const entering = over('arrayFilter', ['x'], (x) => coding.serves(x, 0), field('events'))
  const found = call('arrayJoin', call('arrayDistinct', over('arrayMap', ['x'], period, entering)))
  const edge = (after: number) => element(edges, call('plus', field('period'), literal(after)))
  const split = select({ columns: [field('actor'), field('value'), field('events'), alias(found, 'period')], from: gathered })
  return select({
    columns: [
      field('actor'),
      field('value'),
      alias(
        over('arrayFilter', ['x'], (x) => not(less(x, edge(1))), field('events')),
        'events',
      ),
      field('period'),
      alias(edge(2), 'ends'),
    ],
    from: from(split),
  })
}

const startsAt = (step: number) => `starts_${step}`

/** Adds for each step the starts of the attempts that reach it, event by event: 1 + the time; 0 where none does. */
function passes(entered: Query, window: number, steps: number, coding: Coding, hasEnds: boolean): Query {
  const kept = ['actor', 'value', 'period', 'events', ...(hasEnds ? ['ends'] : [])]
  const instant = (code: Expr) => call('plus', timeOf(code, coding), literal(1))
  const begins = (x: Expr) => (hasEnds ? and(coding.serves(x, 0), less(x, field('ends'))) : coding.serves(x, 0))
  const first = over('arrayMap', ['x'], (x) => when(begins(x), instant(x), none), field('events'))
  let query = select({ columns: [...kept.map((name) => field(name)), alias(first, startsAt(0))], from: from(entered) })
  for (let step = 1; step < steps; step++) {
    const before = over('arrayFill', ['s'], (s) => more(s, none), field(startsAt(step - 1)))
    /** The latest attempt at the step before, of earlier events. */
    const live = call('arrayPushFront', call('arrayPopBack', before), none)
    const isReached = (x: Expr, s: Expr) => and(coding.serves(x, step), more(s, none), most(minus(instant(x), s), literal(window)))
    const reached = over('arrayMap', ['x', 's'], (x, s) => when(isReached(x, s), s, none), field('events'), live)
    const names = [...kept, ...Array.from({ length: step }, (_, earlier) => startsAt(earlier))]
    query = select({ columns: [...names.map((name) => field(name)), alias(reached, startsAt(step))], from: from(query) })
  }
  return query
}

interface Shape {
  readonly steps: number
  /** Attempts begin before `ends`. */
  readonly hasEnds: boolean
}

/** The attempt that counts: the first one that gets furthest. */
function best(scan: FunnelScan, { steps, hasEnds }: Shape, coding: Coding, passed: Query): Query {
  const all = Array.from({ length: steps }, (_, step) => step)
  const first = (step: number) => over('arrayFirst', ['s'], (s) => more(s, none), field(startsAt(step)))
  const chosen = choose(
    all.toReversed().map((step) => [more(first(step), none), pair(whole(step + 1), first(step))] as const),
    pair(none, none),
  )
  const carried = ['actor', 'value', 'period', 'events', ...(hasEnds ? ['ends'] : []), ...all.map(startsAt)].map((name) => field(name))
  const found = select({ columns: [...carried, alias(chosen, 'best')], from: from(passed) })
  const [depth, start] = [part(field('best'), 1), part(field('best'), 2)]
  const place = (step: number) => call('indexOf', field(startsAt(step)), start)
  const instant = (step: number) => call('plus', timeOf(element(field('events'), place(step)), coding), whole(scan.range.from))
  const times = list(...all.map((step) => when(more(depth, literal(step)), instant(step), whole(never))))
  const named = [field('actor'), field('value'), field('period')]
  const shown = (depth: Expr, times: Expr, source: Query) =>
    select({ columns: [...named, alias(depth, 'depth'), alias(times, 'times')], from: from(source), where: more(depth, none) })
  if (!coding.areMixed) return shown(depth, times, found)
  const either = when(hasMixedInstants(coding), oneByOne(scan, { steps, hasEnds }, coding), pair(depth, times))
  const settled = select({ columns: [...named, alias(either, 'outcome')], from: from(found) })
  return shown(part(field('outcome'), 1), part(field('outcome'), 2), settled)
}

/** Different events of the same time, one of which matches several steps: only the fold gives each of them one step. */
function hasMixedInstants(coding: Coding): Expr {
  const tag = (code: Expr) => call('bitAnd', code, whole(2 ** coding.bits - 1))
  const isSeveral = (code: Expr) => more(call('bitCount', tag(code)), literal(1))
  const isMixed = (x: Expr, before: Expr) =>
    and(not(equals(x, before)), equals(timeOf(x, coding), timeOf(before, coding)), or(isSeveral(x), isSeveral(before)))
  const before = call('arrayPushFront', call('arrayPopBack', field('events')), whole(-1))
  return over('arrayExists', ['x', 'before'], isMixed, field('events'), before)
}

/** The same outcome from the fold. */
function oneByOne({ settings, range }: FunnelScan, { steps, hasEnds }: Shape, coding: Coding): Expr {
  const matched = (code: Expr) => call('bitAnd', code, whole(2 ** coding.bits - 1))
  const item = (code: Expr): Record<keyof typeof taken, Expr> => ({
    at: call('plus', timeOf(code, coding), whole(range.from)),
    order: whole(1),
    other: whole(0),
    count: call('_toInt64', call('bitCount', matched(code))),
    known: matched(code),
    serves: hasEnds ? when(less(code, field('ends')), matched(code), call('bitAnd', matched(code), whole(-2))) : matched(code),
    matched: matched(code),
    excluded: whole(0),
    uuid: literal(''),
  })
  const items = call(
    'arraySort',
    over('arrayMap', ['x'], (x) => pair(...Object.values(item(x))), field('events')),
  )
  const fold = orderedFold({ steps, window: settings.window, isStrict: false, optional: 0, hasExclusions: false })
  const result = (end: Expr) =>
    pair(
      part(end, 1),
      over('arrayMap', ['u'], (u) => part(u, 1), part(end, 2)),
    )
  return element(
    over('arrayMap', ['taken'], () => element(over('arrayMap', ['folded'], result, list(fold)), 1), list(items)),
    1,
  )
}
