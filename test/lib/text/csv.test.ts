import { expect, test } from 'vitest'
import { csvLines } from '../../../src/lib/text/csv.ts'

// CSV is exact, unless it is for spreadsheets: then no text is a formula.

const lineOf = (values: readonly unknown[], isForPeople: boolean) => Buffer.concat([...csvLines([values], isForPeople)]).toString()

test.each<[value: unknown, exact: string, forPeople: string]>([
  ['=1+1', '=1+1', "'=1+1"],
  ['=HYPERLINK("https://evil.test","x")', '"=HYPERLINK(""https://evil.test"",""x"")"', '"\'=HYPERLINK(""https://evil.test"",""x"")"'],
  ['+cmd|calc', '+cmd|calc', "'+cmd|calc"],
  ['-2+3', '-2+3', "'-2+3"],
  ['@SUM(A1)', '@SUM(A1)', "'@SUM(A1)"],
  ['\t=1', '\t=1', "'\t=1"],
  ['\r=1', '"\r=1"', '"\'\r=1"'],
  ['-5', '-5', '-5'],
  ['+4.5', '+4.5', '+4.5'],
  ['-', '-', "'-"],
  [-5, '-5', '-5'],
  ['a=1', 'a=1', 'a=1'],
  ["'=1", "'=1", "'=1"],
  ['', '', ''],
  [null, '', ''],
  [true, 'true', 'true'],
  [{ '=a': 1 }, '"{""=a"":1}"', '"{""=a"":1}"'],
  [['=1'], '"[""=1""]"', '"[""=1""]"'],
])('%j', (value, exact, forPeople) => {
  expect([lineOf([value], false), lineOf([value], true)]).toEqual([`${exact}\r\n`, `${forPeople}\r\n`])
})
