import { parseArgs } from 'node:util'
import { alias, call, field, literal } from '../src/ast/build.ts'
import type { Expr } from '../src/ast/nodes.ts'
import { print } from '../src/ast/print.ts'
import { duckdb } from '../src/dialects/duckdb/dialect.ts'
import { compile } from '../src/execution/compile.ts'
import { families } from '../src/functions/registry.ts'
import { type FunctionRow, isUnsupported } from '../src/functions/row.ts'
import { parseExpr, parseQuery } from '../src/parser/parse.ts'
import { openInstance } from '../src/storage/duckdb/instance.ts'
import { runStatement } from '../src/storage/duckdb/run.ts'
import { machine, median, rounded } from './measure.ts'

// How long does each function take over a million rows, beside its neighbours? Its own cases, with columns in place of their constants. What reading
// the columns takes is measured alone and taken off. Those slower than `--times` times the median of their family are listed, and each family.

const { values } = parseArgs({
  options: {
    events: { type: 'string', default: '1000000' },
    runs: { type: 'string', default: '3' },
    times: { type: 'string', default: '10' },
    family: { type: 'string' },
    all: { type: 'boolean', default: false },
    columns: { type: 'string', default: 'first' },
  },
})
const rows = Number(values.events)
const runs = Number(values.runs)
const longestMs = 30_000

const context = {
  project: { id: 1, timezone: 'America/New_York', weekStartDay: 1 as const },
  now: new Date('2024-06-01T12:00:00Z'),
  propertyType: () => null,
  cohort: () => undefined,
  hasMerges: false,
  eventId: () => undefined,
  slot: () => undefined,
}
const instance = await openInstance({ dataDir: ':memory:' })

/** Every value is another one to the engine, though it is the same: a vector of one constant would be worked out once. */
const varying = (value: Expr): Expr =>
  call('arrayElement', call('array', value, value), call('plus', literal(1), call('modulo', field('number'), literal(2))))
const isValue = (node: Expr) => node.kind === 'literal' && node.value !== null

interface Question {
  readonly label: string
  readonly asked: Expr
  readonly names: readonly string[]
  readonly columns: readonly Expr[]
}

/** The cases of a function that are calls of constants, with the first that can be a column as one, or all of them. */
function* questions(row: FunctionRow): Generator<Question> {
  for (const [text] of row.cases) {
    if (/^\s*(select|with)\b/i.test(text)) continue
    const expr = parseExpr(text)
    if (expr.kind !== 'call') continue
    const places = expr.args.flatMap((arg, i) =>
      isValue(arg) || (arg.kind === 'call' && arg.args.length > 0 && arg.args.every(isValue)) ? [i] : [],
    )
    for (const chosen of values.columns === 'all' ? [places, places.slice(0, 1)] : places.map((place) => [place])) {
      if (chosen.length === 0) continue
      const columns = chosen.map((i) => alias(varying(expr.args[i]!), `c${i}`))
      yield {
        label: text,
        names: chosen.map((i) => `c${i}`),
        columns,
        asked: { ...expr, args: expr.args.map((arg, i) => (chosen.includes(i) ? field(`c${i}`) : arg)) },
      }
    }
  }
}

const statementOf = (asked: string, columns: readonly Expr[]) => {
  const inner = `select ${columns.map(print).join(', ')} from numbers(${rows})`
  const { printed } = compile(parseQuery(`select ${asked} from (${inner})`), { context, dialect: duckdb })
  return { sql: `SELECT max(hash(COLUMNS(*))) FROM (${printed.sql})`, params: printed.params, columns: [] }
}

async function milliseconds(statement: ReturnType<typeof statementOf>, times = runs): Promise<number> {
  const all: number[] = []
  for (let i = 0; i < times; i++) {
    const start = performance.now()
    await instance.use((connection) => runStatement(connection, statement, { signal: AbortSignal.timeout(longestMs) }))
    all.push(performance.now() - start)
    if (all[0]! > 2000) break
  }
  return median(all)
}

interface Timed {
  readonly name: string
  readonly label: string
  readonly ms: number
}

async function timed(name: string, row: FunctionRow): Promise<Timed | string> {
  let reason = 'no case is a call of constants'
  for (const { label, asked, names, columns } of questions(row))
    try {
      const read = await milliseconds(statementOf(names.join(', '), columns))
      const whole = await milliseconds(statementOf(print(asked), columns))
      return { name, label, ms: Math.max(0.1, whole - read) }
    } catch (error) {
      reason = (error as Error).message
    }
  return reason
}

const left: string[] = []
for (const [family, functions] of Object.entries(families)) {
  if (values.family && family !== values.family) continue
  const times: Timed[] = []
  for (const [name, row] of Object.entries(functions)) {
    if (row.kind === 'window' || row.kind === 'table' || isUnsupported(row.sql.duckdb)) continue
    const one = await timed(name, row)
    if (typeof one === 'string') left.push(`${name}: ${one}`)
    else times.push(one)
  }
  if (times.length === 0) continue
  const middle = median(times.map(({ ms }) => ms))
  const slow = times.filter(({ ms }) => values.all || ms > Number(values.times) * middle).sort((a, b) => b.ms - a.ms)
  console.log(
    JSON.stringify({
      bench: 'functions',
      what: `${family}, ${times.length} functions over ${rows} rows`,
      median_ms: rounded(middle),
      slow: Object.fromEntries(slow.map(({ name, label, ms }) => [`${name} — ${label}`, { ms: rounded(ms), times: rounded(ms / middle) }])),
    }),
  )
}
console.log(JSON.stringify({ bench: 'functions', not_measured: left.length, why: left, ...machine() }))
await instance.close()
