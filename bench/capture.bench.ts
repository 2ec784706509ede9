import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { Agent, type RequestOptions, request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { gzipSync } from 'node:zlib'
import { makeEvents } from './events.ts'
import { machine, rounded } from './measure.ts'

// How many events per second does the built server take over HTTP, durable before it answers, while somebody asks? Batches of 500 in gzip from 8
// connections, then single events. With --kill the server is killed half way and started again; clients send what was not acknowledged once more.
// Everything is counted at the end: not one event too few or too many. --profile DIR writes a CPU profile of the server.

const { values } = parseArgs({
  options: {
    events: { type: 'string', default: '2400000' },
    runs: { type: 'string', default: '1' },
    singles: { type: 'string' },
    connections: { type: 'string', default: '8' },
    kill: { type: 'boolean', default: false },
    profile: { type: 'string' },
  },
})
const events = Number(values.events)
const batchSize = 500
const people = 100_000
const cli = join(import.meta.dirname, '../dist/cli.js')
if (!existsSync(cli)) spawnSync('npm', ['run', 'build', '--silent'], { stdio: 'inherit' })

interface Server {
  readonly port: number
  readonly process: ChildProcess
  readonly projectId: number
  readonly projectKey: string
  readonly personalKey: string
}

const start = async (data: string, port: number, known?: Server): Promise<Server> => {
  const profile = values.profile ? ['--cpu-prof', `--cpu-prof-dir=${values.profile}`] : []
  const child = spawn(process.execPath, [...profile, cli, 'serve', '--data', data, '--port', String(port), '--json'], {
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  const [line] = (await once(createInterface({ input: child.stdout }), 'line')) as [string]
  const facts = JSON.parse(line) as { url: string; project_id: number; project_api_key: string; personal_api_key?: string }
  return {
    port: Number(new URL(facts.url).port),
    process: child,
    projectId: facts.project_id,
    projectKey: facts.project_api_key,
    personalKey: facts.personal_api_key ?? known?.personalKey ?? '',
  }
}

/** Bytes of the most memory that the process had. */
const peakOf = ({ process: { pid } }: Server): number | null => {
  try {
    return Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) * 1024
  } catch {
    return null
  }
}

/** Seconds of work of all its threads so far: what is left of a rate when the machine is busy with others. */
const workOf = ({ process: { pid } }: Server): number => {
  try {
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]!.split(' ')
    return (Number(fields[11]) + Number(fields[12])) / 100
  } catch {
    return 0
  }
}

interface Answer {
  readonly status: number
  readonly text: string
  readonly retryAfter: number
}
const call = (agent: Agent, options: RequestOptions, body: Buffer | string): Promise<Answer> =>
  new Promise((resolve, reject) => {
    const sent = request({
      host: '127.0.0.1',
      method: 'POST',
      agent,
      ...options,
      headers: { ...options.headers, 'content-length': Buffer.byteLength(body) },
    })
    sent.once('error', reject)
    sent.once('response', (response) => {
      const chunks: Buffer[] = []
      response.on('data', (chunk: Buffer) => chunks.push(chunk))
      response.once('error', reject)
      response.once('end', () =>
        resolve({
          status: response.statusCode ?? 0,
          text: Buffer.concat(chunks).toString(),
          retryAfter: Number(response.headers['retry-after'] ?? 0),
        }),
      )
    })
    sent.end(body)
  })

let uuids = 0
/** Cheap and never the same. */
const run = randomBytes(4).toString('hex')
const newUuid = () => `${run}-0000-4000-8000-${(uuids++).toString(16).padStart(12, '0')}`

/** Bodies are made before the clock runs, so that the clients cost little. */
const batchBodies = (key: string, count: number): Buffer[] => {
  const pool = Array.from({ length: 10 }, (_, i) =>
    makeEvents(batchSize, people, i + 1).map((event) => JSON.stringify({ uuid: '?', ...event }).split('"?"') as [string, string]),
  )
  return Array.from({ length: count }, (_, i) => {
    const texts = pool[i % pool.length]!.map(([before, after]) => `${before}"${newUuid()}"${after}`)
    return gzipSync(`{"api_key":"${key}","batch":[${texts.join(',')}]}`, { level: 1 })
  })
}
const singleBodies = (key: string, count: number): string[] => {
  const pool = makeEvents(Math.min(count, 1000), people)
  return Array.from({ length: count }, (_, i) => JSON.stringify({ api_key: key, uuid: newUuid(), ...pool[i % pool.length]! }))
}

const ask = async (agent: Agent, server: Server, query: object): Promise<{ results: number[][] }> => {
  const headers = { authorization: `Bearer ${server.personalKey}`, 'content-type': 'application/json' }
  const path = `/api/projects/${server.projectId}/query/`
  const { status, text } = await call(agent, { port: server.port, path, headers }, JSON.stringify({ query, refresh: 'force_blocking' }))
  if (status !== 200) throw new Error(`a query was answered with ${status}: ${text}`)
  return JSON.parse(text) as { results: number[][] }
}
const daily = {
  kind: 'TrendsQuery',
  series: [{ kind: 'EventsNode', event: '$pageview' }],
  dateRange: { date_from: '2026-01-01', date_to: '2026-03-31' },
}

const percentile = (times: readonly number[], share: number) =>
  rounded([...times].sort((a, b) => a - b)[Math.min(times.length - 1, Math.floor(times.length * share))] ?? 0)

interface Load {
  readonly seconds: number
  /** Of the server, after the load's first half when it was killed. */
  readonly work: number
  readonly acknowledged: number[]
  readonly asked: number[]
  readonly refusals: number
  readonly broken: number
}

/** Sends each body until it is acknowledged, from as many connections, while a query runs each second. */
async function load(
  server: () => Server,
  bodies: readonly (Buffer | string)[],
  path: string,
  connections: number,
  options: { headers?: Record<string, string>; onAcknowledged?: (count: number) => void; asks: boolean },
): Promise<Load> {
  const [acknowledged, asked]: [number[], number[]] = [[], []]
  let [next, refusals, broken, isDone] = [0, 0, 0, false]
  const headers = { 'content-type': 'application/json', ...options.headers }
  const client = async () => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 })
    for (let i = next++; i < bodies.length; i = next++) {
      for (let begin = performance.now(); ; begin = performance.now()) {
        const answer = await call(agent, { port: server().port, path, headers }, bodies[i]!).catch(() => null)
        if (answer?.status === 200) {
          acknowledged.push(performance.now() - begin)
          break
        }
        if (answer === null) broken++
        else if (answer.status === 503) refusals++
        else throw new Error(`a batch was answered with ${answer.status}: ${answer.text}`)
        await setTimeout(answer?.retryAfter ? 200 : 50)
      }
      options.onAcknowledged?.(acknowledged.length)
    }
    agent.destroy()
  }
  const asker = async () => {
    const agent = new Agent({ keepAlive: true })
    while (!isDone && options.asks) {
      const begin = performance.now()
      const isAnswered = await ask(agent, server(), daily).then(
        () => true,
        (error: unknown) => {
          if (values.kill) return false
          throw error
        },
      )
      if (isAnswered) asked.push(performance.now() - begin)
      await setTimeout(Math.max(0, 1000 - (performance.now() - begin)))
    }
    agent.destroy()
  }
  const begin = performance.now()
  const workBefore = workOf(server())
  const asking = asker()
  await Promise.all(Array.from({ length: connections }, client))
  const seconds = (performance.now() - begin) / 1000
  isDone = true
  await asking
  return { seconds, work: workOf(server()) - (values.kill ? 0 : workBefore), acknowledged, asked, refusals, broken }
}

const mustHave = async (server: Server, expected: number): Promise<void> => {
  const agent = new Agent()
  const { results } = await ask(agent, server, { kind: 'SqlLikeQuery', query: 'select count(), count(distinct uuid) from events' })
  agent.destroy()
  const [rows, different] = results[0]!
  if (rows !== expected || different !== expected)
    throw new Error(`${rows} events, ${different} different, where ${expected} were acknowledged`)
}
const stop = async (server: Server): Promise<void> => {
  server.process.kill('SIGTERM')
  await once(server.process, 'exit')
}
const print = (figures: object) => console.log(JSON.stringify({ bench: 'capture', ...figures, machine: machine() }))

async function measure(): Promise<void> {
  const data = mkdtempSync(join(tmpdir(), 'waymark-bench-'))
  let server = await start(data, 0)
  try {
    const connections = Number(values.connections)
    const bodies = batchBodies(server.projectKey, Math.ceil(events / batchSize))
    let down: Promise<void> | null = null
    const kill = async () => {
      server.process.kill('SIGKILL')
      await once(server.process, 'exit')
      server = await start(data, server.port, server)
    }
    const onAcknowledged = (count: number) => {
      if (values.kill && down === null && count >= bodies.length / 2) down = kill()
    }
    const batches = await load(() => server, bodies, '/batch/', connections, {
      headers: { 'content-encoding': 'gzip' },
      onAcknowledged,
      asks: true,
    })
    await down
    const sent = bodies.length * batchSize
    await mustHave(server, sent)
    print({
      part: values.kill ? 'batches, killed half way' : 'batches',
      events: sent,
      connections,
      seconds: rounded(batches.seconds),
      events_per_second: Math.round(sent / batches.seconds),
      server_cpu_seconds: rounded(batches.work),
      acknowledged_ms: { p50: percentile(batches.acknowledged, 0.5), p99: percentile(batches.acknowledged, 0.99) },
      query_ms: { asked: batches.asked.length, p50: percentile(batches.asked, 0.5), p99: percentile(batches.asked, 0.99) },
      refused: batches.refusals,
      broken: batches.broken,
      peak_mb: Math.round((peakOf(server) ?? 0) / 1024 ** 2),
      counted: sent,
    })
    if (values.kill) return
    const singles = singleBodies(server.projectKey, Number(values.singles ?? Math.max(1000, Math.round(events / 60))))
    const posts = await load(() => server, singles, '/capture/', 32, { asks: false })
    await mustHave(server, sent + singles.length)
    print({
      part: 'single events',
      events: singles.length,
      connections: 32,
      events_per_second: Math.round(singles.length / posts.seconds),
      server_cpu_seconds: rounded(posts.work),
      acknowledged_ms: { p50: percentile(posts.acknowledged, 0.5), p99: percentile(posts.acknowledged, 0.99) },
      refused: posts.refusals,
    })
  } finally {
    await stop(server)
    rmSync(data, { recursive: true, force: true })
  }
}

for (let i = 0; i < Number(values.runs); i++) await measure()
