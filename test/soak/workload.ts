import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { gzipSync } from 'node:zlib'
import { random } from '../../bench/random.ts'
import { queryExamples } from '../../src/queries/examples.ts'
import type { Records } from './records.ts'
import { cli, type Server } from './server.ts'

// A small team's day: 120,000 events and 7,200 questions, most of them tiles of dashboards. A minute of a run has as many as sixteen minutes of it,
// so half an hour stands for eight hours. Files of history are imported beside that.

const minutesOfDay = 24 * 60
const timesAsFast = 16
export const perMinute = {
  events: Math.round((120_000 / minutesOfDay) * timesAsFast),
  queries: Math.round((7_200 / minutesOfDay) * timesAsFast),
}
/** Single events, and the batches of clients that gather. */
const batchSizes = [1, 1, 1, 1, 1, 1, 5, 20, 50]
const people = 4_000
const importRows = 400

export interface Measured {
  readonly captures: number[]
  readonly queries: Map<string, number[]>
}

export interface Counts {
  readonly acknowledged: Set<string>
  imported: number
  downloads: number
  /** Captures that were told to come later, while the server was up. */
  later: number
  failures: string[]
}

const names = ['$pageview', '$pageview', '$pageview', '$autocapture', 'signup', 'purchase']

export class Workload {
  measured: Measured = { captures: [], queries: new Map() }
  readonly counts: Counts = { acknowledged: new Set(), imported: 0, downloads: 0, later: 0, failures: [] }
  private readonly draw: () => number
  private readonly stopping = new AbortController()
  private running: Promise<unknown> = Promise.resolve()
  private imports = 0

  constructor(
    private readonly server: Server,
    private readonly records: Records,
    private readonly folder: string,
    seed: number,
  ) {
    this.draw = random(seed)
  }

  /** Another table of times, and what was measured until now. */
  take(): Measured {
    const { measured } = this
    this.measured = { captures: [], queries: new Map() }
    return measured
  }

  start(): void {
    const size = batchSizes.reduce((sum, one) => sum + one, 0) / batchSizes.length
    this.running = Promise.all([
      this.each((60_000 * size) / perMinute.events, () => this.capture()),
      this.each(60_000 / perMinute.queries, (n) => this.ask(n)),
      this.each(15_000, () => this.import()),
      this.each(10_000, (n) => this.look(n)),
      this.each(31_000, (n) => this.tell(n)),
    ])
  }

  async stop(): Promise<void> {
    this.stopping.abort()
    await this.running
  }

  private get isOver(): boolean {
    return this.stopping.signal.aborted
  }

  /** At a constant rate, whether or not the one before has ended. */
  private async each(everyMs: number, work: (n: number) => Promise<void>): Promise<void> {
    const pending = new Set<Promise<void>>()
    const begun = performance.now()
    for (let n = 0; !this.isOver; n++) {
      await setTimeout(Math.max(0, begun + n * everyMs - performance.now()), undefined, { signal: this.stopping.signal }).catch(
        () => undefined,
      )
      if (this.isOver) break
      const one: Promise<void> = work(n)
        .catch((error: unknown) => this.fails(String(error)))
        .finally(() => pending.delete(one))
      pending.add(one)
    }
    await Promise.all(pending)
  }

  private fails(what: string): void {
    if (this.counts.failures.length < 50) this.counts.failures.push(what.slice(0, 400))
  }

  private event(timestamp: string) {
    const who = Math.floor(this.draw() * people)
    const event = names[Math.floor(this.draw() * names.length)]!
    return {
      uuid: randomUUID(),
      event,
      distinct_id: `user-${who}`,
      timestamp,
      properties: {
        $current_url: `https://shop.example/${Math.floor(this.draw() * 50)}`,
        $pathname: `/${Math.floor(this.draw() * 50)}`,
        $session_id: `${who}-${Math.floor(Date.now() / 1_800_000)}`,
        $browser: ['Chrome', 'Safari', 'Firefox'][who % 3],
        plan: ['free', 'pro'][who % 2],
        amount: Math.round(this.draw() * 10_000) / 100,
        ...(event === 'signup' && { $set: { plan: 'pro', seats: who % 9 } }),
      },
    }
  }

  /** Until it is acknowledged, always with the same uuids. Only an answer of a server that was not killed meanwhile is measured. */
  private async capture(): Promise<void> {
    const size = batchSizes[Math.floor(this.draw() * batchSizes.length)]!
    const now = new Date().toISOString()
    const batch = Array.from({ length: size }, () => this.event(now))
    const api_key = this.server.token
    const [path, text] =
      size === 1 ? ['/capture/', JSON.stringify({ api_key, ...batch[0] })] : ['/batch/', JSON.stringify({ api_key, batch })]
    const isPacked = this.draw() < 0.5
    const body = isPacked ? gzipSync(text) : text
    for (;;) {
      const [since, isUndisturbed] = [performance.now(), this.server.undisturbed()]
      const { status, text } = await this.server.call('POST', path, body, isPacked ? { 'content-encoding': 'gzip' } : {})
      if (status === 200) {
        if (isUndisturbed()) this.measured.captures.push(performance.now() - since)
        for (const { uuid } of batch) this.counts.acknowledged.add(uuid)
        return
      }
      if (status === 503 && isUndisturbed()) this.counts.later++
      if (status !== 0 && status !== 503) throw new Error(`capture: ${status} ${text}`)
      await setTimeout(100)
    }
  }

  private async ask(n: number): Promise<void> {
    const examples = Object.values(queryExamples)
    const query = examples[n % examples.length]!
    const [since, isUndisturbed] = [performance.now(), this.server.undisturbed()]
    const body = { query, refresh: 'force_blocking' }
    const { status, text } = await this.server.call('POST', `/api/projects/${this.server.projectId}/query/`, body)
    if (!isUndisturbed()) return
    if (status !== 200) throw new Error(`${query.kind}: ${status} ${text}`)
    const { queries } = this.measured
    queries.set(query.kind, [...(queries.get(query.kind) ?? []), performance.now() - since])
  }

  /** A file of the past, with the built command, until all of it is stored. */
  private async import(): Promise<void> {
    const file = join(this.folder, `import-${this.imports++}.jsonl`)
    const day = 86_400_000
    const rows = Array.from({ length: importRows }, () =>
      this.event(new Date(Date.now() - Math.floor(this.draw() * 20 * day)).toISOString()),
    )
    writeFileSync(file, rows.map((row) => `${JSON.stringify(row)}\n`).join(''))
    for (let isDone = false; !isDone; ) {
      const child = spawn(process.execPath, [cli, 'import', file, '--url', this.server.url, '--key', this.server.token, '--json'], {
        stdio: ['ignore', 'ignore', 'pipe'],
      })
      let said = ''
      child.stderr.on('data', (part) => {
        said = `${said}${part}`.slice(-500)
      })
      const isUndisturbed = this.server.undisturbed()
      const code = await new Promise<number | null>((resolve) => child.once('exit', resolve))
      isDone = code === 0
      if (!isDone && isUndisturbed()) throw new Error(`import ended with ${code}: ${said}`)
      if (!isDone) await setTimeout(500)
    }
    for (const { uuid } of rows) this.counts.acknowledged.add(uuid)
    this.counts.imported += rows.length
    rmSync(file)
  }

  /** What people open: a dashboard, lists, a download. */
  private async look(n: number): Promise<void> {
    const at = `/api/projects/${this.server.projectId}`
    const isUndisturbed = this.server.undisturbed()
    const get = async (path: string) => {
      const { status, text } = await this.server.call('GET', path)
      if (status !== 200 && isUndisturbed()) throw new Error(`${path}: ${status} ${text}`)
    }
    await get(`${at}/dashboards/${this.records.dashboard}/?refresh=force_blocking`)
    await get(`${at}/persons/?limit=50`)
    await get(`${at}/alerts/${this.records.alert}/checks/`)
    if (n % 3 > 0) return
    const format = ['csv', 'jsonl', 'parquet', 'arrow'][(n / 3) % 4]
    const query = { kind: 'SqlLikeQuery', query: 'select uuid, event, timestamp, distinct_id, properties from events' }
    const { status, text } = await this.server.call('POST', `${at}/query/export/`, { query, format })
    if (status === 200) this.counts.downloads++
    else if (isUndisturbed()) throw new Error(`download as ${format}: ${status} ${text}`)
  }

  /** The alert fires and stops firing, in turn, and the subscription is sent. */
  private async tell(n: number): Promise<void> {
    const at = `/api/projects/${this.server.projectId}`
    const upper = n % 2 === 0 ? 1 : 1e9
    const isUndisturbed = this.server.undisturbed()
    const threshold = { configuration: { type: 'absolute', bounds: { upper } } }
    const changed = await this.server.call('PATCH', `${at}/alerts/${this.records.alert}/`, { threshold })
    const sent = n % 2 === 0 ? await this.server.call('POST', `${at}/subscriptions/${this.records.subscription}/test-delivery/`, {}) : null
    for (const one of [changed, sent])
      if (one && (one.status === 0 || one.status >= 300) && isUndisturbed())
        throw new Error(`alert or subscription: ${one.status} ${one.text}`)
  }
}
