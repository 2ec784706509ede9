import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DuckDBInstance } from '@duckdb/node-api'
import { tableFromIPC } from 'apache-arrow'
import { afterEach, beforeAll, expect, test } from 'vitest'
import { defaultSettings } from '../../../src/service/accounts/context.ts'
import { refused, withHome } from './conversation.ts'

// Downloads without a row limit, from a store in memory. With files and processes: downloads-served.test.ts.

const held = withHome()
const path = '/api/projects/@current/query/export/'
const sql = (query: string) => ({ kind: 'SqlLikeQuery', query })

beforeAll(async () => {
  const { call, project, world } = held.home
  world.rows = { defaultRows: 3, mostRows: 5 }
  const batch = Array.from({ length: 30 }, (_, i) => ({
    event: 'signup',
    distinct_id: `u${i}`,
    timestamp: `2024-01-10T10:00:${String(i).padStart(2, '0')}Z`,
    properties: { note: `n"${i}`, $set: { plan: 'pro' } },
  }))
  await call('POST', '/batch/', { body: { api_key: project.api_token, batch } })
})
afterEach(() => {
  held.home.world.settings = defaultSettings
})

const download = async (query: object, format: string) => {
  const { world, member } = held.home
  const headers = { ...(await world.login(member)), 'content-type': 'application/json' }
  const answer = await fetch(world.url + path, { method: 'POST', headers, body: JSON.stringify({ query, format }) })
  expect(answer.status).toBe(200)
  return { headers: answer.headers, bytes: Buffer.from(await answer.arrayBuffer()) }
}

test('a form of the own pages is answered with a file, which the browser saves by itself', async () => {
  const { world, member } = held.home
  const login = await world.login(member)
  const post = (fields: Record<string, string>, headers: Record<string, string> = {}) =>
    fetch(world.url + path, { method: 'POST', headers: { ...login, ...headers }, body: new URLSearchParams(fields) })
  const query = JSON.stringify(sql('select distinct_id from events order by timestamp'))
  const answer = await post({ query, format: 'csv' }, { 'sec-fetch-site': 'same-origin', origin: 'null' })
  expect([answer.status, answer.headers.get('content-disposition')]).toEqual([200, 'attachment; filename="rows.csv"'])
  expect((await answer.text()).trimEnd().split('\n')).toHaveLength(31)
  const foreign: Record<string, string>[] = [{ 'sec-fetch-site': 'cross-site' }, { 'sec-fetch-site': 'same-site' }, { origin: 'null' }]
  for (const headers of foreign) expect((await post({ query, format: 'csv' }, headers)).status, JSON.stringify(headers)).toBe(403)
  for (const wrong of ['', '{', '[]', '7', 'null', '"x"', '\0', '{"kind":"SqlLikeQuery","query":"select 1","x":1}'])
    expect((await post({ query: wrong, format: 'csv' })).status, wrong).toBe(400)
  expect((await post({ query, format: 'csv', more: '1' })).status).toBe(400)
})

const parquetRows = async (bytes: Uint8Array) => {
  const folder = await mkdtemp(join(tmpdir(), 'waymark-parquet-'))
  const instance = await DuckDBInstance.create(':memory:')
  const connection = await instance.connect()
  try {
    await writeFile(join(folder, 'rows.parquet'), bytes)
    await connection.run("SET TimeZone = 'UTC'")
    return (await connection.runAndReadAll(`SELECT * FROM read_parquet('${folder}/rows.parquet')`)).getRowsJson()
  } finally {
    connection.closeSync()
    instance.closeSync()
    await rm(folder, { recursive: true })
  }
}

const wanted = Array.from({ length: 30 }, (_, i) => [`u${i}`, `2024-01-10T10:00:${String(i).padStart(2, '0')}Z`, 'signup'])

test.each([
  ['a statement', sql('select distinct_id, timestamp, event from events order by timestamp')],
  ['a list of events', { kind: 'EventsQuery', select: ['distinct_id', 'timestamp', 'event'], orderBy: ['timestamp'], after: 'all' }],
])('%s: each format has all rows', async (_, query) => {
  const lines = (await download(query, 'jsonl')).bytes.toString().trimEnd().split('\n')
  expect(lines.map((line) => Object.values(JSON.parse(line)))).toEqual(wanted)
  const csv = (await download(query, 'csv')).bytes.toString().split('\r\n')
  expect(csv.slice(1)).toEqual([...wanted.map((row) => row.join()), ''])
  const arrow = tableFromIPC((await download(query, 'arrow')).bytes)
  expect(arrow.toArray().map((row) => row.distinct_id)).toEqual(wanted.map(([id]) => id))
  const parquet = await parquetRows((await download(query, 'parquet')).bytes)
  expect(parquet).toEqual(wanted.map(([id, time, event]) => [id, time!.replace('T', ' ').replace('Z', ''), event]))
})

test('values of every type in Parquet', async () => {
  const columns = `'a\\nb"' as text, true as yes, 9007199254740993 as large, 1.5 as real, [1, 2] as list, map('k', 1) as pairs, tuple(1, 'x') as pair,
    toDecimal('1.25', 2) as exact, toDate('2034-01-10') as day, null as nothing, toUUID('00000000-0000-4000-8000-000000000001') as id`
  const [row] = await parquetRows((await download(sql(`select ${columns}`), 'parquet')).bytes)
  expect(row).toEqual([
    'a\nb"',
    true,
    '9007199254740993',
    1.5,
    [1, 2],
    '{"k":1}',
    '[1,"x"]',
    '1.25',
    '2034-01-10',
    null,
    '00000000-0000-4000-8000-000000000001',
  ])
})

test("times in Parquet are in UTC, whatever the project's zone", async () => {
  const { call, admin, project } = held.home
  const setZone = (timezone: string) => call('PATCH', `/api/projects/${project.id}/`, { as: admin, body: { timezone } })
  await setZone('America/New_York')
  const query = { kind: 'EventsQuery', select: ['timestamp'], orderBy: ['timestamp'], after: 'all' }
  const [line] = (await download(query, 'jsonl')).bytes.toString().split('\n')
  const [row] = await parquetRows((await download(query, 'parquet')).bytes)
  await setZone('UTC')
  expect([line, row]).toEqual(['{"timestamp":"2024-01-10T05:00:00-05:00"}', ['2024-01-10 10:00:00']])
})

test('warnings stand in headers', async () => {
  const { headers } = await download(sql('select sum(properties.note) from events'), 'jsonl')
  expect(JSON.parse(headers.get('x-warnings')!)).toMatchObject([{ code: 'not-numbers', property: 'note', count: 30 }])
})

test('a key needs the scope of queries, and a hosted server allows none', async () => {
  const { call, key, member, outsider, project, world } = held.home
  const body = { query: sql('select 1') }
  const to = `/api/projects/${project.id}/query/export/`
  expect(await call('POST', to, { as: await key(member, ['person:read']), body })).toMatchObject(refused(403, 'permission_denied'))
  expect((await call('POST', to, { as: outsider, body })).status).toBe(403)
  world.settings = { ...defaultSettings, isHosted: true }
  expect(await call('POST', to, { as: member, body })).toMatchObject(
    refused(403, 'permission_denied', expect.stringContaining('turned off') as never),
  )
})

test('what is wrong is refused before the first byte', async () => {
  const { call, member } = held.home
  const post = (body: object) => call('POST', path, { as: member, body })
  expect(await post({ query: sql('select nonsense from events') })).toMatchObject({ status: 400 })
  expect(await post({ query: sql('select 1'), format: 'xlsx' })).toMatchObject({ status: 400, body: { attr: 'format' } })
  expect(await post({ query: sql('select 1'), async: true })).toMatchObject({
    status: 400,
    body: { detail: expect.stringContaining('async') },
  })
})

test('CSV for spreadsheets has no formulas, also not in names; CSV is exact', async () => {
  const query = sql(`select '=1+1' as "=name", '-5' as text, -5 as number`)
  const { headers, bytes } = await download(query, 'spreadsheet')
  expect(headers.get('content-type')).toBe('text/csv; charset=utf-8')
  expect(bytes.toString()).toBe("'=name,text,number\r\n'=1+1,-5,-5\r\n")
  expect((await download(query, 'csv')).bytes.toString()).toBe('=name,text,number\r\n=1+1,-5,-5\r\n')
})

test('a column of a Parquet file whose name has NUL is refused with its name', async () => {
  const { call, member } = held.home
  for (const query of [sql('select 1 as "a\0b"'), sql('select count() as "a\0b", event from events group by event')])
    expect(await call('POST', path, { as: member, body: { query, format: 'parquet' } })).toMatchObject(
      refused(400, 'invalid_input', expect.stringContaining('NUL') as never),
    )
})
