import { once } from 'node:events'
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import type { Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { Client } from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { open } from '../../../src/engine.ts'
import { AttachedTables } from '../../../src/service/attached/attached.ts'
import { lastCopy, makeCopy } from '../../../src/service/attached/copies.ts'
import { fetchedLines } from '../../../src/service/attached/fetched-lines.ts'
import { attachmentsOf } from '../../../src/service/attached/options.ts'
import { freePort } from '../../harness/free-port.ts'
import { type Postgres, startPostgres, whyNoPostgres } from '../../harness/postgres.ts'

// Tables of a PostgreSQL and files of a bucket as copies: what is in them, how old they say they are, and what they say when they cannot be made.

const missing = whyNoPostgres()
if (missing) console.log(`SKIPPED  tables of a PostgreSQL beside the events: ${missing}`)

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'waymark-copies-'))
})
afterAll(() => rm(folder, { recursive: true }))

/** The tables as a process sees them that starts at this moment. */
async function seenAt(now: string, from: string, dataDir: string) {
  const reports: string[] = []
  const attached = await AttachedTables.open({
    attachments: attachmentsOf({ crm: from }),
    dataDir,
    everyMs: 3_600_000,
    clock: () => new Date(now),
    organizations: async () => 1,
    report: (error) => reports.push(error instanceof Error ? `${error.message} ${error.stack}` : String(error)),
  })
  try {
    attached.begin()
    await attached.copied()
    await attached.refreshed()
    return { seen: attached.of(1)!, reports }
  } finally {
    await attached.close()
  }
}

test('a copy is there as a whole or not at all, and the one before it stays for queries that read it', async () => {
  const home = join(folder, 'whole')
  const named = (name: string) => async (at: string) => writeFile(join(at, name), name)
  const failing = async (at: string) => {
    await named('half')(at)
    throw new Error('the network is gone')
  }
  await expect(makeCopy(home, new Date(0), failing)).rejects.toThrow('network')
  expect(await lastCopy(home)).toBe(null)
  const first = await makeCopy(home, new Date(1000), named('a'))
  expect(await lastCopy(home)).toEqual({ folder: first.folder, copiedAt: '1970-01-01T00:00:01.000Z' })
  await expect(makeCopy(home, new Date(2000), failing)).rejects.toThrow('network')
  expect(await lastCopy(home)).toEqual(first)
  const second = await makeCopy(home, new Date(3000), named('b'))
  expect([await readdir(first.folder), await readdir(second.folder)]).toEqual([['a'], ['b']])
  await makeCopy(home, new Date(4000), named('c'))
  expect((await readdir(home)).length).toBe(3)
  await writeFile(join(home, 'copy.json'), '{"folder":')
  expect(await lastCopy(home)).toBe(null)
  await makeCopy(home, new Date(5000), named('d'))
  expect(await lastCopy(home)).toMatchObject({ copiedAt: '1970-01-01T00:00:05.000Z' })
})

test('a server that is not there: no password in the report, and the name says why', async () => {
  const port = await freePort()
  const { seen, reports } = await seenAt('2026-01-01T00:00:00Z', `postgres://me:s3cr%2Ft@127.0.0.1:${port}/shop`, join(folder, 'away'))
  expect(seen.tables).toEqual({})
  expect(seen.unavailable).toEqual({ crm: expect.stringContaining('ECONNREFUSED') })
  expect(reports).toEqual([expect.stringContaining('The attached crm cannot be copied, and there is no copy yet')])
  expect(JSON.stringify([seen, reports])).not.toMatch(/s3cr/)
})

describe.skipIf(missing)('of a PostgreSQL', () => {
  let postgres: Postgres
  let url: string
  beforeAll(async () => {
    postgres = await startPostgres()
    url = `postgres://waymark:s3cret@127.0.0.1:${postgres.port}/postgres`
    await postgres.sql.run(`CREATE TYPE mood AS ENUM ('happy', 'sad')`)
    await postgres.sql.run(
      `CREATE TABLE plans (company text, seats int, ratio double precision, price numeric(10, 2), huge numeric, paid boolean, id uuid,
       day date, at timestamp, atz timestamptz, tags text[], more jsonb, how mood, raw bytea)`,
    )
    await postgres.sql.run(
      `INSERT INTO plans VALUES ('acme', 4, 0.5, 12.50, 1e20, true, 'b5f3c1de-2c3b-4a6f-9b8e-0123456789ab', '2026-01-02', '2026-01-02 03:04:05.678901',
       '2026-01-02 03:04:05+02', ARRAY['a', 'b'], '{"x":"line\\nbreak"}', 'happy', '\\x00ff'), (NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL)`,
    )
    await postgres.sql.run('CREATE TABLE "none" (a int)')
    await postgres.sql.run('CREATE VIEW large AS SELECT n, n * 2 AS twice FROM generate_series(1, 5000) AS t(n)')
    await postgres.sql.run('CREATE SCHEMA other')
    await postgres.sql.run('CREATE TABLE other.odd AS SELECT 1 AS a')
  })
  afterAll(() => postgres?.stop())

  test('each table and view, with the types that it has there', async () => {
    await using waymark = await open({ dataDir: join(folder, 'all'), isolate: true, attach: { crm: url } })
    const project = await waymark.createProject({ name: 'Shop' })
    await waymark.attachedCopied()
    const sql = async (query: string) => project.query({ kind: 'SqlLikeQuery', query })
    const { types, results, attached } = await sql('select * from crm.plans order by company')
    expect(types.map(([name, type]) => `${name} ${type.replace(/Nullable\((.*)\)$/, '$1')}`)).toEqual([
      'company String',
      'seats Int64',
      'ratio Float64',
      'price Decimal(10, 2)',
      'huge Float64',
      'paid UInt8',
      'id UUID',
      'day Date',
      "at DateTime64(6, 'UTC')",
      "atz DateTime64(6, 'UTC')",
      'tags String',
      'more String',
      'how String',
      'raw String',
    ])
    const first = ['acme', 4, 0.5, 12.5, 1e20, 1, 'b5f3c1de-2c3b-4a6f-9b8e-0123456789ab', '2026-01-02', '2026-01-02T03:04:05.678901Z']
    const last = ['2026-01-02T01:04:05Z', '["a","b"]', '{"x":"line\\nbreak"}', 'happy', '\\x00ff']
    expect(results).toEqual([[...first, ...last], Array.from({ length: 14 }, () => null)])
    expect(attached).toEqual([{ table: 'crm.plans', as_of: expect.stringMatching(/Z$/) }])
    expect((await sql('select count(), sum(twice) from crm.large')).results).toEqual([[5000, 25_005_000]])
    expect((await sql('select count() from crm.none')).results).toEqual([[0]])
    await expect(sql('select * from crm.odd')).rejects.toMatchObject({ code: 'unknown-table' })
  })

  test('rows of megabytes wait in the connection, not in memory', async () => {
    const client = new Client(url)
    await client.connect()
    const { stream } = (client as unknown as { connection: { stream: Socket } }).connection
    let rows = 0
    const lines = fetchedLines(client, "SELECT repeat('x', 1000000) FROM generate_series(1, 100)", () => rows++)
    const [first] = (await once(lines, 'data')) as [Buffer]
    lines.pause()
    await expect.poll(() => stream.isPaused()).toBe(true)
    expect([rows < 10, stream.bytesRead < 10e6]).toEqual([true, true])
    let bytes = first.length
    for await (const part of lines) bytes += (part as Buffer).length
    expect([rows, bytes]).toEqual([100, 100 * 1_000_001])
    // The connection goes on, also after a reader that stopped in the middle and after an error.
    for await (const _ of fetchedLines(client, "SELECT repeat('y', 1000000) FROM generate_series(1, 20)", () => undefined)) break
    await expect(text(fetchedLines(client, 'SELECT 1 / 0', () => undefined))).rejects.toThrow('division by zero')
    expect((await client.query('SELECT 1 AS one')).rows).toEqual([{ one: 1 }])
    await client.end()
  })

  test('a server that closes does not wait for a copy', async () => {
    await postgres.sql.run('CREATE SCHEMA sleeping')
    await postgres.sql.run('CREATE VIEW sleeping.slow AS SELECT pg_sleep(120)::text AS a')
    const attached = await AttachedTables.open({
      attachments: attachmentsOf({ crm: `${url}?schema=sleeping` }),
      dataDir: join(folder, 'slow'),
      everyMs: 3_600_000,
      clock: () => new Date(0),
      organizations: async () => 1,
      report: () => undefined,
    })
    attached.begin()
    const isCopying = async () => (await postgres.sql.rows(`SELECT pid FROM pg_stat_activity WHERE query LIKE 'FETCH %'`)).length > 0
    await expect.poll(isCopying, { timeout: 30_000 }).toBe(true)
    const since = performance.now()
    await attached.close()
    expect(performance.now() - since).toBeLessThan(30_000)
  })

  test('another schema, and some tables', async () => {
    const names = async (more: string) =>
      Object.keys((await seenAt('2026-01-01T00:00:00Z', `${url}${more}`, join(folder, more))).seen.tables)
    expect(await names('?schema=other')).toEqual(['crm.odd'])
    expect(await names('?tables=plans,large')).toEqual(['crm.large', 'crm.plans'])
    const { seen } = await seenAt('2026-01-01T00:00:00Z', `${url}?tables=nothing`, join(folder, 'nothing'))
    expect(seen.unavailable.crm).toContain('no table nothing')
  })

  test('a copy is made again when it is due, and an old one says why it is old', async () => {
    const dataDir = join(folder, 'again')
    const one = `${url}?tables=changing`
    await postgres.sql.run('CREATE TABLE changing AS SELECT 1 AS a')
    const before = await seenAt('2026-01-01T00:00:00Z', one, dataDir)
    expect(before.seen.tables['crm.changing']).toMatchObject({ asOf: '2026-01-01T00:00:00.000Z' })
    await postgres.sql.run('BEGIN; ALTER TABLE changing ADD b int; COMMIT')
    const early = await seenAt('2026-01-01T00:59:00Z', one, dataDir)
    expect(early.seen).toEqual(before.seen)
    const due = await seenAt('2026-01-01T01:00:00Z', one, dataDir)
    expect(due.seen.tables['crm.changing']).toMatchObject({ asOf: '2026-01-01T01:00:00.000Z' })
    expect(due.seen.tables['crm.changing']!.columns.map(({ name }) => name)).toEqual(['a', 'b'])
    expect(due.seen.version).not.toBe(early.seen.version)
    await postgres.sql.run('BEGIN; DROP TABLE changing; COMMIT')
    const old = await seenAt('2026-01-01T03:00:00Z', one, dataDir)
    expect(old.seen.tables['crm.changing']).toMatchObject({
      asOf: '2026-01-01T01:00:00.000Z',
      overdue: expect.stringContaining('no table changing'),
    })
    expect(JSON.stringify(old)).not.toContain('s3cret')
    await using waymark = await open({
      dataDir,
      clock: () => new Date('2026-01-01T03:00:00Z'),
      attach: { crm: one },
      onError: () => undefined,
    })
    const project = await waymark.createProject({ name: 'Shop' })
    await waymark.attachedCopied()
    const { results, warnings } = await project.query({ kind: 'SqlLikeQuery', query: 'select a, b from crm.changing' })
    expect(results).toEqual([[1, null]])
    expect(warnings).toMatchObject([{ code: 'old-copy', table: 'crm.changing', as_of: '2026-01-01T01:00:00.000Z' }])
  })
})
