import type { Alert, NoticeDelivery, Subscription } from '../accounts/records.ts'
import type { Kind, Share } from '../jobs/kind.ts'
import type { Retry } from '../jobs/retry.ts'
import { createRunner } from '../jobs/runner.ts'
import { deliveryKind, dueDelivery } from './deliver.ts'
import type { NotificationParts } from './parts.ts'
import { checkAlert, sendSubscription } from './produce.ts'

// Alerts, subscriptions and deliveries as due work.

/** Asking takes slots of the engine, sending waits for others. */
const asking: Share = { slots: 2 }
/** Time limit of the queries of one alert or subscription. */
export const askingMs = 5 * 60_000
/** After an error of our own; others are results. */
const retry: Retry = { attempts: Number.POSITIVE_INFINITY, firstMs: 30_000, growth: 2, longestMs: 5 * 60_000, jitter: 0.25 }

const alertKind = (parts: NotificationParts): Kind<Alert> => ({
  name: 'alert',
  share: asking,
  retry,
  mostMs: askingMs,
  guarantee: 'once',
  async due() {
    const alerts = await parts.context.store.read.alerts.find({ enabled: true })
    return { due: alerts.map((item) => ({ id: item.id, projectId: item.project_id, at: item.next_check_at.getTime(), item })) }
  },
  async claim(tables, { id }, now) {
    const alert = await tables.alerts.first({ id, enabled: true })
    return alert && alert.next_check_at <= now ? alert : null
  },
  run: (alert, { signal }) => checkAlert(parts, alert, signal),
})

const isDue = ({ next_delivery_date: at }: Subscription, now: Date): boolean => at !== null && at <= now

const subscriptionKind = (parts: NotificationParts): Kind<Subscription> => ({
  name: 'subscription',
  share: asking,
  retry,
  mostMs: askingMs,
  guarantee: 'once',
  async due() {
    const found = await parts.context.store.read.subscriptions.find({ deleted: false })
    const due = (item: Subscription, at: Date) => ({ id: String(item.id), projectId: item.project_id, at: at.getTime(), item })
    return { due: found.flatMap((one) => (one.next_delivery_date ? [due(one, one.next_delivery_date)] : [])) }
  },
  async claim(tables, { id }, now) {
    const found = await tables.subscriptions.first({ id, deleted: false })
    return found && isDue(found, now) ? found : null
  },
  run: (record, { signal }) => sendSubscription(parts, record, signal),
})

export const createScheduler = (parts: NotificationParts) => {
  const deliveries = deliveryKind(parts)
  const runner = createRunner(parts, [alertKind(parts), subscriptionKind(parts), deliveries])
  return Object.assign(runner, { sendNow: (delivery: NoticeDelivery) => runner.now(deliveries, dueDelivery(delivery)) })
}
export type Scheduler = ReturnType<typeof createScheduler>
