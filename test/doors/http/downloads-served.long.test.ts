import type { ChildProcess } from 'node:child_process'
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DuckDBInstance } from '@duckdb/node-api'
import { tableFromIPC } from 'apache-arrow'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { finish, firstLine, type Result, start } from '../cli/shell.ts'

// All rows of a query as a file, from a real server with its engine in another process, and in one.

const events = 12_000
const batch = (from: number, count: number) =>
  Array.from({ length: count }, (_, i) => ({
    event: (from + i) % 3 ? 'view' : 'buy',
    distinct_id: `u${(from + i) % 50}`,
    timestamp: new Date(Date.UTC(2026, 0, 5) + (from + i) * 1000).toISOString(),
    properties: { price: from + i, note: `a "quoted", text\n${from + i}`, $set: { plan: 'pro' } },
  }))

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'waymark-downloads-'))
})
afterAll(() => rm(folder, { recursive: true, force: true }))

/** The rows of a Parquet file, as DuckDB reads them. */
async function parquetRows(bytes: Uint8Array, select = '*') {
  const file = join(folder, 'read.parquet')
  await writeFile(file, bytes)
  const instance = await DuckDBInstance.create(':memory:')
  const connection = await instance.connect()
  try {
    await connection.run("SET TimeZone = 'UTC'")
    return (await connection.runAndReadAll(`SELECT ${select} FROM read_parquet('${file}')`)).getRowObjectsJson()
  } finally {
    connection.closeSync()
    instance.closeSync()
  }
}

/** Reads it without keeping it. */
async function endOf(answer: Response): Promise<'whole' | 'broken off'> {
  try {
    for await (const _ of answer.body!);
    return 'whole'
  } catch {
    return 'broken off'
  }
}

const sql = (query: string) => ({ kind: 'SqlLikeQuery', query })

describe.each([
  ['two processes', []],
  ['one process', ['--one-process']],
] as const)('%s', (name, more) => {
  let server: ChildProcess
  let ended: Promise<Result>
  let facts: { url: string; project_api_key: string; personal_api_key: string }
  const data = () => join(folder, name.replace(' ', '-'))
  const path = '/api/projects/1/query/'
  const headers = () => ({ authorization: `Bearer ${facts.personal_api_key}`, 'content-type': 'application/json' })
  const post = (body: object, to = `${path}export/`, accept = '*/*') =>
    fetch(facts.url + to, { method: 'POST', headers: { ...headers(), accept }, body: JSON.stringify(body) })
  const bytesOf = async (query: object, format: string) => {
    const answer = await post({ query, format })
    expect(answer.status).toBe(200)
    return new Uint8Array(await answer.arrayBuffer())
  }
  const textOf = async (query: object, format: string) => Buffer.from(await bytesOf(query, format)).toString()
  const answerTo = async (query: object) => (await (await post({ query }, path)).json()) as { results: unknown[][] }
  /** Statements that wait or run. */
  const busy = async () => {
    const text = await (await fetch(`${facts.url}/metrics`)).text()
    return [...text.matchAll(/^waymark_statements_(?:waiting|running) (\d+)$/gm)].reduce((sum, [, n]) => sum + Number(n), 0)
  }

  beforeAll(async () => {
    server = start(['serve', '--data', data(), '--port', '0', '--json', '--memory', '300MB', ...more])
    ended = finish(server)
    facts = JSON.parse(await firstLine(server))
    for (let from = 0; from < events; from += 4000) {
      const body = JSON.stringify({ api_key: facts.project_api_key, batch: batch(from, 4000) })
      expect((await fetch(`${facts.url}/batch/`, { method: 'POST', body })).status).toBe(200)
    }
  })
  afterAll(async () => {
    server.kill('SIGTERM')
    expect((await ended).code).toBe(0)
  })

  const statement = sql(
    'select uuid, event, timestamp, properties.price as price, [1, 2] as list, 18446744073709551615 as total from events order by price',
  )

  test('every format has every row of a statement, beyond the limit of an answer', async () => {
    const rows = (await textOf(statement, 'jsonl'))
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line))
    expect(rows.length).toBe(events)
    expect(new Set(rows.map(({ uuid }) => uuid)).size).toBe(events)
    const { results } = await answerTo(sql(`${statement.query} limit 50`))
    expect(rows.slice(0, 50).map((row) => Object.values(row))).toEqual(results)
    const csv = await textOf(statement, 'csv')
    expect(csv.split('\r\n').length).toBe(events + 2)
    expect(csv.split('\r\n')[1]).toBe(`${rows[0].uuid},${rows[0].event},${rows[0].timestamp},${rows[0].price},"[1,2]",18446744073709551615`)
    const arrow = tableFromIPC(await bytesOf(statement, 'arrow'))
    expect(arrow.getChild('uuid')!.toArray()).toEqual(rows.map(({ uuid }) => uuid))
    const parquet = await bytesOf(statement, 'parquet')
    const read = await parquetRows(parquet, 'uuid::varchar as uuid, event, epoch_us(timestamp)::bigint as at, price, list, total')
    expect(read.length).toBe(events)
    expect(read).toEqual(
      rows.map(({ uuid, event, timestamp, price, list, total }) => ({
        uuid,
        event,
        at: String(Date.parse(timestamp) * 1000),
        price: String(price),
        list,
        total: String(total),
      })),
    )
    const types = await parquetRows(
      parquet,
      'any_value(typeof(timestamp)) as t, any_value(typeof(total)) as s, any_value(typeof(list)) as l',
    )
    expect(types).toEqual([{ t: 'TIMESTAMP', s: 'UBIGINT', l: 'INTEGER[]' }])
  })

  test('every row of a list of events, with its objects', async () => {
    const list = {
      kind: 'EventsQuery',
      select: ['*', 'event', 'person', 'properties.price', 'timestamp'],
      orderBy: ['timestamp'],
      after: 'all',
    }
    const rows = (await textOf(list, 'jsonl'))
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line))
    expect(rows.length).toBe(events)
    const { results } = await answerTo({ ...list, limit: 3 })
    const shown = (value: unknown) => (typeof value === 'object' ? JSON.stringify(value) : value)
    expect(rows.slice(0, 3).map((row) => Object.values(row))).toEqual(results.map((row) => row.map(shown)))
    const read = await parquetRows(await bytesOf(list, 'parquet'))
    expect(read.map((row) => [row['*'], row.event, row.person])).toEqual(rows.map((row) => [row['*'], row.event, row.person]))
    expect(tableFromIPC(await bytesOf(list, 'arrow')).numRows).toBe(events)
    expect((await textOf({ ...list, limit: 11_000 }, 'jsonl')).trimEnd().split('\n').length, 'a limit of the query holds').toBe(11_000)
    expect((await textOf({ ...list, offset: 11_990 }, 'jsonl')).trimEnd().split('\n').length).toBe(10)
  })

  test('the format comes from the body, else from Accept; small and empty answers are files too', async () => {
    const query = sql('select event, count() as n from events group by event order by event')
    const named = await post({ query }, undefined, 'application/vnd.apache.parquet')
    expect([named.headers.get('content-type'), named.headers.get('content-disposition')]).toEqual([
      'application/vnd.apache.parquet',
      'attachment; filename="rows.parquet"',
    ])
    expect(await parquetRows(new Uint8Array(await named.arrayBuffer()))).toEqual([
      { event: 'buy', n: '4000' },
      { event: 'view', n: '8000' },
    ])
    expect(await (await post({ query })).text()).toBe('event,n\r\nbuy,4000\r\nview,8000\r\n')
    const none = sql("select event, timestamp, 1 as same, 2 as same from events where event = 'none'")
    expect(await textOf(none, 'csv')).toBe('event,timestamp,same,same\r\n')
    expect(await textOf(none, 'jsonl')).toBe('')
    expect(await parquetRows(await bytesOf(none, 'parquet'), 'count(*)::int as n, count(same_4)::int as m')).toEqual([{ n: 0, m: 0 }])
    expect(tableFromIPC(await bytesOf(none, 'arrow')).numRows).toBe(0)
    const chart = {
      kind: 'TrendsQuery',
      series: [{ kind: 'EventsNode', event: 'buy' }],
      dateRange: { date_from: '2026-01-05', date_to: '2026-01-05' },
    }
    expect(await parquetRows(await bytesOf(chart, 'parquet'), 'value')).toEqual([{ value: 4000 }])
  })

  test('what is wrong before the first byte has its own status', async () => {
    const bad = await post({ query: sql('select nonsense from events'), format: 'parquet' })
    expect([bad.status, ((await bad.json()) as Record<string, unknown>).detail]).toEqual([400, expect.stringContaining('nonsense')])
    const format = await post({ query: sql('select 1'), format: 'xlsx' })
    expect([format.status, ((await format.json()) as Record<string, unknown>).attr]).toEqual([400, 'format'])
    const late = await post({ query: sql('select throwIf(number = 300000) from numbers(400000)'), format: 'parquet' })
    expect(late.status, 'a Parquet file is complete before its first byte').toBe(400)
    const field = await post({ query: sql('select 1'), refresh: true })
    expect([field.status, ((await field.json()) as Record<string, unknown>).detail]).toEqual([400, expect.stringContaining('refresh')])
  })

  test.each(['csv', 'jsonl', 'arrow'])('%s: what fails after the first byte ends the connection, never a complete file', async (format) => {
    const answer = await post({
      query: sql("select number, repeat('x', 100) as text, throwIf(number = 200000) from numbers(250000)"),
      format,
    })
    expect(answer.status).toBe(200)
    expect(await endOf(answer)).toBe('broken off')
    expect(await readdir(join(data(), 'downloads')).catch(() => [])).toEqual([])
  })

  const endless = sql("select a.number, repeat('x', 1000) as text from numbers(100000000) a cross join numbers(100000000) b")
  test.each(['csv', 'arrow', 'parquet'])('%s: the statement ends when its client leaves, and nothing stays on the disk', async (format) => {
    const body = JSON.stringify({
      query: format === 'parquet' ? sql(endless.query.replace(", repeat('x', 1000) as text", '')) : endless,
      format,
    })
    const { hostname, port } = new URL(facts.url)
    const socket = connect({ host: hostname, port: Number(port) })
    const lines = Object.entries({ host: 'x', ...headers(), 'content-length': body.length }).map(([key, value]) => `${key}: ${value}`)
    socket.write(`POST ${path}export/ HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n${body}`)
    if (format === 'parquet') await expect.poll(() => readdir(join(data(), 'downloads')).catch(() => [])).toHaveLength(1)
    else await new Promise((resolve) => socket.once('data', resolve))
    socket.destroy()
    await expect.poll(busy).toBe(0)
    await expect.poll(() => readdir(join(data(), 'downloads')).catch(() => [])).toEqual([])
  })
})
