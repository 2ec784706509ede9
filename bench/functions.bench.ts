import { writeFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { compile } from '../src/engine/execution/compile.ts'
import { clickHouseSettings } from '../src/engine/storage/clickhouse/schema.ts'
import { openInstance } from '../src/engine/storage/duckdb/instance.ts'
import { runStatement } from '../src/engine/storage/duckdb/run.ts'
import type { Query } from '../src/language/ast/nodes.ts'
import { clickhouse } from '../src/language/dialects/clickhouse/dialect.ts'
import { duckdb } from '../src/language/dialects/duckdb/dialect.ts'
import { families } from '../src/language/functions/registry.ts'
import { type FunctionRow, isUnsupported } from '../src/language/functions/row.ts'
import { hasClickHouse, openChdb } from '../test/clickhouse/chdb.ts'
import { type FunctionQuestion, questionsOf } from './function-questions.ts'
import { machine, median, rounded } from './measure.ts'

// How much processor time does each function take for a row, beside its neighbours and beside ClickHouse? Its own cases over a million rows. What the
// same rows take without it is measured too and taken off. Those slower than `--times` times the median of their family are listed, and each family.

const { values } = parseArgs({
  options: {
    events: { type: 'string', default: '1000000' },
    runs: { type: 'string', default: '1' },
    times: { type: 'string', default: '10' },
    family: { type: 'string' },
    only: { type: 'string' },
    all: { type: 'boolean', default: false },
    columns: { type: 'string', default: 'first' },
    /** Processor time of one statement, in seconds: of what would take longer, fewer rows are asked. */
    limit: { type: 'string', default: '3' },
    memory: { type: 'string', default: '1GB' },
    /** A file that gets a line for each function. */
    out: { type: 'string' },
  },
})
const rows = Number(values.events)
const runs = Number(values.runs)
const limitNs = Number(values.limit) * 1e9
/** Enough to tell how many rows the limit allows. */
const sampleRows = Math.min(rows, 10_000)
const longestMs = 60_000

const context = {
  project: { id: 1, timezone: 'America/New_York', weekStartDay: 1 as const },
  now: new Date('2024-06-01T12:00:00Z'),
  propertyType: () => null,
  cohort: () => undefined,
  hasMerges: false,
  eventId: () => undefined,
  slot: () => undefined,
}
const instance = await openInstance({ dataDir: ':memory:', memoryLimit: values.memory })
const client = hasClickHouse ? await openChdb() : null

/** Runs a statement that is compiled already. */
type Prepared = () => Promise<unknown>
type Prepare = (query: Query) => Prepared

const onDuckdb: Prepare = (query) => {
  const { printed } = compile(query, { context, dialect: duckdb })
  const statement = { sql: `SELECT max(hash(COLUMNS(*))) FROM (${printed.sql})`, params: printed.params, columns: [] }
  return () => instance.use((connection) => runStatement(connection, statement, { signal: AbortSignal.timeout(longestMs) }))
}
const onClickHouse: Prepare = (query) => {
  const { printed } = compile(query, { context, dialect: clickhouse })
  return () =>
    client!.command({
      query: `${printed.sql} FORMAT Null`,
      query_params: Object.fromEntries(printed.params.map((value, i) => [`p${i + 1}`, value])),
      clickhouse_settings: { ...clickHouseSettings, max_execution_time: longestMs / 1000 },
    })
}

async function processorNs(run: Prepared, times = runs): Promise<number> {
  const all: number[] = []
  for (let i = 0; i < times; i++) {
    const before = process.cpuUsage()
    await run()
    const { user, system } = process.cpuUsage(before)
    all.push((user + system) * 1000)
  }
  return median(all)
}

interface Timed {
  readonly ns: number
  readonly rows: number
}

/** Per row, over all rows or as many as the limit allows. */
async function perRow(prepare: Prepare, question: FunctionQuestion): Promise<Timed> {
  const sample = await processorNs(prepare(question.asked(sampleRows)), 1)
  const asked = sample * (rows / sampleRows) <= limitNs ? rows : Math.max(sampleRows, Math.round((sampleRows * limitNs) / sample))
  const whole = await processorNs(prepare(question.asked(asked)))
  const without = await processorNs(prepare(question.without(asked)))
  // What takes less than a nanosecond is lost in what the rows take.
  return { ns: Math.max(1, (whole - without) / asked), rows: asked }
}

interface Measured extends Timed {
  readonly name: string
  readonly label: string
  /** Of ClickHouse's time; null where it refuses the columns. */
  readonly ratio: number | null
}

async function measured(name: string, row: FunctionRow): Promise<Measured | string> {
  let reason = 'no case is a call of constants, or over rows'
  /** Where ClickHouse takes no column in any place: what is slow may be what it refuses, as a pattern of its own for each row. */
  let alone: Measured | null = null
  for (const question of questionsOf(name, values.columns === 'all'))
    try {
      const ours = await perRow(onDuckdb, question)
      const theirs = client && !isUnsupported(row.sql.clickhouse) ? await perRow(onClickHouse, question).catch(() => null) : null
      const one = { name, label: question.label, ...ours, ratio: theirs && ours.ns / theirs.ns }
      if (theirs || !client || isUnsupported(row.sql.clickhouse)) return one
      alone ??= one
    } catch (error) {
      reason = (error as Error).message
    }
  return alone ?? reason
}

const figuresOf = ({ ns, rows: asked, ratio }: Measured, middle: number) => ({
  ns: rounded(ns),
  times: rounded(ns / middle),
  clickhouse_ratio: ratio && rounded(ratio),
  ...(asked < rows ? { rows: asked } : {}),
})

const left: string[] = []
const lines: string[] = []
for (const [family, functions] of Object.entries(families)) {
  if (values.family && family !== values.family) continue
  const all: Measured[] = []
  for (const [name, row] of Object.entries(functions)) {
    if (row.kind === 'table' || isUnsupported(row.sql.duckdb) || (values.only && !new RegExp(values.only).test(name))) continue
    const one = await measured(name, row)
    if (typeof one === 'string') left.push(`${name}: ${one}`)
    else all.push(one)
  }
  if (all.length === 0) continue
  const middle = median(all.map(({ ns }) => ns))
  const slow = all.filter(({ ns }) => values.all || ns > Number(values.times) * middle).sort((a, b) => b.ns - a.ns)
  for (const one of all) lines.push(JSON.stringify({ family, name: one.name, label: one.label, ...figuresOf(one, middle) }))
  console.log(
    JSON.stringify({
      bench: 'functions',
      what: `${family}, ${all.length} functions over ${rows} rows`,
      median_ns: rounded(middle),
      slow: Object.fromEntries(slow.map((one) => [`${one.name} — ${one.label}`, figuresOf(one, middle)])),
    }),
  )
}
if (values.out) writeFileSync(values.out, `${lines.join('\n')}\n`)
console.log(JSON.stringify({ bench: 'functions', measured: lines.length, not_measured: left.length, why: left, ...machine() }))
await client?.close()
await instance.close()
