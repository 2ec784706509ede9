import { createHash } from 'node:crypto'
import type { CalendarDays } from '../../lists/kept/calendar-days.ts'
import type { KeptNumber, SplitCounts } from '../../lists/kept/day-counts.ts'
import { type EventCondition, type KeptDayCounts, mostCodes } from '../../lists/kept/kept-counts.ts'
import type { ColumnView, EventBits, Fold, ListView, Matching, PlacedColumn } from '../fold.ts'
import { lifecycleFold } from '../lifecycle.ts'
import { retentionFold } from '../retention.ts'
import { seriesFold } from '../series/fold.ts'
import { stickinessFold } from '../stickiness.ts'
import { type DaySource, ofEvents } from './asked-days.ts'
import { countDaysFold, dayCounts, edgesOfAll } from './count-days.ts'
import { dayLifecycle } from './lifecycle.ts'
import { dayRetention, isOfDays } from './retention.ts'
import { daySeries, numbersOf, readsDays } from './series.ts'
import { dayStickiness, isAnyEvent } from './stickiness.ts'

/** Computes the result of a fold from what is kept of whole days. */
interface FromDays<P, R> {
  /** The bits of its conditions, each of which has days of its own; null: it takes the events. */
  bits(params: P): readonly number[] | null
  /** The column that splits the events; null: none does. */
  split?(params: P): PlacedColumn | null
  /** The column of numbers that are looked at, and what is kept of them; null: none are. */
  number?(params: P): { readonly of: PlacedColumn; readonly kept: KeptNumber } | null
  /** `sources`: by code of that column, or one. Null: it takes the events after all. */
  run(sources: readonly DaySource[], params: P): Generator<void, R | null, void>
}

const way = <P, R>(fold: Fold<P, R>, from: FromDays<P, R>) => [fold.name, from as FromDays<unknown, unknown>] as const
const ways: ReadonlyMap<string, FromDays<unknown, unknown>> = new Map([
  way(seriesFold, {
    bits: (series) => (readsDays(series) ? [1] : null),
    split: ({ splits }) => splits[0] ?? null,
    number: numbersOf,
    run: daySeries,
  }),
  way(stickinessFold, { bits: (params) => (isAnyEvent(params) ? [1] : null), run: ([source], params) => dayStickiness(source!, params) }),
  way(lifecycleFold, { bits: () => [1], run: ([source], params) => dayLifecycle(source!, params) }),
  way(retentionFold, { bits: (params) => (isOfDays(params) ? [1, 2] : null), run: ([source], params) => dayRetention(source!, params) }),
])

/** How loops are run. */
export interface Loops {
  /** Null: it was stopped. */
  readonly fold: <P, R>(fold: Fold<P, R>, params: P) => Promise<R | null>
  readonly completed: <R>(steps: Generator<void, R, void>) => Promise<R>
}

type AskedNumber = ColumnView & { readonly kept: KeptNumber }

interface Asked {
  readonly bit: number
  readonly key: string
  readonly condition: EventCondition
}

/** The result of a fold from what is kept of whole days. The second question with the same conditions counts their days. Null: it takes the events. */
export async function resultFromDays(
  fold: Fold<unknown, unknown>,
  params: unknown,
  lists: ListView,
  kept: KeptDayCounts,
  days: CalendarDays,
  loops: Loops,
): Promise<unknown> {
  const fromDays = ways.get(fold.name)
  const bits = fromDays && lists.entry === null ? fromDays.bits(params) : null
  const matching = bits && fold.conditions?.(params)
  if (!fromDays || !matching || !isPlain(matching)) return null
  const split = fromDays.split?.(params)?.column ?? null
  if (split && split.size > mostCodes) return null
  const asksNumber = fromDays.number?.(params) ?? null
  const number = asksNumber && { ...asksNumber.of.column, kept: asksNumber.kept }
  const asked = bits.map((bit): Asked | null => askedOf(bit, matching.bits, split, number, days))
  if (!asked.every((one) => one !== null)) return null
  const byKey = new Map(asked.map((one) => [one.key, one]))
  const found = new Map([...byKey].map(([key, { condition }]) => [key, kept.find(key, condition)]))
  const counted = new Map<string, SplitCounts>()
  for (const [key, { counts, isWanted }] of found)
    if (counts) counted.set(key, counts)
    else if (!isWanted) return null
  for (const [key, { condition }] of byKey) {
    if (counted.has(key)) continue
    const edges = await loops.completed(edgesOfAll(lists, days, split?.size ?? 1, number !== null))
    if (!edges) {
      kept.leave(key)
      return null
    }
    const made = await countedDays(condition, split, number, edges, days, loops)
    if (!made) return null
    kept.keep(key, made)
    counted.set(key, made)
  }
  const sources = Array.from({ length: split?.size ?? 1 }, (_, code): DaySource => {
    const counts = new Map(asked.map(({ bit, key }) => [bit, counted.get(key)!.of(code)]))
    return { lists, days, counts, split: split && { values: split.values, code } }
  })
  return loops.completed(fromDays.run(sources, params))
}

async function countedDays(
  condition: EventCondition,
  split: ColumnView | null,
  number: AskedNumber | null,
  edges: Float64Array,
  days: CalendarDays,
  { fold, completed }: Loops,
): Promise<SplitCounts | null> {
  const { byEvent, others, columns } = condition
  const flags = columns.map((column) => ({ of: 'event', bits: 1, column: { size: 0, numbers: null, ...column } }) as const)
  const params = {
    bits: { byEvent: Int32Array.from(byEvent), others, flags },
    edges,
    split: split && { values: split.values, size: split.size },
    number: number && { values: number.values, numbers: number.numbers, kept: number.kept },
  }
  const parts = await fold(countDaysFold, params)
  return parts && completed(dayCounts(parts, params, days))
}

const isPlain = ({ scope, further, takesAll }: Matching): boolean => scope === null && further === null && !takesAll

/** Null: a column is not kept between queries. */
function askedOf(bit: number, bits: EventBits, split: ColumnView | null, number: AskedNumber | null, { zone }: CalendarDays): Asked | null {
  const { byEvent, others, flags } = ofEvents(bits)
  const is = (mask: number) => ((mask & bit) === 0 ? 0 : 1)
  const columns = flags.filter((flag) => (flag.bits & bit) !== 0).map(({ column }) => column)
  if ((split && split.id === undefined) || (number && number.id === undefined) || columns.some(({ id }) => id === undefined)) return null
  const names = Uint8Array.from(byEvent, is)
  const last = names.findLastIndex((one) => one !== is(others))
  const condition = { byEvent: names.subarray(0, last + 1), others: is(others), columns, split, number }
  const ids = columns.map(({ id }) => id!).sort((a, b) => a - b)
  const text = JSON.stringify([
    zone.name,
    [...condition.byEvent],
    condition.others,
    ids,
    split?.id ?? null,
    number && [number.id, number.kept],
  ])
  return { bit, key: createHash('sha256').update(text).digest('base64'), condition }
}
