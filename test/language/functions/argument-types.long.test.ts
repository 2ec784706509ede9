import { afterAll, beforeAll, expect, test } from 'vitest'
import { answerQuery } from '../../../src/engine/execution/answer.ts'
import { WaymarkError } from '../../../src/errors/errors.ts'
import { alias, field, from, select } from '../../../src/language/ast/build.ts'
import type { Call, Expr, Query } from '../../../src/language/ast/nodes.ts'
import { print } from '../../../src/language/ast/print.ts'
import { rewrite, walk } from '../../../src/language/ast/walk.ts'
import { families } from '../../../src/language/functions/registry.ts'
import { isUnsupported } from '../../../src/language/functions/row.ts'
import { parseExpr, parseQuery } from '../../../src/language/parser/parse.ts'
import { openTestProject, type TestProject } from '../../harness/duckdb.ts'
import { casesOf } from './cases-of.ts'

// Each function with an argument of each other type: it answers, or is refused at its place.

let project: TestProject
beforeAll(async () => {
  project = await openTestProject()
})
afterAll(() => project.close())

const values: readonly string[] = [
  "toNullable('abc')",
  'toInt(7)',
  '1.5',
  "toDateTime('2024-01-01 00:00:00')",
  "toDate('2024-01-02')",
  '[1, 2]',
  "['a', 'b']",
  "(1, 'a')",
  "map('a', 1)",
  "toUUID('59f0c404-5cb3-11e7-907b-a6006ad3dba0')",
  '1 = 1',
  'toIntervalDay(1)',
]

interface CallInCase {
  readonly statement: Query
  readonly call: Call
}
/** The first case that calls the function with arguments. */
function callOf(name: string): CallInCase | null {
  for (const [text] of casesOf(name)) {
    const isStatement = /^\s*(select|with)\b/i.test(text)
    const statement = isStatement ? parseQuery(text) : select({ columns: [alias(parseExpr(text), 'v')] })
    let call: Call | undefined
    walk(statement, (node) => {
      if (node.kind === 'call' && node.name.toLowerCase() === name.toLowerCase()) call ??= node
    })
    if (call && call.args.length > 0) return { statement, call }
  }
  return null
}

/** With a value in place of an argument; where the statement reads no table, as a column. */
function withArgument({ statement, call }: CallInCase, place: number, value: string): Query {
  const asColumn = statement.kind === 'select' && statement.from === null
  const text = print(call)
  const given: Expr = asColumn ? field('given') : parseExpr(value)
  const changed = { ...call, args: call.args.map((arg, i) => (i === place ? given : arg)) }
  const next = rewrite(statement, (node) => (node.kind === 'call' && print(node) === text ? changed : node))
  return asColumn && next.kind === 'select' ? { ...next, from: from(select({ columns: [alias(parseExpr(value), 'given')] }), 't') } : next
}

/** With WAYMARK_RUNS all values at each place; otherwise every third, another one at the next place. */
const step = process.env.WAYMARK_RUNS === undefined ? 3 : 1
let places = 0

test.each(Object.entries(families))('%s', async (_, rows) => {
  const wrong: string[] = []
  for (const [name, row] of Object.entries(rows)) {
    const found = row.kind === 'table' || isUnsupported(row.sql.duckdb) ? null : callOf(name)
    for (const [place, arg] of found?.call.args.entries() ?? []) {
      const first = places++ % step
      for (const value of arg.kind === 'lambda' ? [] : values.filter((_, i) => i % step === first)) {
        const query = print(withArgument(found!, place, value))
        const error: unknown = await answerQuery({ kind: 'SqlLikeQuery', query }, project).then(
          () => null,
          (refused: unknown) => refused,
        )
        const isPlaced = error instanceof WaymarkError && error.position !== null
        if (error !== null && !isPlaced) wrong.push(`${query}: ${error}`)
      }
    }
  }
  expect(wrong).toEqual([])
})
