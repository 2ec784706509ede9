import { type ActingMember, writeAs } from '../accounts/acting-member.ts'
import type { Alert, NoticeDelivery, Subscription } from '../accounts/records.ts'
import { invalid, notFound } from '../accounts/refusals.ts'
import { WaymarkError } from '../errors/errors.ts'
import { createConcurrencyLimit } from '../lib/concurrency-limit.ts'
import type { NotificationParts } from './parts.ts'
import { sendSubscription } from './produce.ts'
import type { DeliveryState } from './records.ts'

// What users see and do about deliveries.

export type Source = { readonly alert: Alert } | { readonly subscription: Subscription }
const idsOf = (source: Source) => ('alert' in source ? { alert_id: source.alert.id } : { subscription_id: source.subscription.id })

const busy = () => new WaymarkError('busy', { what: 'test deliveries' })

export const createDeliveries = (parts: NotificationParts & { wake(): void }) => {
  const { context, wake } = parts
  const { store } = context
  const limit = createConcurrencyLimit({ atOnce: 2, waiting: 32, waitingOfGroup: 4, refusal: busy })
  return {
    /** The newest first. */
    async list(source: Source, states: readonly DeliveryState[], page: { readonly limit: number; readonly offset: number }) {
      const where = { ...idsOf(source), ...(states.length > 0 && { status: states }) }
      const rows = await store.read.notice_deliveries.find(where, { newestFirst: 'created_at', ...page })
      return { rows, count: await store.read.notice_deliveries.count(where) }
    },

    /** Of all projects. */
    counts: async (): Promise<Readonly<Record<'waiting' | 'failed', number>>> => ({
      waiting: await store.read.notice_deliveries.count({ status: 'waiting' }),
      failed: await store.read.notice_deliveries.count({ status: 'failed' }),
    }),

    /** A delivery that has failed gets as many attempts as a new one. */
    async retry(by: ActingMember, source: Source, id: string): Promise<NoticeDelivery> {
      const found = await writeAs(context, by, async (tables) => {
        const delivery = await tables.notice_deliveries.first({ id: id.toLowerCase(), ...idsOf(source) })
        if (!delivery) throw notFound()
        if (delivery.status !== 'failed') throw invalid(`Only a failed delivery can be retried: this one is ${delivery.status}.`)
        const change = { status: 'waiting', attempts: 0, due_at: context.clock() }
        await tables.notice_deliveries.update({ id: delivery.id }, change)
        return { ...delivery, ...change }
      })
      wake()
      return found
    },

    /** Sends a subscription now, beside its schedule. */
    async test(record: Subscription, signal: AbortSignal): Promise<void> {
      if (record.deleted) throw invalid('The subscription is deleted.')
      await limit(String(record.project_id), () => sendSubscription(parts, record, signal, true))
      wake()
    },
  }
}
export type Deliveries = ReturnType<typeof createDeliveries>
