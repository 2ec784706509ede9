import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Served, startServe } from './served.ts'

// The requests of PostHog's Terraform provider, of which neither it nor Terraform can be installed from npm: what it creates, reads, changes and removes, and that it
// reads what it has sent, or each plan would show a change. The rows are those of the table in docs/clients.md.

type Body = Readonly<Record<string, unknown>>
interface Resource {
  readonly path: string
  readonly create: Body
  readonly change: Body
  /** PATCH of `deleted`, beside what the provider repeats of the record. Absent: DELETE. */
  readonly remove?: Body
  /** What it reads in another form than it has sent it. */
  readonly reads?: (body: Record<string, unknown>) => Body
}

let served: Served
let [organization, user, uuid, insight, dashboard, role] = ['', 0, '', 0, 0, '']
const call = async (method: string, path: string, body?: object): Promise<{ status: number; body: Record<string, unknown> }> => {
  const answer = await fetch(served.url + path, {
    method,
    headers: {
      authorization: `Bearer ${served.personalKey}`,
      'content-type': 'application/json',
      'user-agent': 'posthog/terraform-provider; version: 1.0.0',
    },
    ...(body && { body: JSON.stringify(body) }),
  })
  const text = await answer.text()
  return { status: answer.status, body: text === '' ? {} : JSON.parse(text) }
}
const made = async (path: string, body: object): Promise<Record<string, unknown>> => {
  const answer = await call('POST', path, body)
  expect(answer.status, JSON.stringify(answer.body)).toBe(201)
  return answer.body
}

const query = {
  kind: 'InsightVizNode',
  source: { kind: 'TrendsQuery', series: [{ kind: 'EventsNode', event: '$pageview', math: 'dau' }], interval: 'week' },
}
beforeAll(async () => {
  served = await startServe({ args: ['--smtp', 'smtp://127.0.0.1:9', '--mail-from', 'waymark@example.org'] })
  organization = (await call('GET', '/api/organizations/@current/')).body.id as string
  const me = (await call('GET', '/api/users/@me/')).body
  user = me.id as number
  uuid = me.uuid as string
  insight = (await made('/api/projects/1/insights/', { name: 'Watched', query })).id as number
  dashboard = (await made('/api/projects/1/dashboards/', { name: 'Shown' })).id as number
  role = (await made(`/api/organizations/${organization}/roles/`, { name: 'Role' })).id as string
}, 60_000)
afterAll(() => served.stop())

const deleted = { deleted: true }
const resources: Readonly<Record<string, () => Resource>> = {
  posthog_project: () => ({
    path: `/api/organizations/${organization}/projects/`,
    create: { name: 'Shop', timezone: 'Europe/Berlin' },
    change: { name: 'Store', timezone: 'UTC' },
  }),
  posthog_insight: () => ({
    path: '/api/projects/1/insights/',
    create: { name: 'Visits', description: 'of a week', query, tags: ['web', 'weekly'], dashboards: [dashboard], _create_in_folder: 'Web' },
    change: { name: 'Visitors', tags: ['web'], query: { ...query, source: { ...query.source, interval: 'day' } } },
    remove: deleted,
    reads: ({ _create_in_folder: _, ...rest }) => rest, // it reads no folder where there is none
  }),
  posthog_dashboard: () => ({
    path: '/api/projects/1/dashboards/',
    create: { name: 'Web', description: 'Visits', pinned: true, tags: ['web'] },
    change: { name: 'Pages', pinned: false, tags: ['web', 'new'] },
    remove: deleted,
  }),
  posthog_feature_flag: () => ({
    path: '/api/projects/1/feature_flags/',
    create: {
      key: 'beta',
      name: 'Beta',
      active: true,
      filters: { groups: [{ properties: [{ key: 'plan', type: 'person', operator: 'exact', value: ['pro'] }], rollout_percentage: 50 }] },
      tags: ['release'],
    },
    change: { key: 'beta', active: false, tags: [] },
    remove: { key: 'beta', deleted: true },
  }),
  posthog_action: () => ({
    path: '/api/projects/1/actions/',
    create: {
      name: 'Sign-up',
      description: 'by mail',
      tags: ['web'],
      steps: [{ event: '$pageview', url: '/welcome', url_matching: 'contains' }],
    },
    change: { name: 'Signed up', tags: [], steps: [{ event: 'signed up' }] },
    remove: deleted,
    reads: ({ steps, ...rest }) => ({ ...rest, steps: (steps as Body[]).map((step) => expect.objectContaining(step)) }),
  }),
  posthog_cohort: () => ({
    path: '/api/projects/1/cohorts/',
    create: {
      name: 'Ours',
      description: 'by address',
      is_static: false,
      filters: {
        properties: {
          type: 'OR',
          values: [{ type: 'AND', values: [{ type: 'person', key: 'email', operator: 'icontains', value: '@example.org' }] }],
        },
      },
    },
    change: { name: 'Staff' },
    remove: deleted,
  }),
  posthog_alert: () => ({
    path: '/api/environments/1/alerts/',
    create: {
      name: 'Few visits',
      insight,
      enabled: true,
      subscribed_users: [user],
      threshold: { configuration: { type: 'absolute', bounds: { lower: 1, upper: 900 } } },
      condition: { type: 'absolute_value' },
      config: { type: 'TrendsAlertConfig', series_index: 0, check_ongoing_interval: true },
      calculation_interval: 'daily',
      skip_weekend: true,
    },
    change: { name: 'No visits', insight, subscribed_users: [], skip_weekend: false },
    reads: ({ insight: id, subscribed_users: ids, threshold, ...rest }) => ({
      ...rest,
      insight: expect.objectContaining({ id }),
      subscribed_users: (ids as number[]).map((one) => expect.objectContaining({ id: one })),
      ...(threshold ? { threshold: expect.objectContaining(threshold as object) } : {}),
    }),
  }),
  posthog_subscription: () => ({
    path: '/api/projects/1/subscriptions/',
    create: {
      ...{ target_type: 'email', target_value: 'team@example.org', integration_id: null, insight, dashboard_export_insights: [] },
      ...{ frequency: 'weekly', interval: 1, start_date: '2026-01-05T09:00:00Z', byweekday: ['monday'], bysetpos: null, title: 'Weekly' },
    },
    change: {
      title: 'Visits',
      frequency: 'monthly',
      byweekday: ['friday'],
      bysetpos: 1,
      integration_id: null,
      dashboard_export_insights: [],
    },
    remove: deleted,
    reads: ({ integration_id: _, dashboard_export_insights: __, ...rest }) => rest, // empty, and read as absent
  }),
  posthog_role: () => ({
    path: `/api/organizations/${organization}/roles/`,
    create: { name: 'Analysts' },
    change: { name: 'Readers' },
  }),
}

test.each(Object.entries(resources))('%s: what was sent is read, changed and removed', async (_, resource) => {
  const { path, create, change, remove, reads = (body) => body } = resource()
  const { id } = await made(path, create)
  const record = `${path}${id}/`
  const read = async () => {
    const { status, body } = await call('GET', record)
    expect(status).toBe(200)
    return body
  }
  expect(await read()).toMatchObject(reads({ ...create }))
  const changed = await call('PATCH', record, change)
  expect(changed.status, JSON.stringify(changed.body)).toBe(200)
  expect(await read()).toMatchObject(reads({ ...create, ...change }))
  const removed = remove ? await call('PATCH', record, remove) : await call('DELETE', record)
  expect(removed.status).toBe(remove ? 200 : 204)
  const gone = await call('GET', record) // it leaves the state, and the next plan creates it
  expect(gone.status === 404 || gone.body.deleted).toBe(true)
})

test('posthog_dashboard_layout: tiles are placed, texts added and removed, the others stay', async () => {
  const record = '/api/projects/1/dashboards/'
  const { id } = await made(record, { name: 'Placed' })
  await made('/api/projects/1/insights/', { name: 'On it', query, dashboards: [id] })
  await made('/api/projects/1/insights/', { name: 'Beside it', query, dashboards: [id] })
  const tiles = (body: Record<string, unknown>) =>
    body.tiles as { id: number; insight?: Body; text?: Body; layouts: Body; color: string | null }[]
  const [first, second] = tiles((await call('GET', `${record}${id}/`)).body)
  const layouts = { sm: { x: 0, y: 0, w: 6, h: 5 } }
  const placed = await call('PATCH', `${record}${id}/`, {
    tiles: [
      { id: first!.id, color: 'blue', layouts },
      { layouts: { sm: { x: 6, y: 0, w: 6, h: 2 } }, text: { body: '# Visits' } },
    ],
  })
  expect(placed.status).toBe(200)
  const now = tiles((await call('GET', `${record}${id}/`)).body)
  expect(now).toHaveLength(3)
  expect(now.find((tile) => tile.id === first!.id)).toMatchObject({ color: 'blue', layouts, insight: { id: first!.insight!.id } })
  expect(now.find((tile) => tile.id === second!.id)).toMatchObject({ color: null, insight: { id: second!.insight!.id } })
  const text = now.find((tile) => tile.text)!
  expect(text.text).toMatchObject({ body: '# Visits' })
  await call('PATCH', `${record}${id}/`, { tiles: [{ id: text.id, deleted: true }] })
  expect(
    tiles((await call('GET', `${record}${id}/`)).body)
      .map((tile) => tile.id)
      .sort(),
  ).toEqual([first!.id, second!.id].sort())
})

test('posthog_role_membership and posthog_organization_member', async () => {
  const path = `/api/organizations/${organization}/roles/${role}/role_memberships/`
  const { id } = await made(path, { user_uuid: uuid })
  expect((await call('GET', `${path}${id}/`)).body).toMatchObject({ id, role_id: role, user: { uuid } })
  expect((await call('DELETE', `${path}${id}/`)).status).toBe(204)
  expect((await call('GET', `${path}${id}/`)).status).toBe(404)
  const { results } = (await call('GET', `/api/organizations/${organization}/members/`)).body as { results: Body[] }
  expect(results).toMatchObject([{ user: { uuid }, level: 15 }])
})

test('organizations are found by @current and by their slug', async () => {
  const current = (await call('GET', '/api/organizations/@current/')).body
  const { results, next } = (await call('GET', '/api/organizations/')).body
  expect(next).toBe(null)
  expect((results as Body[]).filter(({ slug }) => slug === current.slug)).toMatchObject([{ id: organization }])
})

const page = readFileSync(join(import.meta.dirname, '../../docs/clients.md'), 'utf8')

test('the table of resources is this one', () => {
  const [, table] = /## Terraform[\s\S]*?\| resource \|[^\n]*\n\|[-|]+\|\n([\s\S]*?)\n\n/.exec(page)!
  const named = [...table!.matchAll(/`(posthog_\w+)`/g)].map(([, name]) => name)
  const tested = [...Object.keys(resources), 'posthog_dashboard_layout', 'posthog_role_membership', 'posthog_organization_member']
  expect(named.sort()).toEqual(tested.sort())
})

test.each([
  ['posthog_survey', '/api/projects/1/surveys/'],
  ['posthog_experiment', '/api/projects/1/experiments/'],
  ['posthog_hog_function', '/api/projects/1/hog_functions/'],
  ['posthog_insight_variable', '/api/projects/1/insight_variables/'],
  ['posthog_external_data_source', '/api/projects/1/external_data_sources/'],
])('%s is not here, which it is told', async (resource, path) => {
  expect((await call('POST', path, { name: 'x' })).status).toBe(404)
  expect(page).toContain(`\`${resource}\``)
})
