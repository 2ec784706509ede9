import type { Alert, Subscription } from '../accounts/records.ts'
import type { Json } from '../accounts/store.ts'
import type { AlertRule, Threshold } from './alert-value.ts'
import type { CheckInterval, CheckTimes } from './check-times.ts'
import type { Frequency, Recurrence, Weekday } from './recurrence.ts'

// What the JSON columns of the stored records hold.

export const alertStates = ['Firing', 'Not firing', 'Errored', 'Snoozed'] as const
export type AlertState = (typeof alertStates)[number]

export const deliveryStates = ['waiting', 'delivered', 'failed'] as const
export type DeliveryState = (typeof deliveryStates)[number]

export interface StoredThreshold extends Threshold {
  readonly name: string
}
export const thresholdOf = (alert: Alert): StoredThreshold => alert.threshold as unknown as StoredThreshold
export const ruleOf = (alert: Alert): AlertRule => ({
  condition: alert.condition as AlertRule['condition'],
  threshold: thresholdOf(alert),
  config: alert.config as unknown as AlertRule['config'],
})
export const usersOf = (alert: Alert): readonly number[] => alert.subscribed_users as readonly number[]
export const checkTimesOf = (alert: Alert, timezone: string): CheckTimes => ({
  id: alert.id,
  interval: alert.calculation_interval as CheckInterval,
  skipsWeekends: alert.skip_weekend,
  timezone,
})
export const recurrenceOf = (record: Subscription, timezone: string): Recurrence => ({
  frequency: record.frequency as Frequency,
  interval: record.interval,
  weekdays: record.byweekday as readonly Weekday[] | null,
  position: record.bysetpos,
  count: record.count,
  start: record.start_date.getTime(),
  until: record.until_date?.getTime() ?? null,
  timezone,
})

/** A picture with its numbers, as mails and webhooks carry it. */
export interface NoticeItem {
  readonly title: string
  readonly description: string
  readonly insight: { readonly id: number; readonly short_id: string; readonly name: string }
  readonly url: string
  readonly kind: string
  readonly columns: readonly string[]
  readonly rows: readonly (readonly string[])[]
  readonly leftOut: readonly string[]
  readonly svg: string | null
  readonly error: string | null
}
export interface NoticeContent {
  readonly type: 'alert.firing' | 'alert.errored' | 'alert.test' | 'subscription.due' | 'subscription.test' | 'watch.began' | 'watch.ended'
  readonly subject: string
  readonly lines: readonly string[]
  readonly url: string
  readonly timezone: string
  readonly items: readonly NoticeItem[]
  /** About the alert or the subscription. */
  readonly source: { readonly [name: string]: Json }
}
export const asJson = (value: object): Json => value as unknown as Json
