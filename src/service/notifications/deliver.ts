import { WaymarkError } from '../../errors/errors.ts'
import { faultText, isFault } from '../../errors/faults.ts'
import { takeMails } from '../accounts/organizations/mail-limits.ts'
import type { AccountTables, Notice, NoticeDelivery, ProjectRecord } from '../accounts/records.ts'
import { sealedFor } from '../accounts/secrets/resealing.ts'
import { pngOf } from '../bitmaps/png.ts'
import { dueRows } from '../jobs/due-rows.ts'
import type { Due, Kind, Share } from '../jobs/kind.ts'
import { receiverRefusal } from './mail-receivers.ts'
import type { NotificationParts } from './parts.ts'
import type { NoticeContent } from './records.ts'
import { type Chat, chatMessage, chatOf, type Picture, pictureScale } from './sinks/chat.ts'
import { mailOf } from './sinks/email.ts'
import { webhookBody, webhookRequest } from './sinks/webhook.ts'
import { sweepNotices } from './sweep.ts'
import { mailRefusal } from './targets.ts'

// Deliveries as due work. An attempt is counted before it begins: what ends the process is not tried for ever. A process that ends between the receiver's answer
// and its own note repeats the delivery under the same id.

const sendingMs = 20_000
/** Of one message to a chat. */
const mostPictures = 9

class Refused extends Error {
  readonly isFinal: boolean
  constructor(message: string, isFinal: boolean) {
    super(message)
    this.isFinal = isFinal
  }
}

/** Answers that a later attempt can change. */
const isPassing = (status: number): boolean => status === 408 || status === 429 || status >= 500

async function secretOf({ context, box }: NotificationParts, { alert_id, subscription_id }: NoticeDelivery): Promise<string> {
  const { read } = context.store
  const sealed = alert_id === null ? await read.subscriptions.first({ id: subscription_id! }) : await read.alerts.first({ id: alert_id })
  if (!sealed?.webhook_secret) throw new Refused('The webhook was removed.', true)
  return box.open(
    sealed.webhook_secret,
    alert_id === null ? sealedFor.subscriptionWebhook(subscription_id!) : sealedFor.alertWebhook(alert_id),
  )
}

/** Drawn when it is sent: a notice is kept as text. */
const picturesFor = (chat: Chat, { items }: NoticeContent): Promise<readonly Picture[]> => {
  const scale = pictureScale[chat]
  return Promise.all(items.slice(0, mostPictures).map(async ({ svg }) => (svg === null || scale === 0 ? null : pngOf(svg, scale))))
}

async function sendWebhook(parts: NotificationParts, delivery: NoticeDelivery, notice: Notice, signal: AbortSignal): Promise<void> {
  const content = notice.content as unknown as NoticeContent
  const chat = chatOf(delivery.target)
  const { headers, body } = chat
    ? chatMessage(chat, content, await picturesFor(chat, content))
    : webhookRequest(webhookBody(content, notice), delivery.id, await secretOf(parts, delivery), parts.context.clock())
  const target = new URL(delivery.target)
  target.hash = ''
  const { href, host } = target
  const answer = await parts.fetch({ url: href, method: 'POST', headers, body }, signal)
  // A redirect of a POST may have become a GET of some page.
  if (answer.url !== href) throw new Refused(`${host} redirects to another address. Use that one.`, true)
  if (answer.status >= 200 && answer.status < 300) return
  throw new Refused(`${host} answered with status ${answer.status}.`, !isPassing(answer.status))
}

async function mustMayMail(parts: NotificationParts, project: ProjectRecord, delivery: NoticeDelivery): Promise<void> {
  const refusal = await receiverRefusal(parts, project, delivery)
  if (refusal !== null) throw new Refused(refusal, true)
  if ((await takeMails(parts.context, project.organization_id, 1)) === 0)
    throw new Refused('The organization has reached its daily limit of e-mails.', false)
}

async function sendMail(parts: NotificationParts, delivery: NoticeDelivery, notice: Notice): Promise<void> {
  const { context } = parts
  const mailer = context.mailer()
  if (!mailer) throw new Refused(mailRefusal(context)!, false)
  const project = await context.store.read.projects.first({ id: delivery.project_id })
  const { siteUrl } = context.settings()
  const host = URL.canParse(siteUrl) ? new URL(siteUrl).hostname : 'waymark.localhost'
  const what = delivery.alert_id === null ? `subscription ${delivery.subscription_id}` : `alert ${delivery.alert_id}`
  const how =
    delivery.watch === null
      ? `This is ${what} of the project ${project?.name ?? delivery.project_id}. Its members can change or delete it.`
      : 'Owners of the organization get this mail once, and another one when it is over. Administrators can switch it off in Settings → Watching.'
  if (project) await mustMayMail(parts, project, delivery)
  const mail = mailOf(notice.content as unknown as NoticeContent, delivery.target, `<${delivery.id}@${host}>`, how)
  await context.outbound.mails(project?.organization_id ?? '', () => mailer.send(mail))
}

/** SMTP servers answer 5xx for what stays wrong. */
const isFinalError = (error: unknown): boolean => {
  if (error instanceof Refused) return error.isFinal
  if (error instanceof WaymarkError) return error.code === 'private-address'
  const { responseCode } = error as { responseCode?: unknown }
  return typeof responseCode === 'number' && responseCode >= 500 && responseCode < 600
}

const messageOf = (error: unknown, { target, target_type }: NoticeDelivery): string => {
  if (isFault(error)) return faultText
  const text = error instanceof WaymarkError ? error.detail : error instanceof Error ? error.message : String(error)
  // The path of an address may hold a token.
  const shown = target_type === 'webhook' ? text.replaceAll(target, new URL(target).host) : text
  return shown.slice(0, 500)
}

/** Receivers that do not answer take no more than five from other projects; what is being sent may end, so that nothing is sent twice. */
const share: Share = { slots: 8, ofProject: 5, graceMs: 5_000 }
/** Deliveries read at a time. */
const mostRead = 200

export const dueDelivery = (item: NoticeDelivery): Due<NoticeDelivery> => {
  const { id, project_id: projectId, due_at, attempts: failures } = item
  return { id, projectId, at: due_at.getTime(), failures, item }
}

export const deliveryKind = (parts: NotificationParts): Kind<NoticeDelivery> => {
  const { clock, store } = parts.context
  const { read } = store
  const change = (tables: AccountTables, { id, attempts }: NoticeDelivery, changed: Partial<NoticeDelivery>) =>
    tables.notice_deliveries.update({ id, status: 'waiting', attempts }, changed)
  return {
    name: 'notice delivery',
    share,
    // Some ten hours of attempts.
    retry: { attempts: 16, firstMs: 30_000, growth: 2, longestMs: 3_600_000, jitter: 0.25 },
    mostMs: sendingMs,
    guarantee: 'at least once',
    async due(now) {
      const senders = [read.alerts, read.subscriptions, read.watch_states] as const
      if ((await Promise.all(senders.map((table) => table.count({})))).every((rows) => rows === 0)) return { due: [] }
      const { rows, next } = await dueRows(read, read.notice_deliveries, { status: 'waiting' }, now, mostRead)
      return { due: rows.map(dueDelivery), next }
    },
    async claim(tables, { id }, now) {
      const delivery = await tables.notice_deliveries.first({ id, status: 'waiting' })
      if (!delivery || delivery.due_at > now) return null
      const attempt = { attempts: delivery.attempts + 1, last_attempt_at: now }
      await tables.notice_deliveries.update({ id }, attempt)
      return { ...delivery, ...attempt }
    },
    async run(delivery, { signal }) {
      const notice = await read.notices.first({ id: delivery.notice_id })
      if (!notice) return (tables) => change(tables, delivery, { status: 'failed', latest_error: 'Its content is no longer stored.' })
      if (delivery.target_type === 'webhook') await sendWebhook(parts, delivery, notice, signal)
      else await sendMail(parts, delivery, notice)
      return async (tables) => {
        const delivered_at = clock()
        await change(tables, delivery, { status: 'delivered', delivered_at, latest_error: null })
        if (delivery.alert_id !== null && delivery.is_test !== true)
          await tables.alerts.update({ id: delivery.alert_id }, { last_notified_at: delivered_at })
        // Pictures take room: the content stays only while somebody may still be sent it.
        const others = await tables.notice_deliveries.count({ notice_id: notice.id, status: ['waiting', 'failed'] })
        if (others === 0) await tables.notices.remove({ id: notice.id })
      }
    },
    async failed(tables, delivery, error, next) {
      // Somebody waits for the outcome of a test.
      const due_at = isFinalError(error) || delivery.is_test === true ? null : next(delivery.attempts)
      const status = due_at ? { due_at } : { status: 'failed' }
      await change(tables, delivery, { ...status, latest_error: messageOf(error, delivery) })
    },
    released: (tables, delivery) => change(tables, delivery, { attempts: delivery.attempts - 1 }),
    sweep: (now) => sweepNotices(store, now),
  }
}
