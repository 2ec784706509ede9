import type { Alert } from '../../../service/accounts/records.ts'
import { invalid } from '../../../service/accounts/refusals.ts'
import { alertChange, alertInput } from '../../../service/notifications/fields.ts'
import { alertSchema, checkSchema } from '../../answers/notifications.ts'
import { pageSchema } from '../../answers/pages.ts'
import { activityOf } from '../activity.ts'
import { defineRecords } from '../records.ts'
import { pageBounds, pageWith, paging } from '../requests/pages.ts'
import { type ProjectVisit, seesAddresses } from '../resource.ts'
import { deliveryRows } from './delivery-rows.ts'
import { presentAlert, presentCheck } from './notification-format.ts'

/** Checks shown with an alert. */
const shownChecks = 5

const service = ({ app }: ProjectVisit) => app.notifications.alerts
const find = (visit: ProjectVisit) => service(visit).find(visit.project, visit.params.id ?? '')

const present = async (visit: ProjectVisit, alerts: readonly Alert[], most: number, secret: string | null = null) => {
  const { accounts } = visit.app
  const insights = await accounts.context.store.read.insights.find({
    id: alerts.map((one) => one.insight_id),
    project_id: visit.project.id,
  })
  const checks = most > 0 ? await service(visit).checks(alerts, most) : []
  const lastErrors = new Map<string, string | null>()
  for (const alert of alerts)
    if (alert.state === 'Errored') lastErrors.set(alert.id, (await service(visit).checks([alert], 1))[0]?.[0]?.error ?? null)
  const { deliveries } = visit.app.notifications
  const undelivered = await deliveries.undelivered(checks.flat())
  const latest = await deliveries.latestOf(alerts.map((alert) => ({ alert })))
  return Promise.all(
    alerts.map(async (alert, i) =>
      presentAlert(accounts, alert, {
        insight: insights.find(({ id }) => id === alert.insight_id),
        users: await service(visit).users(alert),
        checks: checks[i] ?? [],
        undelivered,
        lastError: lastErrors.get(alert.id) ?? null,
        latest: latest.get(alert.id) ?? null,
        secret,
        showsAddress: seesAddresses(visit, alert.created_by_id),
      }),
    ),
  )
}
const presentOne = async (visit: ProjectVisit, { alert, secret = null }: { readonly alert: Alert; readonly secret?: string | null }) =>
  (await present(visit, [alert], shownChecks, secret))[0]!

/** An id in the URL. Null: not given. */
export const numberIn = (query: URLSearchParams, name: string): number | null => {
  const given = query.get(name)
  if (given === null || given === '') return null
  if (!/^\d{1,9}$/.test(given)) throw invalid(`${name} must be the id of a record, a whole number.`, name)
  return Number(given)
}

export const alerts = defineRecords({
  name: 'alerts',
  summary: 'Alerts: checks of a saved trend against a threshold ([sharing.md](sharing.md))',
  path: '/api/projects/:project_id/alerts',
  reach: 'project',
  object: 'alert',
  answer: alertSchema,
  present: presentOne,
  presentAll: (visit, shown) =>
    present(
      visit,
      shown.map(({ alert }) => alert),
      0,
    ),
  rows: ({ row, page, create, retrieve, update, replace, remove }) => [
    page({
      summary: 'Alerts, newest first, without their checks; `last_delivery` says whether the newest notice has arrived',
      queryParameters: { insight_id: 'Only those of this insight', insight: 'Older name of `insight_id`' },
      handle: async (visit) => {
        const insight = numberIn(visit.query, 'insight_id') ?? numberIn(visit.query, 'insight')
        const { rows, count } = await service(visit).list(visit.project, insight, pageBounds(visit.query))
        return { rows: rows.map((alert) => ({ alert })), count }
      },
    }),
    create({
      summary: 'Creates an alert, which is checked at once and then at its interval.  The secret of its webhook is returned once',
      body: alertInput,
      secrets: ['webhook_secret'],
      handle: async (visit) => service(visit).create(visit, visit.body),
    }),
    retrieve({
      summary: 'One alert with its newest checks',
      handle: async (visit) => ({ alert: await find(visit) }),
    }),
    update({
      summary: 'Changes the given fields. With a changed rule it is checked at once; `snoozed_until` pauses it',
      body: alertChange,
      handle: async (visit) => service(visit).update(visit, visit.params.id ?? '', visit.body),
    }),
    replace({
      summary: 'Like PATCH, with insight, condition and threshold required; users and webhook that are not sent are removed',
      body: alertInput,
      handle: async (visit) => service(visit).update(visit, visit.params.id ?? '', visit.body, true),
    }),
    remove({
      summary: 'Removes an alert with its checks; pending deliveries are not sent',
      handle: async (visit) => service(visit).remove(visit, visit.params.id ?? ''),
    }),
    row({
      method: 'GET',
      path: ':id/checks',
      name: 'checks',
      summary: 'Its checks of the last 90 days, newest first',
      answer: pageSchema(checkSchema),
      queryParameters: paging,
      handle: async (visit) => {
        const { rows, count } = await service(visit).checkPage(await find(visit), pageBounds(visit.query))
        const undelivered = await visit.app.notifications.deliveries.undelivered(rows)
        return pageWith(
          rows.map((one) => presentCheck(one, undelivered)),
          count,
          visit,
        )
      },
    }),
    ...deliveryRows(row, async (visit) => ({ alert: await find(visit) }), {
      summary: 'Sends a test notice (`alert.test`) to all receivers of the alert, and returns the outcome: one attempt for each',
      limits: ['api', 'test'],
    }),
    row(activityOf('AlertConfiguration', ({ params }) => (params.id ?? '').toLowerCase(), 'of removed ones')),
  ],
})
