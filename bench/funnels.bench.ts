import { parseArgs } from 'node:util'
import { answerQuery } from '../src/engine/execution/answer.ts'
import type { FunnelsAnswer } from '../src/queries/funnels/index.ts'
import type { FunnelStepResult } from '../src/queries/funnels/steps.ts'
import { inOwnProcess, machine, measured, median, rounded } from './measure.ts'
import { clickHouseNumbers, fillBenchStore, openBenchClickHouse, openBenchProject } from './store.ts'

// How long does a funnel take on five million events, beside windowFunnel of ClickHouse on the same events in the same process? It can express
// ordered funnels, not the strict ones (which any event breaks), unordered ones and exclusions. Counts are compared before anything is timed;
// peak memory is that of a process that answers one funnel and nothing else. With more than ten million events, or with --slim, only ours is asked,
// and less of it: then the question is whether it ends, and in how much memory.

const { values } = parseArgs({
  options: {
    events: { type: 'string', default: '5000000' },
    runs: { type: 'string', default: '5' },
    alone: { type: 'string' },
    directory: { type: 'string' },
    memory: { type: 'string' },
    slim: { type: 'boolean', default: false },
  },
})
const zone = 'UTC'
const mostCompared = 10_000_000
const names = ['$pageview', '$autocapture', 'signed up', 'purchase']
const nameOf = (step: number) => names[step % names.length]!

interface Question {
  readonly what: string
  readonly steps: number
  readonly filter?: Readonly<Record<string, unknown>>
  readonly breakdown?: string
  readonly isExpressible?: true
}
const exclusion = (event: string, to: number) => ({
  exclusions: [{ kind: 'EventsNode', event, name: event, funnelFromStep: 0, funnelToStep: to }],
})
const questions: readonly Question[] = [
  { what: '2 steps', steps: 2, isExpressible: true },
  { what: '3 steps', steps: 3, isExpressible: true },
  { what: '5 steps', steps: 5, isExpressible: true },
  { what: '12 steps', steps: 12, isExpressible: true },
  { what: '32 steps', steps: 32, isExpressible: true },
  { what: '5 steps by a property', steps: 5, breakdown: 'country', isExpressible: true },
  { what: '5 steps, strict', steps: 5, filter: { funnelOrderType: 'strict' } },
  { what: '5 steps, unordered', steps: 5, filter: { funnelOrderType: 'unordered' } },
  { what: '3 steps with an exclusion', steps: 3, filter: exclusion('purchase', 2) },
  { what: '5 steps by day', steps: 5, filter: { funnelVizType: 'trends' } },
]

const windowDays = 7
const queryOf = ({ steps, filter, breakdown }: Question) => ({
  kind: 'FunnelsQuery',
  series: Array.from({ length: steps }, (_, step) => ({ kind: 'EventsNode', event: nameOf(step), name: nameOf(step) })),
  dateRange: { date_from: '2026-01-02', date_to: '2026-03-31' },
  interval: 'day',
  funnelsFilter: { funnelWindowInterval: windowDays, funnelWindowIntervalUnit: 'day', ...filter },
  ...(breakdown && { breakdownFilter: { breakdown, breakdown_type: 'event' } }),
})

/** Counts per step, of all rows in the order of their names. */
function windowFunnel({ steps, breakdown }: Question): string {
  const at = `toUInt64(toUnixTimestamp64Micro(timestamp))`
  const conditions = Array.from({ length: steps }, (_, step) => `event = '${nameOf(step)}'`)
  const used = [...new Set(conditions)].join(' OR ')
  const levels = `SELECT windowFunnel(${windowDays * 86_400_000_000}, 'strict_increase')(${at}, ${conditions.join(', ')}) AS level
      ${breakdown ? `, argMinIf(mat_${breakdown}, timestamp, mat_${breakdown} != '') AS value` : ", '' AS value"}
    FROM events WHERE timestamp >= '2026-01-02 00:00:00' AND timestamp < '2026-04-01 00:00:00' AND (${used}) GROUP BY person_id`
  const counts = Array.from({ length: steps }, (_, step) => `countIf(level > ${step})`)
  return `SELECT value, step, n FROM (SELECT value, [${counts.join(', ')}] AS counts FROM (${levels}) WHERE level > 0 GROUP BY value)
    ARRAY JOIN counts AS n, arrayEnumerate(counts) AS step ORDER BY value, step`
}

function countsOf(results: FunnelsAnswer['results']): number[] {
  const rows = (Array.isArray((results as unknown[])[0]) ? results : [results]) as FunnelStepResult[][]
  const name = (row: FunnelStepResult[]) => JSON.stringify(row[0]?.breakdown_value ?? null)
  return [...rows].sort((a, b) => (name(a) < name(b) ? -1 : 1)).flatMap((row) => row.map((step) => step.count))
}

const ask = async (question: Question, project: Parameters<typeof answerQuery>[1]) =>
  ((await answerQuery(queryOf(question), project)) as FunnelsAnswer).results
const timed = async (work: () => Promise<unknown>): Promise<number> => {
  const from = performance.now()
  await work()
  return performance.now() - from
}

/** How many did the first step. */
const peopleOf = (results: FunnelsAnswer['results']): number =>
  [results].flat(2).reduce((sum, step) => sum + ('order' in step && step.order === 0 ? step.count : 0), 0)

async function answerAlone(what: string, directory: string): Promise<void> {
  const question = questions.find((q) => q.what === what)!
  const { project, close } = await openBenchProject(directory, zone, values.memory)
  await measured(async () => {
    const started = performance.now()
    const answer = peopleOf(await ask(question, project))
    return { answer, figures: { ms: performance.now() - started } }
  })
  await close()
}

const askedAlone = ['3 steps', '5 steps', '32 steps', '5 steps by a property', '5 steps, unordered']

/** More events than ClickHouse has memory for beside us: our own time and memory, in slices of people, with a limit on the memory. */
async function alone(count: number): Promise<void> {
  const filling = performance.now()
  const store = await fillBenchStore(count, { isSlim: true })
  console.log(JSON.stringify({ bench: 'funnels', what: 'filling', events: count, ms: rounded(performance.now() - filling) }))
  for (const what of askedAlone) {
    const { peakMb, figures, answer } = await inOwnProcess(import.meta.filename, [
      '--alone',
      what,
      '--directory',
      store.directory,
      '--memory',
      '1GB',
    ])
    console.log(
      JSON.stringify({
        bench: 'funnels',
        what,
        events: count,
        ms: rounded(figures!.ms!),
        peak_mb: Math.round(peakMb),
        people: answer,
        ...machine(),
      }),
    )
  }
  store.remove()
}

async function compare(count: number, runs: number): Promise<void> {
  const store = await fillBenchStore(count)
  const peaks = new Map<string, number>()
  for (const { what } of questions) {
    const { peakMb } = await inOwnProcess(import.meta.filename, ['--alone', what, '--directory', store.directory])
    peaks.set(what, peakMb)
  }
  const { project, close } = await openBenchProject(store.directory, zone)
  const clickhouse = await openBenchClickHouse(store.directory)
  for (const question of questions) {
    const { what, isExpressible } = question
    const theirs = () => clickHouseNumbers(clickhouse, windowFunnel(question))
    if (isExpressible) {
      const [a, b] = [countsOf(await ask(question, project)), await theirs()]
      if (JSON.stringify(a) !== JSON.stringify(b)) throw new Error(`${what}: ${a.slice(0, 8)} … is not ${b.slice(0, 8)} …`)
    } else await ask(question, project)
    const [mine, other]: [number[], number[]] = [[], []]
    for (let i = 0; i < runs; i++) {
      mine.push(await timed(() => ask(question, project)))
      if (isExpressible) other.push(await timed(theirs))
    }
    const ms = median(mine)
    console.log(
      JSON.stringify({
        bench: 'funnels',
        what,
        events: count,
        ms: rounded(ms),
        ...(isExpressible && { window_funnel_ms: rounded(median(other)), ratio: rounded(ms / median(other)) }),
        spread_ms: [rounded(Math.min(...mine)), rounded(Math.max(...mine))],
        peak_mb: Math.round(peaks.get(what)!),
        ...machine(),
      }),
    )
  }
  await clickhouse.close()
  await close()
  store.remove()
}

if (values.alone) await answerAlone(values.alone, values.directory!)
else if (values.slim || Number(values.events) > mostCompared) await alone(Number(values.events))
else await compare(Number(values.events), Number(values.runs))
