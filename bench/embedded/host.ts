import { createHash } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createInterface } from 'node:readline'
import { setTimeout } from 'node:timers/promises'
import { open, type Waymark, WaymarkError } from 'waymark'
import { makeEvents } from '../events.ts'
import { batchSize, charts, type HostAnswer, type HostCommand, type HostStart, people } from './protocol.ts'

// An application with requests of its own that has opened Waymark: what embedded.bench.ts asks. It reads one command a line.

const start = JSON.parse(process.argv[2]!) as HostStart

// Half of the requests compute only, the other half also read a file, which takes one of the threads that DuckDB's statements run on, too.
const orders = Array.from({ length: 1_000 }, (_, id) => ({
  id,
  user: `user-${id % 97}`,
  lines: Array.from({ length: 12 }, (_, n) => id * n),
}))
const template = `${start.dataDir}.html`
writeFileSync(template, 'x'.repeat(8_192))
const server = createServer(async (request, response) => {
  const id = Number(request.url!.split('/').at(-1))
  const body = JSON.stringify(orders[id % orders.length])
  const page = id % 2 === 0 ? '' : await readFile(template, 'utf8')
  response.setHeader('etag', createHash('sha1').update(body).update(page).digest('hex'))
  response.end(page + body)
})
server.keepAliveTimeout = 600_000 // a connection that is closed just when it is used again would be a failed request
await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))

const clock = () => new Date('2026-04-01T00:00:00Z')
const openedAt = performance.now()
const waymark: Waymark | null =
  start.isolate === null
    ? null
    : await open({ dataDir: start.dataDir, clock, isolate: start.isolate, memoryLimit: start.memoryLimit, onError: () => undefined })
const project = await waymark?.findOrCreateProject({ name: 'Shop' })
await project?.query({ kind: 'SqlLikeQuery', query: 'select count() from events' })
const openMs = performance.now() - openedAt

const counts = { ingested: 0, answered: 0, failed: 0 }
const chartMs: number[] = []
/** Ends with the condition. */
let condition = new AbortController()
let running: Promise<unknown> = Promise.resolve()

/** Batches at a constant rate, whether or not earlier ones are acknowledged. */
async function ingest(rate: number, signal: AbortSignal): Promise<void> {
  const pool = Array.from({ length: 20 }, (_, n) => makeEvents(batchSize, people, 1_000 + n))
  const pending = new Set<Promise<void>>()
  const begun = performance.now()
  for (let sent = 0; !signal.aborted; sent++) {
    await setTimeout(Math.max(0, begun + (sent * batchSize * 1_000) / rate - performance.now()))
    const one: Promise<void> = project!
      .ingest({ batch: pool[sent % pool.length]! })
      .then(
        ({ accepted }) => {
          counts.ingested += accepted
        },
        () => {
          counts.failed++
        },
      )
      .finally(() => pending.delete(one))
    pending.add(one)
  }
  await Promise.all(pending)
}

/** A dashboard each second, all its charts at a time; the next one when they are answered. */
async function ask(signal: AbortSignal): Promise<void> {
  for (let next = performance.now(); !signal.aborted; next = Math.max(next + 1_000, performance.now())) {
    await setTimeout(Math.max(0, next - performance.now()))
    await Promise.all(
      charts.map(async (chart) => {
        const since = performance.now()
        await project!.query(chart, { refresh: true }).then(
          () => {
            counts.answered++
          },
          () => {
            counts.failed++
          },
        )
        chartMs.push(performance.now() - since)
      }),
    )
  }
}

async function run(query: string, times: number) {
  const begunAt = Date.now()
  const one = () =>
    project!.query({ kind: 'SqlLikeQuery', query }).then(
      () => 'answered',
      (error: unknown) => (error instanceof WaymarkError ? error.code : String(error)),
    )
  const codes = new Set(await Promise.all(Array.from({ length: times }, one)))
  const endedAt = Date.now()
  // An engine that has ended refuses what it was asked meanwhile.
  const isBack = () =>
    project!.query({ kind: 'SqlLikeQuery', query: 'select count() from events' }).then(
      () => true,
      () => false,
    )
  while (!(await isBack())) await setTimeout(100)
  return { code: [...codes].sort().join(', '), begunAt, endedAt, backMs: Date.now() - endedAt }
}

async function answer(command: HostCommand): Promise<HostAnswer> {
  if (command.kind === 'run') return run(command.query, command.times)
  if (command.kind === 'condition') {
    condition.abort()
    await running
    condition = new AbortController()
    Object.assign(counts, { ingested: 0, answered: 0, failed: 0 })
    chartMs.length = 0
    const { signal } = condition
    running = Promise.all([command.rate > 0 && ingest(command.rate, signal), command.asks && ask(signal)])
  }
  return {
    pid: process.pid,
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/orders/`,
    openMs,
    ...counts,
    chartMs: [...chartMs],
  }
}

process.stdout.write('ready\n')
for await (const line of createInterface({ input: process.stdin }))
  process.stdout.write(`${JSON.stringify(await answer(JSON.parse(line) as HostCommand))}\n`)
condition.abort()
await running
await waymark?.close()
process.exit()
