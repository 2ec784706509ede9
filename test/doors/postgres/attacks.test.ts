import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { refusal, type Served, served } from './served.ts'

// What a hostile or broken client does, against a started server with TLS.

let server: Served
let folder: string
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'waymark-cert-'))
  const [cert, key] = [join(folder, 'cert.pem'), join(folder, 'key.pem')]
  const about = ['-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '2', '-subj', '/CN=localhost', '-keyout', key, '-out', cert]
  execFileSync('openssl', ['req', ...about], { stdio: 'ignore' })
  server = await served(undefined, ['--postgres-cert', cert, '--postgres-key', key, '--api-limit', '100000'])
}, 60_000)
afterAll(async () => {
  await server?.close()
  rmSync(folder, { recursive: true, force: true })
})

const opened = (): Promise<Socket> =>
  new Promise((resolve, reject) => {
    const socket = connect(server.port, '127.0.0.1', () => resolve(socket))
    socket.on('error', reject)
  })
/** All that comes until the connection ends. */
const untilEnd = (socket: Socket): Promise<Buffer> =>
  new Promise((resolve) => {
    const parts: Buffer[] = []
    socket.on('data', (part) => parts.push(part))
    socket.on('error', () => undefined)
    socket.on('close', () => resolve(Buffer.concat(parts)))
  })
const int32 = (value: number) => {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32BE(value >>> 0)
  return bytes
}
const startMessage = (fields: Readonly<Record<string, string>>) => {
  const body = Buffer.concat([int32(196_608), Buffer.from(`${Object.entries(fields).flat().join('\0')}\0\0`)])
  return Buffer.concat([int32(body.length + 4), body])
}
const message = (type: string, body: Buffer) => Buffer.concat([Buffer.from(type), int32(body.length + 4), body])
const goesOn = async () => {
  const client = await server.client()
  expect((await client.query('select count(*)::int as n from events')).rows).toEqual([{ n: 4 }])
  await client.end()
}

/** A connection whose password is accepted. */
async function known(): Promise<{ socket: Socket; text: () => string }> {
  const socket = await opened()
  let text = ''
  socket.on('data', (part) => {
    text += part.toString('latin1')
  })
  socket.write(startMessage({ user: 'x', database: '1' }))
  socket.write(message('p', Buffer.from(`${server.key}\0`)))
  await new Promise<void>((resolve) => {
    const look = () => text.includes('Z\0\0\0\u0005I') && resolve()
    socket.on('data', look)
    look()
  })
  return { socket, text: () => text }
}

test('TLS, and the password over it', async () => {
  const client = await server.client({ ssl: { rejectUnauthorized: false } })
  expect((await client.query('select event from events order by 1 limit 1')).rows).toEqual([{ event: 'buy' }])
})

test('wrong passwords, users, databases', async () => {
  for (const password of ['phx_wrong', 'x', 'phc_x'])
    expect(await refusal(server.client({ password }))).toMatchObject({ code: '28P01', hint: expect.stringContaining('personal API key') })
  expect(await refusal(server.client({ database: 'nosuch' }))).toMatchObject({
    code: '3D000',
    hint: expect.stringContaining('Default Project (1)'),
  })
  expect(await refusal(server.client({ database: '999' }))).toMatchObject({ code: '3D000' })
})

const broken: readonly (readonly [string, Buffer])[] = [
  ['a first message of two gigabytes', Buffer.concat([int32(0x7fffffff), int32(196_608)])],
  ['a first message with a negative length', Buffer.concat([int32(-5), int32(196_608)])],
  ['a first message that is too short', Buffer.concat([int32(4)])],
  ['another protocol', Buffer.concat([int32(8), int32(131_072)])],
  ['HTTP', Buffer.from('GET / HTTP/1.1\r\nHost: x\r\n\r\n')],
  ['no user', startMessage({ database: '1' })],
  ['a password of a megabyte', Buffer.concat([startMessage({ user: 'x', database: '1' }), Buffer.from('p'), int32(1_000_000)])],
  ['a statement before the password', Buffer.concat([startMessage({ user: 'x', database: '1' }), message('Q', Buffer.from('select 1\0'))])],
]

test.each(broken)('%s ends the connection', async (_, bytes) => {
  const socket = await opened()
  const all = untilEnd(socket)
  socket.write(bytes)
  expect((await all).toString('latin1')).toMatch(/^$|FATAL/)
  await goesOn()
})

const brokenLater: readonly (readonly [string, Buffer])[] = [
  ['a message of two gigabytes', Buffer.concat([Buffer.from('Q'), int32(0x7fffffff)])],
  ['a negative length', Buffer.concat([Buffer.from('Q'), int32(-1)])],
  ['a length of three', Buffer.concat([Buffer.from('S'), int32(3)])],
  ['an unknown message', message('~', Buffer.alloc(0))],
  [
    'a bind message that ends early',
    Buffer.concat([message('P', Buffer.from('\0select 1\0\0\0')), message('B', Buffer.from('\0\0\0\u0001'))]),
  ],
]

test.each(brokenLater)('%s after the password ends the connection', async (_, bytes) => {
  const { socket, text } = await known()
  const ended = untilEnd(socket)
  socket.write(bytes)
  await ended
  expect(text()).toContain('08P01')
  await goesOn()
})

test('many connections that never say who they are leave room for others', async () => {
  const idle = await Promise.all(Array.from({ length: 49 }, opened))
  await goesOn()
  const more = await Promise.all(Array.from({ length: 5 }, opened))
  const first = await Promise.race(more.map(untilEnd))
  expect(first.toString('latin1')).toContain('53300')
  for (const socket of [...idle, ...more]) socket.destroy()
  // The server notices that they are gone.
  await expect
    .poll(
      () =>
        goesOn().then(
          () => true,
          () => false,
        ),
      { timeout: 10_000 },
    )
    .toBe(true)
})

test('a cancel request with a wrong secret cancels nothing', async () => {
  const client = await server.client()
  const { processID, secretKey } = client as unknown as { processID: number; secretKey: number }
  const asked = client.query('select count(*)::int as n from generate_series(1, 300000) a(n) where sqrt(a.n) > 2')
  for (const secret of [secretKey + 1, 0, -1]) {
    const socket = await opened()
    const ended = untilEnd(socket)
    socket.write(Buffer.concat([int32(16), int32(80_877_102), int32(processID), int32(secret)]))
    expect((await ended).length).toBe(0)
  }
  expect((await asked).rows).toEqual([{ n: 299_996 }])
})

test('a reader that stops reading holds back the rows, and not the server', async () => {
  const { socket } = await known()
  socket.pause()
  socket.write(message('Q', Buffer.from("select repeat('x', 1000) from generate_series(1, 200000) s(n)\0")))
  await goesOn()
  await goesOn()
  const memory = Number(/VmRSS:\s+(\d+)/.exec(execFileSync('cat', [`/proc/${server.process.pid}/status`]).toString())?.[1] ?? 0)
  expect(memory).toBeLessThan(900_000)
  socket.destroy()
  await goesOn()
})

const writes = [
  "insert into events values ('x')",
  "update events set event = 'x'",
  'delete from events',
  'truncate events',
  'create table x (a int)',
  'create temporary table x as select 1',
  'drop view buy',
  'alter table events add column x int',
  "copy events to 'x.csv'",
  'copy events from stdin',
  'grant all on events to x',
  'with gone as (delete from events returning *) select * from gone',
  'do $$ begin end $$',
  'lock table events',
  'vacuum',
  "load 'x'",
]

test.each(writes)('refused as writing: %s', async (sql) => {
  const client = await server.client()
  expect(await refusal(client.query(sql))).toMatchObject({ code: '25006' })
  await client.end()
})

const reaching = [
  "select * from pg_catalog.pg_class, read_csv('/etc/passwd')",
  "select * from pg_class, read_text('/etc/passwd')",
  "select (select content from read_text('/etc/passwd')) from pg_class",
  `select * from pg_class, "read_csv"('/etc/passwd')`,
  "select * from pg_class, '/etc/passwd'",
  'select * from pg_class, "/etc/passwd"',
  "select * from pg_class, glob('/etc/*')",
  "select getenv('HOME') from pg_class",
  'select * from pg_class, duckdb_settings()',
  'select * from pg_class, duckdb_secrets()',
  'select * from pg_class, pragma_database_list()',
  "select * from pg_class, query('select 1')",
  "select * from pg_class, query_table('pg_class')",
  "select * from pg_class; attach 'x.db' as x",
  "select * from pg_class; copy pg_class to 'waymark-out.csv'",
  'select * from pg_class; pragma database_list',
  'select * from pg_class; install httpfs',
  "with x as (copy pg_class to 'waymark-out.csv') select * from pg_class",
  "select * from pg_read_file('/etc/passwd')",
  "select pg_ls_dir('/')",
  "select lo_import('/etc/passwd')",
  "select * from dblink('host=x', 'select 1')",
  'select * from system.information_schema.tables, pg_class',
]

test.each(reaching)('refused as reaching out: %s', async (sql) => {
  const client = await server.client()
  expect(await refusal(client.query(sql))).toMatchObject({
    code: expect.stringMatching(/^(42501|42601|42P01|42883|42704|42703|25006|0A000|42000|3F000|3D000)$/),
  })
  await client.end()
})

test('an endless statement on the catalog ends', async () => {
  const client = await server.client()
  const sql = 'select count(*) from pg_attribute a, pg_attribute b, pg_attribute c, pg_attribute d, pg_attribute e, pg_attribute f'
  expect(await refusal(client.query(sql))).toMatchObject({ code: '57014' })
  expect((await client.query('select count(*)::int > 0 as has from pg_class')).rows).toEqual([{ has: true }])
}, 30_000)

test('a thousand prepared statements are the most', async () => {
  const client = await server.client()
  for (let i = 0; i < 1000; i++) await client.query({ name: `s${i}`, text: `select ${i}` })
  expect(await refusal(client.query({ name: 'more', text: 'select 1' }))).toMatchObject({ code: '53400' })
  await client.query('discard all')
  expect((await client.query('select 1 as one')).rows).toEqual([{ one: 1 }])
}, 60_000)

test('values of portals are memory of the connection, and tokens of statements too', async () => {
  const { socket, text } = await known()
  const value = Buffer.alloc(15_000_000, 'a')
  const bind = (name: string) =>
    message('B', Buffer.concat([Buffer.from(`${name}\0s\0\0\0\0\x01`), int32(value.length), value, Buffer.alloc(2)]))
  const sync = message('S', Buffer.alloc(0))
  socket.write(Buffer.concat([message('Q', Buffer.from('begin\0')), message('P', Buffer.from('s\0select $1\0\0\0'))]))
  for (const name of ['a', 'b', 'c']) socket.write(bind(name))
  socket.write(Buffer.concat([sync, message('Q', Buffer.from('rollback\0'))]))
  const refused = () => text().split('C53200\0').length - 1
  await expect.poll(text).toMatch(/ROLLBACK\0/)
  expect([refused(), text().split('2\0\0\0\x04').length - 1]).toEqual([1, 2])
  const long = `select 1 in (${new Array(30_000).fill(1).join()})`
  for (let i = 0; i < 9; i++) socket.write(message('P', Buffer.from(`long${i}\0${long}\0\0\0`)))
  socket.write(sync)
  await expect.poll(refused).toBe(2)
  socket.write(Buffer.concat([bind(''), sync]))
  await expect.poll(refused).toBe(3)
  socket.destroy()
  await goesOn()
})

test('a text is never a part of a statement', async () => {
  const client = await server.client()
  for (const text of ["'", "\\'", '\\', "x' or '1'='1", '{p1}', '\n--', '/*', 'f"{event}"', "\\\\'; drop"]) {
    expect((await client.query('select $1::text as t, count(*)::int as n from events where event = $1', [text])).rows).toEqual([
      { t: text, n: 0 },
    ])
    expect((await client.query(`select ${pg.escapeLiteral(text)} as t from events limit 1`)).rows).toEqual([{ t: text }])
  }
})

test('deep and long statements are refused and not fatal', async () => {
  const client = await server.client()
  for (const sql of [
    `select ${'('.repeat(5000)}1${')'.repeat(5000)}`,
    `select ${'not '.repeat(20_000)}true`,
    `select ${'- '.repeat(20_000)}1`,
    `select ${Array(300_000).fill('1').join('+')} from events`,
  ])
    expect(await refusal(client.query(sql))).toMatchObject({ code: expect.any(String) })
  await goesOn()
})
