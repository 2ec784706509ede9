import { afterAll, beforeAll, expect, test } from 'vitest'
import { openTestProject, type TestProject } from '../../harness/duckdb.ts'

// Dates and times before 1970, which a Date and a DateTime of ClickHouse cannot say: there they become others, so that the engines cannot be
// compared. The fifth of May 1931 was a Tuesday, the last day of 1969 a Wednesday.

let project: TestProject
beforeAll(async () => {
  project = await openTestProject()
})
afterAll(() => project.close())

const early = "toDateTime('1931-05-05 05:05:05')"
const last = "toDateTime('1969-12-31 23:59:59')"
const lastDay = "toDate('1969-12-31')"

test.each<readonly [string, unknown]>([
  [`toString(${early})`, '1931-05-05 05:05:05.000000'],
  [`formatDateTime(${early}, '%d.%m.%Y %H:%i')`, '05.05.1931 05:05'],
  [`toUnixTimestamp(${last})`, -1],
  ['toDate(-1)', '1969-12-31'],
  ['fromUnixTimestamp(-129)', '1969-12-31T23:57:51Z'],
  [`${lastDay} < '1970-01-01'`, 1],
  [`toDate('2024-03-01') - ${lastDay}`, 19784],
  [`toYear(${early})`, 1931],
  [`toDayOfWeek(${early})`, 2],
  [`toDayOfYear(${lastDay})`, 365],
  [`date_part('doy', ${lastDay})`, 365],
  [`toWeek(${lastDay}, 0)`, 52],
  [`toWeek(${lastDay}, 3)`, 1],
  [`toISOWeek(${lastDay})`, 1],
  [`toMonday(${early})`, '1931-05-04'],
  [`toStartOfWeek(${lastDay}, 0)`, '1969-12-28'],
  [`toLastDayOfWeek(${early}, 1)`, '1931-05-10'],
  [`toStartOfMonth(${early})`, '1931-05-01'],
  [`toStartOfQuarter(${early})`, '1931-04-01'],
  [`dateTrunc('month', ${early})`, '1931-05-01'],
  [`toStartOfDay(${early})`, '1931-05-05T00:00:00Z'],
  [`toStartOfHour(${last})`, '1969-12-31T23:00:00Z'],
  [`toStartOfFifteenMinutes(${last})`, '1969-12-31T23:45:00Z'],
  [`toStartOfTenMinutes(${last})`, '1969-12-31T23:50:00Z'],
  [`timeSlot(${last})`, '1969-12-31T23:30:00Z'],
  [`toStartOfInterval(${early}, toIntervalMinute(15))`, '1931-05-05T05:00:00Z'],
  [`toStartOfInterval(${last}, toIntervalDay(3))`, '1969-12-29T00:00:00Z'],
  [`toStartOfInterval(${lastDay}, toIntervalWeek(1))`, '1969-12-29'],
  [`tumbleStart(${last}, toIntervalHour(1))`, '1969-12-31T23:00:00Z'],
  [`hopStart(${last}, toIntervalHour(1), toIntervalHour(3))`, '1969-12-31T21:00:00Z'],
  [`${lastDay} - toIntervalWeek(256)`, '1965-02-03'],
  [`${lastDay} + toIntervalQuarter(5)`, '1971-03-31'],
  [`addMonths(${lastDay}, -10)`, '1969-02-28'],
  [`dateDiff('week', ${early}, toDate('2024-01-01'))`, 4835],
  [`age('week', ${early}, toDateTime('2024-01-01'))`, 4834],
  [`dateDiff('month', ${lastDay}, toDate('2024-02-01'))`, 650],
])('%s', async (expression, expected) => {
  expect(await project.value(expression)).toEqual(expected)
})
