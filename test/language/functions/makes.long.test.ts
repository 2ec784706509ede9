import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Compiled, compile } from '../../../src/engine/execution/compile.ts'
import { statementOf } from '../../../src/engine/execution/statements.ts'
import { QueryError } from '../../../src/errors/errors.ts'
import { alias, call, field, from, literal, select } from '../../../src/language/ast/build.ts'
import type { Expr, Node, Query } from '../../../src/language/ast/nodes.ts'
import { rewrite as rewriteTree } from '../../../src/language/ast/walk.ts'
import { duckdb } from '../../../src/language/dialects/duckdb/dialect.ts'
import { fixedBytes, headBytes } from '../../../src/language/functions/makes.ts'
import { registry } from '../../../src/language/functions/registry.ts'
import { isUnsupported } from '../../../src/language/functions/row.ts'
import { parseExpr, parseQuery } from '../../../src/language/parser/parse.ts'
import { footprintOf } from '../../../src/language/plan/footprint.ts'
import { outputColumns, type TypedQuery } from '../../../src/language/resolver/typed.ts'
import { rewrite } from '../../../src/language/resolver/typed-walk.ts'
import type { SqlType } from '../../../src/language/types/types.ts'
import { type JsonValue, tableRows } from '../../../src/queries/answers/rows.ts'
import type { QueryContext } from '../../../src/queries/kind.ts'
import { openTestProject, type TestProject } from '../../harness/duckdb.ts'
import { casesOf } from './cases-of.ts'

// Every function with arguments that have been made much larger than those of its cases: what it answers has at most as many bytes as the plan said,
// or the call is refused. A row that makes more than it takes, and does not say so, is found here.

let project: TestProject
let context: QueryContext
beforeAll(async () => {
  project = await openTestProject()
  context = await project.context()
})
afterAll(() => project.close())

const budget = { bytes: 400_000, threads: 1 }

// --- larger arguments ----------------------------------------------------------------------------

const copies = 60
const number = 1500
/** What separators, escapes and encodings make most of. */
const letters = `,/&"'<%\u0001é a1;:[]{}=`

const grownText = (text: string) => Array.from({ length: copies }, () => text).join('')
const grownItem = (item: Expr, i: number): Expr => {
  if (item.kind === 'array' || item.kind === 'tuple') return { ...item, items: item.items.map((one) => grownItem(one, i)) }
  if (item.kind !== 'literal') return item
  if (item.type === 'int') return literal(Number(item.value) + i)
  return item.type === 'string' ? literal(`${item.value}${i}`) : item
}
const isPlain = (expr: Expr): boolean =>
  expr.kind === 'literal' || ((expr.kind === 'array' || expr.kind === 'tuple') && expr.items.every(isPlain))

/** Larger forms of an argument; none for what has no size. */
function grown(expr: Expr): readonly Expr[] {
  if (expr.kind === 'literal' && expr.type === 'string') {
    const text = String(expr.value)
    return [literal(grownText(text)), literal(grownText(letters))]
  }
  if (expr.kind === 'literal' && expr.type === 'int') return [literal(number)]
  if (expr.kind === 'array' && expr.items.length > 0 && isPlain(expr))
    return [
      {
        ...expr,
        items: Array.from({ length: copies }, (_, i) => grownItem(expr.items[i % expr.items.length]!, Math.floor(i / expr.items.length))),
      },
    ]
  if (expr.kind === 'tuple' && isPlain(expr)) return [{ ...expr, items: expr.items.map((item) => grown(item)[0] ?? item) }]
  if (expr.kind === 'call' && expr.name === 'map' && expr.args.every(isPlain)) {
    const pairs = Array.from({ length: copies }, (_, i) => expr.args.slice(0, 2).map((arg) => grownItem(arg, i)))
    return [call('map', ...pairs.flat())]
  }
  if (expr.kind === 'call')
    return expr.args.flatMap((arg, i) =>
      grown(arg).map((value): Expr => ({ ...expr, args: expr.args.map((other, j) => (i === j ? value : other)) })),
    )
  return []
}

function ofExpression(text: string): readonly Query[] {
  const expr = parseExpr(text)
  const written = select({ columns: [alias(expr, 'v')] })
  if (expr.kind !== 'call') return [written]
  const all = select({ columns: [alias({ ...expr, args: expr.args.map((arg) => grown(arg)[0] ?? arg) }, 'v')] })
  // Of a column a cell knows nothing when it is printed.
  const one = expr.args.flatMap((arg, i) =>
    grown(arg).map((value) => {
      const onColumn = { ...expr, args: expr.args.map((other, j) => (i === j ? field('c') : other)) }
      return select({ columns: [alias(onColumn, 'v')], from: from(select({ columns: [alias(value, 'c')] }), 't') })
    }),
  )
  return [written, all, ...one]
}

/** The same of a statement: more rows, and rows with larger values. */
function ofStatement(text: string): readonly Query[] {
  const query = parseQuery(text)
  const larger = rewriteTree(query, (node: Node): Node => {
    if (node.kind === 'array') return (grown(node)[0] as Node | undefined) ?? node
    if (node.kind === 'table' && node.args?.length) return { ...node, args: node.args.map((arg) => grown(arg)[0] ?? arg) }
    return node
  })
  return [query, larger as Query]
}

const isStatement = (expression: string) => /^\s*(select|with)\b/i.test(expression)
const questions = (name: string): readonly Query[] =>
  casesOf(name)
    .slice(0, 2)
    .flatMap(([text]) => (isStatement(text) ? ofStatement(text) : ofExpression(text)))

// --- sizes ---------------------------------------------------------------------------------------

function bytesOf(value: JsonValue, type: SqlType): number {
  const fixed = fixedBytes(type)
  if (fixed !== null) return fixed
  if (value === null) return 0
  if (type.kind === 'array' && Array.isArray(value)) return value.reduce<number>((sum, item) => sum + bytesOf(item, type.item), headBytes)
  if (type.kind === 'tuple' && Array.isArray(value)) return value.reduce<number>((sum, item, i) => sum + bytesOf(item, type.items[i]!), 0)
  if (type.kind === 'map' && typeof value === 'object')
    return Object.entries(value).reduce((sum, [key, item]) => sum + bytesOf(key, type.key) + bytesOf(item, type.value), headBytes)
  return headBytes + Buffer.byteLength(typeof value === 'string' ? value : JSON.stringify(value))
}

/** Words and digits that a function adds once. */
const fixedPart = 128

type Outcome = 'fixed' | 'within' | 'refused' | 'invalid' | { readonly most: number; readonly bytes: number; readonly sql: string }

const compiledOf = (query: Query): Compiled => compile(query, { context, dialect: duckdb, budget })

/** `change`: the plan as it would be if rows said something else. */
async function outcomeOf(query: Query, change?: (planned: TypedQuery) => TypedQuery): Promise<Outcome> {
  try {
    const { planned, printed } = compiledOf(query)
    const [column] = outputColumns(planned)
    if (!column || fixedBytes(column.type) !== null) return 'fixed'
    const most = footprintOf(change ? change(planned) : planned, budget).mostOf(column.alias)
    const rows = tableRows(await project.run(statementOf(printed, 'UTC'), { signal: AbortSignal.timeout(20_000) }), 'UTC')
    const bytes = Math.max(0, ...rows.map(([value]) => bytesOf(value ?? null, column.type)))
    return bytes <= most + fixedPart ? 'within' : { most, bytes, sql: printed.sql }
  } catch (error) {
    return error instanceof QueryError && error.code === 'makes-too-much' ? 'refused' : 'invalid'
  }
}

/** Rows that have no larger arguments than those of their cases. */
const withoutLarger: Readonly<Record<string, string>> = {
  matchesAction: 'it needs an action of the project, and answers a boolean',
  IPv6StringToNum: 'an address has 16 bytes',
  getSurveyResponse: 'the resolver replaces it, and its argument is a constant',
  uniqueSurveySubmissionsFilter: 'the resolver replaces it, and its argument is a constant',
}

test('what every function makes is in proportion to what it takes, or bounded', async () => {
  const wrong: unknown[] = []
  const unmeasured: string[] = []
  for (const [name, row] of registry) {
    if (isUnsupported(row.sql.duckdb) || row.kind === 'table') continue
    const outcomes: Outcome[] = []
    for (const query of questions(name)) outcomes.push(await outcomeOf(query))
    wrong.push(...outcomes.filter((one) => typeof one === 'object').map((one) => ({ name, ...one })))
    const isFixed = outcomes.includes('fixed') && outcomes.every((one) => one === 'fixed' || one === 'invalid')
    const isMeasured = outcomes.slice(1).some((one) => one !== 'invalid' && one !== 'fixed')
    if (!isFixed && !isMeasured) unmeasured.push(name)
  }
  expect(wrong).toEqual([])
  expect(unmeasured.sort()).toEqual(Object.keys(withoutLarger).sort())
})

test.each(["hex('abc')", "splitByChar(',', 'a,b')", "replaceAll('aaa', 'a', 'bbbbb')", 'range(9)'])(
  '%s would be found if its row did not say what it makes',
  async (text) => {
    const forgotten = (query: TypedQuery) =>
      rewrite(query, {
        expr: (node) => (node.kind === 'call' && node.row.makes ? { ...node, row: { ...node.row, makes: undefined } } : node),
      })
    const outcomes: Outcome[] = []
    for (const query of ofExpression(text)) outcomes.push(await outcomeOf(query, forgotten))
    expect(outcomes).toContainEqual(expect.objectContaining({ most: expect.any(Number) }))
  },
)

test('every aggregate that keeps its values says how much is made of them', () => {
  const keepsValues = (name: string) =>
    casesOf(name).some(([text]) => isStatement(text) && /\b(list|string_agg|histogram)\(/.test(compiledOf(parseQuery(text)).printed.sql))
  const silent = [...registry].filter(
    ([name, row]) => row.kind === 'aggregate' && !isUnsupported(row.sql.duckdb) && row.keeps === undefined && keepsValues(name),
  )
  // What these make is bounded by the positions that are asked for.
  expect(silent.map(([name]) => name)).toEqual(['groupArrayInsertAt', 'groupArrayInsertAtIf'])
})
