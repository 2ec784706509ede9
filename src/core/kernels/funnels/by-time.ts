import type { ActorColumns } from './columns.ts'

// The events of one actor in order of time. Most are in order already, because the store keeps the order of arrival.

export const isOrdered = (time: Float64Array, start: number, end: number): boolean => {
  for (let i = start + 1; i < end; i++) if (time[i]! < time[i - 1]!) return false
  return true
}

const few = 64
const rowsBetweenPauses = 1 << 18
const isPause = (rows: number): boolean => rows % rowsBetweenPauses === rowsBetweenPauses - 1

/** Stable: events of equal time keep their order. Yields regularly if there are many. */
export function* orderByTime(events: ActorColumns, start: number, end: number): Generator<void, void, void> {
  const { time } = events
  const order = new Int32Array(end - start)
  for (let i = 0; i < order.length; i++) order[i] = start + i
  if (order.length <= few) insert(order, time)
  else yield* mergeRuns(order, time)
  for (const column of columnsOf(events)) {
    permute(column, order, start, end)
    if (order.length > rowsBetweenPauses) yield
  }
}

const columnsOf = ({ time, steps, exclusions, breakdown, origin }: ActorColumns) =>
  [time, steps, exclusions, breakdown, origin].filter((column) => column !== null)

/** Groups events by breakdown value, in their original order. */
export interface ValueRuns {
  readonly values: readonly number[]
  /** The events of the `n`th value are `starts[n]` to `starts[n + 1]`. */
  readonly starts: readonly number[]
}

/** Sorts the events of one actor by the first appearance of their value; events of a value keep their order. Yields regularly. */
export function* orderByValue(events: ActorColumns, start: number, end: number): Generator<void, ValueRuns, void> {
  const breakdown = events.breakdown!
  const indexes = new Map<number, number>()
  const counts: number[] = []
  for (let i = start; i < end; i++) {
    const value = breakdown[i]!
    const index = indexes.get(value)
    if (index === undefined) {
      indexes.set(value, counts.length)
      counts.push(1)
    } else counts[index]!++
    if (isPause(i - start)) yield
  }
  const starts = [start]
  for (const count of counts) starts.push(starts.at(-1)! + count)
  const values = [...indexes.keys()]
  if (values.length === 1) return { values, starts }
  const next = starts.slice()
  const order = new Int32Array(end - start)
  for (let i = start; i < end; i++) {
    order[next[indexes.get(breakdown[i]!)!]!++ - start] = i
    if (isPause(i - start)) yield
  }
  for (const column of columnsOf(events)) {
    permute(column, order, start, end)
    if (order.length > rowsBetweenPauses) yield
  }
  return { values, starts }
}

function insert(order: Int32Array, time: Float64Array): void {
  for (let i = 1; i < order.length; i++) {
    const event = order[i]!
    const at = time[event]!
    let j = i - 1
    while (j >= 0 && time[order[j]!]! > at) {
      order[j + 1] = order[j]!
      j--
    }
    order[j + 1] = event
  }
}

/** Merges neighbouring runs until there is one. A sorted input takes one pass. */
function* mergeRuns(order: Int32Array, time: Float64Array): Generator<void, void, void> {
  let starts = runStarts(order, time)
  let from: Int32Array = order
  let into: Int32Array = new Int32Array(order.length)
  let unpaused = 0
  while (starts.length > 2) {
    const merged = [0]
    for (let run = 0; run < starts.length - 1; run += 2) {
      const [left, middle, right] = [starts[run]!, starts[run + 1]!, starts[run + 2] ?? starts[run + 1]!]
      let a = left
      let b = middle
      for (let index = left; index < right; index++) {
        into[index] = b >= right || (a < middle && time[from[a]!]! <= time[from[b]!]!) ? from[a++]! : from[b++]!
        if (++unpaused === rowsBetweenPauses) {
          unpaused = 0
          yield
        }
      }
      merged.push(right)
    }
    starts = merged
    ;[from, into] = [into, from]
  }
  if (from !== order) order.set(from)
}

/** The starts of the runs, and the end of the last one. */
function runStarts(order: Int32Array, time: Float64Array): number[] {
  const starts = [0]
  for (let i = 1; i < order.length; i++) if (time[order[i]!]! < time[order[i - 1]!]!) starts.push(i)
  starts.push(order.length)
  return starts
}

function permute(column: Float64Array | Int32Array, order: Int32Array, start: number, end: number): void {
  const before = column.slice(start, end)
  for (let i = 0; i < order.length; i++) column[start + i] = before[order[i]! - start]!
}
