import { beforeAll, expect, test } from 'vitest'
import { withHome } from './conversation.ts'

// How long a project keeps what, and properties that are deleted, over HTTP.

const held = withHome()
const admin = () => held.home.owner
const send = (method: string, path: string, body?: unknown, as = admin()) =>
  held.home.call(method, `/api/projects/@current/${path}`, { as, body })
const rows = async (query: string) => (await send('POST', 'query/', { query: { kind: 'HogQLQuery', query } })).body.results as unknown[][]

beforeAll(async () => {
  const { world, project } = held.home
  world.now = new Date('2026-03-31T12:00:00Z')
  const data = await world.projectData(project.id)
  const event = (distinct_id: string, timestamp: string, properties: object = {}) => ({ event: 'view', distinct_id, timestamp, properties })
  await data.ingest({
    batch: [
      event('ann', '2025-03-30T23:59:59Z', { secret: 1, page: '/' }),
      event('ann', '2025-03-31T00:00:00Z', { secret: 'two', $set: { email: 'a@b.test', secret: 'kept' } }),
      event('bob', '2026-03-30T00:00:00Z', { page: '/', $set_once: { email: 'b@b.test' } }),
    ],
  })
})

test.each([
  ['months that are no number', { events_months: 'twelve' }, 'data_retention__events_months'],
  ['no months', { events_months: 0 }, 'data_retention__events_months'],
  ['half of them', { persons_months: 1.5 }, 'data_retention__persons_months'],
  ['a list of names', { event_names: ['view'] }, 'data_retention__event_names'],
  ['a name without a number', { event_names: { view: 'long' } }, 'data_retention__event_names__view'],
  [
    'too many names',
    { event_names: Object.fromEntries(Array.from({ length: 201 }, (_, i) => [`e${i}`, 1])) },
    'data_retention__event_names',
  ],
])('%s are refused', async (_, data_retention, attr) => {
  const answer = await send('PATCH', '', { data_retention })
  expect([answer.status, answer.body.attr]).toEqual([400, attr])
})

test('only administrators set it, and delete properties', async () => {
  const { member } = held.home
  expect((await send('PATCH', '', { data_retention: { events_months: 1 } }, member)).status).toBe(403)
  const { results } = (await send('GET', 'property_definitions/?type=event&properties=["secret"]')).body
  expect((await send('POST', `property_definitions/${results[0].id}/delete_values/`, {}, member)).status).toBe(403)
  expect(await rows('select count() from events')).toEqual([[3]])
})

test('a property is deleted with a receipt, and the log of activities names both', async () => {
  const find = async (type: string, name: string) =>
    (await send('GET', `property_definitions/?type=${type}&properties=["${name}"]`)).body.results as { id: string; description: string }[]
  const [secret] = await find('event', 'secret')
  await send('PATCH', `property_definitions/${secret!.id}/`, { description: 'Should not be here' })
  const receipt = await send('POST', `property_definitions/${secret!.id}/delete_values/`, {})
  expect(receipt.body).toMatchObject({
    asked: { by: 'property', property: 'event secret', cohort: null },
    events: 2,
    persons: 0,
    created_by: { email: expect.any(String) },
    finished_at: expect.any(String),
  })
  expect(await rows('select properties.secret, person.properties.secret from events order by timestamp')).toEqual([
    [null, 'kept'],
    [null, 'kept'],
    [null, null],
  ])
  expect(await find('event', 'secret')).toEqual([])
  const data = await held.home.world.projectData(held.home.project.id)
  await data.ingest({ batch: [{ event: 'other', distinct_id: 'cid', properties: { $process_person_profile: false, secret: 3 } }] })
  expect(await find('event', 'secret')).toMatchObject([{ id: secret!.id, description: '', count: 1 }])
  const [email] = await find('person', 'email')
  const second = await send('POST', `property_definitions/${email!.id}/delete_values/`, {})
  expect(second.body).toMatchObject({ asked: { property: 'person email' }, persons: 2, events: 2 })
  expect(await rows("select person.properties.email, toString(properties) from events where event = 'view' order by timestamp")).toEqual([
    [null, '{"page":"/"}'],
    [null, '{"$set":{"secret":"kept"}}'],
    [null, '{"page":"/","$set_once":{}}'],
  ])
  expect((await send('POST', `property_definitions/${email!.id}/delete_values/`, {})).status).toBe(404)
  const log = (await send('GET', `property_definitions/${secret!.id}/activity/`)).body.results as {
    detail: { changes: { after: unknown }[] | null }
  }[]
  expect(log.flatMap(({ detail }) => (detail.changes ?? []).map(({ after }) => after))).toContain(receipt.body.id)
})

test('what is older is gone with the answer to the next question, and has a receipt', async () => {
  const { world, project } = held.home
  const answer = await send('PATCH', '', { data_retention: { events_months: 12, event_names: null } })
  expect(answer.body.data_retention).toEqual({ events_months: 12, event_names: null })
  expect(await rows("select count() from events where event = 'view'")).toEqual([[2]])
  const log = (await send('GET', 'activity/')).body.results as { detail: { changes: { field: string }[] | null } }[]
  expect(log.flatMap(({ detail }) => (detail.changes ?? []).map(({ field }) => field))).toContain('data_retention')
  expect(await (await world.projectData(project.id)).removeOld()).toEqual({ events: 1, persons: 0, groups: 0 })
})
