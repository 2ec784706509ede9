import type { Expr, Literal } from '../../ast/nodes.ts'
import type { EventLists } from '../../core/event-lists.ts'
import type { ActorColumns } from '../../kernels/funnels/columns.ts'
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
  readonly from: number
  readonly to: number
  /** Events that match nothing count too. */
  readonly isStrict: boolean
}

/** The names of events that meet a condition. */
type Names = 'all' | ReadonlySet<string>

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
  const steps = masksOf(
    reading.steps.map((condition, i) => ({ condition, bits: 1 << i })),
    env,
  )
  const exclusions = masksOf(reading.exclusions, env)
  if (!steps || !exclusions) return 'a step has a condition on more than the name of its event'
  return {
    steps: steps.byEvent,
    otherSteps: steps.others,
    exclusions: reading.exclusions.length > 0 ? exclusions.byEvent : null,
    otherExclusions: exclusions.others,
    from: range.from,
    to: range.to,
    isStrict: settings.order === 'strict',
  }
}

interface Masks {
  readonly byEvent: Int32Array
  readonly others: number
}

/** Null when a condition is on more than names. */
function masksOf(parts: readonly { readonly condition: Expr; readonly bits: number }[], env: QueryContext): Masks | null {
  const byId = new Map<number, number>()
  let others = 0
  for (const { condition, bits } of parts) {
    const names = namesOf(condition)
    if (names === null) return null
    if (names === 'all') others |= bits
    else
      for (const name of names) {
        const id = env.eventId(name)
        if (id !== undefined) byId.set(id, (byId.get(id) ?? 0) | bits)
      }
  }
  const byEvent = new Int32Array(Math.max(-1, ...byId.keys()) + 1).fill(others)
  for (const [id, bits] of byId) byEvent[id] = bits | others
  return { byEvent, others }
}

/** Null when the condition is on more than names. */
function namesOf(condition: Expr): Names | null {
  if (condition.kind === 'literal') return condition.value === true ? 'all' : condition.value === false ? new Set() : null
  if (condition.kind === 'in') {
    const { expr, set, not, cohort } = condition
    const isPlain = isEvent(expr) && !not && !cohort && 'items' in set && set.kind === 'tuple'
    return isPlain && set.items.every(isText) ? new Set(set.items.map((item) => (item as Literal).value as string)) : null
  }
  if (condition.kind !== 'call') return null
  const { name, args } = condition
  if (name === 'equals') return isEvent(args[0]!) && isText(args[1]!) ? new Set([(args[1] as Literal).value as string]) : null
  if (name !== 'and' && name !== 'or') return null
  const all = args.map(namesOf)
  if (all.includes(null)) return null
  return (all as Names[]).reduce(name === 'and' ? both : either)
}

const isEvent = (expr: Expr) => expr.kind === 'field' && expr.chain.length === 1 && expr.chain[0] === 'event'
const isText = (expr: Expr) => expr.kind === 'literal' && typeof expr.value === 'string'
const both = (a: Names, b: Names): Names => (a === 'all' ? b : b === 'all' ? a : new Set([...a].filter((name) => b.has(name))))
const either = (a: Names, b: Names): Names => (a === 'all' || b === 'all' ? 'all' : new Set([...a, ...b]))

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

/** The first place of a list whose time is not before `from`. */
function firstSince(time: Float64Array, start: number, end: number, from: number): number {
  if (time[start]! >= from) return start
  let low = start
  let high = end
  while (low < high) {
    const middle = (low + high) >>> 1
    if (time[middle]! < from) low = middle + 1
    else high = middle
  }
  return low
}
