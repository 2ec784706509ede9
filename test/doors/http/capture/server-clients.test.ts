import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createHandler, type Handler } from '../../../../src/doors/http/server/create-handler.ts'
import { type LocalWaymark, open } from '../../../../src/engine.ts'
import type { LocalProject } from '../../../../src/project.ts'
import { type ClientRow, clientRows } from './server-clients.ts'

// Requests of libraries for other languages, and what must be stored of each.

let waymark: LocalWaymark
let handler: Handler
beforeAll(async () => {
  waymark = await open({ dataDir: ':memory:', clock: () => new Date('2026-01-05T12:00:02Z') })
  handler = createHandler(waymark)
})
afterAll(() => waymark.close())

const send = async ({ path, body, isZipped, userAgent }: ClientRow, { token }: LocalProject) => {
  const json = JSON.stringify(body).replaceAll('"KEY"', JSON.stringify(token))
  const headers = {
    'content-type': 'application/json; charset=utf-8',
    'user-agent': userAgent,
    ...(isZipped && { 'content-encoding': 'gzip', 'accept-encoding': 'gzip' }),
  }
  const sent = isZipped ? new Uint8Array(gzipSync(json)) : json
  const response = await handler(new Request(`http://localhost${path}`, { method: 'POST', headers, body: sent }))
  return { status: response.status, body: await response.json() }
}
const rowsOf = async (project: LocalProject, query: string) => (await project.query({ kind: 'SqlLikeQuery', query })).results as unknown[][]
const parsed = (json: unknown) => JSON.parse(String(json)) as object

test.each(clientRows.map((row) => [row.client, row.call, row] as const))('%s: %s', async (_, __, row) => {
  const project = await waymark.createProject({ name: row.client })
  expect(await send(row, project)).toEqual({ status: 200, body: { status: 1 } })
  const found = await rowsOf(project, 'select event, distinct_id, uuid, timestamp, properties from events order by timestamp, event')
  expect(found).toHaveLength(row.stores.length)
  for (const [i, { event, distinct_id, uuid, timestamp, properties = {} }] of row.stores.entries()) {
    const [name, who, key, at, own] = found[i]!
    expect([name, who, new Date(String(at)).toISOString()]).toEqual([event, distinct_id, timestamp])
    if (uuid) expect(key).toBe(uuid)
    expect(parsed(own)).toMatchObject(properties)
  }
  for (const [who, properties] of Object.entries(row.persons ?? {})) {
    const [[own]] = (await rowsOf(project, `select person.properties from person_distinct_ids where distinct_id = '${who}'`)) as [[string]]
    expect(parsed(own)).toMatchObject(properties)
  }
  if (row.same) {
    const ids = row.same.map((one) => `'${one}'`).join(', ')
    expect(
      await rowsOf(project, `select count(), count(distinct person_id) from person_distinct_ids where distinct_id in (${ids})`),
    ).toEqual([[2, 1]])
  }
  for (const [type, key, properties] of row.groups ?? []) {
    expect((await project.groupTypes()).map(({ name }) => name)).toEqual([type])
    const [[own]] = (await rowsOf(project, `select properties from groups where key = '${key}'`)) as [[string]]
    expect(parsed(own)).toMatchObject(properties)
  }
  // Sent again, an event with an id is the same one.
  expect((await send(row, project)).status).toBe(200)
  const withId = row.stores.filter(({ uuid }) => uuid)
  for (const { uuid } of withId) expect(await rowsOf(project, `select count() from events where uuid = '${uuid}'`)).toEqual([[1]])
})
