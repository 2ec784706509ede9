import { type ActingMember, writeAs } from '../accounts/acting-member.ts'
import type { Alert, NoticeDelivery, ProjectRecord, Subscription } from '../accounts/records.ts'
import { invalid, notFound } from '../accounts/refusals.ts'
import type { NotificationParts } from './parts.ts'
import { sendSubscription } from './produce.ts'
import type { DeliveryState } from './records.ts'

// What users see and do about deliveries.

export type Source = { readonly alert: Alert } | { readonly subscription: Subscription }
const idsOf = (source: Source) => ('alert' in source ? { alert_id: source.alert.id } : { subscription_id: source.subscription.id })

export const createDeliveries = (parts: NotificationParts & { wake(): void }) => {
  const { context, wake } = parts
  const { store } = context
  return {
    /** The newest first. */
    async list(source: Source, states: readonly DeliveryState[], page: { readonly limit: number; readonly offset: number }) {
      const where = { ...idsOf(source), ...(states.length > 0 && { status: states }) }
      const rows = await store.read.notice_deliveries.find(where, { newestFirst: 'created_at', ...page })
      return { rows, count: await store.read.notice_deliveries.count(where) }
    },

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
    async test(_project: ProjectRecord, record: Subscription): Promise<void> {
      if (record.deleted) throw invalid('The subscription is deleted.')
      await sendSubscription(parts, record, new AbortController().signal, true)
      wake()
    },
  }
}
export type Deliveries = ReturnType<typeof createDeliveries>
