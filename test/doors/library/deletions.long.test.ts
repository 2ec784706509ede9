import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { createClient, open } from 'waymark'
import { firstLine, start } from '../cli/shell.ts'

// One request deletes very many persons, and its receipt adds up to what is gone; also that of a process that is killed meanwhile.

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

test('a killed server leaves a receipt of what was deleted by then, and the same request deletes the others', async () => {
  const dataDir = await mkdtemp(join(tmpdir(), 'waymark-deleted-'))
  onTestFinished(() => rm(dataDir, { recursive: true, force: true }))
  const key = 'phx_deletions_of_a_killed_server_0123456789'
  const serve = async () => {
    const child = start(['serve', '--data', dataDir, '--port', '0', '--json'], { WAYMARK_BOOTSTRAP_PERSONAL_API_KEY: key })
    onTestFinished(() => void child.kill('SIGKILL'))
    child.stderr!.resume() // a full pipe would stop the server
    const facts = JSON.parse(await firstLine(child)) as { url: string; project_id: number; project_api_key: string }
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
    const call = async (method: string, path: string, body?: unknown) => {
      const init = { method, headers, ...(body === undefined ? {} : { body: JSON.stringify(body) }) }
      // biome-ignore lint/suspicious/noExplicitAny: an answer
      return (await fetch(`${facts.url}${path}`, init)).json() as Promise<any>
    }
    const count = async (of: string) =>
      (await call('POST', `${api(facts)}/query/`, { query: { kind: 'HogQLQuery', query: `select count() from ${of}` } }))
        .results[0][0] as number
    return { child, facts, call, count }
  }
  const api = ({ project_id }: { project_id: number }) => `/api/projects/${project_id}`
  const listed = 20_000
  const names = Array.from({ length: listed }, (_, n) => `u${n}`)

  const first = await serve()
  for (let from = 0; from < listed; from += 5_000)
    await first.call('POST', '/batch/', {
      api_key: first.facts.project_api_key,
      batch: names.slice(from, from + 5_000).map((distinct_id) => ({ event: 'seen', distinct_id, properties: { $set: { a: 1 } } })),
    })
  expect([await first.count('persons'), await first.count('events')]).toEqual([listed, listed])
  const request = { distinct_ids: names, delete_events: true }
  const lost = first.call('POST', `${api(first.facts)}/persons/bulk_delete/`, request).catch(() => null)
  const receipts = async ({ call, facts }: Pick<typeof first, 'call' | 'facts'>) =>
    (await call('GET', `${api(facts)}/person_deletions/`)).results
  await expect.poll(async () => (await receipts(first))[0]?.persons ?? 0, { interval: 250 }).toBeGreaterThan(0)
  const ended = once(first.child, 'exit')
  first.child.kill('SIGKILL')
  await ended
  expect(await lost).toBeNull()

  const second = await serve()
  const [noted] = await receipts(second)
  expect(noted).toMatchObject({ finished_at: null, asked: { by: 'distinct_ids', count: listed } })
  expect(noted.events).toBe(noted.persons)
  const left = await second.count('persons')
  // What is noted is gone; at most one part more.
  expect(listed - left - noted.persons).toBeGreaterThanOrEqual(0)
  expect(listed - left - noted.persons).toBeLessThanOrEqual(1_000)
  expect(await second.count('events')).toBe(left)
  expect(await second.call('POST', `${api(second.facts)}/persons/bulk_delete/`, request)).toMatchObject({
    persons: left,
    events: left,
    distinct_ids: left,
    not_found: listed - left,
    finished_at: expect.any(String),
  })
  expect([await second.count('persons'), await second.count('events')]).toEqual([0, 0])
})
