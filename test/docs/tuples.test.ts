import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type ClickHouse, hasClickHouse, openClickHouse } from '../harness/clickhouse.ts'
import { openTestProject, type TestProject } from '../harness/duckdb.ts'

// Every statement of docs/tuples.md answers what is written below it, on both engines.

const page = readFileSync(join(import.meta.dirname, '../../docs/tuples.md'), 'utf8')
const examples = [...page.matchAll(/```sql\n([\s\S]*?)\n-- (.*)\n```/g)].map(([, statement, rows]) => [statement!, rows!] as const)

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

test('there are examples', () => expect(examples.length).toBeGreaterThan(4))

test.each(examples)('%s', async (statement, rows) => {
  const expected = JSON.parse(rows)
  expect(await project.rows(statement)).toEqual(expected)
  if (hasClickHouse) expect(await clickhouse.rows(statement, project)).toEqual(expected)
})
