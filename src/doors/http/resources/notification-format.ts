import { maskedAddress } from '../../../lib/web/masked-address.ts'
import type { Accounts } from '../../../service/accounts/accounts.ts'
import type { Alert, AlertCheck, Insight, NoticeDelivery, Subscription, User } from '../../../service/accounts/records.ts'
import type { LatestNotice } from '../../../service/notifications/deliveries.ts'
import { type alertStates, deliveryStates, recurrenceOf, ruleOf, thresholdOf } from '../../../service/notifications/records.ts'
import { summaryOf } from '../../../service/notifications/recurrence.ts'
import type { SavedInsightAnswer } from '../../answers/insights.ts'
import type { AlertAnswer, AlertCheckAnswer, DeliveryAnswer, LastDeliveryAnswer, SubscriptionAnswer } from '../../answers/notifications.ts'
import { maybeTime, presentAuthor, presentUser, time } from '../present.ts'
import { repeatable } from '../requests/query-parameter.ts'

// Alerts, subscriptions and deliveries in answers.

export const presentCheck = (one: AlertCheck, undelivered: ReadonlySet<string>): AlertCheckAnswer => ({
  id: one.id,
  created_at: time(one.created_at),
  due_at: time(one.due_at),
  calculated_value: one.calculated_value as number | null,
  state: one.state as (typeof alertStates)[number],
  error: one.error,
  targets_notified: (one.targets as readonly unknown[]).length > 0 && !undelivered.has(one.id),
})

const presentLatest = (latest: LatestNotice | null, showsAddress: boolean): LastDeliveryAnswer => {
  if (!latest) return null
  const { target_type, target, error, next_attempt_at } = presentDelivery(latest.delivery, showsAddress)
  return { created_at: time(latest.createdAt), status: latest.state, ...latest.counts, target_type, target, error, next_attempt_at }
}

export interface AlertParts {
  readonly insight: Insight | undefined
  readonly users: readonly User[]
  readonly checks: readonly AlertCheck[]
  readonly undelivered: ReadonlySet<string>
  readonly lastError: string | null
  readonly latest: LatestNotice | null
  readonly secret: string | null
  /** An address of a webhook may hold a token. */
  readonly showsAddress: boolean
}
export const presentAlert = async (accounts: Accounts, alert: Alert, parts: AlertParts): Promise<AlertAnswer> => {
  const { name, type, bounds } = thresholdOf(alert)
  const { insight } = parts
  return {
    id: alert.id,
    created_by: await presentAuthor(accounts, alert.created_by_id),
    created_at: time(alert.created_at),
    updated_at: time(alert.updated_at),
    insight: insight
      ? {
          id: insight.id,
          short_id: insight.short_id,
          name: insight.name,
          derived_name: insight.derived_name,
          query: insight.query as SavedInsightAnswer['query'],
        }
      : null,
    name: alert.name,
    subscribed_users: parts.users.map(presentUser),
    condition: { type: alert.condition },
    threshold: { name, configuration: { type, bounds: { lower: bounds.lower ?? null, upper: bounds.upper ?? null } } },
    config: { type: 'TrendsAlertConfig', ...ruleOf(alert).config },
    state: alert.state as (typeof alertStates)[number],
    enabled: alert.enabled,
    calculation_interval: alert.calculation_interval,
    skip_weekend: alert.skip_weekend,
    snoozed_until: maybeTime(alert.snoozed_until),
    last_value: alert.last_value as number | null,
    last_checked_at: maybeTime(alert.last_checked_at),
    last_notified_at: maybeTime(alert.last_notified_at),
    last_delivery: presentLatest(parts.latest, parts.showsAddress),
    next_check_at: alert.enabled ? time(alert.next_check_at) : null,
    last_error: parts.lastError,
    checks: parts.checks.map((one) => presentCheck(one, parts.undelivered)),
    webhook_url: alert.webhook_url === null || parts.showsAddress ? alert.webhook_url : maskedAddress(alert.webhook_url),
    webhook_secret: parts.secret,
  }
}

export interface SubscriptionParts {
  readonly secret: string | null
  readonly showsAddress: boolean
  readonly latest: LatestNotice | null
  /** What is sent. */
  readonly shown: { readonly name: string; readonly shortId: string | null } | null
}
export const presentSubscription = async (
  accounts: Accounts,
  record: Subscription,
  { secret, showsAddress, latest, shown }: SubscriptionParts,
): Promise<SubscriptionAnswer> => ({
  id: record.id,
  dashboard: record.dashboard_id,
  insight: record.insight_id,
  target_type: record.target_type,
  target_value: record.target_type === 'webhook' && !showsAddress ? maskedAddress(record.target_value) : record.target_value,
  webhook_secret: secret,
  frequency: record.frequency,
  interval: record.interval,
  byweekday: record.byweekday as string[] | null,
  bysetpos: record.bysetpos,
  count: record.count,
  start_date: time(record.start_date),
  until_date: maybeTime(record.until_date),
  created_at: time(record.created_at),
  created_by: await presentAuthor(accounts, record.created_by_id),
  enabled: record.enabled !== false,
  deleted: record.deleted,
  title: record.title,
  resource_name: shown?.name ?? null,
  insight_short_id: shown?.shortId ?? null,
  summary: `sent ${summaryOf(recurrenceOf(record, 'UTC'))}`,
  next_delivery_date: maybeTime(record.next_delivery_date),
  last_delivery: presentLatest(latest, showsAddress),
})

export const presentDelivery = (one: NoticeDelivery, showsAddress: boolean): DeliveryAnswer => ({
  id: one.id,
  target_type: one.target_type,
  target: one.target_type === 'webhook' && !showsAddress ? maskedAddress(one.target) : one.target,
  status: one.status as (typeof deliveryStates)[number],
  attempts: one.attempts,
  next_attempt_at: one.status === 'waiting' ? time(one.due_at) : null,
  error: one.latest_error,
  created_at: time(one.created_at),
  last_attempt_at: maybeTime(one.last_attempt_at),
  delivered_at: maybeTime(one.delivered_at),
  is_test: one.is_test === true,
})
export const deliveryParameters = { status: repeatable(`Only those with this status: ${deliveryStates.join(', ')}`) }
/** Empty: all. */
export const statesIn = (query: URLSearchParams) => deliveryStates.filter((state) => query.getAll('status').includes(state))
