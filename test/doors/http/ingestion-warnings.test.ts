import { expect, test } from 'vitest'
import { refused, withHome } from './conversation.ts'

const held = withHome()
const path = '/api/projects/@current/ingestion_warnings/'

test('what was altered or dropped is shown at once, with its kind, count and samples', async () => {
  const { call, member, project, world } = held.home
  world.now = new Date('2026-03-01T12:00:00Z')
  const { api_token: token } = project
  const uuid = '0190a000-0000-7000-8000-000000000001'
  expect((await call('GET', path, { as: member })).body).toEqual({ count: 0, next: null, previous: null, results: [] })
  const past = [
    { event: 'e', distinct_id: 'u', timestamp: 'the other day', uuid },
    { event: 'e', distinct_id: 'u' },
    { event: 'e', distinct_id: 'u', timestamp: '2025-01-01T00:00:00Z' },
  ]
  const body = { api_key: token, historical_migration: true, batch: past }
  expect((await call('POST', '/batch/', { body })).status).toBe(200)
  world.now = new Date('2026-03-01T12:01:00Z')
  await call('POST', '/e/', { body: { api_key: token, event: 'e', distinct_id: 'x'.repeat(201) } })
  const { body: page } = await call('GET', path, { as: member })
  expect(page.results.map(({ type, count, effect }: Record<string, unknown>) => [type, count, effect])).toEqual([
    ['text_too_long', 1, 'altered'],
    ['historical_event_without_timestamp', 1, 'altered'],
    ['ignored_invalid_timestamp', 1, 'altered'],
  ])
  expect(page.results[2]).toMatchObject({
    description: expect.stringContaining('time of receipt'),
    last_seen_at: '2026-03-01T12:00:00Z',
    samples: [{ timestamp: '2026-03-01T12:00:00Z', details: { eventUuid: uuid, field: 'timestamp', value: 'the other day' } }],
  })
})

test('only members see it', async () => {
  const { call, outsider } = held.home
  expect(await call('GET', `/api/projects/${held.home.project.id}/ingestion_warnings/`, { as: outsider })).toMatchObject(
    refused(403, 'permission_denied'),
  )
})

test('samples hold values of events, so they are for those who may query', async () => {
  const { call, member, world } = held.home
  const seenBy = async (scopes: string[]) => {
    const { value } = await world.makeKey(member, { label: 'narrow', scopes })
    const { body } = await call('GET', path, { headers: { authorization: `Bearer ${value}` } })
    return body.results.map(({ samples }: { samples: unknown[] | null }) => samples?.length ?? null)
  }
  expect(await seenBy(['project:read'])).toEqual([null, null, null])
  expect(await seenBy(['project:read', 'query:read'])).toEqual([1, 1, 1])
})

test('a field of an event or a batch that nobody reads shows, with the likely name; what clients send besides does not', async () => {
  const { call, member, project, world } = held.home
  world.now = new Date('2026-03-01T12:02:00Z')
  const { api_key, ...clients } = {
    api_key: project.api_token,
    type: 'capture',
    library: 'posthog-node',
    library_version: '4.0.0',
    messageId: 'm',
    context: {},
    send_feature_flags: false,
  }
  const send = (body: object, path = '/batch/') => call('POST', path, { body: { api_key, ...body } })
  const strange = async () => {
    const { body } = await call('GET', path, { as: member })
    const found = body.results.find(({ type }: { type: string }) => type === 'unknown_event_field')
    return found?.samples.map(({ details }: { details: { field: string; suggestion?: string } }) => [details.field, details.suggestion])
  }
  expect((await send({ ...clients, batch: [{ ...clients, event: 'e', distinct_id: 'u' }] })).status).toBe(200)
  expect((await send({ event: 'e', distinct_id: 'u', sent_at: '2026-03-01T12:00:00Z' }, '/capture/')).status).toBe(200)
  expect(await strange()).toBeUndefined()
  await send({ event: 'e', distinct_id: 'u', proprties: { a: 1 } }, '/capture/')
  await send({ batch: [{ event: 'e', distinct_id: 'u' }], historical_migation: true })
  const uuid = '0190a000-0000-7000-8000-000000000002'
  await call('POST', '/i/v1/analytics/events', {
    headers: { authorization: `Bearer ${api_key}` },
    body: { created_at: '2026-03-01T12:00:00Z', batch: [{ event: 'e', distinct_id: 'u', uuid, options: {}, zzz: 1 }] },
  })
  expect(await strange()).toEqual([
    ['zzz', undefined],
    ['historical_migation', 'historical_migration'],
    ['proprties', 'properties'],
  ])
})
