import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, test } from 'vitest'
import { type Served, serve } from './served.ts'

// A new directory with 256 MB: thousands of events with dozens of properties each, whose slots are filled after the first commit.

const memory = '256MB'
const folders: string[] = []
const servers: Served[] = []
afterEach(async () => {
  for (const server of servers.splice(0)) await server.kill()
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true })
})
const start = async (more: readonly string[]): Promise<Served> => {
  const folder = mkdtempSync(join(tmpdir(), 'waymark-first-'))
  folders.push(folder)
  const server = await serve(join(folder, 'data'), memory, null, more)
  servers.push(server)
  return server
}

/** Waits until queries read the slot of a property and no longer the JSON: those of persons are filled by then, too. */
const filled = (server: Served, project: number, property: string) =>
  expect
    .poll(
      async () => {
        const query = { kind: 'SqlLikeQuery', query: `select count() from events where ${property} = 'x'`, explain: true }
        const { status, text } = await server.call('POST', `/api/projects/${project}/query/`, { query, refresh: 'force_blocking' })
        return `${status} ${/json_extract/.test(text) ? 'JSON' : 'slot'}`
      },
      { timeout: 120_000, interval: 200 },
    )
    .toBe('200 slot')

/** Everything the server logged that is not about starting and stopping. */
const errorsOf = (server: Served) =>
  server
    .log()
    .split('\n')
    .filter((line) => /"level":"(warn|error)"|Memory/.test(line))

describe.each([
  ['two processes', []],
  ['one process', ['--one-process']],
] as const)('%s', (_, how) => {
  test('the demo project is filled without an error', async () => {
    const server = await start(['--demo', ...how])
    await filled(server, 2, 'properties.$os')
    expect(await server.rows(2, 'select count() > 5000 from events')).toEqual([[1]])
    await server.stop()
    expect(errorsOf(server)).toEqual([])
  }, 300_000)

  test('a first import of wide events is filled without an error', async () => {
    const server = await start(how)
    const token = JSON.parse((await server.call('GET', '/api/projects/1/')).text).api_token as string
    const wide = (i: number) =>
      Object.fromEntries(Array.from({ length: 40 }, (_, k) => [`p${k}`, k % 2 ? i % (k + 2) : `value ${i % (k + 2)} of ${k}`]))
    for (let batch = 0; batch < 4; batch++) {
      const events = Array.from({ length: 3_000 }, (_, i) => ({
        event: `e${i % 5}`,
        distinct_id: `d${batch}-${i % 700}`,
        timestamp: '2026-01-05T10:00:00Z',
        properties: { ...wide(i), $set: wide(i) },
      }))
      const { status } = await server.call('POST', '/batch/', { api_key: token, historical_migration: true, batch: events })
      expect(status).toBe(200)
    }
    await filled(server, 1, 'properties.p0')
    expect(await server.rows(1, 'select count() from events')).toEqual([[12_000]])
    await server.stop()
    expect(errorsOf(server)).toEqual([])
  }, 300_000)
})
