import { expect, test } from 'vitest'
import { guessChart } from '../../../src/web/sql/chart-choice.ts'
import { columnsOf, kindOf, rowsOf, shownText, tabSeparated, valueText } from '../../../src/web/sql/columns.ts'

test.each([
  ['UInt64', 'number'],
  ['Nullable(Decimal(18, 4))', 'number'],
  ['LowCardinality(Nullable(String))', 'text'],
  ["DateTime64(6, 'UTC')", 'time'],
  ['Date', 'time'],
  ['Array(Int64)', 'other'],
  ['', 'other'],
])('%s is shown as %s', (type, kind) => {
  expect(kindOf(type)).toBe(kind)
})

const time = { name: 't', type: 'DateTime64(6)', kind: 'time' } as const
test.each([
  ['2026-07-01T22:30:05Z', 'Europe/Berlin', '2026-07-02 00:30:05'],
  ['2026-07-01T22:30:05.120000Z', 'UTC', '2026-07-01 22:30:05.12'],
  ['2026-07-01T22:30:05.000000Z', 'UTC', '2026-07-01 22:30:05'],
  ['2026-07-01', 'America/Los_Angeles', '2026-07-01'],
  ['not a time Z', 'UTC', 'not a time Z'],
])('%s in %s is %s', (value, zone, text) => {
  expect(shownText(value, time, zone)).toBe(text)
})

test('values are copied as they are, and a tab in one of them makes no column', () => {
  const answer = {
    columns: ['a\tb', 'n'],
    types: [
      ['a\tb', 'String'],
      ['n', 'Int64'],
    ],
    results: [['x\ty\nz', 1], [null, { k: [1] }], 'no row'],
  } as const
  expect(tabSeparated(columnsOf(answer), rowsOf(answer))).toBe('a b\tn\nx y z\t1\n\t{"k":[1]}')
  expect([valueText('9007199254740993'), valueText(false)]).toEqual(['9007199254740993', 'false'])
})

const columns = (...types: string[]) =>
  columnsOf({ columns: types.map((_, i) => `c${i}`), types: types.map((type, i) => [`c${i}`, type] as const) })
test.each([
  ['a time and numbers', ['Date', 'Int64', 'Float64'], 'ActionsLineGraph', 'c0', ['c1', 'c2']],
  ['a text and a number', ['Int64', 'String'], 'ActionsBar', 'c1', ['c0']],
  ['one number', ['Int64'], 'BoldNumber', '', ['c0']],
])('%s', (_, types, display, x, y) => {
  expect(guessChart(columns(...types), [[1, 2, 3]])).toEqual({ display, x, y })
})
test('no chart without numbers or without rows', () => {
  expect([guessChart(columns('String'), [['a']]), guessChart(columns('Int64'), [])]).toEqual([null, null])
})
