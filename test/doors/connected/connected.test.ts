import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, readFile, rm, stat } from 'node:fs/promises'
import { createServer, request, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { createClient, createHandler, type OpenOptions, open, toNodeHandler, type Waymark } from '../../../src/index.ts'
import { program } from '../../harness/programs.ts'

// Several openings of one directory: the first one owns it, the others work through its socket.

let dataDir: string
let members: Waymark[]
let servers: Server[]
const joined = async (options: Partial<OpenOptions> = {}): Promise<Waymark> => {
  const member = await open({ dataDir, connect: true, threads: 1, durability: 'os', ...options })
  members.push(member)
  return member
}

beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'waymark-connected-'))
  members = []
  servers = []
})
afterEach(async () => {
  for (const server of servers) server.closeAllConnections()
  await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))))
  for (const member of members) await member.close()
  await rm(dataDir, { recursive: true, force: true })
})

const count = async (waymark: Waymark, id: number): Promise<unknown> =>
  (await (await waymark.project(id)).query({ kind: 'SqlLikeQuery', query: 'select count(), uniq(person_id) from events' })).results

const events = (...names: string[]) => ({ batch: names.map((event, i) => ({ event, distinct_id: `u${i}` })) })

test('a guest does what the owner does: ingest, queries, Arrow, definitions, errors', async () => {
  const owner = await joined()
  const guest = await joined()
  const made = await guest.createProject({ name: 'Shop', timezone: 'Europe/Berlin' })
  const seen = await owner.project('Shop')
  expect([seen.id, seen.token]).toEqual([made.id, made.token])
  expect(await made.ingest(events('a', 'b'))).toMatchObject({ accepted: 2, duplicates: 0 })
  expect(await seen.ingest(events('c'))).toMatchObject({ accepted: 1 })
  for (const one of [owner, guest]) expect(await count(one, made.id)).toEqual([[3, 2]])
  const query = { kind: 'SqlLikeQuery', query: 'select event from events order by event' } as const
  for (const project of [seen, made]) {
    expect((await project.queryArrow(query)).toArray().map((row) => row.toJSON())).toEqual([{ event: 'a' }, { event: 'b' }, { event: 'c' }])
    const rows: number[] = []
    for await (const batch of project.queryArrowBatches(query)) rows.push(batch.numRows)
    expect(rows.reduce((sum, one) => sum + one, 0)).toBe(3)
  }
  expect((await made.sql<[string]>`select event from events where event = ${'b'}`).results).toEqual([['b']])
  const action = await made.createAction({ name: 'A', steps: [{ event: 'a' }] })
  expect(await seen.actions.retrieve(action.id)).toEqual(await made.actions.retrieve(action.id))
  const cohort = await seen.createCohort({ name: 'All', is_static: true, distinct_ids: ['u0'] })
  expect(await made.cohorts.count(cohort.id)).toBe(1)
  expect(await guest.projects()).toEqual(await owner.projects())
  const refused = { code: 'unknown-field', span: { start: 7, end: 12 } }
  for (const project of [seen, made])
    await expect(project.query({ kind: 'SqlLikeQuery', query: 'select evnt1 from events' })).rejects.toMatchObject(refused)
  await expect(made.queryArrow({ kind: 'SqlLikeQuery', query: 'select evnt1 from events' })).rejects.toMatchObject(refused)
  await expect(guest.project(99)).rejects.toMatchObject({ code: 'not-found' })
  await expect(made.ingest({ batch: [{ event: 'x', distinct_id: () => 1 }] } as never)).rejects.toMatchObject({ code: 'validation-failed' })
  await expect(guest.createProject({ nam: 'x' } as never)).rejects.toMatchObject({ detail: expect.stringContaining('nam') })
})

test('a guest takes over when the owner leaves, with all that was acknowledged; the next one follows it', async () => {
  const first = await joined()
  const [second, third] = [await joined(), await joined()]
  const { id } = await first.createProject({ name: 'Shop' })
  const [ofSecond, ofThird] = [await second.project(id), await third.project(id)]
  let sent = 0
  let isOver = false
  const send = async (project: typeof ofSecond) => {
    while (!isOver) {
      await project.ingest(events('a'))
      sent++
    }
  }
  const sending = [send(ofSecond), send(ofThird)]
  await first.close()
  await ofSecond.ingest(events('a'))
  await ofThird.ingest(events('a'))
  isOver = true
  await Promise.all(sending)
  const all = [[sent + 2, 1]]
  expect(await count(second, id)).toEqual(all)
  expect(await count(third, id)).toEqual(all)
  const fourth = await joined()
  await second.close()
  await third.close()
  expect(await count(fourth, id)).toEqual(all)
  expect(existsSync(join(dataDir, 'owner.json'))).toBe(true)
  await fourth.close()
  expect(existsSync(join(dataDir, 'owner.json'))).toBe(false)
})

test('a directory that is open without `connect` takes guests, and is taken over from; another plain opening is refused', async () => {
  const plain = await open({ dataDir, threads: 1, durability: 'os' })
  const { id } = await plain.createProject({ name: 'Shop' })
  const guest = await joined()
  await expect(open({ dataDir })).rejects.toMatchObject({ code: 'directory-locked', detail: expect.stringContaining('connect: true') })
  await (await guest.project(id)).ingest(events('a'))
  expect(await count(plain, id)).toEqual([[1, 1]])
  await plain.close()
  expect(await count(guest, id)).toEqual([[1, 1]])
})

test('commands reach an application that has the directory open and serves nothing; others do not reach it', async () => {
  const owner = await open({ dataDir, threads: 1, durability: 'os' })
  members.push(owner)
  const { id } = await owner.createProject({ name: 'Shop' })
  const run = (...args: string[]) =>
    promisify(execFile)(process.execPath, [program('cli'), ...args, '--data', dataDir], { env: { PATH: process.env.PATH } })
  await (await owner.project(id)).ingest(events('a', 'b'))
  expect((await run('query', 'select event from events order by event', '--project', String(id), '--format', 'csv')).stdout).toBe(
    'event\na\nb\n',
  )
  expect((await run('projects', 'list')).stdout).toContain('Shop')
  const out = join(dataDir, '..', `${basename(dataDir)}.parquet`)
  await run('query', 'select * from events', '--project', String(id), '--format', 'parquet', '--out', out)
  expect((await readFile(out)).subarray(0, 4).toString()).toBe('PAR1')
  await rm(out)
  const { socket, secret } = JSON.parse(await readFile(join(dataDir, 'owner.json'), 'utf8')) as { socket: string; secret: string }
  expect((await stat(join(dataDir, 'owner.json'))).mode & 0o777).toBe(0o600)
  expect((await stat(dirname(socket))).mode & 0o777).toBe(0o700)
  const ask = (headers: Record<string, string>) =>
    new Promise<number>((resolve, reject) => {
      request({ socketPath: socket, path: '/_local/list-projects', method: 'POST', headers }, (answer) => {
        answer.resume()
        resolve(answer.statusCode!)
      })
        .on('error', reject)
        .end('{}')
    })
  const wrong: readonly Record<string, string>[] = [
    {},
    { 'x-waymark-owner': 'x' },
    { 'x-waymark-owner': secret.slice(1) },
    { authorization: `Bearer ${secret}` },
  ]
  for (const kind of ['command', 'call', 'watch', 'request', 'operator', 'batches'])
    for (const headers of wrong) expect(await ask({ 'x-waymark-kind': kind, ...headers }), kind).toBe(404)
})

test('a folder for temporary files whose path is too long for a socket', async () => {
  const usual = process.env.TMPDIR
  const long = join(dataDir, 't'.repeat(120))
  await mkdir(long)
  process.env.TMPDIR = long
  try {
    const owner = await joined()
    const guest = await joined()
    await guest.createProject({ name: 'Shop' })
    expect((await owner.projects()).map(({ name }) => name)).toEqual(['Shop'])
    const { socket } = JSON.parse(await readFile(join(dataDir, 'owner.json'), 'utf8')) as { socket: string }
    expect(socket.length).toBeLessThan(100)
  } finally {
    if (usual === undefined) delete process.env.TMPDIR
    else process.env.TMPDIR = usual
  }
})

test('wrong options', async () => {
  await expect(open({ dataDir: ':memory:', connect: true })).rejects.toMatchObject({ attr: 'connect' })
  await expect(open({ dataDir, connect: 'yes' } as never)).rejects.toMatchObject({ attr: 'connect' })
  await expect(open({ dataDir, connect: true, threds: 1 } as never)).rejects.toMatchObject({ detail: expect.stringContaining('threds') })
})

test('a query of a guest is cancelled by its signal, in the owner', async () => {
  const owner = await joined()
  const guest = await joined()
  const { id } = await owner.createProject({ name: 'Shop' })
  const project = await guest.project(id)
  await project.ingest(events('a'))
  const stop = new AbortController()
  const asked = project.query(
    { kind: 'SqlLikeQuery', query: 'select sum(a.number * b.number * c.number) from numbers(30000) a, numbers(30000) b, numbers(100) c' },
    { signal: stop.signal },
  )
  setImmediate(() => stop.abort(new Error('no longer wanted')))
  await expect(asked).rejects.toThrow('no longer wanted')
  expect(await count(owner, id)).toEqual([[1, 1]]) // the engine is free again
})

describe('over HTTP', () => {
  const listen = async (waymark: Waymark, options: Parameters<typeof toNodeHandler>[1] = {}): Promise<string> => {
    const server = createServer(toNodeHandler(waymark, options))
    servers.push(server)
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  }

  test('requests to a guest are answered by the owner: capture, queries, sessions of the application, limits that count together', async () => {
    const owner = await joined()
    const guest = await joined()
    const { id, token } = await owner.createProject({ name: 'Shop' })
    const { id: organization } = await owner.defaultOrganization()
    const { key } = await owner.createPersonalKey({ label: 'k', scopes: ['*'] })
    const lines: string[] = []
    const limits = { api: [{ count: 6, seconds: 60 }], query: [], draft: [] }
    const options = {
      limits: () => limits,
      log: ({ message, ...line }: { message: string }) => void lines.push(`${message} ${(line as { route?: string }).route}`),
      authenticate: (request: { headers: Record<string, unknown> }) =>
        request.headers['x-user'] ? { issuer: 'app', subject: String(request.headers['x-user']), organization, level: 'admin' } : null,
    } as never
    const [a, b] = [await listen(owner, options), await listen(guest, options)]
    const sent = await fetch(`${b}/batch/`, { method: 'POST', body: JSON.stringify({ api_key: token, batch: events('x', 'y').batch }) })
    expect([sent.status, await sent.json()]).toEqual([200, { status: 1 }])
    expect(lines).toContain('request /batch')
    const asked = await fetch(`${b}/api/projects/${id}/query/`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ query: { kind: 'SqlLikeQuery', query: 'select count() from events' } }),
    })
    expect(await asked.json()).toMatchObject({ results: [[2]] })
    const me = await fetch(`${b}/api/users/@me/`, { headers: { 'x-user': 'ada' } })
    expect(me.status).toBe(200)
    expect((await fetch(`${b}/api/users/@me/`)).status).toBe(401)
    const page = await fetch(`${b}/`, { headers: { accept: 'text/html' } })
    expect([page.status, page.headers.get('content-type')]).toEqual([200, expect.stringContaining('text/html')])
    const statuses: number[] = []
    for (let i = 0; i < 4; i++)
      for (const url of [a, b])
        statuses.push((await fetch(`${url}/api/projects/${id}/`, { headers: { authorization: `Bearer ${key}` } })).status)
    expect(statuses.filter((status) => status === 200)).toHaveLength(5) // the query counts, too
    expect(statuses.filter((status) => status === 429)).toHaveLength(3)
  })

  test('web-standard handlers and typed calls go through the owner, and through the next one', async () => {
    const owner = await joined()
    const guest = await joined()
    const { id } = await owner.createProject({ name: 'Shop' })
    const handler = createHandler(guest)
    const client = createClient(guest)
    expect(await (await handler(new Request('http://localhost/_livez'))).text()).toBe('ok\n')
    expect((await client.projects.update(id, { timezone: 'Europe/Berlin' })).timezone).toBe('Europe/Berlin')
    await owner.close()
    expect((await handler(new Request('http://localhost/_livez'))).status).toBe(200)
    expect((await client.projects.retrieve(id)).timezone).toBe('Europe/Berlin')
  })
})
