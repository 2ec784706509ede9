import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { connect } from 'node:net'
import { join } from 'node:path'
import { promisify } from 'node:util'
import pg from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { refusal, type Served, served } from './served.ts'

// Real clients of PostgreSQL on a started server.

const run = promisify(execFile)
let server: Served
beforeAll(async () => {
  server = await served()
}, 60_000)
afterAll(() => server.close())

const works = async (command: string, args: readonly string[]): Promise<boolean> =>
  run(command, [...args]).then(
    () => true,
    () => false,
  )

const psqlEnv = () => ({
  ...{ PATH: process.env.PATH, PGPASSWORD: server.key, PGCONNECT_TIMEOUT: '20' },
  ...{ PGHOST: '127.0.0.1', PGPORT: String(server.port), PGUSER: 'me', PGDATABASE: '1' },
})

const psql = async (...args: readonly string[]): Promise<string> => {
  const { stdout } = await run('psql', ['-X', '-A', '-t', '-v', 'ON_ERROR_STOP=1', ...args], { env: psqlEnv() })
  return stdout.trimEnd()
}

test('node-postgres: parameters, types, several statements, errors with a position and a hint', async () => {
  const client = await server.client()
  const counted = await client.query('select event, count(*) from events where event = $1 group by 1', ['view'])
  expect(counted.rows).toEqual([{ event: 'view', count: '2' }])
  expect(counted.fields.map(({ dataTypeID }) => dataTypeID)).toEqual([25, 20])
  const typed = await client.query('select "timestamp", price, gift, plan, properties from buy where price > $1 order by 1', [5])
  expect(typed.rows).toEqual([
    {
      timestamp: new Date('2024-03-04T09:00:00.123Z'),
      price: 7.5,
      gift: false,
      plan: 'pro',
      properties: expect.objectContaining({ plan: 'pro', price: 7.5, gift: false }),
    },
  ])
  expect((await client.query('select $1::int + 1 as n, $2 || $3 as t', [5, 'a', 'b'])).rows).toEqual([{ n: 6, t: 'ab' }])
  expect(
    (await client.query('select event from events where event = any($1) and timestamp >= $2', [['buy', 'x'], new Date('2024-03-02')])).rows,
  ).toEqual([{ event: 'buy' }])
  const both = (await client.query('select 1 as a; select event from events limit 1; ')) as unknown as pg.QueryResult[]
  expect(both.map(({ rowCount }) => rowCount)).toEqual([1, 1])
  expect((await client.query('')).rows).toEqual([])
  expect(await refusal(client.query('select evnt from events'))).toMatchObject({
    code: '42703',
    position: '8',
    hint: 'Perhaps you meant to reference the column "event".',
  })
  expect(await refusal(client.query('select nosuch(event) from events'))).toMatchObject({ code: '42883', position: '8' })
  // The connection goes on.
  expect((await client.query('select count(*) from persons')).rows).toEqual([{ count: '2' }])
})

test('node-postgres: results as bytes are the results as text', async () => {
  const client = await server.client()
  const sql =
    "select 5::int2 a, 6 b, 7::int8 c, 1.5::float4 d, 2.25::float8 e, price > 6 f, plan g, timestamp h, timestamp::date i, 12345.678 j, uuid k, properties l, array['a', 'b'] m from buy order by timestamp"
  const [text, bytes] = [await client.query(sql), await client.query({ text: sql, binary: true } as pg.QueryConfig)]
  const plain = ({ rows }: pg.QueryResult) =>
    rows.map((row) => ({ ...row, h: row.h.getTime(), i: undefined, j: Number(row.j), c: Number(row.c) }))
  const { types } = pg
  expect(types.getTypeParser(1700, 'binary')).toBeTypeOf('function')
  const read = plain(text)
  expect(read[0]).toMatchObject({ a: 5, b: 6, c: 7, d: 1.5, e: 2.25, f: false, g: 'pro', j: 12345.678, m: ['a', 'b'] })
  for (const [i, row] of plain(bytes).entries()) {
    const { k: _k, l: _l, h: _h, m: _m, ...rest } = row
    const { k: _k2, l: _l2, h: _h2, m: _m2, ...expected } = read[i]!
    expect(rest).toEqual(expected)
  }
})

test('node-postgres: prepared statements and a portal that is read in parts', async () => {
  const client = await server.client()
  for (const event of ['buy', 'view', 'buy'])
    expect(
      (await client.query({ name: 'count', text: 'select count(*)::int as n from events where event = $1', values: [event] })).rows,
    ).toEqual([{ n: 2 }])
  const rows = await client.query({ text: 'select n from generate_series(1, 10) as s(n)', rows: 3 } as pg.QueryConfig)
  expect(rows.rows.map(({ n }) => n)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10])
})

test('transactions, cursors and settings', async () => {
  const client = await server.client()
  await client.query('begin')
  await client.query('declare c cursor for select n from generate_series(1, 5) s(n)')
  expect((await client.query('fetch 2 from c')).rows).toEqual([{ n: 1 }, { n: 2 }])
  expect((await client.query('fetch forward all from c')).rows).toEqual([{ n: 3 }, { n: 4 }, { n: 5 }])
  expect((await client.query('fetch next from c')).rows).toEqual([])
  await client.query('close c')
  expect(await refusal(client.query('select nosuch from events'))).toMatchObject({ code: '42703' })
  expect(await refusal(client.query('select 1'))).toMatchObject({ code: '25P02' })
  await client.query('rollback')
  await client.query("set time zone 'Asia/Tokyo'")
  expect((await client.query('show timezone')).rows).toEqual([{ TimeZone: 'Asia/Tokyo' }])
  const day = await client.query("select date_trunc('day', timestamp)::text as day from buy order by 1 limit 1")
  expect(day.rows).toEqual([{ day: '2024-03-01 00:00:00' }])
  await client.query('discard all')
  expect((await client.query('show timezone')).rows).toEqual([{ TimeZone: 'UTC' }])
  expect((await client.query('select version() as v')).rows[0].v).toContain('PostgreSQL 15')
})

test('a cancel request ends the statement and not the connection', async () => {
  const client = await server.client()
  const slow = refusal(
    client.query('select sum(sqrt(a.n * b.n)) from generate_series(1, 30000) a(n) cross join generate_series(1, 100000) b(n)'),
  )
  const { processID, secretKey } = client as unknown as { processID: number; secretKey: number }
  const stop = () =>
    new Promise<void>((resolve) => {
      const request = Buffer.alloc(16)
      for (const [i, value] of [16, 80_877_102, processID, secretKey].entries()) request.writeInt32BE(value, i * 4)
      const socket = connect(server.port, '127.0.0.1', () => socket.write(request))
      socket.once('close', () => resolve())
      socket.resume()
    })
  let isOver = false
  const cancelled = slow.then((error) => {
    isOver = true
    return error
  })
  // Whatever is sent before the statement has begun cancels nothing.
  while (!isOver) {
    await stop()
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
  expect(await cancelled).toMatchObject({ code: '57014' })
  expect((await client.query('select 1 as one')).rows).toEqual([{ one: 1 }])
})

test('a time limit of the session', async () => {
  const client = await server.client()
  await client.query("set statement_timeout = '300ms'")
  const sql = 'select sum(sqrt(a.n * b.n)) from generate_series(1, 30000) a(n) cross join generate_series(1, 100000) b(n)'
  expect(await refusal(client.query(sql))).toMatchObject({ code: '57014', message: 'canceling statement due to statement timeout' })
})

test('psql: statements, its browsing commands, and \\gdesc', async ({ skip }) => {
  if (!(await works('psql', ['--version']))) skip('there is no psql')
  expect(await psql('-c', 'select event, count(*) from events group by 1 order by 1')).toBe('buy|2\nview|2')
  expect(await psql('-c', '\\dt')).toContain('public|events|table|me')
  expect(await psql('-c', '\\dv')).toContain('public|buy|view|me')
  expect(await psql('-c', '\\d buy')).toContain('price|double precision||')
  expect(await psql('-c', '\\d+ events')).toContain('timestamp|timestamp with time zone||not null')
  expect(await psql('-c', '\\l')).toContain('Default Project|me|UTF8')
  for (const command of ['\\d', '\\dn', '\\du', '\\di', '\\df', '\\dT', '\\dx', '\\dp', '\\ds', '\\dm', '\\dE', '\\db', '\\dy'])
    await psql('-c', command)
  const described = run('psql', ['-X', '-A', '-t'], { env: psqlEnv() })
  described.child.stdin!.end('select price, gift from buy \\gdesc\n')
  expect((await described).stdout.trimEnd()).toBe('price|double precision\ngift|boolean')
  expect(await psql('-v', 'FETCH_COUNT=2', '-c', 'select n from generate_series(1, 5) s(n)')).toBe('1\n2\n3\n4\n5')
})

/** Debian's, which has the package. */
const python = existsSync('/usr/bin/python3') ? '/usr/bin/python3' : 'python3'

const pythonText = `
import sys, psycopg, datetime, decimal
from psycopg.rows import dict_row
dsn = sys.argv[1]
with psycopg.connect(dsn, autocommit=True) as c:
    assert c.execute("select event, count(*) from events where event = %s group by 1", ("buy",)).fetchall() == [("buy", 2)]
    row = c.cursor(row_factory=dict_row, binary=True).execute("select timestamp, price, gift, uuid, timestamp::date as day, 1.5::numeric as x, properties from buy order by timestamp limit 1").fetchone()
    assert row["timestamp"] == datetime.datetime(2024, 3, 1, 11, 0, tzinfo=datetime.timezone.utc), row
    assert (row["price"], row["gift"], row["day"], row["x"]) == (5.0, True, datetime.date(2024, 3, 1), decimal.Decimal("1.5")), row
    assert row["properties"]["plan"] == "pro", row
    for i in range(8):
        assert c.execute("select %s::int8 + 1", (i,)).fetchone() == (i + 1,)
    assert c.execute("select count(*) from events where timestamp > %s", (datetime.datetime(2024, 3, 2, tzinfo=datetime.timezone.utc),)).fetchone() == (2,)
with psycopg.connect(dsn) as c:
    with c.cursor(name="some") as s:
        s.itersize = 3
        s.execute("select n from generate_series(1, 10) as t(n)")
        assert [r[0] for r in s] == list(range(1, 11))
    try:
        c.execute("delete from events")
        raise SystemExit("not refused")
    except psycopg.errors.ReadOnlySqlTransaction:
        c.rollback()
    with c.pipeline():
        a = c.execute("select count(*) from events")
        b = c.execute("select %s", ("x",))
    assert (a.fetchone(), b.fetchone()) == ((4,), ("x",))
print("ok")
`

test('psycopg: bytes, prepared statements, cursors on the server, pipelines', async ({ skip }) => {
  if (!(await works(python, ['-c', 'import psycopg']))) skip('there is no python3-psycopg')
  const dsn = `host=127.0.0.1 port=${server.port} user=me password=${server.key} dbname=1`
  const { stdout } = await run(python, ['-c', pythonText, dsn])
  expect(stdout.trim()).toBe('ok')
})

/** Debian's package libpostgresql-jdbc-java. */
const driver = '/usr/share/java/postgresql.jar'

test('pgjdbc: metadata, prepared statements with binary results, types, cursors, errors', async ({ skip }) => {
  if (!existsSync(driver) || !(await works('javac', ['-version']))) skip('there is no libpostgresql-jdbc-java, or no JDK')
  const program = join(import.meta.dirname, 'Jdbc.java')
  const { stdout } = await run('java', ['-cp', driver, program, `jdbc:postgresql://127.0.0.1:${server.port}/1`, server.key])
  expect(stdout.trim()).toBe('ok')
}, 60_000)

type Sql = ((
  parts: TemplateStringsArray,
  ...values: unknown[]
) => Promise<Record<string, unknown>[]> & { cursor(rows: number): AsyncIterable<unknown[]> }) & {
  end(): Promise<void>
  array(values: readonly unknown[]): unknown
}

test('postgres.js: described parameters, cursors', async ({ skip }) => {
  const folder = join(import.meta.dirname, '../../clients')
  if (!existsSync(join(folder, 'node_modules/postgres'))) skip('npm run setup:clients installs postgres.js')
  const module = createRequire(join(folder, 'package.json'))('postgres') as (options: object) => Sql
  const sql = module({
    host: '127.0.0.1',
    port: server.port,
    user: 'me',
    password: server.key,
    database: '1',
    max: 2,
    onnotice: () => undefined,
  })
  try {
    expect(await sql`select event, count(*)::int as n from events where event = ${'buy'} group by 1`).toEqual([{ event: 'buy', n: 2 }])
    expect(await sql`select price from buy where price > ${6} and timestamp > ${new Date('2024-03-01')}`).toEqual([{ price: 7.5 }])
    expect(
      await sql`select count(*)::int as n from events where event in ${(sql as unknown as (list: string[]) => unknown)(['buy', 'view'])}`,
    ).toEqual([{ n: 4 }])
    const seen: unknown[] = []
    for await (const rows of sql`select n from generate_series(1, 7) s(n)`.cursor(3)) seen.push(rows.length)
    expect(seen).toEqual([3, 3, 1])
    expect(await refusal(sql`update events set event = 'x'`)).toMatchObject({ code: '25006' })
  } finally {
    await sql.end()
  }
})
