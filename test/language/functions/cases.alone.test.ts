import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { alias, call, field, from, select } from '../../../src/language/ast/build.ts'
import type { Expr } from '../../../src/language/ast/nodes.ts'
import { families } from '../../../src/language/functions/registry.ts'
import { type Answered, type Case, type FunctionRow, isUnsupported } from '../../../src/language/functions/row.ts'
import { parseExpr, parseQuery } from '../../../src/language/parser/parse.ts'
import { type ClickHouse, hasClickHouse, openClickHouse } from '../../harness/clickhouse.ts'
import { asStatement, openTestProject, type TestProject } from '../../harness/duckdb.ts'
import { casesOf } from './cases-of.ts'
import { type AskedColumn, answerOfNullable, refusalOf, refusedColumns } from './on-columns.ts'

// Every function's cases, on both engines: as written, and with columns in place of constants.

let project: TestProject
let clickhouse: ClickHouse
beforeAll(async () => {
  project = await openTestProject()
  clickhouse = await openClickHouse()
})
afterAll(async () => {
  await project.close()
  await clickhouse.close()
})

type Engine = 'duckdb' | 'clickhouse'
const engines: readonly Engine[] = hasClickHouse ? ['clickhouse', 'duckdb'] : ['duckdb']
const rowOf = async (engine: Engine, query: Parameters<TestProject['rows']>[0]): Promise<readonly unknown[]> =>
  (engine === 'duckdb' ? await project.rows(query) : await clickhouse.rows(query, project))[0] ?? []

/** One value to ask for: an expression, and the columns it reads. */
interface Question {
  readonly label: string
  readonly one: Case
  readonly expr: Expr
  readonly columns: readonly Expr[]
  /** Which argument is a column. */
  readonly onColumn?: Omit<AskedColumn, 'name' | 'engine'>
}

/** NULL, or a tuple with it. */
const isNull = (expr: Expr): boolean => (expr.kind === 'literal' ? expr.value === null : expr.kind === 'tuple' && expr.items.some(isNull))
const isStatement = (expression: string) => /^\s*(select|with)\b/i.test(expression)

function questions(name: string, row: FunctionRow): Question[] {
  let names = 0
  return casesOf(name).flatMap((one): Question[] => {
    if (isStatement(one[0])) return []
    const expr = parseExpr(one[0])
    const written: Question = { label: one[0], one, expr, columns: [] }
    if (row.kind !== 'scalar' || expr.kind !== 'call' || row.isVolatile) return [written]
    const { args } = expr
    // Each constant on its own becomes a column, once with a type that has NULL and once without.
    const onColumns = args.flatMap((arg, i) =>
      arg.kind !== 'literal' || arg.value === null
        ? []
        : [false, true].map((mayBeNull): Question => {
            const column = `c${names++}`
            return {
              label: `${one[0]} with a ${mayBeNull ? 'nullable ' : ''}column as argument ${i + 1}`,
              one,
              expr: { ...expr, args: args.map((other, j) => (i === j ? field(column) : other)) },
              columns: [alias(mayBeNull ? call('toNullable', arg) : arg, column)],
              onColumn: {
                expression: one[0],
                argument: i + 1,
                isLast: i === args.length - 1,
                isNullable: mayBeNull,
                isBesideNull: args.some(isNull),
              },
            }
          }),
    )
    return [written, ...onColumns]
  })
}

const statementOf = (asked: readonly Question[]) => {
  const columns = asked.flatMap((question) => question.columns)
  return select({
    columns: asked.map(({ expr }, i) => alias(expr, `v${i}`)),
    from: columns.length === 0 ? null : from(select({ columns }), 't'),
  })
}

/** All in one statement; in halves when that fails. */
async function answers(engine: Engine, asked: readonly Question[]): Promise<readonly unknown[]> {
  if (asked.length === 0) return []
  try {
    return await rowOf(engine, statementOf(asked))
  } catch (error) {
    if (asked.length === 1) return [error]
    const middle = asked.length >> 1
    return [...(await answers(engine, asked.slice(0, middle))), ...(await answers(engine, asked.slice(middle)))]
  }
}

/** Engines add up in different orders. */
const lastDigits = 1e-12

/** What is to be refused is asked by itself: it would make the others of its statement fail. */
async function answersOf(engine: Engine, name: string, asked: readonly Question[]): Promise<readonly unknown[]> {
  const isRefused = (question: Question) => refusalFor(engine, name, question) !== undefined
  const answered = (
    await answers(
      engine,
      asked.filter((question) => !isRefused(question)),
    )
  ).values()
  const all: unknown[] = []
  for (const question of asked) all.push(isRefused(question) ? (await answers(engine, [question]))[0] : answered.next().value)
  return all
}

function shown(value: unknown, [, expected, options]: Case): unknown {
  if (value instanceof Error) return String(value)
  if (options?.unordered && Array.isArray(value)) return [...value].map((item) => JSON.stringify(item)).sort()
  return near(value, expected, options?.tolerance ?? lastDigits)
}
/** Numbers that are near enough to the expected ones become them, and so do times in another spelling. */
function near(value: unknown, expected: unknown, tolerance: number): unknown {
  if (Array.isArray(value) && Array.isArray(expected)) return value.map((item, i) => near(item, expected[i], tolerance))
  if (typeof value === 'number' && typeof expected === 'number')
    return Math.abs(value - expected) <= tolerance * Math.max(1, Math.abs(expected)) ? expected : value
  if (typeof value === 'string' && typeof expected === 'string' && /^\d{4}-\d\d-\d\dT[\d:.]+Z$/.test(value))
    return Date.parse(value) === Date.parse(`${expected.replace(' ', 'T')}${/[zZ]$/.test(expected) ? '' : 'Z'}`) ? expected : value
  return value
}

const refusalFor = (engine: Engine, name: string, { onColumn }: Question) => onColumn && refusalOf({ name, engine, ...onColumn })
/** A refusal is known by its words. */
function shownOn(engine: Engine, name: string, question: Question, value: unknown): unknown {
  const says = refusalFor(engine, name, question)?.says
  return says && value instanceof Error && value.message.includes(says) ? says : shown(value, question.one)
}
function expectedOn(engine: Engine, name: string, question: Question): unknown {
  const says = refusalFor(engine, name, question)?.says
  if (says) return says
  const value = question.one[1]
  return shown(question.onColumn?.isNullable ? (answerOfNullable.get(name)?.(value) ?? value) : value, question.one)
}

test('every refusal of a column is one that a case meets', () => {
  const met = new Set(
    Object.values(families).flatMap((rows) =>
      Object.entries(rows).flatMap(([name, row]) =>
        questions(name, row).flatMap((question) =>
          (['duckdb', 'clickhouse'] as const).flatMap((engine) => {
            const refusal = isUnsupported(row.sql[engine]) ? undefined : refusalFor(engine, name, question)
            return refusal ? [`${name} ${refusal.argument} ${refusal.engine ?? 'both'}`] : []
          }),
        ),
      ),
    ),
  )
  const listed = refusedColumns.flatMap(({ functions, argument, engine = 'both' }) =>
    functions.split(' ').map((name) => `${name} ${argument} ${engine}`),
  )
  expect(listed.filter((one) => !met.has(one))).toEqual([])
})

for (const [family, rows] of Object.entries(families))
  describe.skipIf(Object.keys(rows).every((name) => casesOf(name).length === 0))(family, () => {
    for (const [name, row] of Object.entries(rows)) {
      if (casesOf(name).length === 0) continue
      test(name, async () => {
        const asked = questions(name, row)
        const [found, expected]: [unknown[], unknown[]] = [[], []]
        for (const engine of engines) {
          if (isUnsupported(row.sql[engine])) continue
          const values = await answersOf(engine, name, asked)
          for (const [i, question] of asked.entries()) {
            found.push([engine, question.label, shownOn(engine, name, question, values[i])])
            expected.push([engine, question.label, expectedOn(engine, name, question)])
          }
          for (const one of casesOf(name).filter(([expression]) => isStatement(expression))) {
            const [value] = await rowOf(engine, parseQuery(one[0])).catch((error: unknown) => [error])
            found.push([engine, one[0], shown(value, one)])
            expected.push([engine, one[0], shown(one[1], one)])
          }
        }
        expect(found).toEqual(expected)
      })
    }
  })

describe.skipIf(!hasClickHouse)('known differences', () => {
  const listed = Object.values(families).flatMap((rows) =>
    Object.entries(rows).flatMap(([name, row]) => (row.differences ?? []).map((difference) => ({ name, ...difference }))),
  )
  const answered = (engine: Engine, expression: string): Promise<Answered> =>
    rowOf(engine, asStatement(expression)).then(
      ([value]) => ({ value }),
      (error: Error) => ({ refused: error.message }),
    )
  /** A refusal is known by some of its words. */
  const asListed = (found: Answered, listed: Answered): Answered =>
    'refused' in found && 'refused' in listed && found.refused.includes(listed.refused) ? listed : found
  test.each(listed)('$name: $expression', async ({ expression, duckdb, clickhouse }) => {
    expect(duckdb).not.toEqual(clickhouse)
    const found = { duckdb: await answered('duckdb', expression), clickhouse: await answered('clickhouse', expression) }
    expect({ duckdb: asListed(found.duckdb, duckdb), clickhouse: asListed(found.clickhouse, clickhouse) }).toEqual({ duckdb, clickhouse })
  })
})
