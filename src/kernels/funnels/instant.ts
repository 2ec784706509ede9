import type { ActorColumns } from './columns.ts'
import type { Walk } from './ordered.ts'

// Events of one instant have no order of their own, so that it does not matter in which order they arrived. They are taken by what they can do.

/**
 * The places of an instant's events that a walk reads: what excludes first, then those that can serve fewer steps, because the others may still
 * serve another one. `known`: bits of the steps there are; null for an unordered walk, in which a run begins with an event that has the value.
 */
export function orderInstant(events: ActorColumns, walk: Walk, from: number, to: number, known: number | null, into: number[]): void {
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

function goesBefore(events: ActorColumns, walk: Walk, known: number | null, a: number, b: number): boolean {
  const excludes = (i: number) => events.exclusions !== null && events.exclusions[i] !== 0
  if (excludes(a) !== excludes(b)) return excludes(a)
  const isOther = (i: number) => walk.valueStep >= 0 && events.breakdown![i] !== walk.stepValue
  if (known === null && isOther(a) !== isOther(b)) return isOther(b)
  const serves = (i: number) =>
    known === null ? events.steps[i]! : isOther(i) ? events.steps[i]! & known & ~(1 << walk.valueStep) : events.steps[i]! & known
  const [x, y] = [serves(a), serves(b)]
  return ones(x) - ones(y) < 0 || (ones(x) === ones(y) && x >>> 0 < y >>> 0)
}

function ones(bits: number): number {
  let count = 0
  for (let rest = bits; rest !== 0; rest &= rest - 1) count++
  return count
}
