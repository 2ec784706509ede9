import { and, call, equals, field, lambda, literal, not, or } from '../../../language/ast/build.ts'
import type { Expr } from '../../../language/ast/nodes.ts'
import { move, orderedMoves } from './lists.ts'
import { element, less, list, longestWindow, minus, more, most, never, noneOf, over, pair, part, partsOf, when, whole } from './terms.ts'

// The fold of ordered and strict funnels as one expression, whose length does not grow with the steps. The accumulator holds for each step the
// live attempt that has reached it (its start, whether it is excluded, its events), followed by the best attempt. The engine folds
// all actors at the same time.

export interface OrderedTerms {
  readonly steps: number
  readonly window: number
  readonly isStrict: boolean
  /** Bit k: step k is optional. */
  readonly optional: number
  readonly hasExclusions: boolean
}

/** A used event: its time and its index in the actor's list. Index 0: a skipped step. */
const leftOut = pair(whole(never), whole(0))

/** A tuple: the depth of the best attempt (0 if it is excluded), and the events that it used by step. */
export function orderedFold({ steps, window, isStrict, optional, hasExclusions }: OrderedTerms): Expr {
  const { begun, marked, ways, depth, best, bestBegun, bestMarked } = partsOf(
    field('acc'),
    'begun',
    'marked',
    'ways',
    'depth',
    'best',
    'bestBegun',
    'bestMarked',
  )
  const of = (name: keyof typeof move) => part(field('m'), move[name])
  const [step, at] = [of('step'), of('at')]
  const isWithin = (since: Expr) => most(minus(at, since), whole(Math.min(window, longestWindow)))
  const numbers = list(...Array.from({ length: steps }, (_, k) => whole(k)))

  // An exclusion affects attempts that have reached one of its steps but not the next. Attempts at the last step are complete.
  const excludes = call('bitAnd', of('excludes'), whole(2 ** (steps - 1) - 1))
  const isMet = (since: Expr, next: Expr, k: Expr) => and(call('bitTest', excludes, k), isWithin(since), not(equals(next, since)))
  const following = call('arrayPushBack', call('arrayPopFront', begun), whole(never))
  const markedNow = hasExclusions
    ? over(
        'arrayMap',
        ['mark', 'since', 'next', 'k'],
        (mark, since, next, k) => when(isMet(since, next, k), whole(1), mark),
        marked,
        begun,
        following,
        numbers,
      )
    : marked
  const bestMarkedNow = hasExclusions
    ? when(
        and(
          more(depth, literal(0)),
          isMet(element(begun, depth), element(following, depth), call('greatest', minus(depth, literal(1)), whole(0))),
          isWithin(bestBegun),
        ),
        whole(1),
        bestMarked,
      )
    : bestMarked

  /** The step whose attempt advances: the previous one, or, across optional steps, the nearest with a live attempt within the window. */
  const before = optional
    ? call(
        '_toInt64',
        over(
          'arrayLastIndex',
          ['since', 'k'],
          (since, k) => and(less(k, minus(step, literal(1))), or(isWithin(since), not(call('bitTest', whole(optional), k)))),
          begun,
          numbers,
        ),
      )
    : minus(step, literal(1))
  const isFirst = equals(step, literal(1))
  const used = pair(at, of('index'))
  const start = when(isFirst, at, element(begun, before))
  const way = when(
    isFirst,
    list(used),
    call(
      'arrayPushBack',
      optional ? call('arrayResize', element(ways, before), minus(step, literal(1)), leftOut) : element(ways, before),
      used,
    ),
  )
  const mark = when(isFirst, whole(0), element(markedNow, before))
  const isReached = and(
    more(step, literal(0)),
    or(isFirst, isWithin(start)),
    not(equals(element(begun, step), start)), // this attempt is past it
    or(isFirst, equals(of('isMixed'), literal(0)), not(call('has', element(ways, before), used))),
  )
  // An excluded attempt counts at the step that it reaches, and ends there; an attempt without exclusion at that step stays.
  const isKept = hasExclusions ? and(isReached, equals(mark, literal(0))) : isReached
  const put = (items: Expr, value: Expr) =>
    when(
      isKept,
      call(
        'arrayConcat',
        call('arraySlice', items, literal(1), minus(step, literal(1))),
        list(value),
        call('arraySlice', items, call('plus', step, literal(1))),
      ),
      items,
    )
  const begunNow = put(begun, start)
  const kept = isStrict
    ? over('arrayMap', ['since', 'k'], (since, k) => when(call('bitTest', of('keeps'), k), since, whole(never)), begunNow, numbers)
    : begunNow
  const isBetter = and(isReached, or(more(step, depth), and(equals(step, depth), equals(bestMarkedNow, literal(1)))))
  const next = pair(
    kept,
    hasExclusions ? put(markedNow, mark) : marked,
    put(ways, way),
    when(isBetter, step, depth),
    when(isBetter, way, best),
    when(isBetter, start, bestBegun),
    hasExclusions ? when(isBetter, mark, bestMarkedNow) : bestMarked,
  )
  const noWay = noneOf(leftOut)
  const repeated = (value: Expr) => list(...Array.from({ length: steps }, () => value))
  const first = pair(repeated(whole(never)), repeated(whole(0)), repeated(noWay), whole(0), noWay, whole(never), whole(0))
  const folded = call('arrayFold', lambda(['acc', 'm'], next), orderedMoves(steps), first)
  // Folded once, read twice.
  const end = field('end')
  const read = pair(when(equals(part(end, 7), literal(1)), whole(0), part(end, 4)), part(end, 5))
  return element(call('arrayMap', lambda(['end'], read), list(folded)), 1)
}
