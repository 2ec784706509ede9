import { beforeAll, describe, expect, test } from 'vitest'
import { refused, withHome } from './conversation.ts'

const held = withHome()
const project = '/api/projects/@current/'
const ask = (method: string, path: string, body?: unknown) =>
  held.home.call(method, project + path, { as: held.home.member, ...(body === undefined ? {} : { body }) })
const trends = (event: string) => ({ kind: 'TrendsQuery', series: [{ kind: 'EventsNode', event }] })
const newInsight = async (event: string, fields: object = {}) =>
  (await ask('POST', 'insights/', { name: event, query: trends(event), ...fields })).body
const newDashboard = async (fields: object = {}) => (await ask('POST', 'dashboards/', { name: 'Board', ...fields })).body
// biome-ignore lint/suspicious/noExplicitAny: answers
const counts = (body: any) => body.tiles.map((tile: any) => tile.insight?.result?.[0].count ?? tile.text?.body ?? null)

beforeAll(async () => {
  const { call, project } = held.home
  const event = (name: string, plan: string) => ({ event: name, distinct_id: plan, properties: { plan } })
  const batch = [event('view', 'a'), event('view', 'b'), event('buy', 'a')]
  await call('POST', '/batch/', { body: { api_key: project.api_token, batch } })
})

test('a dashboard is made, filled, read, changed, hidden and shown again', async () => {
  const { member } = held.home
  const made = await ask('POST', 'dashboards/', { name: 'Shop', description: 'All of it', tags: ['Sales'], pinned: true })
  expect(made).toMatchObject({
    status: 201,
    body: {
      name: 'Shop',
      description: 'All of it',
      tags: ['sales'],
      pinned: true,
      deleted: false,
      tiles: [],
      filters: {},
      created_by: { id: member.id },
    },
  })
  const { id } = made.body
  const view = await newInsight('view', { dashboards: [id] })
  const buy = await newInsight('buy')
  expect(view).toMatchObject({ dashboards: [id], saved: true })
  const filled = await ask('PATCH', `dashboards/${id}/?refresh=blocking`, {
    tiles: [{ insight: buy.id, color: 'blue', layouts: { sm: { x: 0, y: 0, w: 6, h: 5 } } }, { text: { body: '# Hello' } }],
  })
  expect(counts(filled.body)).toEqual([2, 1, '# Hello'])
  expect(filled.body.tiles[1]).toMatchObject({ color: 'blue', layouts: { sm: { w: 6 } }, insight: { id: buy.id, dashboards: [id] } })
  const [first, second, text] = filled.body.tiles.map((tile: { id: number }) => tile.id)
  expect(counts((await ask('POST', `dashboards/${id}/reorder_tiles/`, { tile_order: [text, second] })).body)).toEqual(['# Hello', 1, 2])
  const changed = await ask('PATCH', `dashboards/${id}/`, {
    tiles: [
      { id: text, text: { body: 'Bye' } },
      { id: second, deleted: true },
    ],
  })
  expect(counts(changed.body)).toEqual(['Bye', 2])
  expect((await ask('GET', `insights/${buy.id}/`)).body.dashboards).toEqual([])
  await ask('PATCH', `insights/${view.id}/`, { deleted: true })
  expect(counts((await ask('GET', `dashboards/${id}/`)).body)).toEqual(['Bye'])
  await ask('PATCH', `insights/${view.id}/`, { deleted: false })
  expect((await ask('GET', `dashboards/${id}/`)).body.tiles.map((tile: { id: number }) => tile.id)).toEqual([text, first])

  expect((await ask('PATCH', `dashboards/${id}/`, { deleted: true })).body.deleted).toBe(true)
  expect(await ask('GET', `dashboards/${id}/`)).toMatchObject(refused(404, 'not_found', expect.stringContaining('deleted')))
  expect(await ask('PATCH', `dashboards/${id}/`, { name: 'x' })).toMatchObject(refused(404, 'not_found'))
  const listed = async () => (await ask('GET', 'dashboards/?search=sho')).body.results.map((one: { id: number }) => one.id)
  expect([await listed(), (await ask('GET', `insights/${view.id}/`)).body.dashboards]).toEqual([[], []])
  await ask('PATCH', `dashboards/${id}/`, { deleted: false })
  expect([await listed(), (await ask('GET', `insights/${view.id}/`)).body.dashboards]).toEqual([[id], [id]])
  const { body: log } = await ask('GET', `dashboards/${id}/activity/`)
  expect(log.results.map((one: { activity: string }) => one.activity)).toEqual([
    'updated',
    'deleted',
    'updated',
    'updated',
    'updated',
    'created',
  ])
})

describe('filters', () => {
  const plan = (value: string) => ({ properties: [{ key: 'plan', value: [value], operator: 'exact', type: 'event' }] })

  test('of a dashboard hold for its tiles, and not elsewhere', async () => {
    const { id } = await newDashboard({ filters: plan('a') })
    const insight = await newInsight('view', { dashboards: [id] })
    expect(counts((await ask('GET', `dashboards/${id}/?refresh=blocking`)).body)).toEqual([1])
    expect((await ask('GET', `insights/${insight.id}/?refresh=blocking`)).body.result[0].count).toBe(2)
    const over = encodeURIComponent(JSON.stringify(plan('c')))
    expect(counts((await ask('GET', `dashboards/${id}/?refresh=blocking&filters_override=${over}`)).body)).toEqual([0])
    await ask('PATCH', `dashboards/${id}/`, { filters: {} })
    expect(counts((await ask('GET', `dashboards/${id}/?refresh=blocking`)).body)).toEqual([2])
  })

  test('one insight can be asked as a dashboard shows it', async () => {
    const { id } = await newDashboard({ filters: plan('a') })
    const insight = await newInsight('view', { dashboards: [id] })
    const on = async (parameters: string) => ask('GET', `insights/${insight.id}/?refresh=blocking&${parameters}`)
    const count = async (parameters: string) => (await on(parameters)).body.result[0].count
    expect(await count(`from_dashboard=${id}`)).toBe(1)
    expect(await count('')).toBe(2)
    const over = encodeURIComponent(JSON.stringify(plan('c')))
    expect(await count(`from_dashboard=${id}&filters_override=${over}`)).toBe(0)
    const [tile] = (await ask('GET', `dashboards/${id}/`)).body.tiles
    await ask('PATCH', `dashboards/${id}/`, { tiles: [{ id: tile.id, filters_overrides: plan('b') }] })
    expect([await count(`from_dashboard=${id}`), await count(`from_dashboard=${id}&filters_override={}`)]).toEqual([1, 1])
    // Lists of events take no filters: on a dashboard they are shown as they are.
    const query = { kind: 'EventsQuery', select: ['event'], where: ["event = 'buy'"], after: 'all' }
    const events = (await ask('POST', 'insights/', { name: 'events', query, dashboards: [id] })).body
    expect((await ask('GET', `insights/${events.id}/?refresh=blocking&from_dashboard=${id}`)).body.result).toEqual([['buy']])

    const other = await newDashboard()
    const foreign = { status: 400, body: { attr: 'from_dashboard' } }
    expect(await on(`from_dashboard=${other.id}`)).toMatchObject(foreign)
    for (const wrong of ['0', '-1', '1e9', '99999999999', 'x', '1,2', '[1', '%00', '%7B%7D'])
      expect(await on(`from_dashboard=${wrong}`)).toMatchObject(foreign)
    await ask('PATCH', `dashboards/${id}/`, { tiles: [{ id: tile.id, deleted: true }] })
    expect(await on(`from_dashboard=${id}`)).toMatchObject(foreign)
    await ask('PATCH', `dashboards/${id}/`, { deleted: true })
    expect(await on(`from_dashboard=${id}`)).toMatchObject(foreign)
  })

  test.each([
    ['no filter', { properties: [5] }],
    ['no list', { properties: 'plan' }],
    ['no date', { date_from: 7 }],
  ])('%s', async (_, filters) => {
    expect(await ask('POST', 'dashboards/', { filters })).toMatchObject({ status: 400, body: { attr: 'filters' } })
  })
})

test('a tile that fails says why, and the others are shown', async () => {
  const { id } = await newDashboard()
  await newInsight('view', { dashboards: [id] })
  await newInsight('view', { dashboards: [id], query: { kind: 'HogQLQuery', query: 'select nothing from events' } })
  const { body } = await ask('GET', `dashboards/${id}/?refresh=blocking`)
  expect(counts(body)).toEqual([2, null])
  expect(body.tiles[1].error).toMatchObject({ type: 'unknown-field', message: expect.stringContaining('nothing') })
})

test('tiles are moved and copied', async () => {
  const [one, two] = [await newDashboard({ name: 'One' }), await newDashboard({ name: 'Two' })]
  const view = await newInsight('view', { dashboards: [one.id] })
  const [tile] = (await ask('GET', `dashboards/${one.id}/`)).body.tiles
  const moved = await ask('PATCH', `dashboards/${one.id}/move_tile/`, { tile, toDashboard: two.id })
  expect(moved.body).toMatchObject({ id: two.id, tiles: [{ insight: { id: view.id, dashboards: [two.id] } }] })
  const copied = await ask('POST', `dashboards/${one.id}/copy_tile/`, { fromDashboardId: two.id, tileId: moved.body.tiles[0].id })
  expect(copied.body.tiles[0].insight.dashboards.sort()).toEqual([one.id, two.id])
  expect(await ask('PATCH', `dashboards/${one.id}/move_tile/`, { tile: 999, to_dashboard: two.id })).toMatchObject(
    refused(400, 'does_not_exist', expect.any(String), 'tiles'),
  )
})

test.each([
  [true, 'copies of its insights'],
  [false, 'the same insights'],
])('a copy with duplicate_tiles %s has %s', async (duplicate_tiles) => {
  const source = await newDashboard({ name: 'Source', tags: ['x'] })
  const view = await newInsight('view', { dashboards: [source.id] })
  await ask('PATCH', `dashboards/${source.id}/`, { tiles: [{ text: { body: 'Text' } }] })
  const { body } = await ask('POST', 'dashboards/?refresh=blocking', { use_dashboard: source.id, duplicate_tiles, name: 'Copy' })
  expect(body).toMatchObject({ name: 'Copy', tags: ['x'], creation_mode: 'duplicate' })
  expect(counts(body)).toEqual([2, 'Text'])
  expect(body.tiles[0].insight.id === view.id).toBe(!duplicate_tiles)
})

test('a dashboard is hidden with the insights that are nowhere else', async () => {
  const [one, two] = [await newDashboard(), await newDashboard()]
  const only = await newInsight('view', { dashboards: [one.id] })
  const both = await newInsight('view', { dashboards: [one.id, two.id] })
  await ask('PATCH', `dashboards/${one.id}/`, { deleted: true, delete_insights: true })
  const status = async ({ id }: { id: number }) => (await ask('GET', `insights/${id}/`)).status
  expect([await status(only), await status(both)]).toEqual([404, 200])
})

test('an insight that was made for a tile alone goes with its last tile, and comes back with it', async () => {
  const [first, second] = [await newDashboard(), await newDashboard()]
  const insight = await newInsight('view', { dashboards: [first.id], saved: false })
  const listed = await newInsight('buy', { dashboards: [first.id] })
  const tileOn = async (id: number, of: number) =>
    (await ask('GET', `dashboards/${id}/`)).body.tiles.find((tile: { insight: { id: number } }) => tile.insight.id === of).id as number
  const place = (id: number, tile: number, deleted: boolean) => ask('PATCH', `dashboards/${id}/`, { tiles: [{ id: tile, deleted }] })
  const isGone = async (of: number) => (await ask('GET', `insights/${of}/`)).status === 404
  const tile = await tileOn(first.id, insight.id)
  await place(first.id, await tileOn(first.id, listed.id), true)
  expect(await isGone(listed.id)).toBe(false)

  await ask('PATCH', `insights/${insight.id}/`, { dashboards: [first.id, second.id], saved: false })
  await place(first.id, tile, true)
  expect(await isGone(insight.id)).toBe(false)
  const other = await tileOn(second.id, insight.id)
  await place(second.id, other, true)
  expect(await isGone(insight.id)).toBe(true)
  await place(second.id, other, false)
  expect(await isGone(insight.id)).toBe(false)
  expect(counts((await ask('GET', `dashboards/${second.id}/`)).body)).toEqual([2])
})

test('the primary dashboard is one of the project', async () => {
  const { call, owner, project, world, organization } = held.home
  const mine = await newDashboard()
  const set = (id: unknown) => call('PATCH', `/api/projects/${project.id}/`, { as: owner, body: { primary_dashboard: id } })
  expect((await set(mine.id)).body.primary_dashboard).toBe(mine.id)
  await world.setFeature(organization.id, 'organizations_projects', true)
  const { body: other } = await call('POST', `/api/organizations/${organization.id}/projects/`, { as: owner, body: { name: 'Other' } })
  expect(await set(other.primary_dashboard)).toMatchObject(refused(403, 'permission_denied'))
  expect(await set(9999)).toMatchObject(refused(400, 'does_not_exist', expect.any(String), 'primary_dashboard'))
  await call('PATCH', `/api/projects/${project.id}/dashboards/${mine.id}/`, { as: owner, body: { deleted: true } })
  expect((await call('GET', `/api/projects/${project.id}/`, { as: owner })).body.primary_dashboard).toBeNull()
  expect(await set(mine.id)).toMatchObject(refused(400, 'does_not_exist', expect.any(String), 'primary_dashboard'))

  const theirs = `/api/projects/${other.id}/`
  for (const path of [`dashboards/${mine.id}/`, `insights/${(await newInsight('view')).id}/`])
    expect(await call('GET', theirs + path, { as: owner }), path).toMatchObject(refused(404, 'not_found'))
  const { body: foreign } = await call('POST', `${theirs}insights/`, { as: owner, body: { query: trends('view') } })
  expect(
    await call('PATCH', `/api/projects/${project.id}/dashboards/${(await newDashboard()).id}/`, {
      as: owner,
      body: { tiles: [{ insight: foreign.id }] },
    }),
  ).toMatchObject(refused(400, 'invalid_input', expect.any(String), 'tiles'))
})
