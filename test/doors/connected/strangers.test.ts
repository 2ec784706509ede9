import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { createServer, request, type Server } from 'node:http'
import { type AddressInfo, connect, createServer as createSocketServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { createHandler, type OpenOptions, open, type Project, toNodeHandler, type Waymark } from '../../../src/index.ts'
import { announcedOwner } from '../../../src/service/directory/announcement.ts'

// What clients of a guest's server, and others on the machine, could do to those who use it, too: nothing.

let dataDir: string
let members: Waymark[]
let servers: Server[]
const joined = async (options: Partial<OpenOptions> = {}): Promise<Waymark> => {
  const member = await open({ dataDir, connect: true, threads: 1, durability: 'os', ...options })
  members.push(member)
  return member
}

beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'waymark-strangers-'))
  members = []
  servers = []
})
afterEach(async () => {
  for (const server of servers) server.closeAllConnections()
  await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))))
  for (const member of members) await member.close()
  await rm(dataDir, { recursive: true, force: true })
})

const listen = async (waymark: Waymark, options: Parameters<typeof toNodeHandler>[1] = {}): Promise<number> => {
  const server = createServer({ maxHeaderSize: 32 * 1024 }, toNodeHandler(waymark, options))
  servers.push(server)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return (server.address() as AddressInfo).port
}

/** Sends these bytes as they are, and returns what comes back until the server closes the connection. */
const raw = (port: number, bytes: string): Promise<string> => {
  const socket = connect(port, '127.0.0.1')
  socket.write(bytes)
  return text(socket)
}

interface Answer {
  readonly status: number
  readonly headers: Record<string, unknown>
  readonly body: string
}
const ask = (port: number, method: string, path: string, headers: Record<string, string> = {}, body = ''): Promise<Answer> =>
  new Promise((resolve, reject) => {
    request({ port, host: '127.0.0.1', method, path, headers }, async (answer) =>
      resolve({ status: answer.statusCode!, headers: answer.headers, body: await text(answer) }),
    )
      .on('error', reject)
      .end(body)
  })

test('a body whose length is not what its headers say never becomes a part of the next request to the owner', async () => {
  await joined()
  const guest = await joined()
  const port = await listen(guest)
  const smuggled = 'GET /_livez HTTP/1.1\r\nhost: a\r\n\r\n'
  const asked = [
    `GET /_livez HTTP/1.1\r\nhost: a\r\nconnection: close\r\ncontent-length: ${smuggled.length}\r\n\r\n${smuggled}`,
    `HEAD /_livez HTTP/1.1\r\nhost: a\r\nconnection: close\r\ncontent-length: ${smuggled.length}\r\n\r\n${smuggled}`,
    `DELETE /api/none HTTP/1.1\r\nhost: a\r\nconnection: close\r\ntransfer-encoding: chunked\r\n\r\n${smuggled.length.toString(16)}\r\n${smuggled}\r\n0\r\n\r\n`,
    `OPTIONS /api/none HTTP/1.1\r\nhost: a\r\nconnection: close\r\ntransfer-encoding: chunked\r\n\r\n${smuggled.length.toString(16)}\r\n${smuggled}\r\n0\r\n\r\n`,
  ]
  for (const one of asked) {
    expect(await raw(port, one)).toMatch(/^HTTP\/1.1 (200|204|404) /)
    for (let i = 0; i < 2; i++) expect(await ask(port, 'GET', '/_livez'), one).toMatchObject({ status: 200, body: 'ok\n' })
  }
})

test('answers of a guest are those of the owner, with the same headers, and none of their own', async () => {
  const owner = await joined()
  const guest = await joined()
  const ports = [await listen(owner), await listen(guest)]
  const asked: readonly (readonly [method: string, path: string, headers?: Record<string, string>])[] = [
    ['GET', '/_livez'],
    ['HEAD', '/'],
    ['GET', '/', { 'accept-encoding': 'gzip, br' }],
    ['OPTIONS', '/api/projects/', { origin: 'https://a.example' }],
    ['POST', '/batch/'],
    ['GET', '/api/users/@me/', { cookie: `a=${'x'.repeat(20_000)}` }],
    ['GET', `/api/users/@me/?a=${'x'.repeat(12_000)}`],
    [
      'GET',
      '/api/users/@me/',
      { 'x-waymark-owner': 'x', 'x-waymark-kind': 'operator', 'x-waymark-taken': 'e30', 'x-waymark-log': '%5B1%5D' },
    ],
    ['POST', '/_local/list-users', { 'x-waymark-kind': 'command' }],
    ['GET', '/api/users/@me/', { expect: '100-continue' }],
  ]
  for (const [method, path, headers] of asked) {
    const [here, there] = await Promise.all(ports.map((port) => ask(port, method, path, { 'x-request-id': 'r1', ...headers })))
    const shown = ({ status, headers: { date: _, ...others }, body }: Answer) => ({ status, headers: others, body })
    expect(shown(there!), `${method} ${path.slice(0, 40)}`).toEqual(shown(here!))
  }
})

test('a request that is aborted ends its query in the owner', async () => {
  const owner = await joined()
  const guest = await joined()
  const { id } = await owner.createProject({ name: 'Shop' })
  const { key } = await owner.createPersonalKey({ label: 'k', scopes: ['*'] })
  const lines: { level: string }[] = []
  const port = await listen(guest, { log: (line) => void lines.push(line) })
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
  const query = { kind: 'SqlLikeQuery', query: 'select sum(a.number * b.number) from numbers(1000000) a, numbers(1000000) b' }
  const asked = request({ port, method: 'POST', path: `/api/projects/${id}/query/`, headers }).on('error', () => undefined)
  asked.end(JSON.stringify({ query, client_query_id: 'long' }))
  const status = () => ask(port, 'GET', `/api/projects/${id}/query/long/`, headers)
  await expect.poll(async () => (await status()).status, { timeout: 10_000 }).toBe(200)
  asked.destroy()
  await expect.poll(async () => (await status()).body, { timeout: 10_000 }).not.toContain('"complete":false')
  const unfinished = request({ port, method: 'POST', path: '/api/projects/', headers: { ...headers, 'content-length': '1000' } })
  unfinished.on('error', () => undefined).write('{', () => setImmediate(() => unfinished.destroy()))
  await expect.poll(() => status()).toMatchObject({ status: 404 })
  expect(lines.filter(({ level }) => level === 'error')).toEqual([])
})

test('an application that cannot say who has signed in fails what asks for it, and nothing else', async () => {
  const owner = await joined()
  const guest = await joined()
  const lines: { message: string; error?: string }[] = []
  const options = {
    authenticate: () => {
      throw new Error('the database of users is away')
    },
    log: (line: { message: string }) => void lines.push(line),
  }
  for (const port of [await listen(owner, options), await listen(guest, options)]) {
    lines.length = 0
    expect((await ask(port, 'GET', '/_livez')).status).toBe(200)
    expect((await ask(port, 'GET', '/', { accept: 'text/html' })).status).toBe(200)
    expect(await ask(port, 'GET', '/api/users/@me/')).toMatchObject({ status: 500, body: expect.not.stringContaining('database of users') })
    expect(lines.filter(({ error }) => error?.includes('the database of users is away'))).toHaveLength(1)
  }
})

test('limits without an end stay so', async () => {
  await joined()
  const guest = await joined()
  const handler = createHandler(guest, { limits: () => ({ api: [{ count: Infinity, seconds: 60 }], query: [], draft: [] }) })
  const { key } = await guest.createPersonalKey({ label: 'k', scopes: ['*'] })
  const asked = () => handler(new Request('http://localhost/api/users/@me/', { headers: { authorization: `Bearer ${key}` } }))
  for (let i = 0; i < 2; i++) expect((await asked()).status).toBe(200)
})

test('values with the names of options are values', async () => {
  const owner = await joined()
  const guest = await joined()
  const { id } = await owner.createProject({ name: 'Shop' })
  const batch = [{ event: 'a', distinct_id: 'u' }]
  const take = async (waymark: Waymark, more: object) =>
    (await waymark.project(id)).ingest({ ...more, batch } as Parameters<Project['ingest']>[0])
  for (const waymark of [owner, guest])
    for (const more of [{ signal: 'x' }, { onProgress: 1 }, { $watched: ['batch'] }, { $watched: 'x' }])
      expect(await take(waymark, more)).toMatchObject({ accepted: 1 })
})

test('an address that was announced before the machine started again is nobody', async () => {
  await joined()
  const file = join(dataDir, 'owner.json')
  const announced = JSON.parse(await readFile(file, 'utf8')) as { process: object }
  expect(await announcedOwner(dataDir)).not.toBeNull()
  await writeFile(file, JSON.stringify({ ...announced, process: { ...announced.process, boot: 'another' } }))
  expect(await announcedOwner(dataDir)).toBeNull()
})

/** One that takes guests, and breaks off what they ask. `asked`: the first lines of that. */
async function withBrokenOwner(work: (guest: Waymark, asked: readonly string[]) => Promise<void>): Promise<void> {
  await joined()
  const file = join(dataDir, 'owner.json')
  const announced = JSON.parse(await readFile(file, 'utf8')) as object
  const asked: string[] = []
  const path = `\0waymark-test-${process.pid}`
  const broken = createSocketServer((socket) => {
    socket.on('error', () => undefined)
    socket.once('data', (bytes) => {
      if (String(bytes).includes('x-waymark-kind: watch'))
        socket.write('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nopen\n\r\n')
      else {
        asked.push(String(bytes).split(' HTTP', 1)[0]!)
        socket.destroy()
      }
    })
  })
  await new Promise<void>((resolve) => broken.listen(path, resolve))
  await writeFile(file, JSON.stringify({ ...announced, socket: path }))
  try {
    const guest = await joined()
    await work(guest, asked).finally(() => guest.close())
  } finally {
    await writeFile(file, JSON.stringify(announced))
    await new Promise((resolve) => broken.close(resolve))
  }
}

test('an owner that breaks connections off is asked a few times what may come twice, and once what may not', () =>
  withBrokenOwner(async (guest, asked) => {
    const handler = createHandler(guest)
    const [call, ...answers] = await Promise.all([
      guest.projects().catch((error: unknown) => error),
      handler(new Request('http://localhost/_livez')),
      handler(new Request('http://localhost/api/a', { method: 'DELETE' })),
      handler(new Request('http://localhost/api/b', { method: 'POST', body: '{}', headers: { 'content-length': '2' } })),
    ])
    expect(call).toMatchObject({ code: 'owner-ended' })
    expect(answers.map(({ status }) => status)).toEqual([503, 503, 503])
    const times = (line: string) => asked.filter((one) => one === line).length
    expect(['POST /', 'GET /_livez', 'DELETE /api/a', 'POST /api/b'].map(times)).toEqual([5, 5, 1, 1])
  }))

test('bodies that do not come take no memory without end: more of them are passed on as they come', () =>
  withBrokenOwner(async (guest, asked) => {
    const port = await listen(guest)
    const open = Array.from({ length: 70 }, () => {
      const one = request({ port, method: 'POST', path: '/batch/', headers: { 'content-length': String(1024 ** 2) } })
      one.on('error', () => undefined).write('{')
      return one
    })
    await expect.poll(() => asked).toEqual(Array(6).fill('POST /batch/'))
    for (const one of open) one.destroy()
  }))

test('a guest that closes takes no further calls, and waits for those that were made', async () => {
  const owner = await joined()
  const guest = await joined()
  const { id } = await owner.createProject({ name: 'Shop' })
  const project = await guest.project(id)
  const asked = project.ingest({ batch: [{ event: 'a', distinct_id: 'u' }] })
  const closed = guest.close()
  await expect(project.events()).rejects.toMatchObject({ code: 'closed' })
  await closed
  expect(await asked).toMatchObject({ accepted: 1 })
})
