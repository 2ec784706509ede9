import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { cpSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { Agent, request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout } from 'node:timers/promises'
import { open } from '../../src/engine.ts'

// A server with many more projects than fit into its memory: captures and queries of projects that are drawn at random.

export interface ManyOptions {
  /** Projects of `smallEvents`, and of `largeEvents`. */
  readonly small: number
  readonly large: number
  readonly smallEvents: number
  readonly largeEvents: number
  readonly seconds: number
  /** Requests a second. */
  readonly rate: number
  readonly memory: string
  readonly seed: number
  /** The program of the server, with the arguments of node before it. */
  readonly program: readonly string[]
  readonly log?: (line: string) => void
}

export interface ManyResult {
  readonly projects: number
  readonly requests: number
  /** The first answers that were not 200, or not right. */
  readonly refused: readonly string[]
  /** Projects whose events at the end are not those that were acknowledged. */
  readonly lost: readonly string[]
  readonly captures: Times
  readonly queries: Times
  /** Megabytes of the server's processes together. */
  readonly peakMemory: number
  readonly engineEnds: number
}
interface Times {
  readonly count: number
  readonly p50: number
  readonly p99: number
  readonly most: number
}

/** A generator of numbers from 0 to 1, the same for a seed. */
const randomFrom = (seed: number) => {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let t = Math.imul(state ^ (state >>> 15), 1 | state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296
  }
}

const event = (i: number) => ({
  event: 'visited',
  distinct_id: `u${i % 5_000}`,
  timestamp: new Date(Date.UTC(2026, 0, 1) + i * 1_000).toISOString(),
  properties: { path: `/${i % 40}`, n: i },
})

interface Made {
  readonly id: number
  readonly token: string
  events: number
}

/** One project of each size is made by events; the others are copies of its files, as if each had got the same ones. */
async function fill(dataDir: string, options: ManyOptions): Promise<{ readonly projects: Made[]; readonly key: string }> {
  const { small, large, smallEvents, largeEvents } = options
  const waymark = await open({ dataDir, durability: 'os' })
  const { key } = await waymark.createPersonalKey({ label: 'many', scopes: ['*'] })
  const projects: Made[] = []
  const kinds = [
    { count: small, events: smallEvents },
    { count: large, events: largeEvents },
  ]
  const copies: { readonly from: number; readonly to: number }[] = []
  for (const { count, events } of kinds) {
    let first: number | null = null
    for (let i = 0; i < count; i++) {
      const { id, api_token } = await waymark.accounts.createProject({ name: `${events} events, ${i}`, ingested_event: true } as never)
      projects.push({ id, token: api_token, events })
      if (first !== null) {
        copies.push({ from: first, to: id })
        continue
      }
      first = id
      const project = await waymark.project(id)
      for (let at = 0; at < events; at += 5_000)
        await project.ingest({
          historical_migration: events > 10_000,
          batch: Array.from({ length: Math.min(5_000, events - at) }, (_, j) => event(at + j)),
        })
    }
  }
  await waymark.close()
  const folder = (id: number) => join(dataDir, 'projects', String(id))
  for (const { from, to } of copies) cpSync(folder(from), folder(to), { recursive: true })
  return { projects, key }
}

const memoryOf = (pid: number): number => {
  try {
    const own = Number(readFileSync(`/proc/${pid}/statm`, 'utf8').split(' ')[1]) * 4096
    const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean)
    return own + children.reduce((sum, child) => sum + memoryOf(Number(child)), 0)
  } catch {
    return 0
  }
}

const timesOf = (all: readonly number[]): Times => {
  const sorted = [...all].sort((a, b) => a - b)
  const at = (share: number) => Math.round(sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? -1)
  return { count: all.length, p50: at(0.5), p99: at(0.99), most: at(1) }
}

export async function manyProjects(options: ManyOptions): Promise<ManyResult> {
  const { seconds, rate, memory, program, log = () => undefined } = options
  const dataDir = mkdtempSync(join(tmpdir(), 'waymark-many-'))
  let stop: () => void = () => undefined
  try {
    const begun = performance.now()
    const { projects, key } = await fill(dataDir, options)
    log(`${projects.length} projects made in ${Math.round((performance.now() - begun) / 1000)} s`)
    const unlimited = ['--concurrent-queries', '--queries-per-user', '--api-limit'].flatMap((name) => [name, '0'])
    const serve = [...program, 'serve', '--data', dataDir, '--port', '0', '--json', '--memory', memory, ...unlimited]
    const server = spawn(process.execPath, serve, { stdio: ['ignore', 'pipe', 'inherit'] })
    stop = () => server.kill('SIGKILL')
    const lines = createInterface({ input: server.stdout })
    const [line] = (await once(lines, 'line')) as [string]
    lines.on('line', () => undefined)
    const port = Number(new URL((JSON.parse(line) as { url: string }).url).port)
    const agent = new Agent({ keepAlive: true, maxSockets: 64 })
    const call = (method: string, path: string, body?: object): Promise<{ status: number; text: string }> =>
      new Promise((resolve) => {
        const headers = { 'content-type': 'application/json', authorization: `Bearer ${key}` }
        const asked = request({ port, method, path, agent, headers }, (answer) => {
          let text = ''
          answer.on('data', (chunk) => {
            text += chunk
          })
          answer.on('end', () => resolve({ status: answer.statusCode!, text }))
        })
        asked.on('error', (error) => resolve({ status: 0, text: String(error) }))
        asked.end(body && JSON.stringify(body))
      })

    const refused: string[] = []
    const captures: number[] = []
    const queries: number[] = []
    const note = (what: string) => {
      if (refused.length < 20) refused.push(what)
      log(what)
    }
    const capture = async (project: Made) => {
      const since = performance.now()
      const batch = [{ ...event(project.events), uuid: randomUUID() }]
      const { status, text } = await call('POST', '/batch/', { api_key: project.token, batch })
      captures.push(performance.now() - since)
      if (status === 200) project.events++
      else note(`capture of project ${project.id}: ${status} ${text.slice(0, 300)}`)
    }
    const count = async (project: Made): Promise<number | string> => {
      const query = { kind: 'SqlLikeQuery', query: "select count(), count(distinct person_id) from events where event = 'visited'" }
      const { status, text } = await call('POST', `/api/projects/${project.id}/query/`, { query, refresh: 'force_blocking' })
      return status === 200 ? (JSON.parse(text) as { results: [[number, number]] }).results[0][0] : `${status} ${text.slice(0, 300)}`
    }
    const ask = async (project: Made) => {
      const [since, before] = [performance.now(), project.events]
      const found = await count(project)
      queries.push(performance.now() - since)
      if (typeof found === 'string') note(`query of project ${project.id}: ${found}`)
      else if (found < before) note(`query of project ${project.id}: ${found} events of ${before}`)
    }

    const random = randomFrom(options.seed)
    let peakMemory = 0
    const watch = setInterval(() => {
      peakMemory = Math.max(peakMemory, memoryOf(server.pid!))
    }, 250)
    const since = performance.now()
    const running = new Set<Promise<void>>()
    for (let n = 0; n < seconds * rate; n++) {
      await setTimeout(Math.max(0, since + (n * 1_000) / rate - performance.now()))
      const project = projects[Math.floor(random() * projects.length)]!
      const one: Promise<void> = (random() < 0.5 ? capture(project) : ask(project)).finally(() => running.delete(one))
      running.add(one)
      if (n % (rate * 60) === 0)
        log(`${Math.round((performance.now() - since) / 1000)} s: ${running.size} requests run, ${Math.round(peakMemory / 1e6)} MB at most`)
    }
    await Promise.all(running)

    const metrics = await call('GET', '/metrics')
    const engineEnds = Number(/^waymark_engine_ends (\d+)/m.exec(metrics.text)?.[1] ?? 0)
    const lost: string[] = []
    for (const project of projects) {
      const found = await count(project)
      if (found !== project.events) lost.push(`project ${project.id}: ${found} instead of ${project.events}`)
    }
    clearInterval(watch)
    server.kill('SIGTERM')
    await once(server, 'exit')
    return {
      projects: projects.length,
      requests: captures.length + queries.length,
      refused,
      lost,
      captures: timesOf(captures),
      queries: timesOf(queries),
      peakMemory: Math.round(peakMemory / 1e6),
      engineEnds,
    }
  } finally {
    stop()
    rmSync(dataDir, { recursive: true, force: true })
  }
}
