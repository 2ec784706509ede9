// What a funnel reads: one row per event that matters, grouped by actor and ordered by time.

export const maxSteps = 32

export interface FunnelColumns {
  /** Dense codes from 0. */
  readonly actor: Int32Array
  /** Microseconds since 1970, exact in a double. */
  readonly time: Float64Array
  /** Bit k: the event matches step k. */
  readonly steps: Int32Array
  /** Bit k: the event excludes an attempt that stands at step k. Null when the funnel has no exclusions. */
  readonly exclusions: Int32Array | null
  /** Codes of the breakdown value; null without a breakdown. */
  readonly breakdown: Int32Array | null
}

export interface ActorColumns extends FunnelColumns {
  readonly actors: number
  /** The events of actor `a` are `offsets[a]` to `offsets[a + 1]`. */
  readonly offsets: Int32Array
  /** The place each event had before: leads back to its row. */
  readonly origin: Int32Array
}

/**
 * Orders events by (actor, time), those of equal time in the order they came. A counting sort over the dense codes; inside an actor events are
 * mostly in order already, because the store keeps them as they arrive.
 */
export function groupByActor(columns: FunnelColumns, actors: number): ActorColumns {
  const count = columns.actor.length
  const offsets = new Int32Array(actors + 1)
  for (let i = 0; i < count; i++) offsets[columns.actor[i]! + 1]!++
  for (let a = 0; a < actors; a++) offsets[a + 1]! += offsets[a]!
  const next = offsets.slice(0, actors)
  const origin = new Int32Array(count)
  for (let i = 0; i < count; i++) origin[next[columns.actor[i]!]!++] = i
  for (let a = 0; a < actors; a++) orderByTime(origin, columns.time, offsets[a]!, offsets[a + 1]!)

  const actor = new Int32Array(count)
  const time = new Float64Array(count)
  const steps = new Int32Array(count)
  const exclusions = columns.exclusions ? new Int32Array(count) : null
  const breakdown = columns.breakdown ? new Int32Array(count) : null
  for (let i = 0; i < count; i++) {
    const from = origin[i]!
    actor[i] = columns.actor[from]!
    time[i] = columns.time[from]!
    steps[i] = columns.steps[from]!
    if (exclusions) exclusions[i] = columns.exclusions![from]!
    if (breakdown) breakdown[i] = columns.breakdown![from]!
  }
  return { actor, time, steps, exclusions, breakdown, actors, offsets, origin }
}

/** Stable. Insertion sort while few events are out of place, a library sort for the rest. */
function orderByTime(origin: Int32Array, time: Float64Array, start: number, end: number): void {
  let moves = 0
  const budget = 8 * (end - start)
  for (let i = start + 1; i < end; i++) {
    const row = origin[i]!
    const at = time[row]!
    let j = i - 1
    while (j >= start && time[origin[j]!]! > at) {
      origin[j + 1] = origin[j]!
      j--
    }
    origin[j + 1] = row
    moves += i - 1 - j
    if (moves > budget) {
      origin.subarray(start, end).sort((a, b) => time[a]! - time[b]! || a - b)
      return
    }
  }
}
