import { type ChildProcess, spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { Agent, request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { parseArgs } from 'node:util'
import { open } from '../src/engine.ts'
import { makeEvents } from './events.ts'
import { machine, median, rounded } from './measure.ts'

// How long does a dashboard of twenty tiles take, for one person and for ten who open it at once? The built server runs as `waymark serve` starts it. A person asks as
// a browser does: all tiles, over six connections. Each round has other dates, so that no answer is kept from the round before; "the same" asks one dashboard ten times,
// "their own" ten with other dates each.

const { values } = parseArgs({
  options: {
    events: { type: 'string', default: '1000000' },
    runs: { type: 'string', default: '7' },
    /** Keeps the store there, and uses it if it is there already. */
    directory: { type: 'string' },
  },
})
const count = Number(values.events)
const rounds = Number(values.runs)
const batchSize = 5000
const persons = 10
const connections = 6
const arrivingPerSecond = 1000

const node = (event: string, more: object = {}) => ({ kind: 'EventsNode', event, ...more })
const trend = (...series: object[]) => ({ kind: 'TrendsQuery', series, interval: 'day' })
const by = (property: string) => ({ breakdownFilter: { breakdown: property, breakdown_type: 'event' } })
const shown = (display: string) => ({ trendsFilter: { display } })
const entity = (id: string) => ({ id, name: id, type: 'events' })
const retention = (period: 'Day' | 'Week', totalIntervals: number) => ({
  kind: 'RetentionQuery',
  retentionFilter: { period, totalIntervals, targetEntity: entity('signed up'), returningEntity: entity('$pageview') },
})
const funnel = (...events: string[]) => ({ kind: 'FunnelsQuery', series: events.map((event) => node(event)) })
const isPro = { properties: [{ key: 'plan', value: 'pro', operator: 'exact', type: 'event' }] }

const tiles: readonly object[] = [
  trend(node('$pageview')),
  trend(node('$pageview', { math: 'dau' })),
  trend(node('$pageview', { math: 'weekly_active' })),
  trend(node('signed up'), node('purchase')),
  { ...trend(node('$pageview')), ...by('$browser') },
  { ...trend(node('$pageview', { math: 'dau' })), ...by('country') },
  { ...trend(node('purchase', { math: 'sum', math_property: 'amount' })), ...by('plan') },
  trend(node('purchase', { math: 'avg', math_property: 'amount' })),
  { ...trend(node('purchase', { math: 'sum', math_property: 'amount' })), ...shown('BoldNumber') },
  { ...trend(node('$pageview', { math: 'dau' })), ...shown('BoldNumber') },
  { ...trend(node('$pageview')), ...by('country'), ...shown('WorldMap') },
  { ...trend(node('purchase')), ...isPro },
  { ...trend(node('$pageview', { math: 'dau' })), ...isPro },
  { ...trend(node('purchase'), node('$pageview')), trendsFilter: { formula: '100 * A / B' } },
  funnel('$pageview', 'added to cart', 'purchase'),
  funnel('signed up', 'invited'),
  { ...funnel('$pageview', 'signed up', 'purchase'), ...by('$os') },
  retention('Day', 8),
  retention('Week', 8),
  { kind: 'StickinessQuery', series: [node('$pageview')] },
]

const personalKey = `phx_${'benchdashboard'.repeat(3)}`

async function fill(directory: string) {
  const waymark = await open({ dataDir: directory, durability: 'os' })
  try {
    const { project } = await waymark.accounts.firstStart({ personalKey })
    const filled = await waymark.project(project.id)
    const { results } = await filled.query({ kind: 'SqlLikeQuery', query: 'select count() from events' } as never)
    const known = (results as unknown as number[][])[0]![0]!
    for (let sent = known; sent < count; sent += batchSize)
      await filled.ingest({ batch: makeEvents(Math.min(batchSize, count - sent), Math.ceil(count / 50), 1 + sent / batchSize) })
    return { project: project.id, token: project.api_token }
  } finally {
    await waymark.close()
  }
}

const addressOf = (server: ChildProcess): Promise<string> =>
  new Promise((resolve, reject) => {
    const hear = (line: string) => {
      const url = /^Waymark +(\S+)$/.exec(line)?.[1]
      if (url) resolve(url)
    }
    for (const stream of [server.stdout!, server.stderr!]) createInterface({ input: stream }).on('line', hear)
    server.once('exit', () => reject(new Error('The server ended')))
  })

/** Posts over connections of its own. */
class Client {
  private readonly agent = new Agent({ keepAlive: true, maxSockets: connections })

  constructor(private readonly url: string) {}

  post(path: string, body: object): Promise<{ readonly status: number; readonly text: string }> {
    const text = JSON.stringify(body)
    const headers = {
      'content-type': 'application/json',
      authorization: `Bearer ${personalKey}`,
      'content-length': Buffer.byteLength(text),
    }
    return new Promise((resolve, reject) => {
      const asked = request(`${this.url}${path}`, { method: 'POST', agent: this.agent, headers }, (response) => {
        const parts: Buffer[] = []
        response.on('data', (part: Buffer) => parts.push(part)).once('error', reject)
        response.once('end', () => resolve({ status: response.statusCode!, text: Buffer.concat(parts).toString() }))
      })
      asked.once('error', reject).end(text)
    })
  }

  close(): void {
    this.agent.destroy()
  }
}

const dayOf = (days: number) => new Date(Date.UTC(2026, 0, 1 + days)).toISOString().slice(0, 10)
/** Other dates for each number, of at least eight weeks. */
const datesOf = (round: number) => ({ date_from: dayOf(round % 28), date_to: dayOf(88 - (Math.floor(round / 28) % 4)) })

/** All tiles, until the last one is answered. */
async function opened(client: Client, project: number, round: number): Promise<number> {
  const begun = performance.now()
  await Promise.all(
    tiles.map(async (tile) => {
      const query = { ...tile, dateRange: datesOf(round) }
      const { status, text } = await client.post(`/api/projects/${project}/query/`, { query, refresh: 'blocking' })
      if (status !== 200) throw new Error(`${status} ${text.slice(0, 300)}`)
    }),
  )
  return performance.now() - begun
}

/** A thousand events a second, until it is called. */
function feeding(url: string, token: string): () => Promise<void> {
  const client = new Client(url)
  let isOver = false
  const work = async () => {
    for (let seed = 1_000_000; !isOver; seed++) {
      const begun = performance.now()
      const batch = makeEvents(arrivingPerSecond / 10, Math.ceil(count / 50), seed)
      const { status } = await client.post('/batch/', { api_key: token, batch })
      if (status !== 200) throw new Error(`The events were answered with ${status}`)
      await new Promise((done) => setTimeout(done, Math.max(0, 100 - (performance.now() - begun))))
    }
    client.close()
  }
  const working = work()
  return () => {
    isOver = true
    return working
  }
}

const directory = values.directory ?? mkdtempSync(join(tmpdir(), 'waymark-bench-'))
mkdirSync(directory, { recursive: true })
const { project, token } = await fill(directory)
// Sessions of ten people have no limit between them that one key would have.
const limits = ['--concurrent-queries', '0', '--queries-per-user', '0', '--api-limit', '0']
const args = [join(import.meta.dirname, '../dist/cli.js'), 'serve', '--data', directory, '--port', '0', ...limits]
const server = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'pipe'] })
const ended = new Promise((resolve) => server.once('exit', resolve))
try {
  const url = await addressOf(server)
  const clients = Array.from({ length: persons }, () => new Client(url))
  let round = 0
  const first = await opened(clients[0]!, project, round++)
  // Lists and their columns are loaded behind the first answers.
  for (let i = 0; i < 20; i++) await opened(clients[0]!, project, round++)
  const measured = async (what: string, ask: () => Promise<readonly number[]>, one: number | null) => {
    const all: number[] = []
    const slowest: number[] = []
    for (let i = 0; i < rounds; i++) {
      const times = await ask()
      all.push(...times)
      slowest.push(Math.max(...times))
    }
    const figures = { median_ms: rounded(median(all)), slowest_median_ms: rounded(median(slowest)) }
    const ofOne = one === null ? {} : { of_one: rounded(median(slowest) / one) }
    console.log(JSON.stringify({ bench: 'dashboard', what, events: count, tiles: tiles.length, ...figures, ...ofOne, ...machine() }))
    return median(all)
  }
  const alone = async () => [await opened(clients[0]!, project, round++)]
  const same = () => {
    const its = round++
    return Promise.all(clients.map((client) => opened(client, project, its)))
  }
  const own = () => Promise.all(clients.map((client) => opened(client, project, round++)))
  console.log(
    JSON.stringify({ bench: 'dashboard', what: 'one person, for the first time', events: count, ms: rounded(first), ...machine() }),
  )
  const one = await measured('one person', alone, null)
  await measured('ten persons, the same dashboard', same, one)
  await measured('ten persons, their own dates', own, one)
  const stop = feeding(url, token)
  await measured('one person, while events arrive', alone, one)
  await measured('ten persons, the same dashboard, while events arrive', same, one)
  await stop()
  for (const client of clients) client.close()
} finally {
  server.kill('SIGTERM')
  await ended
  if (values.directory === undefined) rmSync(directory, { recursive: true, force: true })
}
