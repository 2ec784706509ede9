import type { PluginDelivery, PluginFailedDelivery } from '../../accounts/records.ts'
import type { Json } from '../../accounts/store.ts'

// What the JSON columns of the stored records hold.

/** Delivered and failed events by the hour. */
export type HourCounts = Readonly<Record<string, readonly [delivered: number, failed: number]>>

export const positionOf = ({ position }: PluginDelivery | PluginFailedDelivery): number => position as number
const countsOf = ({ counts }: PluginDelivery): HourCounts => counts as unknown as HourCounts

const hourMs = 3_600_000
const hoursKept = 24

const hourOf = (time: Date): number => Math.floor(time.getTime() / hourMs)
const ofLastDay = (counts: HourCounts, now: Date): [string, readonly [number, number]][] =>
  Object.entries(counts).filter(([hour]) => Number(hour) > hourOf(now) - hoursKept)

export const countedIn = (record: PluginDelivery, delivered: number, failed: number, now: Date): Json => {
  const kept: Record<string, readonly [number, number]> = Object.fromEntries(ofLastDay(countsOf(record), now))
  const [before, failedBefore] = kept[hourOf(now)] ?? [0, 0]
  kept[hourOf(now)] = [before + delivered, failedBefore + failed]
  return kept as unknown as Json
}

/** The share of the last day's deliveries that succeeded. Null: there were none. */
export function deliveryRate(record: PluginDelivery | undefined, now: Date): number | null {
  const counts = record ? ofLastDay(countsOf(record), now).map(([, one]) => one) : []
  const delivered = counts.reduce((sum, [count]) => sum + count, 0)
  const all = counts.reduce((sum, [, count]) => sum + count, delivered)
  return all === 0 ? null : delivered / all
}

/** `waiting`: for another attempt. `dead`: until someone retries or discards it. */
export const failedStates = ['waiting', 'dead'] as const
export type FailedState = (typeof failedStates)[number]
