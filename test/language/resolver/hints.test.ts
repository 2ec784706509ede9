import { afterAll, beforeAll, expect, test } from 'vitest'
import { openTestProject, type TestProject } from '../../harness/duckdb.ts'

// What a mistake says beside what is wrong.

let project: TestProject
beforeAll(async () => {
  project = await openTestProject()
})
afterAll(() => project.close())

test.each([
  ["select (1, 'a').3", 'Unable to resolve field: 3. The tuple has 2 elements.'],
  ["select cast((1, 'a'), 'Tuple(id Int64, plan String)').pln", 'The tuple has 2 elements: id, plan.'],
  ["select windowFunnel('1 day')(timestamp, event = 'a') from events", 'takes its window as a number of seconds above 0, but got "1 day"'],
  ['select arrayMap(1, [1])', "'arrayMap' needs a lambda as its first argument"],
  ['select arrayFill([1], [1])', "'arrayFill' needs a lambda as its first argument"],
  ["select mapExists(map('a', 1))", 'The first argument must be a lambda'],
  ["select windowFunnel(-5)(timestamp, event = 'a') from events", 'takes its window as a number of seconds above 0'],
])('%s', async (statement, said) => {
  await expect(project.compile(statement)).rejects.toThrow(said)
})
