import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { Agent, request } from 'node:http'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import lzString from 'lz-string'
import { afterEach, expect, test } from 'vitest'
import { random } from '../../../../bench/random.ts'
import { createHandler } from '../../../../src/doors/http/server/create-handler.ts'
import { type RunningServer, startServer } from '../../../../src/doors/http/server/node-server.ts'
import { FileLog } from '../../../../src/engine/storage/log/file-log.ts'
import { type LocalWaymark, open } from '../../../../src/engine.ts'
import { deferred } from '../../../../src/lib/flow/deferred.ts'

// Single events from many connections at once share work. Each request must have the answer, and leave the event, that it would alone.

const now = new Date('2026-01-15T12:00:00Z')
const folders: string[] = []
const folder = () => {
  const made = mkdtempSync(join(tmpdir(), 'waymark-singles-'))
  folders.push(made)
  return made
}
afterEach(() => {
  for (const one of folders.splice(0)) rmSync(one, { recursive: true, force: true })
})

interface Running {
  readonly dataDir: string
  readonly waymark: LocalWaymark
  readonly server: RunningServer
  readonly port: number
  readonly projects: readonly { readonly id: number; readonly key: string }[]
}

async function start(projects: number): Promise<Running> {
  const dataDir = folder()
  const waymark = await open({ dataDir, memoryLimit: '256MB', threads: 2, minFreeBytes: 0, clock: () => now })
  const made = []
  for (let i = 0; i < projects; i++) made.push(await waymark.createProject())
  const server = await startServer(createHandler(waymark), { host: '127.0.0.1', port: 0 })
  const port = Number(new URL(server.url).port)
  return { dataDir, waymark, server, port, projects: made.map(({ id, token }) => ({ id, key: token })) }
}

interface Answer {
  readonly status: number
  readonly body: string
}

interface Sent {
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: Buffer
}

/** What must become of a request, by the description of the routes. */
interface Case {
  readonly sent: Sent
  readonly project: number
  readonly status: number
  /** Exact, or what it contains. */
  readonly body: string | RegExp
  /** The event that is stored, if there is one. */
  readonly stored: { readonly uuid: string; readonly n: number; readonly ip: string; readonly at: string } | null
}

const call = (port: number, agent: Agent, { path, headers, body }: Sent): Promise<Answer> =>
  new Promise((resolve, reject) => {
    const asked = request({ host: '127.0.0.1', port, path, method: 'POST', agent, headers }, (answer) => {
      let text = ''
      answer.on('data', (chunk) => {
        text += chunk
      })
      answer.on('end', () => resolve({ status: answer.statusCode!, body: text }))
      answer.on('error', reject)
    })
    asked.on('error', reject)
    asked.end(body)
  })

const uuid = (n: number) => `018a0000-0000-7000-8000-${n.toString(16).padStart(12, '0')}`
const encodings: Readonly<Record<string, (json: string) => { body: Buffer; query?: string; headers?: Record<string, string> }>> = {
  plain: (json) => ({ body: Buffer.from(json) }),
  gzip: (json) => ({ body: gzipSync(json), query: 'compression=gzip-js', headers: { 'content-type': 'text/plain' } }),
  'gzip by header': (json) => ({ body: gzipSync(json), headers: { 'content-encoding': 'gzip' } }),
  'a corrupt gzip label': (json) => ({ body: Buffer.from(json), query: 'compression=gzip' }),
  base64: (json) => ({ body: Buffer.from(Buffer.from(json).toString('base64')), query: 'compression=base64' }),
  lz64: (json) => ({ body: Buffer.from(lzString.compressToBase64(json)), query: 'compression=lz64' }),
  form: (json) => ({
    body: Buffer.from(new URLSearchParams({ data: json }).toString()),
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
  }),
}

const ok = '{"status":1}'
/** What is wrong with an event, and what the answer says. */
const wrong: readonly (readonly [change: Record<string, unknown>, status: number, body: RegExp])[] = [
  [{ event: undefined }, 400, /"invalid_payload".*\\"event\\"/],
  [{ event: '' }, 400, /should not be blank/],
  [{ distinct_id: undefined }, 400, /\\"distinct_id\\"/],
  [{ uuid: 'none' }, 400, /uuid\\" is not a UUID/],
  [{ properties: 3 }, 400, /should be a dictionary/],
  [{ properties: { deep: JSON.parse(`${'['.repeat(250)}${']'.repeat(250)}`) as unknown } }, 400, /nested more than/],
]

/** `client` gives its events their numbers, so that its order can be seen. */
function drawCase(draw: () => number, client: number, step: number, projects: Running['projects'], mine: number[]): Case {
  const pick = <T>(values: readonly T[]): T => values[Math.floor(draw() * values.length)]!
  const project = Math.floor(draw() * projects.length)
  const { key } = projects[project]!
  const n = client * 10_000 + step
  const path = pick(['/capture/', '/e/', '/i/v0/e/', '/track', '/batch/'])
  const address = pick([null, `192.0.2.${1 + Math.floor(draw() * 200)}`])
  const sentAt = pick([null, '2026-01-15T11:59:00.000Z', '2026-01-15T12:10:00.000Z', 'noon'])
  const timestamp = '2026-01-15T11:00:00.000Z'
  const kind = draw()
  const change = kind < 0.15 ? pick(wrong) : null
  const event = { event: 'view', distinct_id: `u${n % 50}`, uuid: uuid(n), timestamp, properties: { n }, ...change?.[0] }
  const withSent = { ...event, ...(sentAt === null ? {} : { sent_at: sentAt }) }
  const isKnown = draw() > 0.05
  const token = isKnown ? key : 'phc_of_nobody'
  const body = path === '/batch/' ? { api_key: token, batch: [event], sent_at: sentAt } : { token, ...withSent }
  const skew = sentAt === null || sentAt === 'noon' ? 0 : now.getTime() - Date.parse(sentAt)
  const at = new Date(Date.parse(timestamp) + skew).toISOString()
  const stored = { uuid: uuid(n), n, ip: address ?? '127.0.0.1', at }
  const headers = { 'content-type': 'application/json', ...(address !== null && { 'x-forwarded-for': `${address}, 10.0.0.1` }) }
  const encode = (json: string, query = ''): Sent => {
    const encoded = encodings[pick(Object.keys(encodings))]!(json)
    const parameters = [query, encoded.query].filter((one) => one).join('&')
    return { path: `${path}?${parameters}`, headers: { ...headers, ...encoded.headers }, body: encoded.body }
  }
  if (kind > 0.97) {
    const sent = { path, headers, body: Buffer.from(JSON.stringify({ ...body, padding: 'x'.repeat(path === '/batch/' ? 1 : 2 ** 21) })) }
    if (path !== '/batch/') return { sent, project, status: 413, body: /"request_too_large"/, stored: null }
  }
  if (kind > 0.95)
    return {
      sent: { path, headers, body: Buffer.from(JSON.stringify(body).slice(0, -2)) },
      project,
      status: 400,
      body: /Malformed request data/,
      stored: null,
    }
  if (!isKnown) return { sent: encode(JSON.stringify(body)), project, status: 401, body: /"invalid_api_key"/, stored: null }
  if (change) return { sent: encode(JSON.stringify(body)), project, status: change[1], body: change[2], stored: null }
  if (kind > 0.9 && mine.length > 0) {
    // Once more what this connection has sent.
    const again = pick(mine)
    const same = { event: 'view', distinct_id: 'again', uuid: uuid(again), properties: { n: again }, token: projects[0]!.key }
    return { sent: { path: '/e/', headers, body: Buffer.from(JSON.stringify(same)) }, project: 0, status: 200, body: ok, stored: null }
  }
  const isBeacon = draw() < 0.1
  if (project === 0) mine.push(n)
  return {
    sent: encode(JSON.stringify(body), isBeacon ? 'beacon=1' : ''),
    project,
    status: isBeacon ? 204 : 200,
    body: isBeacon ? '' : ok,
    stored,
  }
}

/** Numbers of events in the log of a project, in its order, and how many batches it has. */
async function logged(dataDir: string, project: number): Promise<{ numbers: number[]; batches: number }> {
  const log = await FileLog.open(join(dataDir, 'projects', String(project), 'log'))
  const numbers: number[] = []
  let batches = 0
  for await (const { kind, payloads } of log.read(log.firstSeq)) {
    if (kind !== 'event') continue
    batches++
    for (const payload of payloads) numbers.push((JSON.parse(payload) as { properties: { n: number } }).properties.n)
  }
  await log.close()
  return { numbers, batches }
}

test('singles of many connections and projects: each has its own answer, and what was stored is what was acknowledged, in order', async () => {
  const { dataDir, waymark, server, port, projects } = await start(3)
  const clients = 24
  const done: { readonly client: number; readonly one: Case; readonly answer: Answer }[] = []
  await Promise.all(
    Array.from({ length: clients }, async (_, client) => {
      const draw = random(client + 1)
      const agent = new Agent({ keepAlive: true, maxSockets: 1 })
      const mine: number[] = []
      for (let step = 0; step < 40; step++) {
        const one = drawCase(draw, client, step, projects, mine)
        done.push({ client, one, answer: await call(port, agent, one.sent) })
      }
      agent.destroy()
    }),
  )
  for (const { one, answer } of done) {
    const shown = `${one.sent.path} ${one.sent.body.toString('latin1').slice(0, 300)}`
    expect([shown, answer.status]).toEqual([shown, one.status])
    if (typeof one.body === 'string') expect(answer.body).toBe(one.body)
    else expect(answer.body).toMatch(one.body)
  }
  const statuses = new Set(done.map(({ answer }) => answer.status))
  expect([...statuses].sort()).toEqual([200, 204, 400, 401, 413])
  for (const [index, { id }] of projects.entries()) {
    const expected = done.flatMap(({ one }) => (one.stored && one.project === index ? [one.stored] : []))
    const project = await waymark.project(id)
    const { results } = await project.query({
      kind: 'SqlLikeQuery',
      query: 'select toString(uuid), properties.n, properties.$ip, toString(timestamp) from events order by uuid limit 10000',
    })
    const found = (results as [string, number, string, string][]).map(([uuid, n, ip, at]) => ({
      uuid,
      n: Number(n),
      ip,
      at: new Date(at.includes('T') ? at : `${at.replace(' ', 'T')}Z`).toISOString(),
    }))
    expect(found).toEqual([...expected].sort((a, b) => (a.uuid < b.uuid ? -1 : 1)))
  }
  await server.drain()
  await waymark.close()
  for (const [index, { id }] of projects.entries()) {
    const { numbers, batches } = await logged(dataDir, id)
    expect(batches).toBeLessThan(numbers.length)
    const firsts = [...new Set(numbers)]
    for (let client = 0; client < clients; client++) {
      const sent = done.flatMap(({ client: by, one }) => (by === client && one.stored && one.project === index ? [one.stored.n] : []))
      expect(firsts.filter((n) => Math.floor(n / 10_000) === client)).toEqual(sent)
    }
  }
})

const raw = (key: string, n: number): string => {
  const body = JSON.stringify({ token: key, event: 'view', distinct_id: 'u', uuid: uuid(n), properties: { n } })
  return `POST /e/ HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`
}
const answersIn = (text: string) => text.split('HTTP/1.1 ').length - 1

// Their order is that in which their bodies are complete: one that comes in two packets may be overtaken. Clients wait for an answer where order matters.
test('requests that one connection sends without waiting share batches, each taken once', async () => {
  const { dataDir, waymark, server, port, projects } = await start(1)
  const [{ id, key }] = projects as [Running['projects'][0]]
  const socket = connect(port, '127.0.0.1')
  socket.write(Array.from({ length: 200 }, (_, n) => raw(key, n)).join(''))
  let text = ''
  for await (const chunk of socket) {
    text += chunk
    if (answersIn(text) === 200) break
  }
  expect(text.split('HTTP/1.1 200 OK')).toHaveLength(201)
  await server.drain()
  await waymark.close()
  const { numbers, batches } = await logged(dataDir, id)
  expect(numbers.sort((a, b) => a - b)).toEqual(Array.from({ length: 200 }, (_, n) => n))
  expect(batches).toBeLessThan(100)
})

test('a slow client and clients that give up do not disturb the others', async () => {
  const { dataDir, waymark, server, port, projects } = await start(1)
  const [{ id, key }] = projects as [Running['projects'][0]]
  const slow = connect(port, '127.0.0.1')
  const sentSlowly = raw(key, 9_999)
  slow.write(sentSlowly.slice(0, -20))
  const agents = Array.from({ length: 8 }, () => new Agent({ keepAlive: true, maxSockets: 1 }))
  const sentOf = (n: number): Sent => {
    const body = Buffer.from(JSON.stringify({ token: key, event: 'view', distinct_id: 'u', uuid: uuid(n), properties: { n } }))
    return { path: '/e/', headers: { 'content-type': 'application/json' }, body }
  }
  const others = agents.map(async (agent, client) => {
    const statuses = []
    for (let i = 0; i < 10; i++) {
      const leaving = connect(port, '127.0.0.1')
      leaving.write(raw(key, 5_000 + client * 10 + i), () => leaving.destroy())
      statuses.push((await call(port, agent, sentOf(client * 10 + i))).status)
    }
    agent.destroy()
    return statuses
  })
  expect((await Promise.all(others)).flat()).toEqual(Array.from({ length: 80 }, () => 200))
  slow.write(sentSlowly.slice(-20))
  const [chunk] = (await once(slow, 'data')) as [Buffer]
  expect(chunk.toString()).toContain('HTTP/1.1 200 OK')
  slow.destroy()
  await server.drain()
  await waymark.close()
  const { numbers } = await logged(dataDir, id)
  expect(new Set(numbers).size).toBe(numbers.length)
  const kept = numbers.filter((n) => n < 5_000 || n === 9_999).sort((a, b) => a - b)
  expect(kept).toEqual([...Array.from({ length: 80 }, (_, n) => n), 9_999])
})

test('a server that stops answers what it has received, and nothing that it has acknowledged is missing', async () => {
  const { dataDir, waymark, server, port, projects } = await start(2)
  const acknowledged: number[][] = [[], []]
  let answers = 0
  let isStopping = false
  const isBusy = deferred<void>()
  const clients = Array.from({ length: 16 }, async (_, client) => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 })
    const { key } = projects[client % 2]!
    for (let step = 0; ; step++) {
      const n = client * 10_000 + step
      const body = Buffer.from(JSON.stringify({ token: key, event: 'view', distinct_id: 'u', uuid: uuid(n), properties: { n } }))
      const answer = await call(port, agent, { path: '/e/', headers: {}, body }).catch(() => null)
      if (answer?.status === 200) acknowledged[client % 2]!.push(n)
      else if (isStopping) break
      else throw new Error(`answered with ${answer?.status}`)
      if (++answers === 200) isBusy.resolve()
    }
    agent.destroy()
  })
  await isBusy.promise
  isStopping = true
  await server.drain()
  await waymark.close()
  await Promise.all(clients)
  for (const [index, { id }] of projects.entries()) {
    const { numbers } = await logged(dataDir, id)
    expect(new Set(numbers).size).toBe(numbers.length)
    expect(acknowledged[index]!.filter((n) => !numbers.includes(n))).toEqual([])
    expect(numbers.length - acknowledged[index]!.length).toBe(0)
  }
})
