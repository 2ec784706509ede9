import { describe, expect, test } from 'vitest'
import {
  guessNumberFormat,
  guessTimeFormat,
  type NumberFormat,
  numberOfCell,
  type TimeFormat,
  timeOfCell,
} from '../../../src/events/imports/formats/cells.ts'
import { chooseColumns, mapped } from '../../../src/events/imports/formats/mapped.ts'
import { zoneOf } from '../../../src/lib/time/zone.ts'

const times: readonly (readonly [why: string, text: unknown, format: TimeFormat, zone: string, expected: string | null])[] = [
  ['ISO with its zone', '2026-03-14T15:09:26.5+02:00', 'iso', 'Europe/Berlin', '2026-03-14T13:09:26.500Z'],
  ['ISO without a zone', '2026-03-14 15:09', 'iso', 'Europe/Berlin', '2026-03-14T14:09:00.000Z'],
  ['a day', '2026-03-14', 'iso', 'America/New_York', '2026-03-14T04:00:00.000Z'],
  ['dots', '14.03.2026 15:09', 'DD.MM.YYYY', 'UTC', '2026-03-14T15:09:00.000Z'],
  ['one digit', '4.3.2026', 'DD.MM.YYYY', 'UTC', '2026-03-04T00:00:00.000Z'],
  ['the month first, with a half of the day', '03/14/2026, 3:09 PM', 'MM/DD/YYYY', 'UTC', '2026-03-14T15:09:00.000Z'],
  ['midnight', '03/14/2026 12:00 AM', 'MM/DD/YYYY', 'UTC', '2026-03-14T00:00:00.000Z'],
  ['a half of no day', '03/14/2026 13:00 PM', 'MM/DD/YYYY', 'UTC', null],
  ['the day first', '03/04/2026', 'DD/MM/YYYY', 'UTC', '2026-04-03T00:00:00.000Z'],
  ['no month 14', '03/14/2026', 'DD/MM/YYYY', 'UTC', null],
  ['no 31st of February', '31.02.2026', 'DD.MM.YYYY', 'UTC', null],
  ['a leap day', '29.02.2024', 'DD.MM.YYYY', 'UTC', '2024-02-29T00:00:00.000Z'],
  ['an hour that the clock skipped', '29.03.2026 02:30', 'DD.MM.YYYY', 'Europe/Berlin', '2026-03-29T01:30:00.000Z'],
  ['seconds', '1767607200.25', 'seconds', 'Europe/Berlin', '2026-01-05T10:00:00.250Z'],
  ['milliseconds as a number', 1_767_607_200_000, 'milliseconds', 'UTC', '2026-01-05T10:00:00.000Z'],
  ['another format', '2026-03-14', 'DD.MM.YYYY', 'UTC', null],
  ['text behind it', '14.03.2026 later', 'DD.MM.YYYY', 'UTC', null],
  ['beyond all time', '99999999999999999999', 'seconds', 'UTC', null],
  ['nothing', null, 'iso', 'UTC', null],
]
test.each(times)('a time: %s', (_, text, format, zone, expected) => {
  expect(timeOfCell(text, format, zoneOf(zone))).toBe(expected)
})

const numbers: readonly (readonly [text: string, format: NumberFormat, expected: number | null])[] = [
  ['1.234,56', '1.234,56', 1234.56],
  ['-12,5', '1.234,56', -12.5],
  ['1.23', '1.234,56', null],
  ['1,234,567', '1,234.56', 1_234_567],
  ['0,125', '1,234.56', null],
  ['0,125', '1234,56', 0.125],
  ['1\u202f234,5', '1 234,56', 1234.5],
  ["1'234.5", "1'234.56", 1234.5],
  ['01067', '1,234.56', null],
  ['0', '1,234.56', 0],
  ['12345678901234567890', '1234.56', null],
  ['', '1234.56', null],
  ['1e5', '1234.56', null],
]
test.each(numbers)('a number: %j as %s', (text, format, expected) => {
  expect(numberOfCell(text, format)).toBe(expected)
})

describe('guesses', () => {
  test.each([
    [['2026-03-14', '2026-03-15 10:00'], 'iso'],
    [['14.03.2026 15:09'], 'DD.MM.YYYY'],
    [['03/04/2026', '03/14/2026'], 'MM/DD/YYYY'],
    [['03/04/2026', '14/03/2026'], 'DD/MM/YYYY'],
    [['03/04/2026'], 'MM/DD/YYYY'],
    [['1767607200', 1767607201], 'seconds'],
    [['1767607200000'], 'milliseconds'],
    [['17'], null],
    [['14.03.2026', '2026-03-14'], null],
    [['yesterday'], null],
    [['2026-03-14', '2026-03-15', 'late'], 'iso'],
    [['2026-03-14', 'Mar 15 2026', 'Mar 16 2026'], null],
    [[], null],
  ])('times %j', (values, expected) => {
    expect(guessTimeFormat(values)).toBe(expected)
  })

  test.each([
    [[['1.5', '20']], null],
    [[['1,5', '20']], '1234,56'],
    [
      [
        ['1.234,56', '20,1'],
        ['a', 'b'],
      ],
      '1.234,56',
    ],
    [[['1,234.56']], '1,234.56'],
    [[['1,234', '5,678']], '1,234.56'],
    [[['1,5'], ['1.234,5']], '1.234,56'],
    [[["1'234.5"]], "1'234.56"],
    [[['a, b', '1,5']], null],
    [[['01067', '10115']], null],
    [[[]], null],
  ])('numbers %j', (columns, expected) => {
    expect(guessNumberFormat(columns)).toBe(expected)
  })
})

test('a row with formats: what is no number stays a text, and what is no time is a problem', () => {
  const columns = ['event', 'user_id', 'time', 'price', 'note']
  const convert = mapped(chooseColumns({}, columns), { time: 'DD.MM.YYYY', timezone: 'Europe/Berlin', numbers: '1.234,56' })
  const row = { event: 'bought', user_id: '7', time: '05.01.2026 11:00', price: '1.234,50', note: 'see 1.5' }
  expect(convert(row)).toEqual([
    { event: 'bought', distinct_id: '7', timestamp: '2026-01-05T10:00:00.000Z', properties: { price: 1234.5, note: 'see 1.5' } },
  ])
  expect(convert({ ...row, time: '2026-01-05' })).toEqual({ problem: 'unreadable timestamp: 2026-01-05' })
  expect(mapped(chooseColumns({}, columns))({ ...row, time: '2026-01-05 11:00:00' })).toMatchObject([{ timestamp: '2026-01-05T11:00:00Z' }])
})
