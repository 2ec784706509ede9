import { WaymarkError } from '../../errors/errors.ts'
import { queryAsked } from '../../queries/asked-query.ts'
import type { AccountTables, Alert, Insight, Membership, ProjectRecord, Subscription } from '../accounts/records.ts'
import { invalid, mustFind, notFound } from '../accounts/refusals.ts'
import type { Writing } from '../jobs/kind.ts'
import { checkedKinds } from './alert-lines.ts'
import { checkAnswer } from './alert-value.ts'
import { nextCheck } from './check-times.ts'
import { type AnsweredInsight, alertContent, alertTestContent, subscriptionContent } from './content.ts'
import { addressesOf } from './fields.ts'
import { insertNotice, type Target } from './insert-notice.ts'
import type { NotificationParts } from './parts.ts'
import { type AlertState, checkTimesOf, recurrenceOf, ruleOf, usersOf } from './records.ts'
import { nextOccurrence } from './recurrence.ts'

// Asks, decides, and returns what is written in one transaction: the result, its deliveries and the next due time. A process that ends before it has done
// nothing, and one that ends after it has done everything: the next process sends the deliveries.

/** Insights of a dashboard in one mail. */
const mostInsights = 6

/** The text of an error that users may see; others are ours, and tried again. */
const told = (error: unknown): string => {
  if (error instanceof WaymarkError && error.status < 500) return error.detail
  throw error
}

async function answered(parts: NotificationParts, project: ProjectRecord, insight: Insight, signal: AbortSignal): Promise<AnsweredInsight> {
  try {
    const { answer, error } = await parts.saved.answers.asOwner(project, insight, { refresh: 'force_blocking' }, signal)
    return { insight, answer: answer?.object ?? null, error: error?.detail ?? (answer ? null : 'The query has no answer.') }
  } catch (error) {
    if (signal.aborted) throw error
    return { insight, answer: null, error: told(error) }
  }
}

/** One check of an alert. */
export async function checkAlert(parts: NotificationParts, alert: Alert, signal: AbortSignal): Promise<Writing> {
  const { context, saved } = parts
  const project = await context.store.read.projects.first({ id: alert.project_id })
  if (!project) return async () => undefined
  const now = context.clock()
  const place = { project, siteUrl: context.settings().siteUrl, now }
  const dueAt = alert.next_check_at
  const next = new Date(nextCheck(checkTimesOf(alert, project.timezone), now.getTime()))
  /** Only if nobody has changed it meanwhile: with other rules, it is checked again. */
  const settle =
    (work: Writing<Partial<Alert>>): Writing =>
    async (tables) => {
      const current = await tables.alerts.first({ id: alert.id, next_check_at: dueAt })
      if (!current?.enabled || current.updated_at.getTime() !== alert.updated_at.getTime()) return
      await tables.alerts.update({ id: alert.id }, { next_check_at: next, ...(await work(tables)) })
    }

  if (alert.snoozed_until && alert.snoozed_until > now)
    return settle(async () => ({ state: 'Snoozed', next_check_at: alert.snoozed_until! }))
  const insight = await saved.insights.find(project, String(alert.insight_id)).catch(() => null)
  if (!insight || insight.deleted)
    return settle(async (tables) => {
      await insertCheck(tables, null, 'Errored', 'The insight was deleted.', [])
      return { enabled: false, state: 'Errored', snoozed_until: null, last_checked_at: now }
    })
  const found = await answered(parts, project, insight, signal)
  const query = queryAsked(insight.query)
  const outcome: AnsweredInsight = checkedKinds.includes(query.kind)
    ? found
    : { ...found, error: `The insight now has a ${query.kind}, whose answer has no number to compare.` }
  const checked = outcome.error === null ? checkAnswer(outcome.answer, ruleOf(alert), query) : { value: null, breaches: [] }
  const state: AlertState = outcome.error !== null ? 'Errored' : checked.breaches.length > 0 ? 'Firing' : 'Not firing'
  // A check that fails again and again is told once.
  const isTold = state === 'Firing' || (state === 'Errored' && alert.state !== 'Errored')
  return settle(async (tables) => {
    const targets = isTold ? await targetsOf(parts, tables, alert, project) : []
    await insertCheck(tables, checked.value, state, outcome.error, targets)
    const of = { project_id: project.id, alert_id: alert.id, subscription_id: null, due_at: dueAt }
    if (isTold) await insertNotice(parts, tables, now, of, alertContent(alert, checked, outcome, place), targets)
    return {
      state,
      snoozed_until: null,
      last_checked_at: now,
      last_value: checked.value,
    }
  })

  async function insertCheck(
    tables: AccountTables,
    value: number | null,
    state: AlertState,
    error: string | null,
    targets: readonly Target[],
  ) {
    await tables.alert_checks.insert({
      id: context.newId(),
      project_id: alert.project_id,
      alert_id: alert.id,
      due_at: dueAt,
      created_at: now,
      calculated_value: value,
      state,
      error,
      targets: targets.map(({ type, to }) => (type === 'email' ? to : new URL(to).host)),
    })
  }
}

/** Members who have no access any more are not told. */
const targetsOf = async (
  { mayRead }: NotificationParts,
  tables: AccountTables,
  alert: Alert,
  project: ProjectRecord,
): Promise<readonly Target[]> => {
  const ids = usersOf(alert)
  const members: Membership[] = []
  if (ids.length > 0)
    for (const one of await tables.memberships.find({ organization_id: project.organization_id, user_id: ids }))
      if (await mayRead(project, one)) members.push(one)
  const users = members.length > 0 ? await tables.users.find({ id: members.map(({ user_id }) => user_id), is_active: true }) : []
  return [
    ...users.map(({ email }): Target => ({ type: 'email', to: email })),
    ...(alert.webhook_url === null ? [] : [{ type: 'webhook' as const, to: alert.webhook_url }]),
  ]
}

/** A notice that says it is a test, to everybody whom the alert tells. Returns the ids of its deliveries. */
export async function testAlert(parts: NotificationParts, alert: Alert, signal: AbortSignal): Promise<readonly string[]> {
  const { context, saved } = parts
  const { store } = context
  const project = await mustFind(store.read.projects.first({ id: alert.project_id }))
  const now = context.clock()
  const insight = await saved.insights.find(project, String(alert.insight_id)).catch(() => null)
  const found = insight && !insight.deleted ? await answered(parts, project, insight, signal) : null
  const content = alertTestContent(alert, found, { project, siteUrl: context.settings().siteUrl, now })
  return store.write(async (tables) => {
    if (!(await tables.alerts.first({ id: alert.id }))) throw notFound()
    const targets = await targetsOf(parts, tables, alert, project)
    if (targets.length === 0) throw invalid('The alert has no receivers: choose members with access to the project, or a webhook.')
    return insertNotice(
      parts,
      tables,
      now,
      { project_id: project.id, alert_id: alert.id, subscription_id: null, due_at: now },
      content,
      targets,
      true,
    )
  })
}

/** One occurrence of a subscription. `isTest`: now, beside the schedule. What is written returns the ids of its deliveries. */
export async function sendSubscription(
  parts: NotificationParts,
  record: Subscription,
  signal: AbortSignal,
  isTest = false,
): Promise<Writing<readonly string[]>> {
  const { context, saved } = parts
  const project = await context.store.read.projects.first({ id: record.project_id })
  if (!project) return async () => []
  const now = context.clock()
  const place = { project, siteUrl: context.settings().siteUrl, now }
  const dueAt = isTest ? now : record.next_delivery_date!
  const { dashboard, all, more } = await shownBy(parts, project, record)
  const found: AnsweredInsight[] = []
  if (dashboard) {
    const asker = { name: `user ${record.created_by_id ?? 0}`, isBackground: true, signal }
    const answers = await saved.answers.ofAll(project, all, { refresh: 'force_blocking' }, asker, dashboard)
    for (const [i, { answer, error }] of answers.entries())
      found.push({
        insight: all[i]!.insight,
        answer: answer?.object ?? null,
        error: error ? told(error) : answer ? null : 'The query has no answer.',
      })
  } else for (const { insight } of all) found.push(await answered(parts, project, insight, signal))
  const content = subscriptionContent(record, dashboard, found, more, isTest, place)
  const targets: readonly Target[] =
    record.target_type === 'email'
      ? addressesOf(record.target_value).map((to) => ({ type: 'email', to }))
      : [{ type: 'webhook', to: record.target_value }]
  return async (tables) => {
    const current = await tables.subscriptions.first({ id: record.id, ...(isTest ? {} : { next_delivery_date: dueAt }) })
    if (!current || current.deleted || current.updated_at.getTime() !== record.updated_at.getTime()) return []
    const of = { project_id: project.id, alert_id: null, subscription_id: record.id, due_at: dueAt }
    // What it shows was deleted: there is nothing to send until it is back.
    const made = dashboard || all.length > 0 ? await insertNotice(parts, tables, now, of, content, targets, isTest) : []
    if (isTest && made.length === 0) throw invalid('Its insight or dashboard was deleted: there is nothing to send.')
    if (isTest) return made
    const next = nextOccurrence(recurrenceOf(record, project.timezone), now.getTime())
    await tables.subscriptions.update({ id: record.id }, { next_delivery_date: next === null ? null : new Date(next) })
    return made
  }
}

const shownBy = async ({ saved, context }: NotificationParts, project: ProjectRecord, record: Subscription) => {
  if (record.dashboard_id === null) {
    const insight = await context.store.read.insights.first({ id: record.insight_id!, project_id: project.id, deleted: false })
    return { dashboard: null, all: insight ? [{ insight }] : [], more: 0 }
  }
  const dashboard = await context.store.read.dashboards.first({ id: record.dashboard_id, project_id: project.id })
  if (!dashboard || dashboard.deleted) return { dashboard: null, all: [], more: 0 }
  const { tiles } = await saved.dashboards.whole(dashboard)
  const all = tiles.flatMap(({ tile, insight }) => (insight ? [{ tile, insight }] : []))
  return { dashboard, all: all.slice(0, mostInsights), more: Math.max(0, all.length - mostInsights) }
}
