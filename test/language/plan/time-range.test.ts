import { expect, test } from 'vitest'
import { columnName } from '../../../src/language/ast/column-name.ts'
import { parseQuery } from '../../../src/language/parser/parse.ts'
import { timeRange } from '../../../src/language/plan/time-range.ts'
import { resolve } from '../../../src/language/resolver/resolve.ts'

const now = new Date('2024-06-01T12:00:00Z')
const context = {
  project: { id: 1, timezone: 'Europe/Berlin', weekStartDay: 1 as const },
  now,
  propertyType: () => null,
  cohort: () => undefined,
}
const years = (where: string, from = 'events') => {
  const range = timeRange(resolve(parseQuery(`select 1 from ${from} where ${where}`), context, columnName), now, 'Europe/Berlin')
  return range?.map((at) => new Date(at).toISOString().slice(0, 10))
}

const cases: readonly (readonly [name: string, where: string, range: readonly string[] | undefined])[] = [
  ['both ends', "timestamp >= '2024-01-01' and timestamp < '2024-02-01'", ['2023-12-31', '2024-01-31']],
  ['the constant first', "'2024-01-05 12:00:00' <= timestamp and timestamp <= '2024-01-06 12:00:00'", ['2024-01-05', '2024-01-06']],
  ['between', "timestamp between '2024-01-05 12:00:00' and '2024-01-06 12:00:00'", ['2024-01-05', '2024-01-06']],
  ['counted from now', 'timestamp > now() - interval 7 day', ['2024-05-25', '2025-06-02']],
  ['a function around it', "timestamp > toStartOfMonth(toDateTime('2024-03-05 00:00:00'))", ['2024-03-04', '2025-06-02']],
  ['no beginning', "timestamp < '2024-01-01'", undefined],
  ['either of two', "timestamp > '2024-01-01' or event = 'a'", undefined],
  ['not a constant', 'timestamp > created_at', undefined],
]
for (const [name, where, range] of cases) test(name, () => expect(years(where)).toEqual(range))

test('with two scans of events, what holds of one says nothing of the other', () => {
  expect(years("a.timestamp > '2024-01-01'", 'events a join events b on a.uuid = b.uuid')).toBeUndefined()
})
