import { expect, onTestFinished, test } from 'vitest'
import { createClient } from 'waymark'
import { open } from '../../../src/engine.ts'

// Persons are deleted by a list or a cohort, and each deletion has a receipt whose counts add up.

const start = async () => {
  const waymark = await open({ dataDir: ':memory:', clock: () => new Date('2026-02-01T12:00:00Z') })
  onTestFinished(() => waymark.close())
  const project = await waymark.createProject({ name: 'Shop' })
  const client = createClient(waymark)
  const count = async (query: string) => (await project.query<[number]>({ kind: 'HogQLQuery', query })).results[0]![0]
  const seen = (distinct_id: string, plan: string) => ({
    event: 'seen',
    distinct_id,
    timestamp: '2026-01-31T10:00:00Z',
    properties: { $set: { plan } },
  })
  // p0 … p9 with two ids and two events each; p0, p2 … are pro.
  const { ids } = await project.importPersons(
    Array.from({ length: 10 }, (_, i) => ({ distinct_ids: [`p${i}`, `p${i}-phone`], properties: {} })),
  )
  await project.ingest({
    batch: ids.flatMap((_, i) => [seen(`p${i}`, i % 2 ? 'free' : 'pro'), seen(`p${i}-phone`, i % 2 ? 'free' : 'pro')]),
  })
  return { waymark, project, client, count, ids }
}

test('the deletion of one person has a receipt, with its events or without', async () => {
  const { project, client, count } = await start()
  const kept = await client.persons.remove(project, 'p1')
  expect(kept).toMatchObject({
    persons: 1,
    distinct_ids: 2,
    events: 0,
    with_events: false,
    not_found: 0,
    finished_at: '2026-02-01T12:00:00Z',
    created_by: { email: expect.any(String) },
  })
  expect(await count('select count() from events')).toBe(20)
  const gone = await client.persons.remove(project, 'p2', { events: true })
  expect(gone).toMatchObject({ persons: 1, distinct_ids: 2, events: 2, with_events: true })
  expect(await count('select count() from events')).toBe(18)
  expect((await client.persons.deletions(project)).results).toEqual([gone, kept])
  expect(await client.persons.deletion(project, kept.id)).toEqual(kept)
  await expect(client.persons.deletion(project, 'none')).rejects.toMatchObject({ status: 404 })
})

test('a list of uuids or of distinct ids, with unknown ones and ids of the same person', async () => {
  const { project, client, count, ids } = await start()
  const unknown = '00000000-0000-4000-8000-000000000000'
  const byIds = await client.persons.removeMany(project, { ids: [ids[0]!, ids[1]!, ids[0]!.toUpperCase(), unknown] }, { events: true })
  expect(byIds).toMatchObject({ persons: 2, distinct_ids: 4, events: 4, not_found: 1, asked: { by: 'ids', count: 3 } })
  const byNames = await client.persons.removeMany(project, { distinct_ids: ['p3', 'p3-phone', 'p4', 'nobody'] }, { events: true })
  expect(byNames).toMatchObject({ persons: 2, distinct_ids: 4, events: 4, not_found: 1, asked: { by: 'distinct_ids', count: 4 } })
  expect([await count('select count() from persons'), await count('select count() from events')]).toEqual([6, 12])
  const none = await client.persons.removeMany(project, { ids: [] })
  expect(none).toMatchObject({ persons: 0, not_found: 0 })
})

test.each([
  [
    'dynamic',
    {
      filters: {
        properties: { type: 'OR', values: [{ type: 'AND', values: [{ type: 'person', key: 'plan', value: 'pro', operator: 'exact' }] }] },
      },
    },
  ],
  ['static', { is_static: true, distinct_ids: ['p0', 'p2', 'p4', 'p6', 'p8'] }],
])('the members of a %s cohort', async (_, fields) => {
  const { project, client, count } = await start()
  const cohort = await project.createCohort({ name: 'Pro', ...fields })
  const receipt = await client.persons.removeMany(project, { cohort: cohort.id }, { events: true })
  expect(receipt).toMatchObject({
    persons: 5,
    distinct_ids: 10,
    events: 10,
    not_found: 0,
    is_complete: true,
    asked: { by: 'cohort', cohort: cohort.id, count: 5 },
  })
  expect(await count("select count() from persons where properties.plan = 'pro'")).toBe(0)
  expect([await count('select count() from persons'), await count('select count() from events')]).toEqual([5, 10])
  await expect(client.persons.removeMany(project, { cohort: 99 })).rejects.toMatchObject({ status: 400, attr: 'cohort' })
})

test('the activity log names the receipt: an entry for each of a few persons, one for more than a thousand', async () => {
  const { waymark, project, client, ids } = await start()
  const logOf = async (item_id: string) => waymark.accounts.context.store.read.activity.find({ scope: 'Person', item_id })
  const few = await client.persons.removeMany(project, { ids: ids.slice(0, 2) })
  for (const uuid of ids.slice(0, 2))
    expect(await logOf(uuid)).toMatchObject([
      {
        activity: 'deleted',
        detail: {
          changes: [
            { field: 'events', after: 'kept' },
            { field: 'receipt', after: few.id },
          ],
        },
      },
    ])
  const { ids: many } = await project.importPersons(Array.from({ length: 1_001 }, (_, i) => ({ distinct_ids: [`many-${i}`] })))
  const receipt = await client.persons.removeMany(project, { ids: many }, { events: true })
  expect(receipt).toMatchObject({ persons: 1_001, distinct_ids: 1_001, events: 0 })
  expect(await logOf(receipt.id)).toMatchObject([{ activity: 'deleted', detail: { name: '1001 persons' } }])
  expect(await logOf(many[0]!)).toEqual([])
})

test('only one way to give persons is taken, and the list has a largest size', async () => {
  const { project, client, ids } = await start()
  const both = { ids, distinct_ids: ['p1'] }
  await expect(client.persons.removeMany(project, both)).rejects.toMatchObject({ status: 400, attr: 'ids' })
  await expect(client.persons.removeMany(project, {} as { ids: string[] })).rejects.toMatchObject({
    status: 400,
    attr: 'ids',
    code: 'required',
  })
  const tooMany = Array.from({ length: 100_001 }, (_, i) => `u${i}`)
  await expect(client.persons.removeMany(project, { distinct_ids: tooMany })).rejects.toMatchObject({ status: 400, attr: 'distinct_ids' })
})

test('each of the events belongs to one receipt when deletions run at the same time', async () => {
  const { project, client, ids } = await start()
  const receipts = await Promise.all(
    [ids.slice(0, 6), ids.slice(3, 10), ids.slice(2, 8)].map((some) => client.persons.removeMany(project, { ids: some }, { events: true })),
  )
  const sum = (of: 'persons' | 'events' | 'distinct_ids') => receipts.reduce((total, one) => total + one[of], 0)
  expect([sum('persons'), sum('distinct_ids'), sum('events')]).toEqual([10, 20, 20])
  for (const { persons, events, not_found, asked } of receipts) expect([events, persons + not_found]).toEqual([2 * persons, asked.count])
})
