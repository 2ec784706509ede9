import pg from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type PostgresServer, startPostgres } from '../../../src/doors/postgres/server.ts'
import { withHome } from '../http/conversation.ts'
import { refusal } from './served.ts'

// What keys with other rights may read: the door asks the routes of a real server.

const held = withHome()
let door: PostgresServer
const errors: unknown[] = []
beforeAll(async () => {
  const send = (request: Request) => {
    const { pathname, search } = new URL(request.url)
    return fetch(new Request(held.home.world.url + pathname + search, request))
  }
  door = await startPostgres({ host: '127.0.0.1', port: 0, send, tls: null, onError: (error) => errors.push(error) })
  const { call, project } = held.home
  // Keys without definitions see the events of the last months.
  const timestamp = new Date(Date.now() - 3_600_000).toISOString()
  const batch = [
    { event: 'buy', distinct_id: 'ann', timestamp, properties: { price: 5 } },
    { event: 'events', distinct_id: 'ann', timestamp, properties: { path: 'x' } },
  ]
  expect((await call('POST', '/batch/', { body: { api_key: project.api_token, batch } })).status).toBe(200)
})
afterAll(async () => {
  await door?.close()
  expect(errors).toEqual([])
})

const clients: pg.Client[] = []
afterAll(() => Promise.all(clients.map((client) => client.end().catch(() => undefined))))
const connected = async (password: string, database = String(held.home.project.id)): Promise<pg.Client> => {
  const client = new pg.Client({ host: '127.0.0.1', port: door.port, user: 'x', password, database })
  client.on('error', () => undefined)
  await client.connect()
  clients.push(client)
  return client
}
const prices = 'select price from buy'

test('a key with query:read alone reads its project by the id, with types from the values', async () => {
  const { key, member, project } = held.home
  const small = await key(member, ['query:read'])
  const client = await connected(small)
  expect((await client.query(prices)).rows).toEqual([{ price: 5 }])
  expect(await refusal(connected(small, project.name))).toMatchObject({ code: '3D000', hint: expect.stringContaining('project:read') })
})

test('with project:read the name is enough, and what the key may read is listed', async () => {
  const { key, member, project } = held.home
  const named = await key(member, ['query:read', 'project:read'])
  expect((await (await connected(named, project.name)).query(prices)).rows).toEqual([{ price: 5 }])
  const unknown = await refusal(connected(named, 'nosuch'))
  expect(unknown).toMatchObject({ code: '3D000', hint: expect.stringContaining(`${project.name} (${project.id})`) })
})

test('a key of another organization, of another project, or without the scope reads nothing', async () => {
  const { key, member, outsider, organization, world } = held.home
  const other = await world.makeProject(organization.id, { name: 'Other' })
  const keys = [
    await key(outsider, ['*']),
    await key(member, ['query:read'], { scoped_teams: [other.id] }),
    await key(member, ['insight:read']),
  ]
  for (const one of keys) expect(await refusal(connected(one))).toMatchObject({ code: expect.stringMatching(/^(3D000|42501)$/) })
  const limited = await connected(keys[1]!, String(other.id))
  expect((await limited.query('select count(*)::int as n from events')).rows).toEqual([{ n: 0 }])
  // Only its own names are in the catalog.
  expect((await limited.query("select table_name from information_schema.tables where table_name = 'buy'")).rows).toEqual([])
  expect((await limited.query('select datname from pg_database')).rows.length).toBe(1)
})

test('a key that is revoked answers nothing more', async () => {
  const { member, world } = held.home
  const { key, value } = await world.accounts.personalKeys.create(member, { label: 'test', scopes: ['query:read'] })
  const client = await connected(value)
  expect((await client.query(prices)).rows).toEqual([{ price: 5 }])
  await world.accounts.personalKeys.remove(member, key)
  expect(await refusal(client.query(prices))).toMatchObject({ code: '28000' })
  expect(await refusal(connected(value))).toMatchObject({ code: '28P01' })
})

test('saved views are tables, and an event that is named like a table has another name', async () => {
  const { call, key, member, project } = held.home
  const body = {
    name: 'expensive',
    query: { kind: 'HogQLQuery', query: 'select event, toFloat(properties.price) as price from events where properties.price > 1' },
  }
  expect((await call('POST', `/api/projects/${project.id}/warehouse_saved_queries/`, { as: member, body })).status).toBe(201)
  const client = await connected(await key(member, ['*']))
  expect((await client.query('select event, price + 1 as more from expensive')).rows).toEqual([{ event: 'buy', more: 6 }])
  expect((await client.query('select path from "event: events"')).rows).toEqual([{ path: 'x' }])
})
