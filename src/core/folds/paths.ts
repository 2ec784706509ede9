import { type EdgeColumns, EdgeCounts } from './edge-counts.ts'
import type { Fold, ListView, Matching, PlacedColumn } from './fold.ts'
import { Matches } from './matches.ts'

// Which items follow one another in the sessions of an actor.

export interface PathsParams {
  readonly matching: Matching
  readonly item: PlacedColumn
  /** By code of an item, 1 if it is left out. */
  readonly isExcluded: Uint8Array
  /** Microseconds between two events of different paths. */
  readonly gap: number
  /** Codes of the items where paths begin and end; -1: an item that no event has; null: any. */
  readonly start: number | null
  readonly end: number | null
  /** Items of a path. */
  readonly steps: number
  /** By number of the actor, when its events count, both times included; null: always. */
  readonly spans: { readonly from: Float64Array; readonly to: Float64Array } | null
}

/** Nodes are numbered by step, then by item. The code behind those of all items stands for a gap in a path. */
export const nodesPerStep = ({ isExcluded }: Pick<PathsParams, 'isExcluded'>): number => isExcluded.length + 1

/** Numbers of nodes are 32 bits long. */
const mostNodes = 2 ** 31

/** Null: there are too many nodes. */
export const pathsFold: Fold<PathsParams, EdgeColumns | null> = {
  name: 'paths',
  over: 'persons',
  conditions: ({ matching }) => matching,
  *run(lists, params, from, to) {
    const { item, isExcluded, spans } = params
    if (params.steps * nodesPerStep(params) >= mostNodes) return null
    const { values } = item.column
    const matches = new Matches(params.matching)
    const paths = new Paths(params)
    const ordered = new InOrder(lists)
    for (let person = from; person < to; ) {
      person = matches.fill(lists, person, to)
      const { index, time: times, offsets, person: persons } = matches
      for (let at = 0; at < matches.persons; at++) {
        const who = persons[at]!
        const [first, last] = spans ? [spans.from[who]!, spans.to[who]!] : [Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY]
        if (first > last) continue
        const [begin, end] = [offsets[at]!, offsets[at + 1]!]
        ordered.sort(index, begin, end)
        for (let row = begin; row < end; row++) {
          const i = index[row]!
          const time = times[row]!
          if (time < first || time > last) continue
          const code = values[item.of === 'event' ? i : who]!
          if (isExcluded[code] === 0) paths.visit(code, time)
        }
        paths.finish()
      }
      yield
    }
    return paths.edges.columns()
  },
  join(parts) {
    if (parts.length === 1) return parts[0]!
    const edges = new EdgeCounts()
    for (const part of parts) {
      if (!part) return null
      edges.addAll(part)
    }
    return edges.columns()
  },
}

/** Events of one time in order of arrival; lists are in order of time only. */
class InOrder {
  private readonly time: ListView['time']
  private readonly seq: ListView['seq']
  constructor({ time, seq }: ListView) {
    this.time = time
    this.seq = seq
  }

  sort(index: Int32Array, begin: number, end: number): void {
    const { time, seq } = this
    for (let row = begin + 1; row < end; row++) {
      const i = index[row]!
      if (time[i] !== time[index[row - 1]!] || seq[i]! > seq[index[row - 1]!]!) continue
      // Few events have the same time, and most of them are in order.
      let first = row - 1
      while (first > begin && time[index[first - 1]!] === time[i]) first--
      let last = row + 1
      while (last < end && time[index[last]!] === time[i]) last++
      index.subarray(first, last).sort((a, b) => seq[a]! - seq[b]!)
      row = last - 1
    }
  }
}

/** The path of the session so far. */
class Paths {
  readonly edges = new EdgeCounts()
  private readonly params: PathsParams
  private readonly perStep: number
  private readonly skipped: number
  /** Without points only the first items matter. */
  private readonly most: number
  private codes: Int32Array = new Int32Array(64)
  private times: Float64Array = new Float64Array(64)
  private length = 0
  private lastCode = -1
  private lastTime = 0

  constructor(params: PathsParams) {
    this.params = params
    this.perStep = nodesPerStep(params)
    this.skipped = this.perStep - 1
    this.most = params.start === null && params.end === null ? params.steps : Number.POSITIVE_INFINITY
  }

  visit(code: number, time: number): void {
    if (this.lastCode >= 0 && time - this.lastTime >= this.params.gap) this.finish()
    if (code !== this.lastCode) this.append(code)
    if (this.length <= this.most) this.times[this.length - 1] = time
    this.lastCode = code
    this.lastTime = time
  }

  /** Counts the edges of the path, and begins a new one. */
  finish(): void {
    const length = Math.min(this.length, this.most)
    if (length > 1) this.count(length)
    this.length = 0
    this.lastCode = -1
  }

  private append(code: number): void {
    // Behind the most there is a place that is never read.
    if (this.length > this.most) return
    if (this.length === this.codes.length) this.widen()
    this.codes[this.length++] = code
  }

  private count(length: number): void {
    const { start, end, steps } = this.params
    const { codes, times } = this
    let from = 0
    let to = length
    if (start !== null) {
      from = codes.subarray(0, length).indexOf(start)
      if (start < 0 || from < 0) return
    }
    if (end !== null) {
      const last = codes.subarray(0, length).indexOf(end, from)
      if (end < 0 || last < 0) return
      to = last + 1
      if (start === null) from = Math.max(0, to - steps)
    } else to = Math.min(length, from + steps)
    if (start !== null && end !== null && to - from > steps) {
      this.countAround(from, to)
      return
    }
    for (let at = from + 1; at < to; at++) this.add(at - from, codes[at - 1]!, codes[at]!, times[at]! - times[at - 1]!)
  }

  /** The first and the last items, and a gap that has the time of the item after the first ones. */
  private countAround(from: number, to: number): void {
    const { codes, times } = this
    const half = Math.floor(this.params.steps / 2)
    let step = 0
    let code = -1
    let time = 0
    const pass = (nextCode: number, nextTime: number) => {
      if (step > 0) this.add(step, code, nextCode, nextTime - time)
      step++
      code = nextCode
      time = nextTime
    }
    for (let at = from; at < from + half; at++) pass(codes[at]!, times[at]!)
    pass(this.skipped, times[from + half]!)
    for (let at = to - half; at < to; at++) pass(codes[at]!, times[at]!)
  }

  private add(step: number, source: number, target: number, took: number): void {
    this.edges.add((step - 1) * this.perStep + source, target, 1, took)
  }

  private widen(): void {
    const [codes, times] = [new Int32Array(2 * this.codes.length), new Float64Array(2 * this.codes.length)]
    codes.set(this.codes)
    times.set(this.times)
    this.codes = codes
    this.times = times
  }
}
