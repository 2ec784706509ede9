import { momentText, numberText } from '../lib/format.ts'

// Alerts and subscriptions as the API gives them, and what pages say of them.

/** What became of the newest notice. */
export interface LastDelivery {
  readonly created_at: string
  readonly status: 'delivered' | 'waiting' | 'failed'
  readonly delivered: number
  readonly waiting: number
  readonly failed: number
  readonly target: string
  readonly error: string | null
  readonly next_attempt_at: string | null
}
export interface Delivery {
  readonly id: string
  readonly target_type: string
  readonly target: string
  readonly status: 'delivered' | 'waiting' | 'failed'
  readonly attempts: number
  readonly next_attempt_at: string | null
  readonly error: string | null
  readonly created_at: string
  readonly delivered_at: string | null
  readonly is_test: boolean
}
export interface Alert {
  readonly id: string
  readonly name: string
  readonly state: string
  readonly enabled: boolean
  readonly insight: {
    readonly id: number
    readonly short_id: string
    readonly name: string | null
    readonly derived_name: string | null
  } | null
  readonly condition: { readonly type: string }
  readonly threshold: {
    readonly configuration: { readonly type: string; readonly bounds: { readonly lower: number | null; readonly upper: number | null } }
  }
  readonly subscribed_users: readonly unknown[]
  readonly webhook_url: string | null
  readonly calculation_interval: string
  readonly snoozed_until: string | null
  readonly last_value: number | null
  readonly last_checked_at: string | null
  readonly last_error: string | null
  readonly last_delivery: LastDelivery | null
  readonly webhook_secret: string | null
}
export interface Subscription {
  readonly id: number
  readonly title: string | null
  readonly summary: string
  readonly insight: number | null
  readonly insight_short_id: string | null
  readonly dashboard: number | null
  readonly resource_name: string | null
  readonly target_type: string
  readonly target_value: string
  readonly enabled: boolean
  readonly next_delivery_date: string | null
  readonly last_delivery: LastDelivery | null
  readonly webhook_secret: string | null
}

export const conditions = [
  { value: 'absolute_value', label: 'The number' },
  { value: 'relative_increase', label: 'Its increase from the interval before' },
  { value: 'relative_decrease', label: 'Its decrease from the interval before' },
]
export const checkIntervals = [
  { value: 'hourly', label: 'Every hour' },
  { value: 'daily', label: 'Every day' },
  { value: 'weekly', label: 'Every week' },
  { value: 'monthly', label: 'Every month' },
]

/** `more than 10`, in percent where the bounds are shares. */
export function boundsText({ type, bounds: { lower, upper } }: Alert['threshold']['configuration']): string {
  const shown = (bound: number) => (type === 'percentage' ? `${numberText(bound * 100)} %` : numberText(bound))
  return [lower === null ? '' : `less than ${shown(lower)}`, upper === null ? '' : `more than ${shown(upper)}`].filter(Boolean).join(' or ')
}

export interface Shown {
  readonly text: string
  readonly tone: 'good' | 'bad' | 'warn' | ''
}

const isUndelivered = (last: LastDelivery | null) =>
  last !== null && (last.status === 'failed' || (last.status === 'waiting' && last.error !== null))

/** A state that says whether somebody knows of it. */
export function stateOf({ enabled, state, last_delivery: last, subscribed_users: users, webhook_url: webhook }: Alert): Shown {
  if (!enabled) return { text: 'Off', tone: '' }
  if (state === 'Snoozed') return { text: state, tone: 'warn' }
  if (state !== 'Firing' && state !== 'Errored') return { text: state, tone: 'good' }
  const told =
    users.length === 0 && webhook === null
      ? ', tells nobody'
      : last === null
        ? ', nobody was told'
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
export function sendingOf({ enabled, next_delivery_date: next, last_delivery: last }: Subscription): Shown {
  if (!enabled) return { text: 'Paused', tone: '' }
  if (isUndelivered(last)) return { text: last!.status === 'failed' ? 'Not delivered' : 'Not delivered yet', tone: 'bad' }
  return next === null ? { text: 'Ended', tone: '' } : { text: 'Sending', tone: 'good' }
}

/** `Last notice: 2026-01-05 11:00, not delivered to hooks.example.com: …` */
export function lastDeliveryText(last: LastDelivery | null, timezone: string): string {
  if (!last) return 'No notice in the last 30 days.'
  const begin = `Last notice: ${momentText(last.created_at, timezone)}, `
  if (last.status === 'delivered') return `${begin}delivered.`
  const others = last.delivered > 0 ? ` Delivered to ${numberText(last.delivered)} others.` : ''
  if (last.status === 'waiting' && last.error === null) return `${begin}being sent to ${last.target}.${others}`
  const next = last.status === 'waiting' ? ` It is tried again at ${momentText(last.next_attempt_at, timezone)}.` : ''
  return `${begin}not delivered${last.status === 'waiting' ? ' yet' : ''} to ${last.target}: ${last.error ?? 'no reason is known.'}${next}${others}`
}

export const isWrong = isUndelivered

export const outcomes: Readonly<Record<Delivery['status'], string>> = {
  delivered: 'Delivered',
  waiting: 'Waiting',
  failed: 'Not delivered',
}
