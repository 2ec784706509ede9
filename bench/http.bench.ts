import { spawn } from 'node:child_process'
import { Agent, request } from 'node:http'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { parseArgs } from 'node:util'
import { bundled, machine, median, rounded } from './measure.ts'

// How many requests per second, and how long does the slowest hundredth wait? A record, a cached query, a small query that is computed each time;
// beside them a bare server that answers a constant, in the same process and run.

const { values } = parseArgs({ options: { events: { type: 'string', default: '1000000' }, runs: { type: 'string', default: '3' } } })
const clients = 8
const secondsEach = 3

interface Servers {
  readonly url: string
  readonly bare: string
  readonly key: string
  readonly organization: string
  readonly project: number
}
interface Question {
  readonly name: string
  readonly url: string
  readonly body?: (n: number) => string
  readonly holds: (answer: string) => boolean
}

const child = spawn(process.execPath, [await bundled(join(import.meta.dirname, '..', 'bench', 'http-server.ts')), values.events], {
  stdio: ['ignore', 'pipe', 'inherit'],
})
const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
const servers = JSON.parse((await lines.next()).value as string) as Servers
const agent = new Agent({ keepAlive: true, maxSockets: clients })

const ask = ({ url, body }: Question, n: number): Promise<{ status: number; text: string }> =>
  new Promise((resolve, reject) => {
    const headers = { authorization: `Bearer ${servers.key}`, 'content-type': 'application/json' }
    const sent = request(url, { agent, method: body ? 'POST' : 'GET', headers }, (response) => {
      let text = ''
      response.setEncoding('utf8').on('data', (chunk: string) => {
        text += chunk
      })
      response.on('end', () => resolve({ status: response.statusCode ?? 0, text }))
    })
    sent.on('error', reject)
    sent.end(body?.(n))
  })

async function load(question: Question): Promise<{ perSecond: number; p50: number; p99: number }> {
  const times: number[] = []
  let n = Math.floor(Math.random() * 1e9)
  const begin = performance.now()
  const client = async () => {
    while (performance.now() - begin < secondsEach * 1000) {
      const start = performance.now()
      const { status, text } = await ask(question, n++)
      if (status !== 200 || !question.holds(text)) throw new Error(`${question.name}: ${status} ${text.slice(0, 200)}`)
      times.push(performance.now() - start)
    }
  }
  await Promise.all(Array.from({ length: clients }, client))
  const perSecond = times.length / ((performance.now() - begin) / 1000)
  times.sort((a, b) => a - b)
  return { perSecond, p50: times[Math.floor(times.length * 0.5)]!, p99: times[Math.floor(times.length * 0.99)]! }
}

const query = (tree: object, more: object = {}) => JSON.stringify({ query: tree, ...more })
const trend = {
  kind: 'TrendsQuery',
  series: [{ kind: 'EventsNode', event: 'purchase' }],
  dateRange: { date_from: '2026-01-01', date_to: '2026-03-31' },
}
const endpoint = `${servers.url}/api/projects/${servers.project}/query/`
const questions: readonly Question[] = [
  { name: 'bare server', url: servers.bare, holds: (text) => text.includes('constant') },
  {
    name: 'record',
    url: `${servers.url}/api/organizations/${servers.organization}/`,
    holds: (text) => text.includes(servers.organization),
  },
  { name: 'cached query', url: endpoint, body: () => query(trend), holds: (text) => text.includes('"count"') },
  {
    name: 'uncached small query',
    url: endpoint,
    body: (n) =>
      query({
        kind: 'SqlLikeQuery',
        query: `select count() from events where event = 'purchase' and timestamp > '2026-03-25' and distinct_id = 'user-${n % 50_000}'`,
      }),
    holds: (text) => text.includes('"results":[['),
  },
]

try {
  for (const question of questions) await ask(question, 0)
  const results = new Map<string, { perSecond: number; p50: number; p99: number }[]>()
  for (let run = 0; run < Number(values.runs); run++)
    for (const question of questions) results.set(question.name, [...(results.get(question.name) ?? []), await load(question)])
  const bare = median(results.get('bare server')!.map((r) => r.perSecond))
  for (const [name, measured] of results) {
    const perSecond = median(measured.map((r) => r.perSecond))
    console.log(
      JSON.stringify({
        bench: 'http',
        question: name,
        requests_per_second: rounded(perSecond),
        ratio_to_bare: rounded(perSecond / bare),
        p50_ms: rounded(median(measured.map((r) => r.p50))),
        p99_ms: rounded(median(measured.map((r) => r.p99))),
        clients,
        events: Number(values.events),
        runs: measured.length,
        ...machine(),
      }),
    )
  }
} finally {
  agent.destroy()
  child.kill('SIGTERM')
  const { value } = await lines.next()
  if (value)
    console.log(
      JSON.stringify({ bench: 'http', question: 'memory', peak_mb: rounded((JSON.parse(value as string) as { peakMb: number }).peakMb) }),
    )
}
