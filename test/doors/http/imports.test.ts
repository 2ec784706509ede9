import { expect, test } from 'vitest'
import { refused, withHome } from './conversation.ts'

// An import is recorded, and its events can be removed again as a whole: those of this import, and no others.

const held = withHome()
const path = () => `/api/projects/${held.home.project.id}/imports/`
const uuid = (n: number) => `018f0000-0000-7000-8000-${String(n).padStart(12, '0')}`

interface Row {
  readonly n: number
  readonly person: string
  readonly more?: object
}

const send = async (importId: string | null, rows: readonly Row[], isPast = true) => {
  const batch = rows.map(({ n, person, more = {} }) => ({
    uuid: uuid(n),
    event: 'bought',
    distinct_id: person,
    timestamp: '2024-05-01T10:00:00Z',
    properties: { n, ...more },
  }))
  const body = { historical_migration: isPast, ...(importId !== null && { import_id: importId }), batch }
  const headers = { authorization: `Bearer ${held.home.project.api_token}` }
  const { status, body: answer } = await held.home.call('POST', '/i/v1/analytics/events?summary=1', { body, headers })
  return { status, ...answer.summary, code: answer.code } as { status: number; accepted: number; duplicates: number; code?: string }
}
const begin = async (file = 'shop.csv'): Promise<string> =>
  (await held.home.call('POST', path(), { as: held.home.member, body: { file, format: 'csv' } })).body.id
const one = async (id: string) => (await held.home.call('GET', `${path()}${id}/`, { as: held.home.member })).body
const undo = (id: string) => held.home.call('POST', `${path()}${id}/undo/`, { as: held.home.admin })
const ask = async (query: string) =>
  (
    await held.home.call('POST', `/api/projects/${held.home.project.id}/query/`, {
      as: held.home.owner,
      body: { query: { kind: 'HogQLQuery', query } },
    })
  ).body.results as unknown[][]
const stored = async (first: number, last: number) =>
  (await ask(`select toInt(properties.n) as n from events where n between ${first} and ${last} order by n`)).map(([n]) => n)
const isPerson = async (id: string) =>
  (
    (await held.home.call('GET', `/api/projects/${held.home.project.id}/persons/?distinct_id=${id}`, { as: held.home.owner })).body
      .results as unknown[]
  ).length > 0

test('an import has a record of who read which file, and what became of it', async () => {
  const { call, member } = held.home
  const id = await begin('orders-2024.csv')
  expect(
    await send(id, [
      { n: 1, person: 'a' },
      { n: 2, person: 'b' },
    ]),
  ).toMatchObject({ status: 200, accepted: 2 })
  expect(
    await send(id, [
      { n: 2, person: 'b' },
      { n: 3, person: 'c' },
    ]),
  ).toMatchObject({ accepted: 1, duplicates: 1 })
  await call('PATCH', `${path()}${id}/`, { as: member, body: { status: 'done', rows: 4, unreadable: 1 } })
  const { created_by, ...record } = await one(id)
  expect(created_by.email).toBe(member.email)
  expect(record).toMatchObject({
    file: 'orders-2024.csv',
    status: 'done',
    events: 3,
    duplicates: 1,
    rows: 4,
    unreadable: 1,
    undone_at: null,
  })
  expect((await call('GET', path(), { as: member })).body.results[0].id).toBe(id)
  expect(await send(id, [{ n: 4, person: 'c' }]), 'it has ended').toMatchObject({ status: 409, code: 'import_over' })
  expect(await send(uuid(99), [{ n: 4, person: 'c' }]), 'there is none').toMatchObject({ status: 409 })
})

test('an undo removes the events and the persons of the import, and no others', async () => {
  const received = async () =>
    (await held.home.call('GET', `/api/projects/${held.home.project.id}/historical_import/`, { as: held.home.member })).body
  const { imported_events: receivedBefore, removed_events: removedBefore } = await received()
  await send(null, [{ n: 100, person: 'known' }], false)
  await send(null, [{ n: 101, person: 'live' }], false)
  const id = await begin()
  // Beside it, live events of persons whom the import has made, and of others.
  await send(id, [
    { n: 102, person: 'only-here' },
    { n: 103, person: 'seen-later' },
    { n: 104, person: 'known', more: { $set: { plan: 'pro' } } },
  ])
  await send(null, [{ n: 105, person: 'seen-later' }], false)
  await send(null, [{ n: 106, person: 'other' }])
  await send(id, [
    { n: 101, person: 'live' },
    { n: 107, person: 'only-here' },
  ])
  expect((await one(id)).events).toBe(4)
  const answer = await undo(id)
  expect(answer.body).toMatchObject({ status: 'undone', removed_events: 4, removed_persons: 1, latest_error: null })
  // Six were sent as past ones; of the five in the import one was stored before, and four are gone.
  expect(await received()).toMatchObject({ imported_events: receivedBefore + 6, removed_events: removedBefore + 4 })
  expect(answer.body.undone_by.email).toBe(held.home.admin.email)
  expect(await stored(100, 110)).toEqual([100, 101, 105, 106])
  expect(await Promise.all(['known', 'live', 'seen-later', 'other', 'only-here'].map(isPerson))).toEqual([true, true, true, true, false])

  expect((await undo(id)).body, 'a second time').toMatchObject({ status: 'undone', removed_events: 4 })
  expect(await stored(100, 110)).toEqual([100, 101, 105, 106])

  const again = await begin()
  expect(
    await send(again, [
      { n: 102, person: 'only-here' },
      { n: 100, person: 'known' },
    ]),
    'the same rows can be imported again',
  ).toMatchObject({
    accepted: 1,
    duplicates: 1,
  })
  expect(await stored(100, 110)).toEqual([100, 101, 102, 105, 106])
  expect(await isPerson('only-here')).toBe(true)
})

test('an undo of a second import of a file leaves the events of the first one', async () => {
  const rows = [
    { n: 200, person: 'x' },
    { n: 201, person: 'y' },
  ]
  const first = await begin()
  await send(first, rows)
  const second = await begin()
  expect(await send(second, [...rows, { n: 202, person: 'z' }])).toMatchObject({ accepted: 1, duplicates: 2 })
  expect((await undo(second)).body).toMatchObject({ removed_events: 1, removed_persons: 1 })
  expect(await stored(200, 210)).toEqual([200, 201])
  expect((await undo(first)).body).toMatchObject({ removed_events: 2, removed_persons: 2 })
  expect(await stored(200, 210)).toEqual([])
})

test('an undo while the import runs ends it: nothing that it sends is stored afterwards', async () => {
  const id = await begin()
  const sending = Array.from({ length: 20 }, (_, i) => send(id, [{ n: 300 + i, person: `during-${i}` }]))
  await sending[0]
  const { body } = await undo(id)
  const sent = await Promise.all(sending)
  expect(body).toMatchObject({ status: 'undone', removed_events: sent.filter(({ status }) => status === 200).length })
  expect(sent.every(({ status }) => status === 200 || status === 409)).toBe(true)
  expect(await send(id, [{ n: 399, person: 'late' }])).toMatchObject({ status: 409 })
  expect(await stored(300, 399)).toEqual([])
})

test('a person whom somebody has changed since stays', async () => {
  const id = await begin()
  await send(id, [
    { n: 400, person: 'edited' },
    { n: 401, person: 'plain' },
  ])
  const { call, owner, project } = held.home
  const { body } = await call('GET', `/api/projects/${project.id}/persons/?distinct_id=edited`, { as: owner })
  await call('PATCH', `/api/projects/${project.id}/persons/${body.results[0].uuid}/`, { as: owner, body: { properties: { note: 'vip' } } })
  expect((await undo(id)).body).toMatchObject({ removed_events: 2, removed_persons: 1 })
  expect(await isPerson('edited')).toBe(true)
})

test('people whom the import has merged go with it', async () => {
  const id = await begin()
  await send(id, [
    { n: 500, person: 'anon-1' },
    { n: 501, person: 'user-1', more: { $anon_distinct_id: 'anon-1' } },
  ])
  const batch = [
    {
      uuid: uuid(502),
      event: '$identify',
      distinct_id: 'user-1',
      timestamp: '2024-05-01T11:00:00Z',
      properties: { $anon_distinct_id: 'anon-1' },
    },
  ]
  const headers = { authorization: `Bearer ${held.home.project.api_token}` }
  await held.home.call('POST', '/i/v1/analytics/events?summary=1', { headers, body: { historical_migration: true, import_id: id, batch } })
  expect(await isPerson('anon-1')).toBe(true)
  expect((await undo(id)).body).toMatchObject({ removed_events: 3, removed_persons: 1 })
  expect([await isPerson('anon-1'), await isPerson('user-1')]).toEqual([false, false])
})

test('who may', async () => {
  const { call, member, outsider } = held.home
  const id = await begin()
  expect(await call('POST', `${path()}${id}/undo/`, { as: outsider })).toMatchObject(refused(403, 'permission_denied'))
  expect((await call('GET', `${path()}${id}/`, { as: outsider })).status).toBe(403)
  expect((await call('GET', `${path()}${uuid(1)}/`, { as: member })).status).toBe(404)
  expect((await call('GET', `${path()}x/`, { as: member })).status).toBe(404)
})
