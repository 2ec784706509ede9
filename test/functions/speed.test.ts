import { afterAll, beforeAll, expect, test } from 'vitest'
import { openTestProject, type TestProject } from '../harness/duckdb.ts'

let project: TestProject
beforeAll(async () => {
  project = await openTestProject()
})
afterAll(() => project.close())

const rows = 20_000

/** Processor time of an expression over rows, in nanoseconds a row. */
async function perRow(expression: string, text: string): Promise<number> {
  const before = process.cpuUsage()
  await project.rows(
    `select max(toString(${expression})) from (select concat('${text}', toString(modulo(number, 7))) as t from numbers(${rows}))`,
  )
  const { user, system } = process.cpuUsage(before)
  return ((user + system) * 1000) / rows
}

// What was a hundred times as slow as its neighbour and is now about as fast: a limit of thirty times leaves room for a busy machine.
const patterns = "['x', '^y', 'z+', 'q.*q', '[uvw]', 'k$', '^h', 'l']"
test.each([
  [`multiMatchAny(t, ${patterns})`, "match(t, '^h')", 'hello'],
  [`multiMatchAnyIndex(t, ${patterns})`, "match(t, '^h')", 'hello'],
])('%s takes at most thirty times as long as %s', async (slow, neighbour, text) => {
  await perRow(neighbour, text)
  expect(await perRow(slow, text)).toBeLessThan(30 * (await perRow(neighbour, text)))
})
