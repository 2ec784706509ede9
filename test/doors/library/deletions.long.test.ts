import { expect, onTestFinished, test } from 'vitest'
import { createClient, open } from 'waymark'

// One request deletes 100,000 persons, and its receipt adds up to what is gone.

const persons = 100_000
const rowsOfImport = 10_000

test('a list of 100,000 persons in one request', async () => {
  const waymark = await open({ dataDir: ':memory:', clock: () => new Date('2026-02-01T12:00:00Z') })
  onTestFinished(() => waymark.close())
  const project = await waymark.createProject({ name: 'Shop' })
  const client = createClient(waymark)
  const count = async (of: string) =>
    (await project.query<[number]>({ kind: 'HogQLQuery', query: `select count() from ${of}` })).results[0]![0]
  const uuids: string[] = []
  // One of ten has a second id; each has an event, one of five has two; a thousand others stay.
  for (let from = 0; from < persons + 1_000; from += rowsOfImport) {
    const size = Math.min(rowsOfImport, persons + 1_000 - from)
    const numbers = Array.from({ length: size }, (_, i) => from + i)
    const rows = numbers.map((n) => ({ distinct_ids: n % 10 ? [`u${n}`] : [`u${n}`, `second-${n}`] }))
    uuids.push(...(await project.importPersons(rows)).ids)
    const batch = numbers.flatMap((n) =>
      Array.from({ length: n % 5 ? 1 : 2 }, () => ({
        event: 'seen',
        distinct_id: `u${n}`,
        timestamp: '2026-01-31T10:00:00Z',
        properties: {},
      })),
    )
    await project.ingest({ batch })
  }
  const before = { persons: await count('persons'), events: await count('events'), ids: await count('person_distinct_ids') }
  const listed = uuids.slice(0, persons)
  const receipt = await client.persons.removeMany(project, { ids: listed }, { events: true })
  expect(receipt).toMatchObject({
    persons,
    distinct_ids: 110_000,
    events: 120_000,
    not_found: 0,
    asked: { by: 'ids', count: persons },
  })
  expect(await count('persons')).toBe(before.persons - receipt.persons)
  expect(await count('events')).toBe(before.events - receipt.events)
  expect(await count('person_distinct_ids')).toBe(before.ids - receipt.distinct_ids)
  await expect(client.persons.removeMany(project, { ids: [...listed, uuids[0]!] })).rejects.toMatchObject({ status: 400 })
  expect(await client.persons.removeMany(project, { ids: listed })).toMatchObject({ persons: 0, not_found: persons })
})
