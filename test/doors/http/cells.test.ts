import { beforeAll, beforeEach, expect, test } from 'vitest'
import { withHome } from './conversation.ts'

// A chart with too many numbers is refused before anything is computed, whoever asks for it: in the words of the limit for those who can change it.

const held = withHome()
const start = new Date('2026-01-06T12:00:00Z')
const url = (path: string) => `/api/projects/${held.home.project.id}/${path}`
const call = (method: string, path: string, body?: object, headers: Record<string, string> = {}) =>
  held.home.call(method, url(path), { as: held.home.owner, body, headers })

/** Minutes of 130 days by a thousand values. */
const hostile = {
  kind: 'TrendsQuery',
  series: [{ kind: 'EventsNode', event: 'seen' }],
  dateRange: { date_from: '2025-08-29', date_to: '2026-01-06' },
  interval: 'minute',
  breakdownFilter: { breakdown: 'value', breakdown_type: 'event', breakdown_limit: 1000 },
}
const words =
  /The answer would have 187,[\d,]+ numbers \(187,201 buckets of one minute × 1 series × 1,001 values of the breakdown\); the limit is 2,500,000\./

let insight: { id: number }

beforeAll(async () => {
  const { world, project } = held.home
  world.now = start
  const batch = Array.from({ length: 50 }, (_, i) => ({
    event: 'seen',
    distinct_id: `u${i}`,
    timestamp: new Date(start.getTime() - i * 3_600_000).toISOString(),
    properties: { value: `v${i}` },
  }))
  await (await world.projectData(project.id)).ingest({ batch })
  insight = (await call('POST', 'insights/', { name: 'Hostile', query: hostile })).body
})
beforeEach(() => {
  Object.assign(held.home.world, { now: start, hasMail: true, reachesPrivate: true })
  held.home.world.limits = { api: [], query: [], draft: [], shared: [] }
  held.home.world.outbox.length = 0
})
const run = async (scheduler: { tick(): Promise<unknown>; readonly running: number; settled(): Promise<unknown> }) => {
  for (;;) {
    await scheduler.tick()
    if (scheduler.running === 0) return
    await scheduler.settled()
  }
}
const store = () => held.home.world.accounts.context.store

test.each([
  ['JSON', 'application/json'],
  ['CSV', 'text/csv'],
  ['Arrow', 'application/vnd.apache.arrow.stream'],
])('a query, answered as %s', async (_, accept) => {
  const answer = await call('POST', 'query/', { query: hostile }, { accept })
  expect(answer).toMatchObject({ status: 400, body: { attr: 'interval', detail: expect.stringMatching(words) } })
})

test.each(['csv', 'jsonl', 'parquet', 'arrow', 'spreadsheet'])('all rows as a file: %s', async (format) => {
  const answer = await call('POST', 'query/export/', { query: hostile, format })
  expect(answer).toMatchObject({ status: 400, body: { detail: expect.stringMatching(words) } })
})

test('an asynchronous query', async () => {
  const { status, body } = await call('POST', 'query/', { query: hostile, refresh: 'force_async' })
  expect(status).toBeLessThan(300)
  const state = async () => (await call('GET', `query/${body.query_status.id}/`)).body.query_status
  await expect.poll(async () => (await state()).error).toBe(true)
  expect(await state()).toMatchObject({ error_message: expect.stringMatching(words) })
})

test('an insight, and its refresh in the background', async () => {
  expect(await call('GET', `insights/${insight.id}/?refresh=blocking`)).toMatchObject({
    status: 400,
    body: { detail: expect.stringMatching(words) },
  })
  await call('GET', `insights/${insight.id}/`)
  await run(held.home.world.waymark.saved.refresher)
  expect(await store().read.insight_refreshes.find({ insight_id: insight.id })).toMatchObject([
    { failures: 1, latest_error: expect.stringMatching(words) },
  ])
})

test('a dashboard, and its refresh', async () => {
  const { body: board } = await call('POST', 'dashboards/', { name: 'Board' })
  await call('PATCH', `insights/${insight.id}/`, { dashboards: [board.id] })
  const { status, body } = await call('GET', `dashboards/${board.id}/?refresh=blocking`)
  expect(status).toBe(200)
  expect(body.tiles[0].insight).toMatchObject({ result: null })
  expect(JSON.stringify(body.tiles[0])).toContain('the limit is 2,500,000')
  await run(held.home.world.waymark.saved.refresher)
  expect(await store().read.insight_refreshes.find({ dashboard_id: board.id })).toMatchObject([
    { failures: 1, latest_error: expect.stringMatching(words) },
  ])
})

test('a public link says that there is no answer, and not why', async () => {
  const { body } = await call('PATCH', `insights/${insight.id}/sharing/`, { enabled: true })
  const json = await held.home.call('GET', `/shared/${body.access_token}.json`)
  expect(json).toMatchObject({ status: 200, body: { insight: { result: null, error: 'This insight could not be answered.' } } })
  const page = await held.home.call('GET', `/shared/${body.access_token}`)
  expect(page.status).toBe(200)
  expect(page.body).toContain('This insight could not be answered.')
  const { body: board } = await call('POST', 'dashboards/', { name: 'Shared' })
  await call('PATCH', `insights/${insight.id}/`, { dashboards: [board.id] })
  const { body: link } = await call('PATCH', `dashboards/${board.id}/sharing/`, { enabled: true })
  expect((await held.home.call('GET', `/shared/${link.access_token}.json`)).body.dashboard.tiles).toMatchObject([
    { insight: { result: null, error: 'This insight could not be answered.' } },
  ])
})

test('an alert is in error, and says so', async () => {
  const made = await call('POST', 'alerts/', {
    insight: insight.id,
    name: 'Hostile',
    condition: { type: 'absolute_value' },
    threshold: { configuration: { type: 'absolute', bounds: { upper: 2 } } },
    config: { type: 'TrendsAlertConfig', series_index: 0 },
    calculation_interval: 'daily',
    subscribed_users: [held.home.owner.id],
  })
  expect(made, JSON.stringify(made.body)).toMatchObject({ status: 201 })
  await run(held.home.world.waymark.notifications.scheduler)
  expect((await call('GET', `alerts/${made.body.id}/`)).body).toMatchObject({
    state: 'Errored',
    checks: [{ state: 'Errored', error: expect.stringMatching(words) }],
  })
})

test('a subscription is sent with the reason in place of the chart', async () => {
  const made = await call('POST', 'subscriptions/', {
    insight: insight.id,
    title: 'Hostile',
    target_type: 'email',
    target_value: 'a@acme.test',
    frequency: 'daily',
    start_date: '2026-01-06T12:30:00Z',
  })
  expect(made, JSON.stringify(made.body)).toMatchObject({ status: 201 })
  held.home.world.now = new Date('2026-01-06T13:00:00Z')
  await run(held.home.world.waymark.notifications.scheduler)
  const [mail] = held.home.world.outbox.filter(({ to }) => to === 'a@acme.test')
  expect(mail!.text.replaceAll('\n', ' ')).toContain('the limit is 2,500,000')
})
