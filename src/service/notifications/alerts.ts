import { randomBytes } from 'node:crypto'
import type * as z from 'zod'
import { isMaskOf } from '../../lib/web/masked-address.ts'
import { queryAsked } from '../../queries/asked-query.ts'
import type { AccountContext } from '../accounts/context.ts'
import { check } from '../accounts/fields.ts'
import { type MemberInProject, note, pickDefined, writeIn } from '../accounts/project-writes.ts'
import type { AccountStore, AccountTables, Alert, AlertCheck, Insight, ProjectRecord } from '../accounts/records.ts'
import { invalid, mustFind, noSuch } from '../accounts/refusals.ts'
import { sealedFor } from '../accounts/secrets/resealing.ts'
import { checkedKinds, displayOf, indicesOf, isNumberOf } from './alert-lines.ts'
import { nextCheck } from './check-times.ts'
import { alertChange, alertInput, snoozeEnd } from './fields.ts'
import type { NotificationParts } from './parts.ts'
import { asJson, checkTimesOf, ruleOf, type StoredThreshold, thresholdOf, usersOf } from './records.ts'
import { mustTakeMail, mustTakeWebhook } from './targets.ts'

// The rules of alerts, for requests. The scheduler checks what is written here.

/** Of one project. */
const mostAlerts = 500

export interface AlertServices extends Pick<NotificationParts, 'context' | 'box' | 'mayRead' | 'network'> {
  /** Something may be due. */
  wake(): void
}

export const newWebhookSecret = (): string => `whsec_${randomBytes(24).toString('base64')}`

type Change = z.infer<typeof alertChange>

/** Fields as the activity log shows them: an address may hold a token. */
const logged = (alert: Alert) => {
  const { id, name, enabled, condition, threshold, config, subscribed_users, calculation_interval, skip_weekend, snoozed_until } = alert
  const fields = { name, enabled, condition, threshold, config, subscribed_users, calculation_interval, skip_weekend, snoozed_until }
  return { id, name, fields: { ...fields, has_webhook: alert.webhook_url !== null } }
}

/** What cannot be checked is refused when it is written. */
function mustBeCheckable(insight: Pick<Insight, 'query'>, alert: Alert): void {
  const query = queryAsked(insight.query)
  if (!checkedKinds.includes(query.kind))
    throw invalid(`An alert cannot check a ${query.kind}: its answer has no number to compare.`, 'insight')
  const display = displayOf(query)
  if (display === 'CalendarHeatmap' || display === 'BoxPlot' || display === 'SlopeGraph')
    throw invalid(`An alert cannot check the display ${display}.`, 'insight')
  const { condition, threshold, config } = ruleOf(alert)
  const { first, last, what } = indicesOf(query)
  if (config.series_index < first || config.series_index > last) throw invalid(what, 'config__series_index')
  if (condition !== 'absolute_value' && isNumberOf(query) === true)
    throw invalid(
      `${display ? `The display ${display}` : 'The insight'} has one number for the whole range: only absolute_value can be checked.`,
      'condition__type',
    )
  if (condition === 'absolute_value' && threshold.type === 'percentage')
    throw invalid(
      'A value is compared with an absolute threshold. Percentages are for increases and decreases.',
      'threshold__configuration__type',
    )
  const { lower = null, upper = null } = threshold.bounds
  const attr = 'threshold__configuration__bounds'
  if (lower === null && upper === null) throw invalid('A threshold needs a lower or an upper bound.', attr)
  if (lower !== null && upper !== null && lower > upper) throw invalid('The lower bound is above the upper bound.', attr)
}

const find = (tables: Pick<AccountStore['read'], 'alerts'>, { id: project_id }: ProjectRecord, id: string): Promise<Alert> =>
  mustFind(tables.alerts.first({ id: id.toLowerCase(), project_id }))

const insightOf = async (tables: AccountTables, project: ProjectRecord, id: number): Promise<Insight> => {
  const found = await tables.insights.first({ id, project_id: project.id, deleted: false })
  if (!found) throw noSuch(id, 'insight')
  return found
}

/** Only members with access to the project are sent mails. */
const mustBeMembers = async ({ mayRead }: AlertServices, tables: AccountTables, project: ProjectRecord, ids: readonly number[]) => {
  const members = await tables.memberships.find({ organization_id: project.organization_id })
  for (const id of ids) {
    const membership = members.find(({ user_id }) => user_id === id)
    if (!membership || !(await mayRead(project, membership)))
      throw invalid(`User ${id} has no access to the project.`, 'subscribed_users', 'does_not_exist')
  }
}

const withChange = ({ clock }: AccountContext, alert: Alert, change: Change, timezone: string): Alert => {
  const now = clock()
  const { threshold, config, snoozed_until: snoozed } = change
  const stored: StoredThreshold | null = threshold
    ? { name: threshold.name ?? '', type: threshold.configuration.type, bounds: threshold.configuration.bounds }
    : null
  const end = snoozed ? snoozeEnd(snoozed, now) : null
  const isSnoozed = end !== null && end.getTime() > now.getTime()
  const wasSnoozed = alert.state === 'Snoozed'
  const changed: Alert = {
    ...alert,
    ...pickDefined(change, 'name', 'enabled', 'calculation_interval', 'webhook_url'),
    ...(change.insight !== undefined && { insight_id: change.insight }),
    ...(change.subscribed_users && { subscribed_users: [...new Set(change.subscribed_users)] }),
    ...(change.condition && { condition: change.condition.type }),
    ...(stored && { threshold: asJson(stored) }),
    ...(config !== undefined && {
      config: { series_index: config?.series_index ?? 0, check_ongoing_interval: config?.check_ongoing_interval === true },
    }),
    ...(change.skip_weekend !== undefined && { skip_weekend: change.skip_weekend === true }),
    ...(snoozed !== undefined && {
      snoozed_until: isSnoozed ? end : null,
      state: isSnoozed ? 'Snoozed' : wasSnoozed ? 'Not firing' : alert.state,
    }),
    updated_at: now,
  }
  const regular = () => new Date(nextCheck(checkTimesOf(changed, timezone), now.getTime()))
  const isOther = (names: readonly (keyof Alert)[]) => names.some((name) => JSON.stringify(changed[name]) !== JSON.stringify(alert[name]))
  // With other rules the last answer says nothing: it is checked at once.
  if (isOther(['insight_id', 'condition', 'threshold', 'config']) || (changed.enabled && !alert.enabled))
    return { ...changed, state: isSnoozed ? 'Snoozed' : 'Not firing', next_check_at: now }
  // A snoozed alert is due again when its snooze ends.
  if (isOther(['calculation_interval', 'skip_weekend', 'snoozed_until'])) return { ...changed, next_check_at: regular() }
  return changed
}

/** The secret that was made or given now, sealed. */
const sealedSecret = ({ box }: AlertServices, alert: Alert, { webhook_url, webhook_secret }: Change, before: string | null) => {
  if (alert.webhook_url === null) return { sealed: null, made: null }
  // Nobody who sends it elsewhere gets signatures of the secret that a receiver trusts.
  const isNew =
    webhook_secret !== undefined || (typeof webhook_url === 'string' && (alert.webhook_secret === null || webhook_url !== before))
  if (!isNew) return { sealed: alert.webhook_secret, made: null }
  const made = webhook_secret ?? newWebhookSecret()
  return { sealed: box.seal(made, sealedFor.alertWebhook(alert.id)), made }
}

/** What a delivery would refuse. What was saved before stays, and its deliveries say what is wrong. */
const mustReach = ({ network, context }: AlertServices, { webhook_url, subscribed_users = [] }: Change, before: Alert | null): void => {
  if (typeof webhook_url === 'string' && webhook_url !== before?.webhook_url && !isMaskOf(webhook_url, before?.webhook_url ?? null))
    mustTakeWebhook(webhook_url, network, 'webhook_url')
  const known = before ? usersOf(before) : []
  if (subscribed_users.some((id) => !known.includes(id))) mustTakeMail(context, 'subscribed_users')
}

const mustBeValid = async (parts: AlertServices, tables: AccountTables, project: ProjectRecord, alert: Alert, change: Change) => {
  if (change.insight !== undefined || change.condition || change.threshold || change.config !== undefined)
    mustBeCheckable(await insightOf(tables, project, alert.insight_id), alert)
  if (change.subscribed_users) await mustBeMembers(parts, tables, project, change.subscribed_users)
}

export const createAlerts = (parts: AlertServices) => {
  const { context, wake } = parts
  const { store, clock } = context
  const { read } = store

  return {
    find: (project: ProjectRecord, id: string) => find(read, project, id),

    async list(project: ProjectRecord, insightId: number | null, page: { readonly limit: number; readonly offset: number }) {
      const where = { project_id: project.id, ...(insightId === null ? {} : { insight_id: insightId }) }
      return { rows: await read.alerts.find(where, { newestFirst: 'created_at', ...page }), count: await read.alerts.count(where) }
    },

    /** The newest first. */
    checks: (alerts: readonly Alert[], most: number): Promise<readonly (readonly AlertCheck[])[]> =>
      Promise.all(alerts.map(({ id }) => read.alert_checks.find({ alert_id: id }, { newestFirst: 'created_at', limit: most }))),
    async checkPage({ id: alert_id }: Alert, page: { readonly limit: number; readonly offset: number }) {
      const rows = await read.alert_checks.find({ alert_id }, { newestFirst: 'created_at', ...page })
      return { rows, count: await read.alert_checks.count({ alert_id }) }
    },

    async create(place: MemberInProject, body: unknown): Promise<{ readonly alert: Alert; readonly secret: string | null }> {
      const given = check(alertInput, body)
      const { project, by } = place
      mustReach(parts, given, null)
      const made = await writeIn(context, place, async (tables) => {
        if ((await tables.alerts.count({ project_id: project.id })) >= mostAlerts)
          throw invalid(`A project has at most ${mostAlerts} alerts. Remove one first.`)
        const now = clock()
        const blank: Alert = {
          id: context.newId(),
          project_id: project.id,
          insight_id: given.insight,
          name: '',
          enabled: true,
          condition: 'absolute_value',
          threshold: null,
          config: { series_index: 0, check_ongoing_interval: false },
          subscribed_users: [],
          webhook_url: null,
          webhook_secret: null,
          calculation_interval: 'daily',
          skip_weekend: false,
          state: 'Not firing',
          snoozed_until: null,
          last_checked_at: null,
          last_notified_at: null,
          last_value: null,
          next_check_at: now,
          created_by_id: by.user.id,
          created_at: now,
          updated_at: now,
        }
        const alert = withChange(context, blank, given, project.timezone)
        await mustBeValid(parts, tables, project, alert, { ...given, config: given.config ?? null })
        const { sealed, made: secret } = sealedSecret(parts, alert, given, null)
        const stored = { ...alert, webhook_secret: sealed }
        await tables.alerts.insert(stored)
        await note(context, tables, place, 'AlertConfiguration', null, logged(stored))
        return { alert: stored, secret }
      })
      wake()
      return made
    },

    async update(
      place: MemberInProject,
      id: string,
      body: unknown,
      isWhole = false,
    ): Promise<{ readonly alert: Alert; readonly secret: string | null }> {
      const sent: Change = isWhole
        ? { config: null, subscribed_users: [], webhook_url: null, ...check(alertInput, body) }
        : check(alertChange, body)
      const { project } = place
      mustReach(parts, sent, await find(read, project, id))
      const changed = await writeIn(context, place, async (tables) => {
        const before = await find(tables, project, id)
        const given = isMaskOf(sent.webhook_url, before.webhook_url) ? { ...sent, webhook_url: before.webhook_url } : sent
        const alert = withChange(context, before, given, project.timezone)
        await mustBeValid(parts, tables, project, alert, given)
        const { sealed, made: secret } = sealedSecret(parts, alert, given, before.webhook_url)
        const { id: alertId, ...columns } = { ...alert, webhook_secret: sealed }
        await tables.alerts.update({ id: alertId }, columns)
        await note(context, tables, place, 'AlertConfiguration', logged(before), logged(alert))
        return { alert: { ...alert, webhook_secret: sealed }, secret }
      })
      wake()
      return changed
    },

    async remove(place: MemberInProject, id: string): Promise<void> {
      await writeIn(context, place, async (tables) => {
        const alert = await find(tables, place.project, id)
        await tables.alerts.remove({ id: alert.id })
        for (const table of ['alert_checks', 'notices', 'notice_deliveries'] as const) await tables[table].remove({ alert_id: alert.id })
        await note(context, tables, place, 'AlertConfiguration', logged(alert), null)
      })
    },

    users: async (alert: Alert) => {
      const users = await read.users.find({ id: [...usersOf(alert)] })
      return users
    },
    thresholdOf,
  }
}
export type Alerts = ReturnType<typeof createAlerts>
