import { beforeEach, expect, test } from 'vitest'
import { withHome } from './conversation.ts'

// Answers that people look at are refreshed when they become too old. The clock stands still unless a test moves it.

const held = withHome()
const base = '/api/projects/@current/'
const ask = (method: string, path: string, body?: unknown) =>
  held.home.call(method, base + path, { as: held.home.member, ...(body === undefined ? {} : { body }) })
const start = Date.parse('2026-03-01T12:00:00Z')
const hour = 3_600_000
const trends = (event: string) => ({ kind: 'TrendsQuery', series: [{ kind: 'EventsNode', event }], dateRange: { date_from: '-7d' } })
const refresher = () => held.home.world.waymark.saved.refresher
const rows = () => held.home.world.accounts.context.store.read.insight_refreshes.find({}, { orderBy: [{ column: 'id' }] })
const at = (hours: number) => {
  held.home.world.now = new Date(start + hours * hour)
}
/** Computes all that is due. Returns the hours from the start to the next work. */
const refreshed = async (): Promise<number> => {
  for (;;) {
    const next = await refresher().tick()
    if (refresher().running === 0) return (next - start) / hour
    await refresher().settled()
  }
}
const send = (distinct_id: string, event = 'view') =>
  held.home.call('POST', '/batch/', { body: { api_key: held.home.project.api_token, batch: [{ event, distinct_id, properties: {} }] } })
const count = async (id: number): Promise<number | null> => (await ask('GET', `insights/${id}/`)).body.result?.[0].count ?? null

beforeEach(async () => {
  await held.home.world.accounts.context.store.write(async (tables) => {
    await tables.insight_refreshes.remove({})
  })
})

test('an insight that is looked at gets an answer, and a new one when that is too old', async () => {
  at(0)
  await send('a')
  const { body } = await ask('POST', 'insights/', { query: { ...trends('view'), interval: 'hour' } })
  expect(await count(body.id)).toBeNull()
  expect(await refreshed()).toBe(1)
  expect(await count(body.id)).toBe(1)
  await send('b')
  at(0.9)
  expect([await refreshed(), await count(body.id)]).toEqual([1, 1])
  at(1)
  expect(await refreshed()).toBe(2)
  expect(await count(body.id)).toBe(2)
})

test('what nobody looks at any more is forgotten', async () => {
  at(100)
  const { body } = await ask('POST', 'insights/', { query: trends('view') })
  await refreshed()
  for (let hours = 106; hours < 100 + 14 * 24; hours += 6) {
    at(hours)
    await refreshed()
  }
  expect(await rows()).toMatchObject([{ insight_id: body.id, failures: 0 }])
  at(100 + 15 * 24)
  expect([await refreshed(), await rows()]).toEqual([Number.POSITIVE_INFINITY, []])
})

test('the tiles of a dashboard have their own answers', async () => {
  at(1000)
  await send('c', 'buy')
  const filters = { properties: [{ key: 'plan', value: ['x'], operator: 'exact', type: 'event' }] }
  const { body: dashboard } = await ask('POST', 'dashboards/', { filters })
  const { body: insight } = await ask('POST', 'insights/', { query: trends('buy'), dashboards: [dashboard.id] })
  const shown = async () => (await ask('GET', `dashboards/${dashboard.id}/`)).body.tiles[0].insight.result?.[0].count ?? null
  expect(await shown()).toBeNull()
  await refreshed()
  expect([await shown(), await count(insight.id)]).toEqual([0, 1])
  await ask('PATCH', `insights/${insight.id}/`, { dashboards: [] })
  at(1010)
  await refreshed()
  expect(await rows()).toMatchObject([{ insight_id: insight.id, dashboard_id: null }])
})

test('a failure is noted, and tried again later and later', async () => {
  /** The times are a quarter of the wait earlier or later. */
  const next = async (from: number, wait: number) => {
    const due = await refreshed()
    expect(Math.abs(due - from - wait)).toBeLessThanOrEqual(wait / 4)
    return due
  }
  at(2000)
  const { body } = await ask('POST', 'insights/', { query: { kind: 'HogQLQuery', query: 'select nothing from events' } })
  const second = await next(2000, 1)
  expect(await rows()).toMatchObject([{ insight_id: body.id, failures: 1, latest_error: expect.stringContaining('nothing') }])
  await ask('GET', `insights/${body.id}/`)
  expect(await refreshed()).toBe(second)
  at(second)
  const third = await next(second, 2)
  await ask('PATCH', `insights/${body.id}/`, { query: { kind: 'HogQLQuery', query: 'select 5' } })
  at(third)
  await refreshed()
  expect((await ask('GET', `insights/${body.id}/`)).body.result).toEqual([[5]])
  expect(await rows()).toMatchObject([{ failures: 0, latest_error: null }])
})

test('a changed query is computed soon, and a failure of the old one is forgotten', async () => {
  at(2500)
  const { body } = await ask('POST', 'insights/', { query: { kind: 'HogQLQuery', query: 'select nothing from events' } })
  expect(await refreshed()).toBeGreaterThan(2500.7)
  await ask('PATCH', `insights/${body.id}/`, { query: { kind: 'HogQLQuery', query: 'select 6' } })
  await refreshed()
  expect((await ask('GET', `insights/${body.id}/`)).body.result).toEqual([[6]])
})

test('at most two are computed at a time', async () => {
  at(2600)
  const made = await Promise.all(
    [1, 2, 3, 4, 5].map((n) => ask('POST', 'insights/', { query: { kind: 'HogQLQuery', query: `select ${n} as n` } })),
  )
  const most: number[] = []
  for (;;) {
    await refresher().tick()
    if (refresher().running === 0) break
    most.push(refresher().running)
    await refresher().settled()
  }
  expect(Math.max(...most)).toBeLessThanOrEqual(2)
  expect(most.length).toBeGreaterThanOrEqual(3)
  for (const [i, { body }] of made.entries()) expect((await ask('GET', `insights/${body.id}/`)).body.result, String(i)).toEqual([[i + 1]])
})

test('overrides, lists and hidden insights are not refreshed', async () => {
  at(3000)
  const { body } = await ask('POST', 'insights/', { query: trends('view') })
  await ask('PATCH', `insights/${body.id}/`, { deleted: true })
  expect([await refreshed(), await rows()]).toEqual([Number.POSITIVE_INFINITY, []])
  await ask('PATCH', `insights/${body.id}/`, { deleted: false })
  await held.home.world.accounts.context.store.write((tables) => tables.insight_refreshes.remove({}))
  await ask('GET', `insights/${body.id}/?refresh=blocking&filters_override=${encodeURIComponent('{"date_from":"-1d"}')}`)
  await ask('GET', 'insights/')
  expect(await rows()).toEqual([])
})

test('a process that ended during a refresh leaves it to the next one', async () => {
  at(4000)
  const { body } = await ask('POST', 'insights/', { query: trends('view') })
  const [row] = await rows()
  const { store } = held.home.world.accounts.context
  const lease = {
    id: `insight refresh ${row!.id}`,
    kind: 'insight refresh',
    owner: 'ended',
    until: new Date(start + 4000 * hour + hour / 6),
  }
  await store.write((tables) => tables.leases.insert({ ...lease, project_id: row!.project_id, failures: 0 }))
  at(4000.1)
  expect(await refresher().tick()).toBe(start + 4000 * hour + hour / 6)
  at(4000.2)
  await refreshed()
  expect(await count(body.id)).not.toBeNull()
})
