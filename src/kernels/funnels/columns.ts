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

export interface ActorColumns extends Omit<FunnelColumns, 'actor'> {
  readonly actors: number
  /** The events of actor `a` are `offsets[a]` to `offsets[a + 1]`. */
  readonly offsets: Int32Array
  /** The place each event had before: leads back to its row. Null when nobody asks. */
  readonly origin: Int32Array | null
}

const eventsBetweenPauses = 1 << 19

/**
 * Orders events by (actor, time), those of equal time in the order they came. A counting sort over the dense codes; inside an actor events are
 * mostly in order already, because the store keeps them as they arrive. Pauses now and then, for whoever drives it to stop it.
 */
export function* groupByActor(columns: FunnelColumns, actors: number, withOrigin = false): Generator<void, ActorColumns, void> {
  const { actor } = columns
  const count = actor.length
  const offsets = new Int32Array(actors + 1)
  for (let i = 0; i < count; i++) offsets[actor[i]! + 1]!++
  for (let a = 0; a < actors; a++) offsets[a + 1]! += offsets[a]!
  yield
  const grouped: ActorColumns = {
    actors,
    offsets,
    time: new Float64Array(count),
    steps: new Int32Array(count),
    exclusions: columns.exclusions && new Int32Array(count),
    breakdown: columns.breakdown && new Int32Array(count),
    origin: withOrigin ? new Int32Array(count) : null,
  }
  const next = offsets.slice(0, actors)
  for (let from = 0; from < count; from += eventsBetweenPauses) {
    scatter(columns, grouped, next, from, Math.min(count, from + eventsBetweenPauses))
    yield
  }
  let unpaused = 0
  for (let a = 0; a < actors; a++) {
    const [start, end] = [offsets[a]!, offsets[a + 1]!]
    if (!isOrdered(grouped.time, start, end)) orderByTime(grouped, start, end)
    unpaused += end - start
    if (unpaused < eventsBetweenPauses) continue
    unpaused = 0
    yield
  }
  return grouped
}

function scatter(columns: FunnelColumns, grouped: ActorColumns, next: Int32Array, from: number, to: number): void {
  const { actor, time, steps, exclusions, breakdown } = columns
  const out = grouped
  for (let i = from; i < to; i++) {
    const place = next[actor[i]!]!++
    out.time[place] = time[i]!
    out.steps[place] = steps[i]!
    if (exclusions !== null) out.exclusions![place] = exclusions[i]!
    if (breakdown !== null) out.breakdown![place] = breakdown[i]!
    if (out.origin !== null) out.origin[place] = i
  }
}

function isOrdered(time: Float64Array, start: number, end: number): boolean {
  for (let i = start + 1; i < end; i++) if (time[i]! < time[i - 1]!) return false
  return true
}

/** Stable. Insertion sort while few events are out of place, a library sort for the rest. */
function orderByTime(grouped: ActorColumns, start: number, end: number): void {
  const { time } = grouped
  const order = Int32Array.from({ length: end - start }, (_, i) => start + i)
  let budget = 8 * order.length
  for (let i = 1; i < order.length && budget >= 0; i++) {
    const event = order[i]!
    let j = i - 1
    while (j >= 0 && time[order[j]!]! > time[event]!) {
      order[j + 1] = order[j]!
      j--
    }
    order[j + 1] = event
    budget -= i - 1 - j
  }
  if (budget < 0) order.sort((a, b) => time[a]! - time[b]! || a - b)
  for (const column of [time, grouped.steps, grouped.exclusions, grouped.breakdown, grouped.origin])
    if (column !== null) permute(column, order, start, end)
}

function permute(column: Float64Array | Int32Array, order: Int32Array, start: number, end: number): void {
  const before = column.slice(start, end)
  for (let i = 0; i < order.length; i++) column[start + i] = before[order[i]! - start]!
}
