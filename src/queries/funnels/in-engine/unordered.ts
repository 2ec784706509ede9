import { and, call, equals, field, lambda, literal, not, or } from '../../../language/ast/build.ts'
import type { Expr } from '../../../language/ast/nodes.ts'
import { unorderedItems } from './lists.ts'
import { element, length, less, list, longestWindow, minus, more, never, noneOf, over, pair, part, partsOf, when, whole } from './terms.ts'

// The fold of unordered funnels as one expression. The accumulator holds the current run (the times of its events, the steps that they serve, the events),
// followed by the best run so far.

export interface UnorderedTerms {
  readonly steps: number
  readonly window: number
  /** A run starts before the end of the list's period. */
  readonly hasPeriods: boolean
}

/** A tuple: the most steps done in one run, and its events ordered by time. */
export function unorderedFold({ steps, window, hasPeriods }: UnorderedTerms): Expr {
  const acc = field('acc')
  const { at, index, candidates, excluded, ends, other } = partsOf(field('i'), 'at', 'index', 'candidates', 'excluded', 'ends', 'other')
  const { times, served, uses, depth, best } = partsOf(acc, 'times', 'served', 'uses', 'depth', 'best')
  const done = (list: Expr) => call('_toInt64', call('arrayUniq', list))
  /** The first event of each step. */
  const firsts = (steps: Expr, of: Expr) =>
    over('arrayFilter', ['u', 'nth'], (_, nth) => equals(nth, literal(1)), of, call('arrayEnumerateUniq', steps, steps))

  // Events that have left the window; what the run had done before counts.
  const past = call(
    '_toInt64',
    over('arrayCount', ['t'], (t) => more(minus(at, t), whole(Math.min(window, longestWindow))), times),
  )
  const rest = (list: Expr) => call('arraySlice', list, call('plus', past, literal(1)))
  const isRecord = and(more(past, literal(0)), more(done(served), depth))
  const depthBefore = when(isRecord, done(served), depth)
  const bestBefore = when(isRecord, firsts(served, uses), best)
  const hasEnded = hasPeriods
    ? call('greaterOrEquals', when(call('empty', rest(times)), at, element(rest(times), 1)), ends)
    : literal(false)

  const isLost = not(equals(excluded, literal(0)))
  const isFirstStep = and(isLost, equals(depthBefore, literal(0)), more(length(rest(times)), literal(0)), not(hasEnded))
  const latest = (step: Expr) =>
    call(
      'arrayMax',
      call(
        'arrayPushFront',
        over('arrayMap', ['t', 's'], (t, s) => when(equals(s, step), t, whole(never)), rest(times), rest(served)),
        whole(never),
      ),
    )
  const oldest = part(
    element(
      call(
        'arraySort',
        over('arrayMap', ['c'], (c) => pair(latest(c), c), candidates),
      ),
      1,
    ),
    2,
  )
  const step = when(less(length(candidates), literal(2)), element(candidates, 1), oldest)
  const mayBegin = or(equals(other, literal(0)), call('notEmpty', rest(times)))
  const isTaken = and(not(isLost), not(hasEnded), more(length(candidates), literal(0)), mayBegin)
  const emptied = noneOf(whole(0))
  const grown = (old: Expr, by: Expr) =>
    when(isTaken, call('arrayPushBack', rest(old), by), when(and(isLost, not(hasEnded)), emptied, rest(old)))
  const usesAfter = when(
    isTaken,
    call('arrayPushBack', rest(uses), pair(at, index)),
    when(and(isLost, not(hasEnded)), noneOf(pair(whole(0), whole(0))), rest(uses)),
  )
  const servedAfter = grown(served, step)
  const isComplete = and(isTaken, equals(done(servedAfter), literal(steps)), less(depthBefore, literal(steps)))
  const next = pair(
    grown(times, at),
    servedAfter,
    usesAfter,
    when(isComplete, whole(steps), when(isFirstStep, whole(1), depthBefore)),
    when(isComplete, firsts(servedAfter, usesAfter), when(isFirstStep, call('arraySlice', rest(uses), literal(1), literal(1)), bestBefore)),
  )
  const noUses = noneOf(pair(whole(0), whole(0)))
  const first = pair(emptied, emptied, noUses, whole(0), noUses)
  const folded = call('arrayFold', lambda(['acc', 'i'], next), unorderedItems(steps), first)
  const end = field('end')
  const isLast = more(done(part(end, 2)), part(end, 4))
  const result = pair(when(isLast, done(part(end, 2)), part(end, 4)), when(isLast, firsts(part(end, 2), part(end, 3)), part(end, 5)))
  return element(call('arrayMap', lambda(['end'], result), list(folded)), 1)
}
