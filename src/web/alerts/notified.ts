import type { AlertAnswer, DeliveryAnswer, LastDeliveryAnswer, SubscriptionAnswer } from '../../doors/answers/notifications.ts'
import { unwrapped } from '../insights/query.ts'
import { counted, inPercent, momentText, numberText } from '../lib/format.ts'
import { alertNumbers } from './alert-numbers.ts'

// Alerts and subscriptions as the API gives them, and what pages say of them.

export const conditions = [
  { value: 'absolute_value', label: 'The number' },
  { value: 'relative_increase', label: 'Increase from the previous period' },
  { value: 'relative_decrease', label: 'Decrease from the previous period' },
]
export const checkIntervals = [
  { value: 'hourly', label: 'Every hour' },
  { value: 'daily', label: 'Every day' },
  { value: 'weekly', label: 'Every week' },
  { value: 'monthly', label: 'Every month' },
]

/** How an alert is called that was given no name. */
export const alertName = ({ name, condition }: AlertAnswer): string =>
  name || conditions.find(({ value }) => value === condition.type)?.label || 'Alert'

/** A number that an alert compares: changes that are shares in percent, others in the unit of the insight. */
export function comparedText(value: number, { condition, threshold, insight }: AlertAnswer): string {
  // From zero, any change is more than each share of it.
  if (Math.abs(value) === Number.MAX_VALUE) return value > 0 ? 'infinite' : 'infinitely negative'
  if (condition.type !== 'absolute_value' && threshold.configuration.type === 'percentage') return `${numberText(inPercent(value))}%`
  const unit = insight ? (alertNumbers(unwrapped(insight.query))?.unit ?? '') : ''
  return `${numberText(value)}${unit === 's' ? ' s' : unit}`
}

const subjects: Readonly<Record<string, string>> = { relative_increase: 'an increase of ', relative_decrease: 'a decrease of ' }

/** `more than 10`, `an increase of more than 10%`. */
export function boundsText(alert: AlertAnswer): string {
  const { lower, upper } = alert.threshold.configuration.bounds
  const text = [
    lower === null ? '' : `less than ${comparedText(lower, alert)}`,
    upper === null ? '' : `more than ${comparedText(upper, alert)}`,
  ]
    .filter(Boolean)
    .join(' or ')
  return `${subjects[alert.condition.type] ?? ''}${text}`
}

/** Alerts are checked when they are made or changed. */
export const isBeingChecked = ({ enabled, last_checked_at, updated_at }: AlertAnswer): boolean =>
  enabled && last_checked_at === null && Date.now() - Date.parse(updated_at) < 60_000

export interface Shown {
  readonly text: string
  readonly tone: 'good' | 'bad' | 'warn' | ''
}

const isUndelivered = (last: LastDeliveryAnswer | null) =>
  last !== null && (last.status === 'failed' || (last.status === 'waiting' && last.error !== null))

/** A state that says whether somebody knows of it. */
export function stateOf(alert: AlertAnswer): Shown {
  const { enabled, state, last_delivery: last, subscribed_users: users, webhook_url: webhook } = alert
  if (!enabled) return { text: 'Off', tone: '' }
  if (isBeingChecked(alert)) return { text: 'Checking…', tone: '' }
  if (state === 'Snoozed') return { text: state, tone: 'warn' }
  if (state !== 'Firing' && state !== 'Errored') return { text: state, tone: 'good' }
  const told =
    users.length === 0 && webhook === null
      ? ', notifies nobody'
      : last === null
        ? ', nobody was notified'
        : last.status === 'failed'
          ? ', not delivered'
          : last.status === 'delivered'
            ? ''
            : last.error === null
              ? ', being sent'
              : ', not delivered yet'
  return { text: `${state}${told}`, tone: 'bad' }
}

/** Whether a subscription is sent, and whether its last notice arrived. */
export function sendingOf({ enabled, next_delivery_date: next, last_delivery: last }: SubscriptionAnswer): Shown {
  if (!enabled) return { text: 'Paused', tone: '' }
  if (isUndelivered(last)) return { text: last!.status === 'failed' ? 'Not delivered' : 'Not delivered yet', tone: 'bad' }
  return next === null ? { text: 'Ended', tone: '' } : { text: 'Sending', tone: 'good' }
}

/** `Last notice: 2026-01-05 11:00, not delivered to hooks.example.com: …` */
export function lastDeliveryText(last: LastDeliveryAnswer | null, timezone: string): string {
  if (!last) return 'No notice in the last 30 days.'
  const begin = `Last notice: ${momentText(last.created_at, timezone)}, `
  if (last.status === 'delivered') return `${begin}delivered.`
  const others = last.delivered > 0 ? ` Delivered to ${counted(last.delivered, 'other')}.` : ''
  if (last.status === 'waiting' && last.error === null) return `${begin}being sent to ${last.target}.${others}`
  const next = last.status === 'waiting' ? ` It is tried again at ${momentText(last.next_attempt_at, timezone)}.` : ''
  return `${begin}not delivered${last.status === 'waiting' ? ' yet' : ''} to ${last.target}: ${(last.error ?? 'no reason is known').replace(/\.$/, '')}.${next}${others}`
}

export const isWrong = isUndelivered

export const outcomes: Readonly<Record<DeliveryAnswer['status'], string>> = {
  delivered: 'Delivered',
  waiting: 'Waiting',
  failed: 'Not delivered',
}
