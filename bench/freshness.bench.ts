import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { open } from '../src/engine.ts'
import type { LocalProject } from '../src/project.ts'
import { machine, median, rounded } from './measure.ts'

// While events arrive, a tenth of them late and merges among them, a query each 200 ms must count exactly what was acknowledged before it. How many events
// are accepted per second, beside the same without queries, and how long do the queries take?

const { values } = parseArgs({
  options: { events: { type: 'string', default: '400000' }, runs: { type: 'string' }, rate: { type: 'string', default: '20000' } },
})
const events = Number(values.events)
const rate = Number(values.rate)
const batchSize = 500
const everyMs = 200
const inFlight = 4

const day = 86_400_000
const start = Date.UTC(2026, 2, 1)
/** Events without identities of their own: each counts. */
function batchOf(from: number) {
  return Array.from({ length: batchSize }, (_, k) => {
    const i = from + k
    const isLate = i % 10 === 0
    const timestamp = new Date(start + (isLate ? (i % 7) * day : 8 * day + (i % 80_000) * 1000)).toISOString()
    const user = `u${(i * 7919) % 5000}`
    if (i % 100 === 99)
      return { event: '$identify', distinct_id: user, timestamp, properties: { $anon_distinct_id: `anonymous-${(i * 31) % 5000}` } }
    return {
      event: i % 3 === 0 ? 'buy' : 'visit',
      distinct_id: i % 4 === 0 ? `anonymous-${i % 5000}` : user,
      timestamp,
      properties: { plan: i % 2 ? 'pro' : 'free', amount: i % 100 },
    }
  })
}

const query = {
  kind: 'TrendsQuery',
  series: [{ kind: 'EventsNode', event: null }],
  dateRange: { date_from: '2026-02-01', date_to: '2026-03-31' },
  trendsFilter: { display: 'BoldNumber' },
  modifiers: { road: 'core' },
} as const

interface Load {
  readonly seconds: number
  readonly latencies: readonly number[]
  readonly wrong: number
}

async function load(project: LocalProject, isAsked: boolean, pace: number): Promise<Load> {
  let [sent, acknowledged, wrong] = [0, 0, 0]
  const latencies: number[] = []
  let isOver = false
  const ask = async () => {
    for (let next = performance.now(); !isOver; next += everyMs) {
      await setTimeout(Math.max(0, next - performance.now()))
      const least = acknowledged
      const begun = performance.now()
      const answer = (await project.query(query as never)) as unknown as { results: [{ aggregated_value: number }] }
      latencies.push(performance.now() - begun)
      const found = answer.results[0].aggregated_value
      if (found < least || found > sent) wrong++
    }
  }
  const asking = isAsked ? ask() : Promise.resolve()
  const begun = performance.now()
  const send = async () => {
    while (sent < events) {
      const from = sent
      sent += batchSize
      if (pace > 0) await setTimeout(Math.max(0, begun + (from / pace) * 1000 - performance.now()))
      await project.ingest({ batch: batchOf(from) as never })
      acknowledged += batchSize
    }
  }
  await Promise.all(Array.from({ length: inFlight }, send))
  const seconds = (performance.now() - begun) / 1000
  isOver = true
  await asking
  return { seconds, latencies, wrong }
}

async function run(isAsked: boolean, pace: number): Promise<Load> {
  const directory = mkdtempSync(join(tmpdir(), 'waymark-bench-'))
  const waymark = await open({ dataDir: directory, clock: () => new Date('2026-03-15T00:00:00Z') })
  try {
    return await load(await waymark.createProject(), isAsked, pace)
  } finally {
    await waymark.close()
    rmSync(directory, { recursive: true, force: true })
  }
}

for (const [what, pace] of [
  [`${rate} events/s`, rate],
  ['as fast as they go', 0],
] as const) {
  const alone = await run(false, pace)
  const asked = await run(true, pace)
  const sorted = [...asked.latencies].sort((a, b) => a - b)
  console.log(
    JSON.stringify({
      bench: 'freshness',
      what,
      events,
      events_per_second: rounded(events / asked.seconds),
      ratio_to_alone: rounded(alone.seconds / asked.seconds),
      queries: sorted.length,
      wrong: asked.wrong,
      query_ms: rounded(median(sorted)),
      query_p99_ms: rounded(sorted[Math.floor(sorted.length * 0.99)] ?? 0),
      ...machine(),
    }),
  )
  if (asked.wrong > 0) process.exitCode = 1
}
