import { WaymarkError } from '../../errors/errors.ts'
import { createConcurrencyLimit } from '../../lib/flow/concurrency-limit.ts'
import { type ActingMember, writeAs } from '../accounts/acting-member.ts'
import type { Alert, AlertCheck, NoticeDelivery, Subscription } from '../accounts/records.ts'
import { invalid, mustFind } from '../accounts/refusals.ts'
import type { NotificationParts } from './parts.ts'
import { sendSubscription, testAlert } from './produce.ts'
import type { DeliveryState } from './records.ts'
import { askingMs } from './scheduler.ts'

// What users see and do about deliveries.

export type Source = { readonly alert: Alert } | { readonly subscription: Subscription }
const idsOf = (source: Source) => ('alert' in source ? { alert_id: source.alert.id } : { subscription_id: source.subscription.id })

/** What became of one notice. `failed` goes before `waiting`: one receiver that did not get it is enough. */
export interface LatestNotice {
  readonly createdAt: Date
  readonly state: DeliveryState
  readonly counts: Readonly<Record<DeliveryState, number>>
  /** The delivery that decides the state. */
  readonly delivery: NoticeDelivery
}

/** Receivers of one notice: members and a webhook. */
const mostOfNotice = 100

/** Of one test: a receiver that never answers takes the time limit of an attempt, and must not hold up the others. */
const attemptsAtOnce = 8

const withTimeout = (signal: AbortSignal) => AbortSignal.any([signal, AbortSignal.timeout(askingMs)])

const busy = () => new WaymarkError('busy', { what: 'test deliveries' })

interface DeliveryParts extends NotificationParts {
  wake(): void
  sendNow(delivery: NoticeDelivery): Promise<void>
}

const keyOf = (source: Source): string | number => ('alert' in source ? source.alert.id : source.subscription.id)

/** Of the deliveries of one notice. */
function latestIn(all: readonly NoticeDelivery[]): LatestNotice {
  const of = (state: DeliveryState) => all.filter(({ status }) => status === state)
  const state = (['failed', 'waiting'] as const).find((one) => of(one).length > 0) ?? 'delivered'
  return {
    createdAt: all[0]!.created_at,
    state,
    counts: { waiting: of('waiting').length, delivered: of('delivered').length, failed: of('failed').length },
    delivery: of(state)[0]!,
  }
}

export const createDeliveries = (parts: DeliveryParts) => {
  const { context, wake, sendNow } = parts
  const { store } = context
  const limit = createConcurrencyLimit({ atOnce: 8, waiting: 32, waitingOfGroup: 4, refusal: busy })
  /** Makes the attempts of a test, some at a time, and returns what became of them. */
  const outcomesOf = async (ids: readonly string[]): Promise<readonly NoticeDelivery[]> => {
    const made = await store.read.notice_deliveries.find({ id: [...ids] })
    for (let from = 0; from < made.length; from += attemptsAtOnce) await Promise.all(made.slice(from, from + attemptsAtOnce).map(sendNow))
    return store.read.notice_deliveries.find({ id: [...ids] }, { newestFirst: 'created_at' })
  }

  const latestOf = async (sources: readonly Source[]): Promise<ReadonlyMap<string | number, LatestNotice>> => {
    const found = new Map<string | number, LatestNotice>()
    // One statement, as a rule: another one for those whose notices are older than as many of the others.
    for (let left = sources; left.length > 0; ) {
      const limit = mostOfNotice * left.length
      const alerts = left.flatMap((one) => ('alert' in one ? [one.alert.id] : []))
      const owner = alerts.length > 0 ? { alert_id: alerts } : { subscription_id: left.map(keyOf) as number[] }
      const due = await store.read.notice_deliveries.find({ ...owner, is_test: [false, null] }, { newestFirst: 'created_at', limit })
      // The last notice of a full answer may be there in part.
      const isFull = due.length === limit && left.length > 1
      const newest = new Map<string | number, NoticeDelivery[]>()
      for (const one of due) {
        const key = one.alert_id ?? one.subscription_id!
        const its = newest.get(key)
        if (!its) newest.set(key, [one])
        else if (its[0]!.notice_id === one.notice_id) its.push(one)
      }
      const cut = isFull && newest.size > 1 ? due.at(-1)!.notice_id : null
      for (const [key, its] of newest) if (its[0]!.notice_id !== cut) found.set(key, latestIn(its))
      left = isFull ? left.filter((one) => !found.has(keyOf(one))) : []
    }
    return found
  }

  return {
    /** What became of the newest notice of each source, by its id, tests left out. Sources without a notice in the days that are kept are left out. */
    latestOf,

    /** The checks whose notice nobody got. Deliveries that are not kept any more say nothing against it. */
    async undelivered(checks: readonly AlertCheck[]): Promise<ReadonlySet<string>> {
      const told = checks.filter(({ targets }) => (targets as readonly unknown[]).length > 0)
      const alert_id = [...new Set(told.map((one) => one.alert_id))]
      if (told.length === 0) return new Set()
      const times = told.map(({ created_at }) => created_at.getTime())
      const between = { created_at: { from: new Date(Math.min(...times)), to: new Date(Math.max(...times) + 1) } }
      const deliveries = await store.read.notice_deliveries.find({ alert_id }, { between })
      const isOf = (check: AlertCheck) => (one: NoticeDelivery) =>
        one.alert_id === check.alert_id && one.is_test !== true && one.created_at.getTime() === check.created_at.getTime()
      const isMissed = (check: AlertCheck) => {
        const its = deliveries.filter(isOf(check))
        return its.length > 0 && its.every(({ status }) => status !== 'delivered')
      }
      return new Set(told.filter(isMissed).map(({ id }) => id))
    },

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
        const delivery = await mustFind(tables.notice_deliveries.first({ id: id.toLowerCase(), ...idsOf(source) }))
        if (delivery.is_test) throw invalid('A test is not sent again. Send another test.')
        if (delivery.status !== 'failed') throw invalid(`Only a failed delivery can be retried: this one is ${delivery.status}.`)
        const change = { status: 'waiting', attempts: 0, due_at: context.clock() }
        await tables.notice_deliveries.update({ id: delivery.id }, change)
        return { ...delivery, ...change }
      })
      wake()
      return found
    },

    /** Sends a notice now, beside what is due, and returns what became of it: one attempt for each receiver. */
    async test(source: Source, signal: AbortSignal): Promise<readonly NoticeDelivery[]> {
      const { project_id } = 'alert' in source ? source.alert : source.subscription
      if ('subscription' in source && source.subscription.deleted) throw invalid('The subscription is deleted.')
      return limit(String(project_id), async () =>
        outcomesOf(
          'alert' in source
            ? await testAlert(parts, source.alert, withTimeout(signal))
            : await store.write(await sendSubscription(parts, source.subscription, withTimeout(signal), true)),
        ),
      )
    },
  }
}
export type Deliveries = ReturnType<typeof createDeliveries>
