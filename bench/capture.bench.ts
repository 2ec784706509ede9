import { type ChildProcess, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { Agent, type RequestOptions, request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { gzipSync } from 'node:zlib'
import { makeEvents, makeWebEvents } from './events.ts'
import { machine, rounded } from './measure.ts'

// How many events per second does the built server take over HTTP, durable before it answers, while somebody asks? For --seconds batches of 500 in
// gzip from 8 connections, then for --single-seconds single events from 32. With --kill the server is killed in the middle of each and started again;
// clients send what was not acknowledged once more. Everything is counted at the end: not one event too few or too many. --events is the most that
// is sent in batches. --processes 1,2: the engine beside the rest, then in a process of its own, which is compared. --profile DIR writes a CPU profile of the server.
// --shape web: page views as a browser sends them, each of them drawn, of --people persons, instead of ten batches of plain events that are sent again with other
// uuids. first_tenth and last_tenth: the rates of these parts of the run.

const { values } = parseArgs({
  options: {
    events: { type: 'string', default: '3000000' },
    runs: { type: 'string', default: '1' },
    seconds: { type: 'string', default: '60' },
    'single-seconds': { type: 'string', default: '20' },
    connections: { type: 'string', default: '8' },
    kill: { type: 'boolean', default: false },
    processes: { type: 'string', default: '1,2' },
    profile: { type: 'string' },
    shape: { type: 'string', default: 'plain' },
    people: { type: 'string', default: '100000' },
    /** Of the server, as `serve --memory` takes it. */
    memory: { type: 'string' },
  },
})
if (values.shape !== 'plain' && values.shape !== 'web') throw new Error(`--shape must be plain or web, got ${values.shape}.`)
const isWeb = values.shape === 'web'
const events = Number(values.events)
const batchSize = 500
const people = Number(values.people)
const cli = join(import.meta.dirname, '../dist/cli.js')

interface Server {
  readonly port: number
  readonly process: ChildProcess
  readonly projectId: number
  readonly projectKey: string
  readonly personalKey: string
}

const start = async (data: string, processes: number, port: number, known?: Server): Promise<Server> => {
  const memory = values.memory ? ['--memory', values.memory] : []
  const profile = values.profile ? ['--cpu-prof', `--cpu-prof-dir=${values.profile}`] : []
  const child = spawn(
    process.execPath,
    [...profile, cli, 'serve', '--data', data, '--port', String(port), '--json', ...(processes === 1 ? ['--one-process'] : []), ...memory],
    {
      stdio: ['ignore', 'pipe', 'ignore'],
    },
  )
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

/** The server and its engine. */
const pidsOf = ({ process: { pid } }: Server): readonly number[] => {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8')
  return [pid!, ...children.split(' ').filter(Boolean).map(Number)]
}

/** Bytes of the most memory that each of the processes had. */
const peakOf = (server: Server): number | null => {
  try {
    const peak = (pid: number) => Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) * 1024
    return pidsOf(server).reduce((sum, pid) => sum + peak(pid), 0)
  } catch {
    return null
  }
}

/** Seconds of work of all its threads so far: what is left of a rate when the machine is busy with others. */
const workOf = (server: Server): number => {
  try {
    const work = (pid: number) => {
      const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]!.split(' ')
      return (Number(fields[11]) + Number(fields[12])) / 100
    }
    return pidsOf(server).reduce((sum, pid) => sum + work(pid), 0)
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
  if (isWeb)
    return Array.from({ length: count }, (_, i) => {
      const batch = makeWebEvents(batchSize, people, i + 1).map((event) => ({ uuid: newUuid(), ...event }))
      return gzipSync(JSON.stringify({ api_key: key, batch }), { level: 1 })
    })
  const pool = Array.from({ length: 10 }, (_, i) =>
    makeEvents(batchSize, people, i + 1).map((event) => JSON.stringify({ uuid: '?', ...event }).split('"?"') as [string, string]),
  )
  return Array.from({ length: count }, (_, i) => {
    const texts = pool[i % pool.length]!.map(([before, after]) => `${before}"${newUuid()}"${after}`)
    return gzipSync(`{"api_key":"${key}","batch":[${texts.join(',')}]}`, { level: 1 })
  })
}
const singleBodies = (key: string, count: number): string[] => {
  const pool = (isWeb ? makeWebEvents : makeEvents)(Math.min(count, 1000), people)
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
  /** Bodies that were acknowledged: all that were begun. */
  readonly sent: number
  /** Seconds of the server's processors. */
  readonly work: number
  readonly acknowledged: number[]
  /** When each of them was acknowledged, in milliseconds from the begin. */
  readonly times: readonly number[]
  readonly asked: number[]
  readonly refusals: number
  readonly broken: number
}

/** A server that can be killed and comes again on the same port. */
class Running {
  private work = 0
  private peak = 0
  private constructor(
    private readonly data: string,
    readonly processes: number,
    private server: Server,
  ) {}

  static async start(data: string, processes: number): Promise<Running> {
    return new Running(data, processes, await start(data, processes, 0))
  }
  get now(): Server {
    return this.server
  }
  /** Of all its lives. */
  get seconds(): number {
    return this.work + workOf(this.server)
  }
  get peakMb(): number {
    return Math.round(Math.max(this.peak, peakOf(this.server) ?? 0) / 1024 ** 2)
  }
  async killed(): Promise<void> {
    this.peak = Math.max(this.peak, peakOf(this.server) ?? 0)
    this.work += workOf(this.server)
    this.server.process.kill('SIGKILL')
    await once(this.server.process, 'exit')
    this.server = await start(this.data, this.processes, this.server.port, this.server)
  }
  async stop(): Promise<void> {
    this.server.process.kill('SIGTERM')
    await once(this.server.process, 'exit')
  }
}

/** Sends bodies for some seconds, each until it is acknowledged, from as many connections, while a query runs each second. */
async function load(
  running: Running,
  bodies: readonly (Buffer | string)[],
  options: { path: string; connections: number; seconds: number; headers?: Record<string, string>; asks: boolean },
): Promise<Load> {
  const [acknowledged, times, asked]: [number[], number[], number[]] = [[], [], []]
  let [next, refusals, broken, isDone] = [0, 0, 0, false]
  const headers = { 'content-type': 'application/json', ...options.headers }
  const begin = performance.now()
  const workBefore = running.seconds
  const isOver = () => performance.now() - begin > options.seconds * 1000
  const client = async () => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 })
    while (next < bodies.length && !isOver()) {
      const body = bodies[next++]!
      for (let sentAt = performance.now(); ; sentAt = performance.now()) {
        const answer = await call(agent, { port: running.now.port, path: options.path, headers }, body).catch(() => null)
        if (answer?.status === 200) {
          acknowledged.push(performance.now() - sentAt)
          times.push(performance.now() - begin)
          break
        }
        if (answer === null) broken++
        else if (answer.status === 503) refusals++
        else throw new Error(`a batch was answered with ${answer.status}: ${answer.text}`)
        await setTimeout(answer?.retryAfter ? 200 : 50)
      }
    }
    agent.destroy()
  }
  const asker = async () => {
    const agent = new Agent({ keepAlive: true })
    while (!isDone && options.asks) {
      const askedAt = performance.now()
      const isAnswered = await ask(agent, running.now, daily).then(
        () => true,
        (error: unknown) => {
          if (values.kill) return false
          throw error
        },
      )
      if (isAnswered) asked.push(performance.now() - askedAt)
      await setTimeout(Math.max(0, 1000 - (performance.now() - askedAt)))
    }
    agent.destroy()
  }
  const killer = async () => {
    if (!values.kill) return
    await setTimeout(options.seconds * 500)
    await running.killed()
  }
  const asking = asker()
  await Promise.all([killer(), ...Array.from({ length: options.connections }, client)])
  const seconds = (performance.now() - begin) / 1000
  isDone = true
  await asking
  return { seconds, sent: acknowledged.length, work: running.seconds - workBefore, acknowledged, times, asked, refusals, broken }
}

const mustHave = async (server: Server, expected: number): Promise<void> => {
  const agent = new Agent()
  const { results } = await ask(agent, server, { kind: 'SqlLikeQuery', query: 'select count(), count(distinct uuid) from events' })
  agent.destroy()
  const [rows, different] = results[0]!
  if (rows !== expected || different !== expected)
    throw new Error(`${rows} events, ${different} different, where ${expected} were acknowledged`)
}
/** Events per second of the bodies that were acknowledged between two shares of all of them. */
const rateOf = ({ times, sent }: Load, each: number, from: number, to: number): number => {
  const [first, last] = [Math.floor(sent * from), Math.floor(sent * to)]
  const since = first === 0 ? 0 : times[first - 1]!
  return Math.round(((last - first) * each * 1000) / Math.max(1, times[last - 1]! - since))
}
/** Events per second of each part in one process, which two are compared with. */
const before = new Map<string, number>()
const figures = (part: string, load: Load, events: number, running: Running) => {
  const rate = events / load.seconds
  const compared = running.processes > 1 && before.has(part) ? { of_one_process: rounded(rate / before.get(part)!) } : {}
  if (running.processes === 1) before.set(part, rate)
  console.log(
    JSON.stringify({
      bench: 'capture',
      processes: running.processes,
      shape: values.shape,
      people: isWeb ? people : Math.min(people, 10 * batchSize),
      part: values.kill ? `${part}, killed half way` : part,
      events,
      seconds: rounded(load.seconds),
      events_per_second: Math.round(rate),
      ...(load.sent >= 20 && {
        first_tenth: rateOf(load, events / load.sent, 0, 0.1),
        last_tenth: rateOf(load, events / load.sent, 0.9, 1),
      }),
      ...compared,
      server_cpu_seconds: rounded(load.work),
      acknowledged_ms: { p50: percentile(load.acknowledged, 0.5), p99: percentile(load.acknowledged, 0.99) },
      ...(load.asked.length > 0 && {
        query_ms: { asked: load.asked.length, p50: percentile(load.asked, 0.5), p99: percentile(load.asked, 0.99) },
      }),
      refused: load.refusals,
      broken: load.broken,
      peak_mb: running.peakMb,
      counted: true,
      machine: machine(),
    }),
  )
}

async function measure(processes: number): Promise<void> {
  const data = mkdtempSync(join(tmpdir(), 'waymark-bench-'))
  const running = await Running.start(data, processes)
  try {
    const { projectKey } = running.now
    const connections = Number(values.connections)
    const batches = await load(running, batchBodies(projectKey, Math.ceil(events / batchSize)), {
      path: '/batch/',
      connections,
      seconds: Number(values.seconds),
      headers: { 'content-encoding': 'gzip' },
      asks: true,
    })
    const sent = batches.sent * batchSize
    await mustHave(running.now, sent)
    figures(`batches of ${batchSize} from ${connections} connections`, batches, sent, running)

    const seconds = Number(values['single-seconds'])
    const singles = await load(running, singleBodies(projectKey, seconds * 5000), {
      path: '/capture/',
      connections: 32,
      seconds,
      asks: false,
    })
    await mustHave(running.now, sent + singles.sent)
    figures('single events from 32 connections', singles, singles.sent, running)
  } finally {
    await running.stop()
    rmSync(data, { recursive: true, force: true })
  }
}

for (let i = 0; i < Number(values.runs); i++) for (const processes of values.processes.split(',')) await measure(Number(processes))
