import type { ActorColumns } from '../kernels/funnels/columns.ts'
import { type FunnelFold, foldActors, foldPeriods, type Outcome } from '../kernels/funnels/fold.ts'
import { Floats, Ints } from '../kernels/grow.ts'
import { keepFirstTimes } from './first-times.ts'
import type { Fold, PlacedColumn } from './fold.ts'
import { joined } from './joined.ts'
import type { FunnelSplit, ListedFunnel } from './listed-funnel.ts'
import { Matches } from './matches.ts'
import { PlainFunnel } from './plain-funnel.ts'

// A funnel over the lists: one outcome per person, and per period and breakdown value where there are several.

export interface Outcomes {
  /** Numbers of the persons. */
  readonly person: Int32Array
  /** As `combinationOf` numbers it. Empty without splits. */
  readonly value: Int32Array
  readonly depth: Uint8Array
  /** Empty without periods. */
  readonly period: Int32Array
  /** Of each outcome, one after the other, the times of as many steps as it has reached; NaN where one was skipped. Empty if they are not needed. */
  readonly times: Float64Array
}

/** Values are numbered by their codes: 0 is "no value" in all splits. */
const radixOf = ({ column }: PlacedColumn): number => column.size + 1
const digitOf = ({ empty }: Pick<FunnelSplit, 'empty'>, code: number): number => (code === empty ? 0 : code + 1)

/** How many values there can be. */
export const valuesOf = (splits: readonly PlacedColumn[]): number => splits.reduce((product, split) => product * radixOf(split), 1)

/** The codes of a value, split by split; -1: no value. */
export function codesOfValue(splits: readonly PlacedColumn[], value: number): number[] {
  let rest = value
  const codes = splits.toReversed().map((split) => {
    const digit = rest % radixOf(split)
    rest = Math.floor(rest / radixOf(split))
    return digit - 1
  })
  return codes.reverse()
}

export const funnelFold: Fold<ListedFunnel, Outcomes> = {
  name: 'funnel',
  over: 'persons',
  conditions: ({ matching }) => matching,
  *run(lists, params, from, to) {
    const { matching, firstTimes, periods, splits, funnel } = params
    const matches = new Matches(matching)
    const outcomes = new Collector(params)
    const block = new Block(splits)
    const fold: FunnelFold = { ...funnel, goesBefore: orderOf(splits) }
    const plain = PlainFunnel.of(lists, params, (index, person) => block.valueAt(index, person), to)
    for (let person = from; person < to; ) {
      if (plain) {
        person = plain.walk(person, to, outcomes)
        yield
        if (person === to) break
      }
      person = matches.fill(lists, person, plain?.isWorthwhile ? person + 1 : to)
      if (firstTimes) keepFirstTimes(lists, matches, firstTimes)
      const columns = block.columns(matches)
      const sink = (outcome: Outcome) => outcomes.add(outcome, matches, columns)
      yield* periods ? foldPeriods(columns, fold, periods, sink) : foldActors(columns, fold, sink)
      yield
    }
    return outcomes.result()
  },
  join: (results) => ({
    person: joined(results.map(({ person }) => person)),
    value: joined(results.map(({ value }) => value)),
    depth: joined(results.map(({ depth }) => depth)),
    period: joined(results.map(({ period }) => period)),
    times: joined(results.map(({ times }) => times)),
  }),
}

/** Which value goes first among events of one time: the one whose text is smaller, part by part. */
function orderOf(splits: readonly FunnelSplit[]): FunnelFold['goesBefore'] {
  // "No value" of a part is the empty text, which goes before all others.
  const rank = ({ rank: ranks, empty }: FunnelSplit, code: number) => (code < 0 ? (empty < 0 ? -1 : ranks[empty]!) : ranks[code]!)
  return (a, b) => {
    const [x, y] = [codesOfValue(splits, a), codesOfValue(splits, b)]
    const part = splits.findIndex((_, i) => x[i] !== y[i])
    return part >= 0 && rank(splits[part]!, x[part]!) < rank(splits[part]!, y[part]!)
  }
}

/** The events of a block as a funnel reads them. */
class Block {
  private breakdown: Int32Array = new Int32Array(0)
  constructor(private readonly splits: readonly FunnelSplit[]) {}

  columns(matches: Matches): ActorColumns {
    const { time, bits, further, persons, offsets } = matches
    if (this.splits.length > 0) this.writeValues(matches)
    return {
      actors: persons,
      offsets,
      time,
      steps: bits,
      exclusions: further,
      breakdown: this.splits.length > 0 ? this.breakdown : null,
      origin: null,
    }
  }

  valueAt(index: number, person: number): number {
    let value = 0
    for (const split of this.splits)
      value = value * radixOf(split) + digitOf(split, split.column.values[split.of === 'event' ? index : person]!)
    return value
  }

  private writeValues({ rows, index, persons, person, offsets }: Matches): void {
    if (this.breakdown.length < rows) this.breakdown = new Int32Array(index.length)
    const { splits, breakdown } = this
    breakdown.fill(0, 0, rows)
    for (const split of splits) {
      const { values } = split.column
      const radix = radixOf(split)
      for (let at = 0; at < persons; at++)
        for (let row = offsets[at]!; row < offsets[at + 1]!; row++) {
          const code = values[split.of === 'event' ? index[row]! : person[at]!]!
          breakdown[row] = breakdown[row]! * radix + digitOf(split, code)
        }
    }
  }
}

class Collector {
  private readonly person = new Ints()
  private readonly value = new Ints()
  private readonly depth = new Ints()
  private readonly period = new Ints()
  private readonly times = new Floats()
  private readonly hasValues: boolean
  private readonly hasPeriods: boolean
  private readonly withTimes: boolean
  constructor({ splits, periods, withTimes }: ListedFunnel) {
    this.hasValues = splits.length > 0
    this.hasPeriods = periods !== null
    this.withTimes = withTimes
  }

  add({ actor, value, depth, period, events }: Outcome, { person }: Matches, { time }: ActorColumns): void {
    this.person.push(person[actor]!)
    if (this.hasValues) this.value.push(value)
    this.depth.push(depth)
    if (this.hasPeriods) this.period.push(period)
    if (this.withTimes) for (let step = 0; step < depth; step++) this.times.push(events[step]! < 0 ? Number.NaN : time[events[step]!]!)
  }

  addPlain(person: number, value: number, depth: number, times: Float64Array): void {
    this.person.push(person)
    if (this.hasValues) this.value.push(value)
    this.depth.push(depth)
    if (this.withTimes) for (let step = 0; step < depth; step++) this.times.push(times[step]!)
  }

  result(): Outcomes {
    const { person, value, depth, period, times } = this
    // Copies: a view would be sent with all of its memory.
    return {
      person: person.view().slice(),
      value: value.view().slice(),
      depth: Uint8Array.from(depth.view()),
      period: period.view().slice(),
      times: times.view().slice(),
    }
  }
}
