import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { UnsupportedError } from '../../src/errors/errors.ts'
import { type ClickHouse, hasClickHouse, openClickHouse } from '../harness/clickhouse.ts'
import { openTestProject, type TestProject } from '../harness/duckdb.ts'

// Every statement of docs/sql.md answers what is written below it. ClickHouse answers the same, or refuses the statement by name.

const page = readFileSync(join(import.meta.dirname, '../../docs/sql.md'), 'utf8')
const examples = [...page.matchAll(/```sql\n([\s\S]*?)\n-- (.*)\n```/g)].map(([, statement, rows]) => [statement!, rows!] as const)

let project: TestProject
let clickhouse: ClickHouse
beforeAll(async () => {
  project = await openTestProject()
  const [, table] = /\| event \| distinct_id \| timestamp \| price \|\n\|[-|]+\n((?:\|.*\n)+)/.exec(page)!
  const rows = table!.trim().split('\n')
  const batch = rows.map((row) => {
    const [event, distinct_id, time, price] = row
      .split('|')
      .slice(1)
      .map((text) => text.trim()) as [string, string, string, string]
    const properties = { ...(price ? { price: Number(price) } : {}), $groups: { company: 'acme' } }
    return { event, distinct_id, timestamp: `${time.replace(' ', 'T')}:00Z`, properties }
  })
  await project.project.importGroups([{ group_type: 'company', group_key: 'acme', properties: { size: 40 } }])
  await project.project.ingest({ batch })
  clickhouse = await openClickHouse()
  await clickhouse.load(project)
})
afterAll(async () => {
  await project.close()
  await clickhouse.close()
})

test('there are examples', () => expect(examples.length).toBeGreaterThan(2))

test.each(examples)('%s', async (statement, rows) => {
  const expected = JSON.parse(rows)
  expect(await project.rows(statement)).toEqual(expected)
  if (!hasClickHouse) return
  const answer = await clickhouse.rows(statement, project).catch((error: unknown) => {
    if (error instanceof UnsupportedError) return expected
    throw error
  })
  expect(answer).toEqual(expected)
})
