import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { zonePieces } from '../../../src/language/functions/cells/zones.ts'
import { type ClickHouse, hasClickHouse, openClickHouse } from '../../harness/clickhouse.ts'
import { openTestProject, type TestProject } from '../../harness/duckdb.ts'

// Date functions in zones on both sides of UTC, with half hours and with changes of clocks at midnight: both engines must say the same of
// moments on ordinary days and around every change.

const zones = ['America/New_York', 'America/Sao_Paulo', 'Asia/Kolkata', 'Asia/Kathmandu', 'Europe/London', 'Pacific/Auckland']

const expressions = [
  'toYear(t)',
  'toMonth(t)',
  'toDayOfMonth(t)',
  'toDayOfYear(t)',
  'toDayOfWeek(t)',
  'toHour(t)',
  'toMinute(t)',
  'toSecond(t)',
  'toISOWeek(t)',
  'toWeek(t, 1)',
  'toYearWeek(t)',
  'toYYYYMMDDhhmmss(t)',
  'toDate(t)',
  'toString(t)',
  'toStartOfYear(t)',
  'toStartOfQuarter(t)',
  'toStartOfMonth(t)',
  'toStartOfWeek(t)',
  'toLastDayOfWeek(t)',
  'toMonday(t)',
  'toLastDayOfMonth(t)',
  'toStartOfDay(t)',
  'toStartOfHour(t)',
  'toStartOfFifteenMinutes(t)',
  'toStartOfTenMinutes(t)',
  'timeSlot(t)',
  'toStartOfFiveMinutes(t)',
  'toStartOfMinute(t)',
  "dateTrunc('day', t)",
  "dateTrunc('hour', t)",
  "dateTrunc('month', t)",
  'toStartOfInterval(t, toIntervalHour(1))',
  'toStartOfInterval(t, toIntervalDay(1))',
  'toStartOfInterval(t, toIntervalDay(3))',
  'toStartOfInterval(t, toIntervalWeek(1))',
  'toStartOfInterval(t, toIntervalMinute(10))',
  'addDays(t, 1)',
  'subtractDays(t, 1)',
  'addWeeks(t, 2)',
  'addMonths(t, 1)',
  'addHours(t, 5)',
  't + toIntervalDay(1)',
  't - toIntervalMonth(1)',
  "formatDateTime(t, '%Y-%m-%d %H:%i:%S %z')",
  "dateDiff('day', fromUnixTimestamp(1704067200), t)",
  "dateDiff('month', fromUnixTimestamp(1704067200), t)",
  "dateDiff('week', fromUnixTimestamp(1704067200), t)",
  "age('month', fromUnixTimestamp(1704067200), t)",
  "toHour(toTimeZone(t, 'Asia/Tokyo'))",
  "toStartOfDay(t, 'America/New_York')",
  'timeZoneOffset(t)',
  'tumbleStart(t, toIntervalHour(1))',
]

let clickhouse: ClickHouse
const projects: TestProject[] = []
beforeAll(async () => {
  clickhouse = await openClickHouse()
})
afterAll(async () => {
  await clickhouse.close()
  for (const project of projects) await project.close()
})

/** Seconds beside the changes of some years, and on ordinary days; the last ones lie outside of the years whose offsets are printed. */
function moments(zone: string): number[] {
  const changes = [...zonePieces(zone, 2018, 2019).slice(1), ...zonePieces(zone, 2023, 2025).slice(1)]
  const beside = changes.flatMap(({ from }) => [-86_400, -3601, -1800, -1, 0, 1799, 3600, 7201, 50_000, 86_400].map((s) => from / 1e6 + s))
  return [...beside, 1704067199, 1704067200, 1709164800, 1709208123, 1719792000, 1735689599, 951_782_400, 1_256_455_800]
}

describe.each(zones.flatMap((zone, i) => [[zone, (i % 2) as 0 | 1] as const]))('%s, weeks from day %i', (zone, weekStartDay) => {
  let project: TestProject
  const seconds = moments(zone)
  beforeAll(async () => {
    project = await openTestProject({ timezone: zone, weekStartDay })
    projects.push(project)
  })
  test.each(expressions)('%s', async (expression) => {
    const statement = `select t, ${expression} from (select fromUnixTimestamp(u) as t from (select arrayJoin([${seconds.join(', ')}]) as u)) order by t limit 1000`
    const ours = await project.rows(statement)
    expect(ours.length).toBe(seconds.length)
    if (hasClickHouse) expect(ours).toEqual(await clickhouse.rows(statement, project))
  })
})

test('now, today and yesterday are those of the moment the query is asked, in the zone of the project', async () => {
  const project = await openTestProject({ timezone: 'Pacific/Auckland', now: new Date('2024-06-01T13:30:00.250Z') })
  projects.push(project)
  const statement = 'select toUnixTimestamp64Milli(now()), today(), yesterday(), current_date(), toHour(now())'
  const expected = [[1717248600250, '2024-06-02', '2024-06-01', '2024-06-02', 1]]
  expect(await project.rows(statement)).toEqual(expected)
  if (hasClickHouse) expect(await clickhouse.rows(statement, project)).toEqual(expected)
})
