import { cpSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { open } from 'waymark'
import {
  type Exhausting,
  exhausting,
  type HostCommand,
  type HostFigures,
  type HostStart,
  type LoadCommand,
  type LoadFigures,
  people,
  type RunFigures,
} from './embedded/protocol.ts'
import { makeEvents } from './events.ts'
import { type LineProcess, startLineProcess } from './line-process.ts'
import { bundled, machine, median, rounded } from './measure.ts'

// How long do requests of an application wait that has opened Waymark, with and without `isolate`? Its own small route is asked 500 times a second by another
// process, at a constant rate, while it ingests 2,000 events a second and asks a dashboard each second. Then queries that want more memory than they may have:
// is the application alive, and how long did its requests wait meanwhile? --seconds of each condition; --heap: megabytes of its JavaScript objects, as Node
// itself chooses for a container of a gigabyte; --table also prints the table of docs/embedding.md. A request that
// failed counts as one that waits for ever: a percentile of null is one of those.

const { values } = parseArgs({
  options: {
    events: { type: 'string', default: '500000' },
    runs: { type: 'string', default: '3' },
    seconds: { type: 'string', default: '20' },
    requests: { type: 'string', default: '500' },
    rate: { type: 'string', default: '2000' },
    memory: { type: 'string', default: '512MB' },
    heap: { type: 'string', default: '512' },
    table: { type: 'boolean', default: false },
  },
})
const [events, runs, seconds, requests, rate] = [values.events, values.runs, values.seconds, values.requests, values.rate].map(Number) as [
  number,
  number,
  number,
  number,
  number,
]
const clock = () => new Date('2026-04-01T00:00:00Z')
const program = (name: string) => bundled(join(import.meta.dirname, '../bench/embedded', name))
const programs = { host: await program('host.ts'), load: await program('load.ts') }

type Load = LineProcess<LoadCommand, LoadFigures>
type Host = LineProcess<HostCommand, HostFigures | RunFigures>

const figuresOf = (host: Host): Promise<HostFigures> => host.ask({ kind: 'figures' }) as Promise<HostFigures>
const percentile = (all: readonly number[], share: number) =>
  rounded([...all].sort((a, b) => a - b)[Math.min(all.length - 1, Math.floor(all.length * share))] ?? Number.NaN)
/** A request that was not answered has waited longer than all others. */
const waits = (all: readonly (number | null)[]) => all.map((one) => one ?? Number.POSITIVE_INFINITY)

const isolations: readonly (boolean | null)[] = [null, false, true]
const conditions = [
  { condition: 'nothing else', rate: 0, asks: false },
  { condition: 'ingests', rate, asks: false },
  { condition: 'ingests and asks charts', rate, asks: true },
]

type Row = Readonly<Record<string, number | string | boolean | null>>
const rows = new Map<string, Row[]>()
const keep = (row: Row): void => {
  const key = `${row.isolate} ${row.condition}`
  rows.set(key, [...(rows.get(key) ?? []), row])
}

/** Megabytes of a process and of the largest one that it has started; null if the system does not say. */
function memoryOf(pid: number): { readonly host: number; readonly engine: number } | null {
  try {
    const mb = (id: number | string) => (Number(readFileSync(`/proc/${id}/statm`, 'utf8').split(' ')[1]) * 4096) / 1e6
    const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean)
    return { host: mb(pid), engine: Math.max(0, ...children.map(mb)) }
  } catch {
    return null
  }
}

/** Looks at the memory of both until it is told to stop. */
function watch(pid: number): () => { readonly peak_mb: number | null; readonly engine_peak_mb: number | null } {
  const peak = { host: 0, engine: 0 }
  const timer = setInterval(() => {
    const now = memoryOf(pid)
    peak.host = Math.max(peak.host, now?.host ?? 0)
    peak.engine = Math.max(peak.engine, now?.engine ?? 0)
  }, 20)
  return () => {
    clearInterval(timer)
    return { peak_mb: peak.host ? Math.round(peak.host) : null, engine_peak_mb: peak.engine ? Math.round(peak.engine) : null }
  }
}

async function measureConditions(host: Host, load: Load, isolate: boolean | null): Promise<void> {
  for (const { condition, ...what } of conditions) {
    if (isolate === null && what.rate > 0) continue
    const { url, pid } = (await host.ask({ kind: 'condition', ...what })) as HostFigures
    await load.ask({ url, rate: requests, seconds: Math.min(3, seconds) }) // warms up
    const before = await figuresOf(host)
    const peak = watch(pid)
    const { ms, lateMs } = await load.ask({ url, rate: requests, seconds })
    const after = await figuresOf(host)
    const chartMs = after.chartMs.slice(before.chartMs.length)
    if (what.rate > 0 && after.ingested === before.ingested) throw new Error(`${condition}: no event was accepted`)
    if (after.failed > 0) throw new Error(`${condition}: ${after.failed} batches or charts failed`)
    keep({
      condition,
      isolate,
      p50_ms: percentile(waits(ms), 0.5),
      p99_ms: percentile(waits(ms), 0.99),
      p999_ms: percentile(waits(ms), 0.999),
      longest_ms: percentile(waits(ms), 1),
      failed: ms.filter((one) => one === null).length,
      sent_late_p99_ms: percentile(lateMs, 0.99),
      events_per_second: Math.round((after.ingested - before.ingested) / seconds),
      charts: chartMs.length,
      chart_p50_ms: chartMs.length > 0 ? percentile(chartMs, 0.5) : null,
      open_ms: isolate === null ? null : Math.round(after.openMs),
      ...peak(),
    })
  }
  await host.ask({ kind: 'condition', rate: 0, asks: false })
}

/** Requests go on until the query has ended and a second longer. */
async function exhaust(host: Host, load: Load, isolate: boolean, { name, ...asked }: Exhausting): Promise<boolean> {
  const { url, pid } = await figuresOf(host)
  const peak = watch(pid)
  let ended: RunFigures | Error | null = null
  const running = host.ask({ kind: 'run', ...asked }).then(
    (figures) => {
      ended = figures as RunFigures
    },
    (error: Error) => {
      ended = error
    },
  )
  const waited: { readonly dueAt: number; readonly ms: number | null }[] = []
  do {
    const part = await load.ask({ url, rate: requests, seconds: 1 })
    waited.push(...part.ms.map((ms, n) => ({ dueAt: part.begunAt + (n * 1_000) / requests, ms })))
  } while (!ended)
  await running
  const outcome = ended as RunFigures | Error
  const isAlive = !(outcome instanceof Error)
  const during = waited.filter(({ dueAt }) => !isAlive || (dueAt >= outcome.begunAt && dueAt <= outcome.endedAt))
  const ms = waits((during.length > 0 ? during : waited).map((one) => one.ms))
  keep({
    condition: name,
    isolate,
    alive: isAlive,
    code: isAlive ? outcome.code : outcome.message,
    query_seconds: isAlive ? rounded((outcome.endedAt - outcome.begunAt) / 1000) : null,
    p50_ms: percentile(ms, 0.5),
    p99_ms: percentile(ms, 0.99),
    longest_ms: percentile(ms, 1),
    failed: ms.filter((one) => one === Number.POSITIVE_INFINITY).length,
    next_query_ms: isAlive ? outcome.backMs : null,
    ...peak(),
  })
  return isAlive
}

/** The median of all runs, with the smallest and the largest p99. */
function middle(measured: readonly Row[]): Row {
  const merged = Object.entries(measured[0]!).map(([name, value]) => {
    const all = measured.map((row) => row[name])
    const isSame = all.every((one) => one === value)
    return [name, typeof value === 'number' ? rounded(median(all as number[])) : isSame ? value! : all.join(', ')] as const
  })
  const p99 = measured.map((row) => row.p99_ms as number)
  return { ...Object.fromEntries(merged), p99_smallest_ms: Math.min(...p99), p99_largest_ms: Math.max(...p99) }
}

/** The table of docs/embedding.md. */
function tableOf(all: readonly Row[]): string {
  const shown = (value: Row[string] | undefined) =>
    typeof value === 'number' && Number.isFinite(value) ? value.toLocaleString('en-US') : '–'
  const cells = ({ p50_ms, p99_ms, longest_ms, peak_mb, engine_peak_mb, alive, code }: Row) => [
    `${shown(p50_ms)} / ${shown(p99_ms)} / ${shown(longest_ms)} ms`,
    engine_peak_mb ? `${shown(peak_mb)} + ${shown(engine_peak_mb)} MB` : `${shown(peak_mb)} MB`,
    ...(alive === undefined ? [] : [alive === true ? String(code) : '**the process ended**']),
  ]
  const lines: string[] = []
  for (const condition of new Set(all.map((row) => row.condition))) {
    const of = (isolate: boolean | null) => all.find((row) => row.condition === condition && row.isolate === isolate)
    for (const isolate of isolations) {
      const row = of(isolate)
      if (!row) continue
      const how = isolate === null ? 'without Waymark' : `\`isolate: ${isolate}\``
      lines.push(`| ${condition} | ${how} | ${cells(row).join(' | ')}${row.alive === undefined ? ' | ' : ''} |`)
    }
  }
  return ['| | | p50 / p99 / longest | memory | the query |', '|---|---|---:|---:|---|', ...lines].join('\n')
}

const root = mkdtempSync(join(tmpdir(), 'waymark-embedded-'))
const load: Load = await startLineProcess({ name: 'the load', file: programs.load, args: [] })
const startHost = (start: HostStart): Promise<Host> =>
  startLineProcess({
    name: 'the application',
    file: programs.host,
    args: [JSON.stringify(start)],
    execArgv: [`--max-old-space-size=${values.heap}`],
  })
try {
  const filled = join(root, 'filled')
  const waymark = await open({ dataDir: filled, clock, durability: 'os' })
  const project = await waymark.findOrCreateProject({ name: 'Shop' })
  for (let sent = 0, seed = 1; sent < events; sent += 5_000, seed++)
    await project.ingest({ batch: makeEvents(Math.min(5_000, events - sent), people, seed) })
  await waymark.close()
  for (let run = 0; run < runs; run++)
    for (const isolate of isolations) {
      const dataDir = join(root, 'data')
      cpSync(filled, dataDir, { recursive: true })
      const start = { isolate, dataDir, memoryLimit: values.memory }
      let host = await startHost(start)
      await measureConditions(host, load, isolate)
      for (const one of exhausting)
        if (isolate !== null && !(await exhaust(host, load, isolate, one))) {
          await setTimeout(500)
          host = await startHost(start)
        }
      await host.stop()
      rmSync(dataDir, { recursive: true, force: true })
    }
  const merged = [...rows.values()].map(middle)
  for (const row of merged)
    console.log(
      JSON.stringify({
        bench: 'embedded',
        ...row,
        requests_per_second: requests,
        events,
        memory_limit: values.memory,
        heap_mb: Number(values.heap),
        runs,
        ...machine(),
      }),
    )
  if (values.table) console.log(tableOf(merged))
  if ([...rows.values()].flat().some(({ alive, isolate }) => alive === false && isolate === true)) process.exitCode = 1
} finally {
  await load.stop()
  rmSync(root, { recursive: true, force: true })
}
