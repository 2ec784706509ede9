import { describe, expect, test } from 'vitest'
import { createHandler } from '../../src/doors/http/server/create-handler.ts'
import { open } from '../../src/index.ts'
import { hasClickHouse, testLayout } from './chdb.ts'
import { startClickHouseServer } from './http-server.ts'

// The routes of persons, events, groups and definitions answer the same on both engines, before and after each change.

const now = new Date('2026-02-01T00:00:00Z')
const reads = [
  'events/',
  'events/?event=view&limit=1',
  'events/?distinct_id=ann-2',
  'events/values/?key=page',
  'events/values/?key=colors&value=RED',
  'events/values/?key=page&event_name=view&event_name=buy',
  'persons/?search=an',
  'persons/?email=bob@acme.test',
  'persons/ann-2/',
  'persons/values/?key=plan',
  'persons/cohorts/?person_id=bob',
  'persons/ann-2/everything/',
  'persons/bob/everything/',
  'groups/?group_type_index=0&search=ac',
  'groups/find/?group_type_index=0&group_key=acme',
  'groups/related/?group_type_index=0&id=acme',
  'groups/property_values/?group_type_index=0&key=size',
  'event_definitions/?ordering=name',
  'event_definitions/?search=V&ordering=-verified&ordering=count&limit=1',
  'event_definitions/?verified=false&exclude_hidden=true',
  'event_definitions/?tags=["money"]',
  "event_definitions/?names=buy,it's,view&offset=1",
  'event_definitions/buy/',
  'property_definitions/?event_names=["buy"]',
  'property_definitions/?is_numerical=true&excluded_properties=size&ordering=-count',
  'property_definitions/?type=group&search=s',
  'property_definitions/?exclude_core_properties=true&is_feature_flag=false',
  'groups/property_definitions/',
]
const changes: readonly (readonly [method: string, path: string, body?: unknown])[] = [
  ['PATCH', 'event_definitions/buy/', { tags: ['money'], verified: true }],
  ['DELETE', 'event_definitions/view/'],
  ['PATCH', 'persons/ann/', { properties: { plan: "it's \\ new", n: [1, { a: 2 }] } }],
  ['POST', 'persons/ann/delete_property/', { $unset: 'email' }],
  ['POST', 'persons/ann/split/', { main_distinct_id: 'ann' }],
  ['POST', 'persons/bob/merge/', { ids: ['ann-2'] }],
  ['POST', 'persons/bob/split/', {}],
  ['POST', 'groups/update_property/?group_type_index=0&group_key=acme', { key: 'size', value: 41 }],
  ['POST', 'groups/delete_property/?group_type_index=0&group_key=acme', { $unset: 'name' }],
  ['DELETE', 'persons/ann/'],
  ['DELETE', "persons/it's/?delete_events=true"],
]

const start = async (engine: Parameters<typeof open>[0]['engine']) => {
  const waymark = await open({ dataDir: ':memory:', clock: () => now, ...(engine ? { engine } : {}) })
  const project = await waymark.createProject({ name: 'Shop' })
  await project.importPersons([
    { distinct_ids: ['ann', 'ann-2'], properties: { email: 'ann@acme.test', plan: 'pro' }, created_at: '2026-01-01' },
    { distinct_ids: ['bob'], properties: { email: 'bob@acme.test', plan: 'free' }, created_at: '2026-01-02' },
    { distinct_ids: ["it's"], properties: { plan: 'free' }, created_at: '2026-01-03' },
  ])
  await project.importGroups([
    { group_type: 'company', group_key: 'acme', properties: { name: 'Acme', size: 40 }, created_at: '2026-01-01' },
  ])
  await project.createCohort({ name: 'All', is_static: true, distinct_ids: ['ann', 'bob', "it's"] })
  const event = (n: number, name: string, distinct_id: string, properties: object) => ({
    event: name,
    distinct_id,
    uuid: `00000000-0000-4000-8000-${String(n).padStart(12, '0')}`,
    timestamp: `2026-01-31T10:0${n}:00Z`,
    properties,
  })
  await project.ingest([
    event(1, 'view', 'ann', { page: '/home', colors: ['red', 'blue'], $groups: { company: 'acme' } }),
    event(2, 'view', 'ann-2', { page: '/home', colors: ['Red'] }),
    event(3, 'buy', 'bob', { price: 5 }),
    event(4, 'buy', "it's", { price: 6 }),
    event(5, 'view', 'nobody', { page: 'p', $process_person_profile: false }),
  ])
  const { key } = await waymark.createPersonalKey({ label: 'all', scopes: ['*'] })
  const handle = createHandler(waymark)
  const send = async (method: string, path: string, body?: unknown) => {
    const response = await handle(
      new Request(`http://localhost/api/projects/${project.id}/${path}`, {
        method,
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      }),
    )
    const text = await response.text()
    // Users and receipts have random ids.
    const isReceipt = text.includes('"with_events"')
    const isRandom = (key: string) => /^(updated|verified|created)_by$/.test(key) || (isReceipt && key === 'id')
    const known = (key: string, value: unknown) => (isRandom(key) ? value !== null : value)
    const isLines = response.headers.get('content-type') === 'application/x-ndjson'
    const json = isLines ? `[${text.trimEnd().replaceAll('\n', ',')}]` : text
    return [response.status, json === '' ? null : JSON.parse(json, known)] as const
  }
  const counts = async () =>
    (
      await project.query({
        kind: 'HogQLQuery',
        query: 'select event, count(), count(distinct person_id) from events group by event order by event',
      })
    ).results
  return { waymark, send, counts }
}

describe.skipIf(!hasClickHouse)('records', () => {
  test('are the same on both engines', async () => {
    const server = await startClickHouseServer()
    const { origin, username, password } = new URL(server.url)
    const clickhouse = { url: origin, username, password: decodeURIComponent(password), database: 'records', ...testLayout }
    const [one, two] = [await start(undefined), await start({ clickhouse })]
    const same = async (method: string, path: string, body?: unknown) => {
      const expected = await one.send(method, path, body)
      expect([method, path, ...(await two.send(method, path, body))]).toEqual([method, path, ...expected])
      return expected
    }
    for (const [method, path, given] of [['GET', 'persons/'] as const, ...changes]) {
      const [, { id } = { id: null }] = path.includes('/merge/') ? await same('GET', 'persons/ann-2/') : []
      const body = id === null ? given : { ids: [id] }
      const [status, answer] = await same(method, path, body)
      expect(status, JSON.stringify(answer)).toBeLessThan(300)
      for (const read of reads) await same('GET', read)
      expect(await two.counts()).toEqual(await one.counts())
    }
    for (const { waymark } of [one, two]) await waymark.close()
    await server.close()
  })
})
