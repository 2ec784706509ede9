import type { ActorColumns } from './columns.ts'
import type { Walk } from './walk.ts'

// Events of one instant have no order of their own, so that it does not matter in which order they arrived. They are taken by what they can do.

/**
 * The places of an instant's events that a walk reads: what excludes first, then those that can serve fewer steps, because the others may still
 * serve another one. `known`: bits of the steps there are; null for an unordered walk, in which a run begins with an event that has the value.
 */
export function orderInstant(events: ActorColumns, walk: Walk, from: number, to: number, known: number | null, into: number[]): void {
  into.length = 0
  if (to - from > few) {
    byRank(events, walk, from, to, known, into)
    return
  }
  for (let i = from; i < to; i++) {
    const rank = rankOf(events, walk, known, i)
    let j = into.length
    while (j > 0 && rank < rankOf(events, walk, known, into[j - 1]!)) {
      into[j] = into[j - 1]!
      j--
    }
    into[j] = i
  }
}

const few = 8

/** Many events of one instant are of few ranks. */
function byRank(events: ActorColumns, walk: Walk, from: number, to: number, known: number | null, into: number[]): void {
  const places = new Map<number, number[]>()
  for (let i = from; i < to; i++) {
    const rank = rankOf(events, walk, known, i)
    const list = places.get(rank)
    if (list) list.push(i)
    else places.set(rank, [i])
  }
  for (const rank of [...places.keys()].sort((a, b) => a - b)) for (const i of places.get(rank)!) into.push(i)
}

/** Lower goes first: whether it excludes, whether it may begin a run, how many steps it serves, which. */
function rankOf(events: ActorColumns, walk: Walk, known: number | null, event: number): number {
  const excludes = events.exclusions !== null && events.exclusions[event] !== 0
  const isOther = walk.valueStep >= 0 && events.breakdown![event] !== walk.stepValue
  let bits = events.steps[event]!
  if (known !== null) bits &= isOther ? known & ~(1 << walk.valueStep) : known
  const first = (excludes ? 0 : 2) + (known === null && isOther ? 1 : 0)
  return (first * 64 + ones(bits)) * 2 ** 32 + (bits >>> 0)
}

function ones(bits: number): number {
  let count = 0
  for (let rest = bits; rest !== 0; rest &= rest - 1) count++
  return count
}
