import { alias, field, from, select } from '../../src/language/ast/build.ts'
import type { Call, Expr, Query } from '../../src/language/ast/nodes.ts'
import { print } from '../../src/language/ast/print.ts'
import { rewrite, walk } from '../../src/language/ast/walk.ts'
import { registry } from '../../src/language/functions/registry.ts'
import { type FunctionRow, isUnsupported } from '../../src/language/functions/row.ts'
import { parseExpr, parseQuery } from '../../src/language/parser/parse.ts'
import type { JsonValue } from '../../src/queries/answers/rows.ts'
import { openClickHouse } from '../harness/clickhouse.ts'
import { openTestProject } from '../harness/duckdb.ts'
import { casesOf } from '../language/functions/cases-of.ts'

// Calls of every function with a value of every type in place of each argument: as a constant, as a column, and as a column that may hold NULL.
// Aggregates also read a column of several such values, one of them NULL, and no rows.

/** Values of one type. */
const values: Readonly<Record<string, readonly string[]>> = {
  UInt8: ['0', '7', '255'],
  Int8: ['-1', '-128'],
  UInt16: ['65535'],
  Int16: ['-129'],
  UInt32: ['4294967295'],
  Int32: ['-2147483648'],
  Int64: ['toInt(7)', 'toInt(-3)', '-9007199254740993'],
  UInt64: ['9007199254740993', '18446744073709551615'],
  Float64: ['1.5', '-2.5', '0.0', '1e20', '-1e-7', 'nan', 'inf', '-inf'],
  Decimal: ["toDecimal('1.50', 2)", "toDecimal('-7', 0)"],
  String: [
    "'abc'",
    "''",
    "'é日本 ß'",
    "'42'",
    "'-1.5'",
    "'2024-03-10'",
    "'2024-03-10 02:30:00'",
    "'[1,2]'",
    `'{"a":1}'`,
    "'a,b%_'",
    "'true'",
  ],
  Bool: ['true', 'false'],
  Comparison: ['1 = 1'],
  Date: ["toDate('2024-02-29')", "toDate('1970-01-01')"],
  DateTime: ["toDateTime('2024-03-10 02:30:00')", "toDateTime('2024-12-31 23:59:59')"],
  DateTime64: ["toDateTime64('2024-02-29 12:34:56.789', 3)"],
  'Array(Number)': ['[1, 2, 3]', '[1.5, -2.5]'],
  'Array(String)': ["['a', 'b', '']"],
  'Array()': ['[]'],
  'Array(Nullable)': ['[1, NULL]'],
  Tuple: ["(1, 'a')", '(1, 2)'],
  Map: ["map('a', 1)", "map('a', 'x', 'b', 'y')"],
  UUID: ["toUUID('59f0c404-5cb3-11e7-907b-a6006ad3dba0')"],
  Interval: ['toIntervalDay(1)'],
  NULL: ['NULL'],
}

/** Names of types and zones, which are read when the statement is made; states, which each engine keeps in its own form. */
const skipped = /^(toTypeName|timeZoneOf|defaultValueOfTypeName|convertCurrency|sleep.*|grouping|.*State.*)$/

export interface ValueCall {
  readonly name: string
  readonly argument: number
  readonly type: string
  readonly form: 'constant' | 'column' | 'nullable' | 'rows' | 'no rows'
  readonly query: Query
}

const isStatement = (text: string) => /^\s*(select|with)\b/i.test(text)

/** The first case that calls the function with arguments. */
function callOf(name: string): { statement: Query; call: Call } | null {
  for (const [text] of casesOf(name)) {
    const statement = isStatement(text) ? parseQuery(text) : select({ columns: [alias(parseExpr(text), 'v')] })
    let call: Call | undefined
    walk(statement, (node) => {
      if (node.kind === 'call' && node.name.toLowerCase() === name.toLowerCase()) call ??= node
    })
    if (call && call.args.length > 0) return { statement, call }
  }
  return null
}

const rowsOf = (items: readonly string[]) =>
  `(select arrayJoin(arrayEnumerate([${items.join(', ')}])) as n, arrayElement([${items.join(', ')}], n) as given)`

function* callsOf(name: string, row: FunctionRow): Generator<ValueCall> {
  const found = callOf(name)
  if (!found) return
  const { statement, call } = found
  const text = print(call)
  const isPlain = statement.kind === 'select' && statement.from === null
  const withArgs = (args: readonly Expr[]) =>
    rewrite(statement, (node) => (node.kind === 'call' && print(node) === text ? { ...call, args } : node))
  for (const [argument, arg] of call.args.entries()) {
    if (arg.kind === 'lambda') continue
    for (const [type, items] of Object.entries(values)) {
      const about = { name, argument: argument + 1, type }
      const put = (expr: Expr) => call.args.map((other, i) => (i === argument ? expr : other))
      for (const item of row.kind === 'aggregate' ? items.slice(0, 1) : items) {
        yield { ...about, form: 'constant', query: withArgs(put(parseExpr(item))) }
        if (!isPlain) continue
        const next = withArgs(put(field('given')))
        if (next.kind !== 'select') continue
        const column = (given: string) => ({ ...next, from: from(select({ columns: [alias(parseExpr(given), 'given')] }), 't') })
        yield { ...about, form: 'column', query: column(item) }
        if (!/Array|Tuple|Map|Interval|NULL/.test(type)) yield { ...about, form: 'nullable', query: column(`toNullable(${item})`) }
      }
      if (row.kind !== 'aggregate' || /Interval/.test(type)) continue
      const args = call.args.map((other, i) => (i === argument ? field('given') : other.kind === 'literal' ? other : field('n')))
      const over = (rows: string): Query => parseQuery(`select ${print({ ...call, args })} as v from ${rows}`)
      yield { ...about, form: 'rows', query: over(rowsOf([...items, ...(/Array|Tuple|Map/.test(type) ? [] : ['NULL'])])) }
      yield { ...about, form: 'rows', query: over(rowsOf(items)) }
      yield { ...about, form: 'no rows', query: parseQuery(`select ${print({ ...call, args })} as v from ${rowsOf(items)} where n > 100`) }
    }
  }
}

function* valueCalls(only?: RegExp): Generator<ValueCall> {
  for (const [name, row] of registry)
    if (
      row.kind !== 'table' &&
      !row.isVolatile &&
      !skipped.test(name) &&
      !isUnsupported(row.sql.duckdb) &&
      !isUnsupported(row.sql.clickhouse) &&
      (!only || only.test(name))
    )
      yield* callsOf(name, row)
}

/** The same numbers for the same seed. */
function randomOf(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 4_294_967_296
  }
}

export interface Compared extends Pick<ValueCall, 'name' | 'argument' | 'type' | 'form'> {
  readonly statement: string
  /** JSON of the rows, or `refused: ` and the message. */
  readonly duckdb: string
  readonly clickhouse: string
}
export interface ValuesOutcome {
  /** Calls that both engines answer, and not the same; and those that DuckDB alone refuses. */
  readonly found: readonly Compared[]
  readonly compared: number
  readonly refusedByBoth: number
  /** ClickHouse checks types more strictly than DuckDB converts them. */
  readonly refusedByClickHouse: number
}

/** Floats are summed in another order. */
const rounded = (value: JsonValue): JsonValue => {
  if (typeof value === 'number') return Number.isInteger(value) && Math.abs(value) < 1e12 ? value : Number(value.toPrecision(10))
  if (Array.isArray(value)) return value.map(rounded)
  return value !== null && typeof value === 'object'
    ? (Object.fromEntries(Object.entries(value).map(([key, item]) => [key, rounded(item as JsonValue)])) as JsonValue)
    : value
}

/** Asks a share of all calls, drawn by the seed. */
export async function compareValues(share: number, seed: number, only?: RegExp): Promise<ValuesOutcome> {
  const random = randomOf(seed)
  const clickhouse = await openClickHouse()
  const project = await openTestProject()
  const found: Compared[] = []
  let [compared, refusedByBoth, refusedByClickHouse] = [0, 0, 0]
  const answer = (work: Promise<JsonValue[][]>) =>
    work.then(
      (rows) => JSON.stringify(rounded(rows)),
      (error: Error) => `refused: ${error.message.slice(0, 250).replaceAll('\n', ' ')}`,
    )
  for (const { query, name, argument, type, form } of valueCalls(only)) {
    if (random() >= share) continue
    const duck = await answer(project.rows(query))
    let click = await answer(clickhouse.rows(query, project))
    // The engine inside the process writes what is left of an error behind the next answer, now and then.
    if (click.includes('after JSON')) click = await answer(clickhouse.rows(query, project))
    compared++
    const [isRefused, isRefusedThere] = [duck, click].map((text) => text.startsWith('refused'))
    if (isRefused && isRefusedThere) refusedByBoth++
    else if (isRefusedThere) refusedByClickHouse++
    else if (duck !== click) found.push({ name, argument, type, form, statement: print(query), duckdb: duck, clickhouse: click })
  }
  await clickhouse.close()
  await project.close()
  return { found, compared, refusedByBoth, refusedByClickHouse }
}
