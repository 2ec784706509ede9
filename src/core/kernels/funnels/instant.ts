import type { ActorColumns } from './columns.ts'
import type { Walk } from './walk.ts'

// Events of the same time have no order, so the result must not depend on their order of arrival. They are ordered by what they can do.

/**
 * The indexes of the events of one time in the order of a walk: exclusions first, then events that match fewer steps, because the others may still
 * serve another step. `known`: bits of the existing steps; null for an unordered walk, in which a run starts with an event that has the value.
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

/** Many events of the same time have few different ranks. */
function byRank(events: ActorColumns, walk: Walk, from: number, to: number, known: number | null, into: number[]): void {
  const ranks = new Map<number, number[]>()
  for (let i = from; i < to; i++) {
    const rank = rankOf(events, walk, known, i)
    const list = ranks.get(rank)
    if (list) list.push(i)
    else ranks.set(rank, [i])
  }
  for (const rank of [...ranks.keys()].sort((a, b) => a - b)) for (const i of ranks.get(rank)!) into.push(i)
}

/** Lower ranks come first: by whether it excludes, whether it may start a run, how many steps it matches, and which. */
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
