import type { ActorColumns } from './columns.ts'
import type { Walk } from './ordered.ts'

// Events of one instant have no order of their own, so that it does not matter in which order they arrived. They are taken by what they can do.

/**
 * The places of an instant's events that a walk reads: what excludes first, then those that can serve fewer steps, because the others may still
 * serve another one.
 */
export function orderInstant(events: ActorColumns, walk: Walk, from: number, to: number, known: number, into: number[]): void {
  into.length = 0
  for (let i = from; i < to; i++) {
    let j = into.length
    while (j > 0 && goesBefore(events, walk, known, i, into[j - 1]!)) {
      into[j] = into[j - 1]!
      j--
    }
    into[j] = i
  }
}

function goesBefore(events: ActorColumns, walk: Walk, known: number, a: number, b: number): boolean {
  const excludes = (i: number) => events.exclusions !== null && events.exclusions[i] !== 0
  if (excludes(a) !== excludes(b)) return excludes(a)
  const [x, y] = [served(events, walk, known, a), served(events, walk, known, b)]
  return ones(x) - ones(y) < 0 || (ones(x) === ones(y) && x >>> 0 < y >>> 0)
}

/** Bits of the steps that an event can serve in a walk. */
function served(events: ActorColumns, walk: Walk, known: number, event: number): number {
  const bits = events.steps[event]! & known
  return walk.valueStep >= 0 && events.breakdown![event] !== walk.stepValue ? bits & ~(1 << walk.valueStep) : bits
}

function ones(bits: number): number {
  let count = 0
  for (let rest = bits; rest !== 0; rest &= rest - 1) count++
  return count
}
