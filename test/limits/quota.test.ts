import { afterAll, beforeAll, expect, test } from 'vitest'
import { createEventQuotas } from '../../src/service/accounts/organizations/event-quotas.ts'
import { level } from '../../src/service/accounts/records.ts'
import { refused, withHome } from '../doors/http/conversation.ts'

// A project takes so many events of clients a day: its key is public.

const held = withHome()
const batch = (count: number) => Array.from({ length: count }, (_, i) => ({ event: 'e', distinct_id: `d${i}` }))
const send = async (count: number, path = '/batch/', fields: object = {}) => {
  const { project, call } = held.home
  return call('POST', path, { body: { api_key: project.api_token, batch: batch(count), ...fields } })
}
const quota = async () => {
  const { project, admin, call } = held.home
  return (await call('GET', `/api/projects/${project.id}/`, { as: admin })).body.event_quota
}
const patch = (body: object, as = held.home.admin) => held.home.call('PATCH', `/api/projects/${held.home.project.id}/`, { as, body })

beforeAll(() => {
  held.home.world.now = new Date('2024-05-01T10:00:00Z')
})
afterAll(() => {
  held.home.world.now = null
})

test('the owner sets a limit within that of the operator; a member does not', async () => {
  const { world, project, member } = held.home
  expect(await quota()).toMatchObject({ limit: 20_000_000, resets_at: '2024-05-02T00:00:00.000Z' })
  expect(await patch({ daily_event_limit: 20_000_001 })).toMatchObject(refused(400, 'max_value', undefined, 'daily_event_limit'))
  expect(await patch({ daily_event_limit: 5 }, member)).toMatchObject(refused(403, 'permission_denied'))
  await world.accounts.eventQuotas.setByOperator(project.id, 100)
  expect(await patch({ daily_event_limit: 101 })).toMatchObject(refused(400, 'max_value', undefined, 'daily_event_limit'))
  expect((await patch({ daily_event_limit: 10 })).body.event_quota).toMatchObject({ limit: 10 })
  await world.accounts.eventQuotas.setByOperator(project.id, 0)
  expect(await quota()).toMatchObject({ limit: 10 })
})

test('what exceeds it is refused on every road, and the owners get one mail', async () => {
  const { world, project, owner, call } = held.home
  world.hasMail = true
  world.outbox.length = 0
  const { taken } = await quota()
  expect(await send(9 - taken)).toMatchObject({ status: 200, body: { status: 1 } })
  expect(world.outbox).toEqual([])
  expect(await send(3), 'a batch that begins within the limit is taken').toMatchObject({ status: 200 })
  expect(await quota()).toMatchObject({ limit: 10, taken: 12 })
  const wanted = { ...refused(429, 'quota_limited'), body: { type: 'throttled_error', code: 'quota_limited', quota_limited: ['events'] } }
  for (const path of ['/batch/', '/capture/', '/e/', '/i/v0/e/']) {
    const answer = await send(2, path)
    expect(answer, path).toMatchObject(wanted)
    expect(answer.headers.get('retry-after')).toBe('3600')
  }
  expect(await send(2, '/batch/', { historical_migration: true }), 'an import that nobody approved').toMatchObject(wanted)
  const each = await call('POST', '/i/v1/analytics/events', {
    headers: { authorization: `Bearer ${project.api_token}` },
    body: {
      created_at: '2024-05-01T10:00:00Z',
      batch: [{ ...batch(1)[0], uuid: '018f2f7e-0000-7000-8000-000000000001', timestamp: '2024-05-01T10:00:00Z' }],
    },
  })
  expect(each).toMatchObject({ status: 200, body: { quota_limited: ['events'] } })
  await expect.poll(() => world.outbox.length).toBe(1)
  expect(world.outbox[0]).toMatchObject({ to: owner.email, subject: expect.stringContaining('event limit') })
  expect(await quota()).toMatchObject({ taken: 12 })
  world.hasMail = false
})

test('the count is that of the store after a restart, and begins anew the next day', async () => {
  const { world, project } = held.home
  await world.accounts.eventQuotas.flush()
  const again = createEventQuotas(world.accounts.context)
  const record = (await world.accounts.projects.byId(project.id))!
  expect(await again.of(record)).toMatchObject({ taken: 12 })
  expect(await again.refusal(record, 1)).toMatchObject({ retryAfterSeconds: 3600 })
  world.now = new Date('2024-05-02T23:59:30Z')
  expect(await again.of(record)).toMatchObject({ taken: 0 })
  expect(await send(11)).toMatchObject({ status: 200 })
  const answer = await send(1)
  expect([answer.status, answer.headers.get('retry-after')]).toEqual([429, '30'])
})

test('an approved import has limits of its own, and so has a program with the library', async () => {
  const { world, project } = held.home
  await world.accounts.historicalImports.update(null, (await world.accounts.projects.byId(project.id))!, { is_approved: true })
  expect(await send(2, '/batch/', { historical_migration: true })).toMatchObject({ status: 200 })
  expect(await (await world.waymark.project(project.id)).ingest({ batch: batch(2) })).toMatchObject({ accepted: 2 })
  expect(level.owner).toBe(15)
})
