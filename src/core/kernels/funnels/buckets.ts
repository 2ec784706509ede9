import { isOrdered, orderByTime } from './by-time.ts'
import type { ActorColumns, FunnelColumns } from './columns.ts'

// Collects events for the fold. They are distributed to buckets by the low digits of their actor's code as they arrive. Each bucket is small
// enough to be grouped and folded inside the processor's cache.

const usualRowsPerBucket = 1 << 15
const maxBuckets = 1 << 10
/** Buckets allocate their rows in blocks from shared memory. */
const blockRows = 1 << 9
const rowsBetweenPauses = 1 << 18
const nothing = -1

export interface BucketOptions {
  /** Approximately the largest number of rows. */
  readonly rows: number
  readonly exclusions: boolean
  readonly breakdown: boolean
  /** Keep the arrival index of each event. */
  readonly origin: boolean
}

/** The actors of one bucket. The memory is reused for the next one. */
export interface BucketColumns extends ActorColumns {
  /** The code of the bucket's `n`th actor. */
  code(n: number): number
}

export class EventBuckets {
  readonly buckets: number
  private readonly shift: number
  private readonly layout: Layout
  private records: Records
  private appended = 0
  private actors = 0
  private blocks = 0
  /** By block: the next block of its bucket. */
  private following: Int32Array
  // By bucket: its first and last block, and the row after its last one.
  private readonly first: Int32Array
  private readonly last: Int32Array
  private readonly nextRow: Int32Array
  private scratch: Scratch | null = null

  constructor(options: BucketOptions, rowsPerBucket = usualRowsPerBucket) {
    this.shift = Math.max(0, Math.min(Math.log2(maxBuckets), Math.ceil(Math.log2(options.rows / rowsPerBucket))))
    this.buckets = 1 << this.shift
    this.layout = layoutOf(options)
    this.records = recordsFor(Math.ceil(options.rows / blockRows + this.buckets) * blockRows * this.layout.words)
    this.following = new Int32Array(Math.floor(this.records.words.length / this.layout.words / blockRows))
    this.first = new Int32Array(this.buckets).fill(nothing)
    this.last = new Int32Array(this.buckets).fill(nothing)
    this.nextRow = new Int32Array(this.buckets)
  }

  append(columns: FunnelColumns): void {
    const { actor, time, steps, exclusions, breakdown } = columns
    const { shift, nextRow } = this
    const { words: width, exclusions: exclusionsAt, breakdown: breakdownAt, origin: originAt } = this.layout
    const mask = this.buckets - 1
    let { times, words } = this.records
    let most = this.actors - 1
    for (let i = 0; i < actor.length; i++) {
      const code = actor[i]!
      if (code > most) most = code
      const bucket = code & mask
      let row = nextRow[bucket]!
      if ((row & (blockRows - 1)) === 0) {
        row = this.openBlock(bucket)
        times = this.records.times
        words = this.records.words
      }
      nextRow[bucket] = row + 1
      const at = row * width
      times[at >> 1] = time[i]!
      words[at + actorAt] = code >>> shift
      words[at + stepsAt] = steps[i]!
      if (exclusions !== null) words[at + exclusionsAt] = exclusions[i]!
      if (breakdown !== null) words[at + breakdownAt] = breakdown[i]!
      if (originAt > 0) words[at + originAt] = this.appended + i
    }
    this.actors = most + 1
    this.appended += actor.length
  }

  sizeOf(bucket: number): number {
    let rows = 0
    for (let block = this.first[bucket]!; block !== nothing; block = this.followingIn(bucket, block)) {
      const [start, end] = this.rowsOf(bucket, block)
      rows += end - start
    }
    return rows
  }

  /**
   * The events of a bucket by (actor, time); events of equal time keep their arrival order. A counting sort over the codes. Yields regularly, so that
   * the caller can stop it.
   */
  *group(bucket: number): Generator<void, BucketColumns, void> {
    const { shift } = this
    const { words } = this.records
    const width = this.layout.words
    const actors = this.actors > bucket ? ((this.actors - 1 - bucket) >> shift) + 1 : 0
    this.scratch ??= this.makeScratch()
    const { offsets, next, columns } = this.scratch
    offsets.fill(0, 0, actors + 1)
    let unpaused = 0
    for (let block = this.first[bucket]!; block !== nothing; block = this.followingIn(bucket, block)) {
      const [start, end] = this.rowsOf(bucket, block)
      for (let at = start * width; at < end * width; at += width) offsets[words[at + actorAt]! + 1]!++
      unpaused += end - start
      if (unpaused < rowsBetweenPauses) continue
      unpaused = 0
      yield
    }
    for (let a = 0; a < actors; a++) {
      next[a] = offsets[a]!
      offsets[a + 1]! += offsets[a]!
    }
    for (let block = this.first[bucket]!; block !== nothing; block = this.followingIn(bucket, block)) {
      const [start, end] = this.rowsOf(bucket, block)
      this.scatter(columns, next, start, end)
      unpaused += end - start
      if (unpaused < rowsBetweenPauses) continue
      unpaused = 0
      yield
    }
    const grouped: BucketColumns = { ...columns, actors, offsets, code: (n) => (n << shift) | bucket }
    for (let a = 0; a < actors; a++) {
      const [start, end] = [offsets[a]!, offsets[a + 1]!]
      if (!isOrdered(grouped.time, start, end)) yield* orderByTime(grouped, start, end)
    }
    return grouped
  }

  /** Nothing else will be read: the memory can be reused. */
  release(): void {
    const known = spare?.deref()
    if (!known || known.words.length < this.records.words.length) spare = new WeakRef(this.records)
  }

  private scatter({ time, steps, exclusions, breakdown, origin }: Grouped, next: Int32Array, start: number, end: number): void {
    const { times, words } = this.records
    const { words: width, exclusions: exclusionsAt, breakdown: breakdownAt, origin: originAt } = this.layout
    for (let at = start * width; at < end * width; at += width) {
      const to = next[words[at + actorAt]!]!++
      time[to] = times[at >> 1]!
      steps[to] = words[at + stepsAt]!
      if (exclusions !== null) exclusions[to] = words[at + exclusionsAt]!
      if (breakdown !== null) breakdown[to] = words[at + breakdownAt]!
      if (origin !== null) origin[to] = words[at + originAt]!
    }
  }

  private rowsOf(bucket: number, block: number): readonly [start: number, end: number] {
    const start = block * blockRows
    return [start, block === this.last[bucket] ? this.nextRow[bucket]! : start + blockRows]
  }

  private followingIn(bucket: number, block: number): number {
    return block === this.last[bucket] ? nothing : this.following[block]!
  }

  /** The first row of a new block. */
  private openBlock(bucket: number): number {
    if (this.blocks === this.following.length) this.widen()
    const block = this.blocks++
    if (this.first[bucket] === nothing) this.first[bucket] = block
    else this.following[this.last[bucket]!] = block
    this.last[bucket] = block
    return block * blockRows
  }

  private widen(): void {
    const wider = makeRecords(this.records.words.length * 2)
    wider.words.set(this.records.words)
    this.records = wider
    const following = new Int32Array(this.following.length * 2)
    following.set(this.following)
    this.following = following
  }

  /** Allocates memory for the largest bucket. */
  private makeScratch(): Scratch {
    let rows = 0
    for (let bucket = 0; bucket < this.buckets; bucket++) rows = Math.max(rows, this.sizeOf(bucket))
    const actors = (this.actors >> this.shift) + 1
    const integers = (offset: number) => (offset > 0 ? new Int32Array(rows) : null)
    const { exclusions, breakdown, origin } = this.layout
    return {
      offsets: new Int32Array(actors + 1),
      next: new Int32Array(actors),
      columns: {
        time: new Float64Array(rows),
        steps: new Int32Array(rows),
        exclusions: integers(exclusions),
        breakdown: integers(breakdown),
        origin: integers(origin),
      },
    }
  }
}

type Grouped = Omit<ActorColumns, 'actors' | 'offsets'>
interface Scratch {
  readonly offsets: Int32Array
  readonly next: Int32Array
  readonly columns: Grouped
}

/** Offsets of the fields of an event record, in 32-bit words. The time is a double in the first two. 0: not kept. */
interface Layout {
  readonly words: number
  readonly exclusions: number
  readonly breakdown: number
  readonly origin: number
}
const actorAt = 2
const stepsAt = 3

function layoutOf(options: Omit<BucketOptions, 'rows'>): Layout {
  let words = stepsAt + 1
  const offsetOf = (isKept: boolean) => (isKept ? words++ : 0)
  const offsets = { exclusions: offsetOf(options.exclusions), breakdown: offsetOf(options.breakdown), origin: offsetOf(options.origin) }
  return { ...offsets, words: words + (words % 2) }
}

/** Bytes of one event until it is folded. */
export const bytesPerEvent = (options: Omit<BucketOptions, 'rows'>): number => 4 * layoutOf(options).words

/** The same memory as doubles and as integers. */
interface Records {
  readonly times: Float64Array
  readonly words: Int32Array
}

function makeRecords(words: number): Records {
  const memory = new ArrayBuffer(words * 4)
  return { times: new Float64Array(memory), words: new Int32Array(memory) }
}

// Memory that was written before costs half as much as newly allocated memory. Funnels reuse each other's memory, unless it was garbage-collected in
// the meantime.
let spare: WeakRef<Records> | null = null

function recordsFor(words: number): Records {
  const found = spare?.deref()
  if (!found || found.words.length < words || found.words.length > 4 * words) return makeRecords(words)
  spare = null
  return found
}
