import { afterAll, beforeAll, expect, test } from 'vitest'
import { openTestProject, type TestProject } from './harness/duckdb.ts'

let project: TestProject
beforeAll(async () => {
  project = await openTestProject()
})
afterAll(() => project.close())

const rows: readonly (readonly [name: string, statement: string, rows: unknown])[] = [
  ['literals', "select 1, -129, 1.5, 'a''b', null, true, false", [[1, -129, 1.5, "a'b", null, 1, 0]]],
  ['a table function and aggregates', 'select count(), sum(number) from numbers(1, 4)', [[4, 10]]],
  ['a subquery', "select x, y from (select 1 as x, 'b' as y)", [[1, 'b']]],
  ['order and limit', 'select number from numbers(5) order by number desc limit 2 offset 1', [[3], [2]]],
  ['group by an empty table', 'select event, count() from events group by event', []],
]
for (const [name, statement, expected] of rows) test(name, async () => expect(await project.rows(statement)).toEqual(expected))
