import type * as z from 'zod'
import { pick } from '../../lib/pick.ts'
import { isMaskOf } from '../../lib/web/masked-address.ts'
import { type AccountContext, nextNumber } from '../accounts/context.ts'
import { check } from '../accounts/fields.ts'
import { type MemberInProject, note, pickDefined, writeIn } from '../accounts/project-writes.ts'
import type { AccountStore, AccountTables, ProjectRecord, Subscription } from '../accounts/records.ts'
import { invalid, mustFind, noSuch } from '../accounts/refusals.ts'
import { sealedFor } from '../accounts/secrets/resealing.ts'
import { newWebhookSecret } from './alerts.ts'
import { addressesOf, mustBeTarget, subscriptionChange, subscriptionInput, type TargetType, timeOf } from './fields.ts'
import { isReader, notReader } from './mail-receivers.ts'
import type { NotificationParts } from './parts.ts'
import { recurrenceOf } from './records.ts'
import { nextOccurrence } from './recurrence.ts'
import { mustTakeMail, mustTakeWebhook } from './targets.ts'

// The rules of subscriptions, for requests. The scheduler sends what is written here.

/** Of one project. */
const mostSubscriptions = 500

export interface SubscriptionServices extends Pick<NotificationParts, 'context' | 'box' | 'network' | 'mayRead'> {
  wake(): void
}

type Change = z.infer<typeof subscriptionChange>

const logged = (record: Subscription) => {
  const { id, title, insight_id, dashboard_id, target_type, deleted } = record
  const schedule = {
    ...pick(record, ['frequency', 'interval', 'byweekday', 'bysetpos', 'count', 'start_date', 'until_date']),
    enabled: record.enabled !== false,
  }
  // The address of a webhook may hold a token.
  const target_value = target_type === 'email' ? record.target_value : new URL(record.target_value).host
  const fields = { title, insight: insight_id, dashboard: dashboard_id, target_type, target_value, ...schedule, deleted }
  return { id, name: title, fields }
}

const find = (tables: Pick<AccountStore['read'], 'subscriptions'>, { id: project_id }: ProjectRecord, id: number): Promise<Subscription> =>
  mustFind(tables.subscriptions.first({ id, project_id }))

const mustBeValid = async (parts: SubscriptionServices, tables: AccountTables, project: ProjectRecord, record: Subscription) => {
  const { context } = parts
  const { insight_id, dashboard_id } = record
  if ((insight_id === null) === (dashboard_id === null)) throw invalid('A subscription needs an insight or a dashboard, and not both.')
  if (insight_id !== null && !(await tables.insights.first({ id: insight_id, project_id: project.id, deleted: false })))
    throw noSuch(insight_id, 'insight')
  const dashboard = dashboard_id === null ? null : await tables.dashboards.first({ id: dashboard_id, project_id: project.id })
  if (dashboard === undefined || dashboard?.deleted) throw noSuch(dashboard_id, 'dashboard')
  mustBeTarget(record.target_type as TargetType, record.target_value)
  if (record.target_type === 'email') mustTakeMail(context, 'target_type')
  if (record.target_type === 'email' && context.settings().isHosted)
    await mustBeReaders(parts, tables, project, addressesOf(record.target_value))
  if (record.bysetpos !== null && (record.byweekday === null || record.bysetpos === 0))
    throw invalid('bysetpos needs byweekday, and counts from 1, or from -1 at the end.', 'bysetpos')
  if (record.until_date && record.until_date < record.start_date) throw invalid('until_date is before start_date.', 'until_date')
}

/** A server for many customers sends no mails to strangers. */
const mustBeReaders = async (
  parts: SubscriptionServices,
  tables: AccountTables,
  project: ProjectRecord,
  addresses: readonly string[],
): Promise<void> => {
  for (const address of addresses) if (!(await isReader(parts, tables, project, address))) throw invalid(notReader(address), 'target_value')
}

/** What a delivery would refuse. What was saved before stays, and its deliveries say what is wrong. */
const mustReach = ({ network }: SubscriptionServices, { target_type, target_value }: Change, before: Subscription | null): void => {
  const [type, value] = [target_type ?? before?.target_type, target_value ?? before?.target_value]
  if (type !== 'webhook' || value === undefined) return
  const isKnown = before?.target_type === 'webhook' && (value === before.target_value || isMaskOf(value, before.target_value))
  if (!isKnown) mustTakeWebhook(value, network, 'target_value')
}

const withChange = ({ clock }: AccountContext, record: Subscription, change: Change, timezone: string): Subscription => {
  const now = clock()
  const changed: Subscription = {
    ...record,
    ...pickDefined(change, 'title', 'target_type', 'target_value', 'frequency', 'interval', 'bysetpos', 'count', 'enabled', 'deleted'),
    ...(change.insight !== undefined && { insight_id: change.insight }),
    ...(change.dashboard !== undefined && { dashboard_id: change.dashboard }),
    ...(change.byweekday !== undefined && {
      byweekday: change.byweekday && change.byweekday.length > 0 ? [...new Set(change.byweekday)] : null,
    }),
    ...(change.start_date !== undefined && { start_date: timeOf(change.start_date, 'start_date') }),
    ...(change.until_date !== undefined && { until_date: change.until_date === null ? null : timeOf(change.until_date, 'until_date') }),
    updated_at: now,
  }
  if (changed.target_type === 'email') Object.assign(changed, { target_value: addressesOf(changed.target_value).join(',') })
  const names = ['frequency', 'interval', 'byweekday', 'bysetpos', 'count', 'start_date', 'until_date', 'enabled', 'deleted'] as const
  const isOther = names.some((name) => JSON.stringify(changed[name]) !== JSON.stringify(record[name]))
  if (!isOther && record.next_delivery_date !== null) return changed
  const next = changed.deleted || changed.enabled === false ? null : nextOccurrence(recurrenceOf(changed, timezone), now.getTime())
  return { ...changed, next_delivery_date: next === null ? null : new Date(next) }
}

const sealedSecret = ({ box }: SubscriptionServices, record: Subscription, { webhook_secret }: Change, before: string | null) => {
  if (record.target_type !== 'webhook') return { sealed: null, made: null }
  // Another receiver gets another secret.
  if (webhook_secret === undefined && record.webhook_secret !== null && record.target_value === before)
    return { sealed: record.webhook_secret, made: null }
  const made = webhook_secret ?? newWebhookSecret()
  return { sealed: box.seal(made, sealedFor.subscriptionWebhook(record.id)), made }
}

export const createSubscriptions = (parts: SubscriptionServices) => {
  const { context, wake } = parts
  const { store, clock } = context
  const { read } = store

  return {
    find: (project: ProjectRecord, id: number) => find(read, project, id),

    async list(
      project: ProjectRecord,
      of: { readonly insight: number | null; readonly dashboard: number | null },
      page: { readonly limit: number; readonly offset: number },
    ) {
      const where = {
        project_id: project.id,
        deleted: false,
        ...(of.insight === null ? {} : { insight_id: of.insight }),
        ...(of.dashboard === null ? {} : { dashboard_id: of.dashboard }),
      }
      return {
        rows: await read.subscriptions.find(where, { newestFirst: 'created_at', ...page }),
        count: await read.subscriptions.count(where),
      }
    },

    async create(place: MemberInProject, body: unknown): Promise<{ readonly record: Subscription; readonly secret: string | null }> {
      const given = check(subscriptionInput, body)
      const { project, by } = place
      mustReach(parts, given, null)
      const made = await writeIn(context, place, async (tables) => {
        if ((await tables.subscriptions.count({ project_id: project.id, deleted: false })) >= mostSubscriptions)
          throw invalid(`A project has at most ${mostSubscriptions} subscriptions. Delete one first.`)
        const now = clock()
        const blank: Subscription = {
          id: await nextNumber(tables, 'subscription'),
          project_id: project.id,
          insight_id: null,
          dashboard_id: null,
          title: null,
          target_type: given.target_type,
          target_value: given.target_value,
          webhook_secret: null,
          frequency: given.frequency,
          interval: 1,
          byweekday: null,
          bysetpos: null,
          count: null,
          start_date: now,
          until_date: null,
          next_delivery_date: null,
          enabled: true,
          deleted: false,
          created_by_id: by.user.id,
          created_at: now,
          updated_at: now,
        }
        const record = withChange(context, blank, given, project.timezone)
        await mustBeValid(parts, tables, project, record)
        const { sealed, made: secret } = sealedSecret(parts, record, given, null)
        const stored = { ...record, webhook_secret: sealed }
        await tables.subscriptions.insert(stored)
        await note(context, tables, place, 'Subscription', null, logged(stored))
        return { record: stored, secret }
      })
      wake()
      return made
    },

    async update(
      place: MemberInProject,
      id: number,
      body: unknown,
      isWhole = false,
    ): Promise<{ readonly record: Subscription; readonly secret: string | null }> {
      const rest = {
        title: null,
        insight: null,
        dashboard: null,
        interval: 1,
        byweekday: null,
        bysetpos: null,
        count: null,
        until_date: null,
        enabled: true,
      }
      const sent: Change = isWhole ? { ...rest, ...check(subscriptionInput, body) } : check(subscriptionChange, body)
      const { project } = place
      mustReach(parts, sent, await find(read, project, id))
      const changed = await writeIn(context, place, async (tables) => {
        const before = await find(tables, project, id)
        const isMask = before.target_type === 'webhook' && isMaskOf(sent.target_value, before.target_value)
        const given = isMask ? { ...sent, target_value: before.target_value } : sent
        const record = withChange(context, before, given, project.timezone)
        // What it is about may be gone by now: deleting and renaming it is still possible.
        if (Object.keys(given).some((name) => !['deleted', 'title', 'enabled'].includes(name)))
          await mustBeValid(parts, tables, project, record)
        const { sealed, made: secret } = sealedSecret(parts, record, given, before.target_type === 'webhook' ? before.target_value : null)
        const { id: _, ...columns } = { ...record, webhook_secret: sealed }
        await tables.subscriptions.update({ id }, columns)
        if (record.deleted)
          await tables.notice_deliveries.update(
            { subscription_id: id, status: 'waiting' },
            { status: 'failed', latest_error: 'The subscription was deleted.' },
          )
        await note(context, tables, place, 'Subscription', logged(before), logged(record))
        return { record: { ...record, webhook_secret: sealed }, secret }
      })
      wake()
      return changed
    },
  }
}
export type Subscriptions = ReturnType<typeof createSubscriptions>
