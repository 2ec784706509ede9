import type { EventLists } from '../../core/event-lists.ts'
import { firstSince } from '../../core/first-since.ts'
import type { ActorColumns } from '../../kernels/funnels/columns.ts'
import { eventMasks, namesOf } from '../event-masks.ts'
import type { QueryContext } from '../kind.ts'
import { queryFilters } from '../series-condition.ts'
import { actorKindOf, type FunnelScan, type Reading, type Slice } from './scan.ts'

// A funnel over the lists of the core: what a step matches is known from an event's name, so no row is read.

/** Rows that are folded inside the processor's cache. */
const blockRows = 1 << 15

/** What to look for in the lists. */
export interface ListedFunnel {
  /** By number of the event's name, the steps that it matches; those behind the end match `others`. */
  readonly steps: Int32Array
  readonly otherSteps: number
  /** The same for exclusions; null without any. */
  readonly exclusions: Int32Array | null
  readonly otherExclusions: number
  /** Names that steps and exclusions ask for. */
  readonly names: readonly string[]
  readonly from: number
  readonly to: number
  /** Events that match nothing count too. */
  readonly isStrict: boolean
}

/** Text: why the lists cannot answer the funnel. */
export function listed(scan: FunnelScan, cohort: number | 'all' | null, reading: Reading, env: QueryContext): ListedFunnel | string {
  const { query, range, breakdown, settings } = scan
  if (actorKindOf(query) !== 'person') return 'the lists are of persons'
  if (breakdown.parts.length > 0) return 'the lists have no values for a breakdown'
  if (typeof cohort === 'number') return 'the lists have no cohorts'
  if (scan.withEvents) return 'the lists have no uuids of events'
  if (reading.firstTimes.length > 0) return 'a step is counted at its first time only'
  if (query.samplingFactor != null && query.samplingFactor !== 1) return 'the query takes a sample'
  if (namesOf(queryFilters(query, env)) !== 'all') return 'the lists have no values for the filters'
  const steps = eventMasks(
    reading.steps.map((condition, i) => ({ condition, bits: 1 << i })),
    env,
  )
  const exclusions = eventMasks(reading.exclusions, env)
  if (!steps || !exclusions) return 'a step has a condition on more than the name of its event'
  return {
    steps: steps.byEvent,
    otherSteps: steps.others,
    exclusions: reading.exclusions.length > 0 ? exclusions.byEvent : null,
    otherExclusions: exclusions.others,
    names: [...steps.names, ...exclusions.names],
    from: range.from,
    to: range.to,
    isStrict: settings.order === 'strict',
  }
}

/** Hands over all persons with their events that matter, some persons at a time. The memory of a slice is used again for the next one. */
export function* listedSlices(
  lists: EventLists,
  funnel: ListedFunnel,
  each: (slice: Slice) => Generator<void, void, void>,
): Generator<void, void, void> {
  const block = new Block(funnel)
  for (let person = 0; person < lists.persons; ) {
    person = block.fill(lists, person)
    yield* each(block.slice())
    yield
  }
}

class Block {
  private readonly funnel: ListedFunnel
  private time = new Float64Array(blockRows)
  private steps = new Int32Array(blockRows)
  private exclusions: Int32Array | null
  private offsets = new Int32Array(1024)
  private persons = new Int32Array(1024)
  private actors = 0

  constructor(funnel: ListedFunnel) {
    this.funnel = funnel
    this.exclusions = funnel.exclusions && new Int32Array(blockRows)
  }

  /** Takes persons from a number on until it is full. Returns the first one that is left. */
  fill({ start, end, time, event, persons }: EventLists, first: number): number {
    const { from, to, steps: masks, otherSteps, exclusions: excluding, otherExclusions, isStrict } = this.funnel
    this.actors = 0
    let rows = 0
    let person = first
    for (; person < persons && rows < blockRows / 2; person++) {
      const last = end[person]!
      if (start[person] === last) continue
      this.makeRoom(rows + last - start[person]!)
      const { time: times, steps, exclusions } = this
      const begin = rows
      for (let i = firstSince(time, start[person]!, last, from); i < last; i++) {
        const at = time[i]!
        if (at > to) break
        const id = event[i]!
        const bits = id < masks.length ? masks[id]! : otherSteps
        const excluded = excluding === null ? 0 : id < excluding.length ? excluding[id]! : otherExclusions
        if (bits === 0 && excluded === 0 && !isStrict) continue
        times[rows] = at
        steps[rows] = bits
        if (exclusions !== null) exclusions[rows] = excluded
        rows++
      }
      if (rows === begin) continue
      this.persons[this.actors] = person
      this.offsets[++this.actors] = rows
      if (this.actors + 1 === this.offsets.length) this.widen()
    }
    return person
  }

  slice(): Slice {
    const { actors, offsets, time, steps, exclusions, persons } = this
    const columns: ActorColumns = { actors, offsets, time, steps, exclusions, breakdown: null, origin: null }
    return { columns, actor: (place) => persons[place]!, uuid: () => '' }
  }

  private makeRoom(rows: number): void {
    if (rows <= this.time.length) return
    const length = Math.max(rows, this.time.length * 2)
    const [time, steps, exclusions] = [new Float64Array(length), new Int32Array(length), this.exclusions && new Int32Array(length)]
    time.set(this.time)
    steps.set(this.steps)
    exclusions?.set(this.exclusions!)
    Object.assign(this, { time, steps, exclusions })
  }

  private widen(): void {
    const [offsets, persons] = [new Int32Array(this.offsets.length * 2), new Int32Array(this.offsets.length * 2)]
    offsets.set(this.offsets)
    persons.set(this.persons)
    Object.assign(this, { offsets, persons })
  }
}
