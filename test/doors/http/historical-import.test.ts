import { beforeEach, describe, expect, test } from 'vitest'
import { refused, withHome } from './conversation.ts'

const held = withHome()
const path = '/api/projects/@current/historical_import/'
const unlimited = { total_events: null, events_per_minute: null }
const usual = { total_events: 20_000_000, events_per_minute: 10_000 }

beforeEach(async () => {
  const { world, project } = held.home
  world.settings = { ...world.settings, isHosted: false }
  world.now = new Date('2026-03-01T12:00:00Z')
  await world.accounts.context.store.write((tables) => tables.historical_imports.remove({ project_id: project.id }))
})

/** As many past events as one request brings. */
const send = async (events: number, token = held.home.project.api_token) => {
  const batch = Array.from({ length: events }, (_, i) => ({ event: 'e', distinct_id: 'd', timestamp: '2020-01-01', properties: { i } }))
  const body = { api_key: token, historical_migration: true, batch }
  const { status, body: answer, headers } = await held.home.call('POST', '/batch/', { body })
  return { status, detail: answer.detail as string | undefined, retryAfter: Number(headers.get('retry-after') ?? 0) }
}

describe('on a server that people run for themselves', () => {
  test('imports are approved and unlimited before anybody says anything', async () => {
    const { call, member } = held.home
    expect((await call('GET', path, { as: member })).body).toEqual({
      source: '',
      method: '',
      ...unlimited,
      is_approved: true,
      approved_by: null,
      approved_at: null,
      imported_events: 0,
      removed_events: 0,
      limits: unlimited,
    })
    for (let i = 0; i < 3; i++) expect((await send(5_000)).status).toBe(200)
  })

  test('an admin writes down what is agreed, and limits hold from then on', async () => {
    const { call, admin, member } = held.home
    const agreed = { source: 'Mixpanel', method: 'export and batch', total_events: 50, events_per_minute: 20, is_approved: true }
    expect(await call('PATCH', path, { as: member, body: agreed })).toMatchObject(refused(403, 'permission_denied'))
    const { body } = await call('PATCH', path, { as: admin, body: agreed })
    expect(body).toMatchObject({
      ...agreed,
      approved_by: admin.email,
      approved_at: '2026-03-01T12:00:00Z',
      limits: { total_events: 50, events_per_minute: 20 },
    })
    expect((await call('PATCH', path, { as: admin, body: { source: 'Amplitude' } })).body).toMatchObject({ ...agreed, source: 'Amplitude' })
    expect((await call('PUT', path, { as: admin, body: { method: 'files' } })).body).toMatchObject({
      source: '',
      method: 'files',
      limits: unlimited,
    })
  })

  test('an approval can be taken back', async () => {
    const { call, admin } = held.home
    expect((await call('PATCH', path, { as: admin, body: { is_approved: false } })).body).toMatchObject({
      is_approved: false,
      limits: usual,
    })
  })

  test('what was changed is in the log', async () => {
    const { call, admin, world, project } = held.home
    await call('PATCH', path, { as: admin, body: { source: 'a file' } })
    const [entry] = await world.accounts.context.store.read.activity.find(
      { scope: 'HistoricalImport', project_id: project.id },
      { newestFirst: 'created_at', limit: 1 },
    )
    expect(entry).toMatchObject({ user_id: admin.id, detail: { changes: [{ field: 'source', before: '', after: 'a file' }] } })
  })

  test.each([
    [{ total_events: 0 }, 'min_value', 'total_events'],
    [{ events_per_minute: 'many' }, 'invalid_input', 'events_per_minute'],
    [{ is_approved: 'perhaps' }, 'invalid_input', 'is_approved'],
    [{ source: 'x'.repeat(401) }, 'max_length', 'source'],
  ])('%j is refused', async (body, code, attr) => {
    const { call, admin } = held.home
    expect(await call('PATCH', path, { as: admin, body })).toMatchObject(refused(400, code, undefined, attr))
  })
})

describe('on a server that is run for customers', () => {
  beforeEach(() => {
    held.home.world.settings = { ...held.home.world.settings, isHosted: true }
  })

  test('the usual limits hold, and customers cannot lift them', async () => {
    const { call, admin } = held.home
    expect((await call('GET', path, { as: admin })).body).toMatchObject({ is_approved: false, limits: usual })
    expect(await call('PATCH', path, { as: admin, body: { is_approved: true } })).toMatchObject(refused(403, 'permission_denied'))
    expect((await call('PATCH', path, { as: admin, body: { total_events: 100_000_000 } })).body).toMatchObject({
      is_approved: false,
      limits: usual,
    })
  })

  test('what the operator approved ends when something else is asked for', async () => {
    const { call, admin, world, project } = held.home
    await world.accounts.historicalImports.update(null, project, { is_approved: true, total_events: 100, events_per_minute: null })
    const approved = { is_approved: true, approved_by: 'the operator', limits: { total_events: 100, events_per_minute: null } }
    expect((await call('PATCH', path, { as: admin, body: { source: 'Heap' } })).body).toMatchObject(approved)
    expect((await call('PATCH', path, { as: admin, body: { total_events: 1_000_000_000 } })).body).toMatchObject({
      is_approved: false,
      limits: usual,
    })
  })

  test('ten thousand events a minute come in, more are told when to come back', async () => {
    const { world } = held.home
    const token = (await world.makeProject(held.home.organization.id, {})).api_token
    for (const events of [6_000, 4_000]) expect((await send(events, token)).status).toBe(200)
    expect(await send(1, token)).toMatchObject({ status: 429, retryAfter: 1, detail: expect.stringContaining('10,000 events a minute') })
    expect(await send(5_000, token)).toMatchObject({ status: 429, retryAfter: 30 })
    world.now = new Date('2026-03-01T12:00:30Z')
    expect((await send(5_000, token)).status).toBe(200)
    expect((await send(1, token)).status).toBe(429)
  })

  test('live events are not held back meanwhile', async () => {
    const { world, call } = held.home
    const token = (await world.makeProject(held.home.organization.id, {})).api_token
    await send(10_000, token)
    expect((await send(1, token)).status).toBe(429)
    const live = { api_key: token, batch: [{ event: 'live', distinct_id: 'd' }] }
    expect((await call('POST', '/batch/', { body: live })).status).toBe(200)
  })

  test('a batch that is larger than a minute has one of its own', async () => {
    const token = (await held.home.world.makeProject(held.home.organization.id, {})).api_token
    expect((await send(12_000, token)).status).toBe(200)
    expect(await send(10_000, token)).toMatchObject({ status: 429, retryAfter: 72 })
  })

  test('the total ends an import', async () => {
    const { world, organization, call, admin } = held.home
    const project = await world.makeProject(organization.id, {})
    await world.accounts.historicalImports.update(null, project, { is_approved: true, total_events: 3_000, events_per_minute: null })
    expect((await send(2_500, project.api_token)).status).toBe(200)
    expect(await send(501, project.api_token)).toMatchObject({
      status: 429,
      retryAfter: 3600,
      detail: expect.stringContaining('3,000 events'),
    })
    expect((await send(500, project.api_token)).status).toBe(200)
    expect((await call('GET', `/api/projects/${project.id}/historical_import/`, { as: admin })).body.imported_events).toBe(3_000)
  })

  test('what came in is counted without limits too, over HTTP and in the library', async () => {
    const { world, organization, call, admin } = held.home
    const project = await world.makeProject(organization.id, {})
    const imported = async () => (await call('GET', `/api/projects/${project.id}/historical_import/`, { as: admin })).body.imported_events
    await world.accounts.historicalImports.update(null, project, { is_approved: true, total_events: null, events_per_minute: null })
    await send(3, project.api_token)
    expect(await imported()).toBe(3)
    const data = await world.projectData(project.id)
    const batch = [{ event: 'e', distinct_id: 'd', timestamp: '2025-01-01T00:00:00Z' }]
    await data.ingest({ batch, historical_migration: true })
    await data.ingest({ batch })
    expect(await imported()).toBe(4)
    await world.accounts.historicalImports.flush()
    expect(await imported()).toBe(4)
  })

  test('the per-event protocol says so for each event', async () => {
    const { world, organization, call } = held.home
    const token = (await world.makeProject(organization.id, {})).api_token
    await send(10_000, token)
    const uuid = '0190a000-0000-7000-8000-000000000001'
    const body = { historical_migration: true, created_at: '2026-03-01T12:00:00Z', batch: [{ uuid, event: 'e', distinct_id: 'd' }] }
    const answer = await call('POST', '/i/v1/analytics/events', { body, headers: { authorization: `Bearer ${token}` } })
    expect(answer.body.results[uuid]).toMatchObject({ result: 'limited' })
  })
})
