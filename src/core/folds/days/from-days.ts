import { createHash } from 'node:crypto'
import type { CalendarDays } from '../../lists/kept/calendar-days.ts'
import type { DayCounts } from '../../lists/kept/day-counts.ts'
import type { EventCondition, KeptDayCounts } from '../../lists/kept/kept-counts.ts'
import type { EventBits, Fold, ListView, Matching } from '../fold.ts'
import { lifecycleFold } from '../lifecycle.ts'
import { retentionFold } from '../retention.ts'
import { seriesFold } from '../series/fold.ts'
import { stickinessFold } from '../stickiness.ts'
import { type DaySource, ofEvents } from './asked-days.ts'
import { countDaysFold, dayCounts, edgesOfAll } from './count-days.ts'
import { dayLifecycle } from './lifecycle.ts'
import { dayRetention, isOfDays } from './retention.ts'
import { daySeries, readsDays } from './series.ts'
import { dayStickiness, isAnyEvent } from './stickiness.ts'

/** Computes the result of a fold from what is kept of whole days. */
interface FromDays<P, R> {
  /** The bits of its conditions, each of which has days of its own; null: it takes the events. */
  bits(params: P): readonly number[] | null
  /** Null: it takes the events after all. */
  run(source: DaySource, params: P): Generator<void, R | null, void>
}

const way = <P, R>(fold: Fold<P, R>, from: FromDays<P, R>) => [fold.name, from as FromDays<unknown, unknown>] as const
const ways: ReadonlyMap<string, FromDays<unknown, unknown>> = new Map([
  way(seriesFold, { bits: (series) => (readsDays(series) ? [1] : null), run: daySeries }),
  way(stickinessFold, { bits: (params) => (isAnyEvent(params) ? [1] : null), run: dayStickiness }),
  way(lifecycleFold, { bits: () => [1], run: dayLifecycle }),
  way(retentionFold, { bits: (params) => (isOfDays(params) ? [1, 2] : null), run: dayRetention }),
])

/** How loops are run. */
export interface Loops {
  /** Null: it was stopped. */
  readonly fold: <P, R>(fold: Fold<P, R>, params: P) => Promise<R | null>
  readonly completed: <R>(steps: Generator<void, R, void>) => Promise<R>
}

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
  const asked = bits.map((bit): Asked | null => askedOf(bit, matching.bits, days))
  if (!asked.every((one) => one !== null)) return null
  const byKey = new Map(asked.map((one) => [one.key, one]))
  const found = new Map([...byKey].map(([key, { condition }]) => [key, kept.find(key, condition)]))
  const counted = new Map<string, DayCounts>()
  for (const [key, { counts, isWanted }] of found)
    if (counts) counted.set(key, counts)
    else if (!isWanted) return null
  for (const [key, { condition }] of byKey) {
    if (counted.has(key)) continue
    const made = await countedDays(condition, lists, days, loops)
    if (!made) return null
    kept.keep(key, made)
    counted.set(key, made)
  }
  const counts = new Map(asked.map(({ bit, key }) => [bit, counted.get(key)!]))
  return loops.completed(fromDays.run({ lists, days, counts }, params))
}

async function countedDays(
  condition: EventCondition,
  lists: ListView,
  days: CalendarDays,
  { fold, completed }: Loops,
): Promise<DayCounts | null> {
  const edges = await completed(edgesOfAll(lists, days))
  if (!edges) return null
  const { byEvent, others, columns } = condition
  const flags = columns.map((column) => ({ of: 'event', bits: 1, column: { size: 0, numbers: null, ...column } }) as const)
  const params = { bits: { byEvent: Int32Array.from(byEvent), others, flags }, edges }
  const parts = await fold(countDaysFold, params)
  return parts && completed(dayCounts(parts, params, days))
}

const isPlain = ({ scope, further, takesAll }: Matching): boolean => scope === null && further === null && !takesAll

/** Null: a column is not kept between queries. */
function askedOf(bit: number, bits: EventBits, { zone }: CalendarDays): Asked | null {
  const { byEvent, others, flags } = ofEvents(bits)
  const is = (mask: number) => ((mask & bit) === 0 ? 0 : 1)
  const columns = flags.filter((flag) => (flag.bits & bit) !== 0).map(({ column }) => column)
  if (columns.some(({ id }) => id === undefined)) return null
  const names = Uint8Array.from(byEvent, is)
  const last = names.findLastIndex((one) => one !== is(others))
  const condition = { byEvent: names.subarray(0, last + 1), others: is(others), columns }
  const ids = columns.map(({ id }) => id!).sort((a, b) => a - b)
  const text = JSON.stringify([zone.name, [...condition.byEvent], condition.others, ids])
  return { bit, key: createHash('sha256').update(text).digest('base64'), condition }
}
