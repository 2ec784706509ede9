import { afterAll, beforeAll, expect, test } from 'vitest'
import { type ClickHouse, hasClickHouse, openClickHouse } from '../../harness/clickhouse.ts'
import { openTestProject, type TestProject } from '../../harness/duckdb.ts'

// Conversions and comparisons in a project away from UTC, on both engines.

let project: TestProject
let clickhouse: ClickHouse
beforeAll(async () => {
  project = await openTestProject({ timezone: 'America/New_York' })
  clickhouse = await openClickHouse()
})
afterAll(async () => {
  await project.close()
  await clickhouse.close()
})

const cases: readonly (readonly [expression: string, value: unknown])[] = [
  ["toString(toDateTime('2024-01-02 03:04:05'))", '2024-01-02 03:04:05.000000'],
  ["toString(toDateTime('2024-01-02T03:04:05Z'))", '2024-01-01 22:04:05.000000'],
  ["toString(toDateTime('2024-01-02T03:04:05Z'), 'UTC')", '2024-01-02 03:04:05.000000'],
  ['toString(toDateTime(1704153600))', '2024-01-01 19:00:00'],
  ["toString(toDateTime(toDate('2024-07-01')), 'UTC')", '2024-07-01 04:00:00'],
  ["toString(toDate(toDateTime('2024-01-02T03:04:05Z')))", '2024-01-01'],
  ['toString(toDate(1704153600))', '2024-01-01'],
  ["toString(toDateTime('2024-03-10 02:30:00'), 'UTC')", '2024-03-10 06:30:00.000000'],
  ["toString(parseDateTime('2024-07-01 10:00:00', '%Y-%m-%d %H:%i:%s'), 'UTC')", '2024-07-01 14:00:00'],
  ["toString(toDateTime64('2024-07-01 10:00:00.5', 1), 'UTC')", '2024-07-01 14:00:00.5'],
  ["concat('at ', toDateTime('2024-01-02T03:04:05Z'))", 'at 2024-01-01 22:04:05.000000'],
  ["toDateTime('2024-01-02T03:04:05Z') > '2024-01-01 22:00:00'", 1],
  ["toDateTime('2024-01-02T03:04:05Z') > '2024-01-01 23:00:00'", 0],
  ["toDateTime('2024-01-02T03:04:05Z') > concat('2024-01-01 22:00:00', '')", 1],
  ["toDateTime('2024-01-02T03:04:05Z') < toDate('2024-01-02')", 1],
  ["toDateTime('2024-01-02T05:00:00Z') = toDate('2024-01-02')", 1],
  ["toInt(toDateTime('2024-01-02 00:00:00'))", 1704171600],
]
test.each(cases)('%s', async (expression, value) => {
  expect(await project.value(expression), 'DuckDB').toEqual(value)
  if (hasClickHouse) expect(await clickhouse.value(expression, project), 'ClickHouse').toEqual(value)
})
