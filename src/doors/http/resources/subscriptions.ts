import type { Subscription } from '../../../service/accounts/records.ts'
import { nameOf } from '../../../service/notifications/content.ts'
import { subscriptionChange, subscriptionInput } from '../../../service/notifications/fields.ts'
import { subscriptionSchema } from '../../answers/notifications.ts'
import { activityOf } from '../activity.ts'
import { failures } from '../errors.ts'
import { defineRecords } from '../records.ts'
import { pageBounds } from '../requests/pages.ts'
import { type ProjectVisit, seesAddresses } from '../resource.ts'
import { numberIn } from './alerts.ts'
import { deliveryRows } from './delivery-rows.ts'
import { presentSubscription } from './notification-format.ts'

const service = ({ app }: ProjectVisit) => app.notifications.subscriptions

const idIn = ({ params }: ProjectVisit): number => {
  if (!/^\d{1,9}$/.test(params.id ?? '')) throw failures.notFound()
  return Number(params.id)
}
const find = (visit: ProjectVisit): Promise<Subscription> => service(visit).find(visit.project, idIn(visit))
const shownBy = async ({ app, project }: ProjectVisit, { insight_id, dashboard_id }: Subscription) => {
  const { read } = app.accounts.context.store
  const of = { project_id: project.id }
  const insight = insight_id === null ? undefined : await read.insights.first({ id: insight_id, ...of })
  if (insight) return insight.deleted ? null : { name: nameOf(insight), shortId: insight.short_id }
  const dashboard = dashboard_id === null ? undefined : await read.dashboards.first({ id: dashboard_id, ...of })
  return dashboard && !dashboard.deleted ? { name: dashboard.name || `Dashboard ${dashboard.id}`, shortId: null } : null
}
const presentAll = async (visit: ProjectVisit, records: readonly Subscription[], secret: string | null = null) => {
  const latest = await visit.app.notifications.deliveries.latestOf(records.map((subscription) => ({ subscription })))
  return Promise.all(
    records.map(async (record) =>
      presentSubscription(visit.app.accounts, record, {
        secret,
        showsAddress: seesAddresses(visit, record.created_by_id),
        latest: latest.get(record.id) ?? null,
        shown: await shownBy(visit, record),
      }),
    ),
  )
}
const present = async (visit: ProjectVisit, { record, secret }: { readonly record: Subscription; readonly secret: string | null }) =>
  (await presentAll(visit, [record], secret))[0]!

export const subscriptions = defineRecords({
  name: 'subscriptions',
  summary: 'Subscriptions: an insight or a dashboard, sent on a schedule ([sharing.md](sharing.md))',
  path: '/api/projects/:project_id/subscriptions',
  reach: 'project',
  object: 'subscription',
  answer: subscriptionSchema,
  present,
  presentAll: (visit, shown) =>
    presentAll(
      visit,
      shown.map(({ record }) => record),
    ),
  rows: ({ row, page, create, retrieve, update, replace }) => [
    page({
      summary: 'Subscriptions that are not deleted, newest first',
      queryParameters: { insight: 'Only those of this insight', dashboard: 'Only those of this dashboard' },
      handle: async (visit) => {
        const of = { insight: numberIn(visit.query, 'insight'), dashboard: numberIn(visit.query, 'dashboard') }
        const { rows, count } = await service(visit).list(visit.project, of, pageBounds(visit.query))
        return { rows: rows.map((record) => ({ record, secret: null })), count }
      },
    }),
    create({
      summary: 'Creates a subscription. The secret of a webhook is returned once',
      body: subscriptionInput,
      secrets: ['webhook_secret'],
      handle: async (visit) => service(visit).create(visit, visit.body),
    }),
    retrieve({
      summary: 'One subscription, also a deleted one',
      handle: async (visit) => ({ record: await find(visit), secret: null }),
    }),
    update({
      summary: 'Changes the given fields; `{"deleted": true}` ends it',
      body: subscriptionChange,
      handle: async (visit) => service(visit).update(visit, idIn(visit), visit.body),
    }),
    replace({
      summary: 'Like PATCH, but fields that are not sent get their defaults',
      body: subscriptionInput,
      handle: async (visit) => service(visit).update(visit, idIn(visit), visit.body, true),
    }),
    ...deliveryRows(row, async (visit) => ({ subscription: await find(visit) }), {
      summary: 'Sends it now, in addition to its schedule, and returns the outcome: one attempt for each address',
      status: 202,
      limits: ['api', 'query', 'test'],
    }),
    row(activityOf('Subscription', idIn)),
  ],
})
