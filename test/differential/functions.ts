import { alias, field, from, literal, select } from '../../src/language/ast/build.ts'
import type { Expr, Literal, Query } from '../../src/language/ast/nodes.ts'
import { print } from '../../src/language/ast/print.ts'
import { registry } from '../../src/language/functions/registry.ts'
import { isUnsupported } from '../../src/language/functions/row.ts'
import { parseExpr } from '../../src/language/parser/parse.ts'
import type { JsonValue } from '../../src/queries/answers/rows.ts'
import { openClickHouse } from '../harness/clickhouse.ts'
import { openTestProject } from '../harness/duckdb.ts'
import { casesOf } from '../language/functions/cases-of.ts'

// The cases of functions with other arguments: each literal is replaced now and then by an edge value of its kind, as a constant or as a column.

const zones = ['UTC', 'America/New_York', 'Asia/Kathmandu', 'Europe/London'] as const

const texts = [
  '',
  ' ',
  'a',
  'é',
  'ßS',
  '日本語',
  'a b',
  'A,b;c',
  '%',
  '_',
  'a\\b',
  "o'n",
  '"',
  'null',
  '0',
  '-1',
  '1.5',
  '1e3',
  'x'.repeat(70),
  'a\nb',
  '[1]',
  '{}',
]
// None before 1970, which times of ClickHouse cannot say: early-dates.test.ts holds what DuckDB answers of those.
const times = [
  '1970-01-03 00:00:00',
  '2000-02-29 12:00:00',
  '2024-02-29 23:59:59',
  '2024-03-10 02:30:00',
  '2024-03-10 07:00:00',
  '2024-03-31 01:30:00',
  '2024-11-03 01:30:00',
  '2024-11-03 06:30:00',
  '2024-12-30 00:00:00',
  '2024-12-31 18:20:00',
  '2099-12-31 23:59:59',
]
const dates = ['1970-01-03', '1999-12-31', '2000-01-01', '2023-12-31', '2024-01-01', '2024-02-29', '2024-12-30', '2100-03-01']
const wholes = [
  0n,
  1n,
  -1n,
  2n,
  3n,
  7n,
  -5n,
  10n,
  127n,
  128n,
  -129n,
  255n,
  256n,
  65_536n,
  -2_147_483_649n,
  4_294_967_296n,
  9_007_199_254_740_993n,
]
const fractions = [0, 0.5, -0.5, 1.5, -2.5, 0.1, 1e10, 1e-7, -1e15, 123456.789]

const isTime = (text: string) => /^\d{4}-\d\d-\d\d \d\d:/.test(text)
const isDate = (text: string) => /^\d{4}-\d\d-\d\d$/.test(text)

/** The same numbers for the same seed. */
function randomOf(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let t = Math.imul(state ^ (state >>> 15), 1 | state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296
  }
}

const kindOf = (value: Literal['value']): readonly Literal['value'][] | null => {
  if (typeof value === 'bigint') return wholes
  if (typeof value === 'number') return Number.isInteger(value) ? wholes : fractions
  if (typeof value !== 'string') return null
  return isTime(value) ? times : isDate(value) ? dates : texts
}

/** Functions whose arguments are names of ours or limits that differ by design: units, zones, types, formats, sizes of answers. */
const skipped =
  /^(toTypeName|timeZoneOf|accurateCast|accurateCastOrNull|defaultValueOfTypeName|JSONExtract|convertCurrency|repeat|range|space|.*[Pp]ad(UTF8)?|sleep.*)$/

export interface Found {
  readonly name: string
  readonly expression: string
  readonly timezone: string
  readonly duckdb: string
  readonly clickhouse: string
}

const plain = (value: JsonValue): JsonValue =>
  typeof value === 'number' && !Number.isSafeInteger(value)
    ? Number(value.toPrecision(10))
    : Array.isArray(value)
      ? value.map(plain)
      : value

export async function compareFunctions(
  runs: number,
  seed: number,
  only?: RegExp,
  /** Told of each call before it is asked. */
  asked: (call: string) => void = () => {},
): Promise<{ found: Found[]; refused: number; compared: number }> {
  const random = randomOf(seed)
  const pick = <T>(from: readonly T[]): T => from[Math.floor(random() * from.length)]!
  const clickhouse = await openClickHouse()
  const projects = await Promise.all(zones.map((timezone, i) => openTestProject({ id: i + 1, timezone, weekStartDay: i % 2 ? 1 : 0 })))
  const subjects = [...registry].flatMap(([name, row]) =>
    row.kind !== 'scalar' ||
    row.isVolatile ||
    skipped.test(name) ||
    isUnsupported(row.sql.duckdb) ||
    isUnsupported(row.sql.clickhouse) ||
    (only && !only.test(name))
      ? []
      : casesOf(name)
          .filter(([text]) => !/^\s*(select|with)\b/i.test(text))
          .map(([text, , options]) => ({ name, expr: parseExpr(text), unordered: options?.unordered })),
  )
  const found: Found[] = []
  let [refused, compared] = [0, 0]
  for (let i = 0; i < runs; i++) {
    const { name, expr, unordered } = subjects[only ? i % subjects.length : Math.floor(random() * subjects.length)]!
    const columns: Expr[] = []
    const change = (node: unknown): unknown => {
      if (Array.isArray(node)) return node.map(change)
      if (typeof node !== 'object' || node === null) return node
      const { kind, value } = node as Literal
      const others = kind === 'literal' ? kindOf(value) : null
      if (others && random() < 0.45) {
        const drawn = literal(random() < 0.08 ? null : pick(others))
        if (random() < 0.5) return drawn
        columns.push(alias(drawn, `c${columns.length}`))
        return field(`c${columns.length - 1}`)
      }
      return Object.fromEntries(Object.entries(node).map(([key, child]) => [key, key === 'span' ? child : change(child)]))
    }
    const drawn = change(expr) as Expr
    const project = pick(projects)
    const statement: Query = select({ columns: [alias(drawn, 'v')], from: columns.length ? from(select({ columns }), 't') : null })
    const given = columns.map((column) => (column.kind === 'alias' ? `${column.name} = ${print(column.expr)}` : '')).join(', ')
    const expression = `${print(drawn)}${given ? ` where ${given}` : ''}`
    asked(`${expression}  [${project.settings.timezone}]`)
    const answer = (work: Promise<JsonValue[][]>) =>
      work.then(
        ([row]) => JSON.stringify(unordered && Array.isArray(row?.[0]) ? [...row[0]].map(plain).sort() : plain(row?.[0] ?? null)),
        (error: Error) => `refused: ${error.message.slice(0, 160).replaceAll('\n', ' ')}`,
      )
    const duck = await answer(project.rows(statement))
    let click = await answer(clickhouse.rows(statement, project))
    // The engine inside the process writes what is left of an error behind the next answer, now and then.
    if (click.includes('after JSON')) click = await answer(clickhouse.rows(statement, project))
    compared++
    if (duck.startsWith('refused') && click.startsWith('refused')) refused++
    else if (duck !== click) found.push({ name, expression, timezone: project.settings.timezone, duckdb: duck, clickhouse: click })
  }
  await clickhouse.close()
  for (const project of projects) await project.close()
  return { found, refused, compared }
}
