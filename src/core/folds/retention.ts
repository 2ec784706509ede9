import type { Fold, Matching, PlacedColumn } from './fold.ts'
import { Matches } from './matches.ts'
import { PersonEvents } from './person-events.ts'
import { RowsByGroup } from './rows-by-group.ts'
import { Edges } from './series/edges.ts'
import { Groups } from './series/groups.ts'

// In which intervals after their start actors return. Bits of an event: 1 it starts, 2 it returns, 4 it starts but for its filters.

const starts = 1
const returns = 2
const isNamed = 4

export interface RetentionParams {
  readonly matching: Matching
  readonly type: 'recurring' | 'first time' | 'first ever'
  /** The first event has to be from then on. */
  readonly from: number
  /** Starts of the ticks by which times are counted, and the end of the last one. */
  readonly ticks: Float64Array
  /** The row of each tick. */
  readonly rowOf: Int32Array
  readonly rows: number
  /** Values in a row. Value 0 counts those who start. */
  readonly columns: number
  /** Ticks in an interval after the start. */
  readonly width: number
  /** By intervals after the start, the value that they count in; 0 or behind the end: none. */
  readonly columnOf: Int32Array
  /** Intervals start with each actor. */
  readonly hasWindows: boolean
  /** Returns that an interval needs. */
  readonly minimum: number
  /** Counts only the last value that an actor reaches. */
  readonly isCumulative: boolean
  readonly splits: readonly PlacedColumn[]
  /** What is summed; null: actors are only counted. */
  readonly number: PlacedColumn | null
  /** The same events start and return. */
  readonly isSame: boolean
}

/** By group, then row, then value. Null: there are too many groups. */
export type RetentionPart = {
  readonly combinations: readonly number[]
  readonly counts: Float64Array
  readonly amounts: Float64Array | null
} | null

/** Numbers of all groups together. */
const mostCells = 1 << 22

export const retentionFold: Fold<RetentionParams, RetentionPart> = {
  name: 'retention',
  over: 'persons',
  conditions: ({ matching }) => matching,
  *run(lists, params, from, to) {
    const events = params.splits.length > 0 || params.number !== null ? null : PersonEvents.of(lists, params.matching, to)
    if (events) return yield* ofPersons(events, params, from, to)
    const groups = Groups.of(params.splits)
    if (!groups) return null
    const cells = params.rows * params.columns
    const counter = new Counter(params)
    const matches = new Matches(params.matching)
    const edges = new Edges(params.ticks)
    const isSplit = params.splits.length > 0
    const byGroup = new RowsByGroup()
    let tickOf = new Int32Array(0)
    let groupOf = new Int32Array(0)
    let all = new Int32Array(0)
    for (let person = from; person < to; ) {
      person = matches.fill(lists, person, to)
      if (tickOf.length < matches.index.length) {
        tickOf = new Int32Array(matches.index.length)
        groupOf = new Int32Array(matches.index.length)
        all = new Int32Array(matches.index.length)
      }
      edges.count(matches, tickOf, { less: 1, outside: -1 })
      groups.number(matches, all, groupOf)
      if (groups.count * cells > mostCells) return null
      counter.grow(groups.count)
      for (let at = 0; at < matches.persons; at++) {
        const [first, end] = [matches.offsets[at]!, matches.offsets[at + 1]!]
        if (!isSplit) counter.add(matches, at, first, end, null, tickOf, 0)
        else if (params.type === 'first ever') {
          const group = counter.groupOfFirst(matches, first, end, groupOf, lists.seq)
          if (group >= 0) counter.add(matches, at, first, end, null, tickOf, group)
        } else
          for (const { group, from: begin, to: until } of byGroup.order(groupOf, first, end, groups.count))
            counter.add(matches, at, begin, until, byGroup.rows, tickOf, group)
      }
      yield
    }
    const size = groups.count * cells
    return {
      combinations: groups.combinations,
      counts: counter.counts.slice(0, size),
      amounts: counter.amounts?.slice(0, size) ?? null,
    }
  },
  join(parts, { rows, columns }) {
    if (parts.length === 1) return parts[0]!
    const cells = rows * columns
    const numbers = new Map<number, number>()
    for (const part of parts) {
      if (!part) return null
      for (const combination of part.combinations) if (!numbers.has(combination)) numbers.set(combination, numbers.size)
    }
    if (numbers.size * cells > mostCells) return null
    const counts = new Float64Array(numbers.size * cells)
    const amounts = parts.some((part) => part!.amounts) ? new Float64Array(numbers.size * cells) : null
    for (const part of parts)
      part!.combinations.forEach((combination, group) => {
        const at = numbers.get(combination)! * cells
        for (let cell = 0; cell < cells; cell++) {
          counts[at + cell]! += part!.counts[group * cells + cell]!
          if (amounts) amounts[at + cell]! += part!.amounts![group * cells + cell]!
        }
      })
    return { combinations: [...numbers.keys()], counts, amounts }
  },
}

/** Events that are read between two pauses; a person without any takes time, too. */
const mostRead = 1 << 19
const readPerPerson = 16

/** One group, and nothing is summed: reads the events where they are. */
function* ofPersons(events: PersonEvents, params: RetentionParams, from: number, to: number): Generator<void, RetentionPart, void> {
  const counter = new Counter(params)
  counter.grow(1)
  const edges = new Edges(params.ticks)
  let isEmpty = true
  for (let person = from, read = 0; person < to; person++) {
    if (read >= mostRead) {
      read = 0
      yield
    }
    const count = events.open(person)
    read += count + readPerPerson
    if (count > 0 && counter.addEvents(events, edges)) isEmpty = false
  }
  return isEmpty
    ? { combinations: [], counts: new Float64Array(0), amounts: null }
    : { combinations: [0], counts: counter.counts, amounts: null }
}

/** Counts one actor after the other. The ticks of an actor are kept in lists that are reused. */
class Counter {
  private readonly params: RetentionParams
  private readonly cells: number
  counts = new Float64Array(0)
  amounts: Float64Array | null
  /** The ticks in which the actor starts or returns, in order, and how often. */
  private touched: Int32Array = new Int32Array(64)
  private startsIn: Int32Array = new Int32Array(64)
  private returnsIn: Int32Array = new Int32Array(64)
  private firstStart: Float64Array = new Float64Array(64)
  private sizeNumber: Float64Array = new Float64Array(64)
  private returnNumber: Float64Array = new Float64Array(64)

  constructor(params: RetentionParams) {
    this.params = params
    this.cells = params.rows * params.columns
    this.amounts = params.number && new Float64Array(0)
  }

  grow(groups: number): void {
    const size = groups * this.cells
    if (size <= this.counts.length) return
    const length = Math.max(size, this.counts.length * 2)
    this.counts = longer(this.counts, length)
    this.amounts = this.amounts && longer(this.amounts, length)
  }

  /** The group of the first event that starts; of events at the same time, of the one that arrived first. -1: none. */
  groupOfFirst(
    { index, time, bits }: Matches,
    first: number,
    end: number,
    groupOf: Int32Array,
    seq: { readonly [i: number]: number },
  ): number {
    let best = -1
    for (let row = first; row < end; row++) {
      if ((bits[row]! & starts) === 0) continue
      if (best < 0) best = row
      else if (time[row]! > time[best]!) break
      else if (seq[index[row]!]! < seq[index[best]!]!) best = row
    }
    return best < 0 ? -1 : groupOf[best]!
  }

  /** Counts rows of an actor in a group of cells. `rows`: their numbers from `first` to `end`; null: these are the numbers. */
  add(
    { index, time, bits, person }: Matches,
    at: number,
    first: number,
    end: number,
    rows: Int32Array | null,
    tickOf: Int32Array,
    group: number,
  ): void {
    const { number, isSame } = this.params
    let anchor = -1
    let named = Number.POSITIVE_INFINITY
    let began = Number.POSITIVE_INFINITY
    let count = 0
    for (let place = first; place < end; place++) {
      const row = rows === null ? place : rows[place]!
      const mask = bits[row]!
      const tick = tickOf[row]!
      const when = time[row]!
      if ((mask & isNamed) !== 0 && when < named) named = when
      if ((mask & starts) !== 0 && when < began) {
        began = when
        anchor = tick
      }
      if (tick < 0 || (mask & (starts | returns)) === 0) continue
      if (count === 0 || this.touched[count - 1] !== tick) {
        if (count === this.touched.length) this.widen()
        this.touched[count] = tick
        this.startsIn[count] = 0
        this.returnsIn[count] = 0
        this.firstStart[count] = Number.POSITIVE_INFINITY
        this.sizeNumber[count] = 0
        this.returnNumber[count] = 0
        count++
      }
      const here = count - 1
      const value = number === null ? 0 : numberAt(number, number.of === 'event' ? index[row]! : person[at]!)
      if ((mask & starts) !== 0) {
        this.startsIn[here]!++
        if (when < this.firstStart[here]!) this.firstStart[here] = when
        if (isSame) this.sizeNumber[here]! += value
      }
      if ((mask & returns) !== 0) {
        this.returnsIn[here]!++
        this.returnNumber[here]! += value
        if (!isSame && when > this.firstStart[here]!) this.sizeNumber[here]! += value
      }
    }
    this.finish(group, count, anchor, named, began)
  }

  /** Counts the events of a person as the one group. False: there are none. */
  addEvents({ time, codes, steps, begin, end, allowed }: PersonEvents, edges: Edges): boolean {
    const { ticks } = this.params
    let anchor = -1
    let named = Number.POSITIVE_INFINITY
    let began = Number.POSITIVE_INFINITY
    let count = 0
    let isEmpty = true
    let tick = -1
    /** The end of the tick. */
    let until = Number.NEGATIVE_INFINITY
    for (let i = begin; i < end; i++) {
      const mask = steps[codes[i]!]! & allowed
      if (mask === 0) continue
      isEmpty = false
      const at = time[i]!
      if (at >= until) {
        const next = edges.countAt(at)
        tick = next === ticks.length ? -1 : next - 1
        until = next === ticks.length ? Number.POSITIVE_INFINITY : ticks[next]!
      }
      if ((mask & isNamed) !== 0 && at < named) named = at
      if ((mask & starts) !== 0 && at < began) {
        began = at
        anchor = tick
      }
      if (tick < 0 || (mask & (starts | returns)) === 0) continue
      if (count === 0 || this.touched[count - 1] !== tick) {
        if (count === this.touched.length) this.widen()
        this.touched[count] = tick
        this.startsIn[count] = 0
        this.returnsIn[count] = 0
        count++
      }
      if ((mask & starts) !== 0) this.startsIn[count - 1]!++
      if ((mask & returns) !== 0) this.returnsIn[count - 1]!++
    }
    this.finish(0, count, anchor, named, began)
    return !isEmpty
  }

  /** Counts the actor whose ticks are `touched`. Times: of the first event that starts, with its filters and without them. */
  private finish(group: number, count: number, anchor: number, named: number, began: number): void {
    const { type, from, minimum, hasWindows } = this.params
    if (began === Number.POSITIVE_INFINITY) return
    if (type !== 'recurring' && (began < from || anchor < 0)) return
    if (type === 'first ever' && began !== named) return
    const isOne = type !== 'recurring' || hasWindows
    for (let start = 0; start < count; start++) {
      if (this.startsIn[start] === 0 || (isOne && this.touched[start] !== anchor)) continue
      this.addStart(group, start, count, hasWindows ? 1 : minimum)
      if (isOne) return
    }
  }

  /** The size of the row of a start, and the values of the returns after it. */
  private addStart(group: number, start: number, count: number, least: number): void {
    const { columns, width, columnOf, rowOf, minimum, isCumulative } = this.params
    const { counts, amounts, touched, returnsIn } = this
    const begin = touched[start]!
    const row = group * this.cells + rowOf[begin]! * columns
    let last = 0
    let lastOffset = 0
    let times = 0
    if (!isCumulative) counts[row]!++
    if (amounts) amounts[row]! += this.sizeNumber[start]!
    for (let at = start + 1; at < count; at++) {
      if (returnsIn[at]! < least) continue
      const ticks = touched[at]! - begin
      const offset = width === 1 ? ticks : Math.floor(ticks / width)
      const column = offset < columnOf.length ? columnOf[offset]! : 0
      if (column === 0) continue
      if (amounts) amounts[row + column]! += this.returnNumber[at]!
      if (offset !== lastOffset) times = 0
      lastOffset = offset
      times += returnsIn[at]!
      if (column === last || times < minimum) continue
      last = column
      if (!isCumulative) counts[row + column]!++
    }
    if (isCumulative) counts[row + last]!++
  }

  private widen(): void {
    const length = this.touched.length * 2
    this.touched = longer(this.touched, length)
    this.startsIn = longer(this.startsIn, length)
    this.returnsIn = longer(this.returnsIn, length)
    this.firstStart = longer(this.firstStart, length)
    this.sizeNumber = longer(this.sizeNumber, length)
    this.returnNumber = longer(this.returnNumber, length)
  }
}

const numberAt = ({ column: { values, numbers } }: PlacedColumn, at: number): number => (numbers ? numbers[values[at]!]! : values[at]!)

function longer<V extends Int32Array | Float64Array>(values: V, length: number): V {
  const copy = new (values.constructor as new (length: number) => V)(length)
  copy.set(values)
  return copy
}
