import { expect, test } from 'vitest'
import { registry } from '../../../src/language/functions/registry.ts'
import { explanationOf, explanations } from '../../differential/explanations.ts'
import { reasonOf } from '../../differential/value-differences.ts'

// What the comparison of drawn calls excuses: nothing but the named functions with the named answers.

const found = { name: 'upper', expression: "upper('a')", timezone: 'UTC', duckdb: '"A"', clickhouse: '"B"' }

test('every explanation is of functions that are there', () => {
  const unknown = explanations.flatMap(({ functions }) => functions.trim().split(/\s+/)).filter((name) => !registry.has(name))
  expect(unknown).toEqual([])
})

test('no explanation takes any two answers', () => {
  const any = ['"some text"', 'refused: anything else']
  expect(
    explanations.filter((one) => any.every((text) => one.duckdb.test(text)) || any.every((text) => one.clickhouse.test(text))),
  ).toEqual([])
  expect(explanations.filter((one) => one.duckdb.test('"some text"') && one.clickhouse.test('"some text"'))).toEqual([])
})

test.each([
  ['a date before 1970', { name: 'upper', expression: "upper('1969-12-31')" }],
  [
    'a date before 1970 of a function whose dates are compared',
    { name: 'toMonth', expression: "toMonth(toDate('1969-12-31'))", duckdb: '12', clickhouse: '1' },
  ],
  ['a character that is none', { clickhouse: '"\uFFFD"' }],
  ['another refusal of a function that is refused sometimes', { name: 'splitByChar', clickhouse: 'refused: Something new' }],
  ['a refusal of a function that takes it', { clickhouse: 'refused: Illegal type Nullable(String) of argument' }],
])('%s excuses nothing', (_, difference) => {
  expect(explanationOf({ ...found, ...difference })).toBeUndefined()
})

test('a known difference is explained', () => {
  const difference = { name: 'toMonday', expression: "toMonday(toDate('1970-01-03'))", duckdb: '"1969-12-29"', clickhouse: '"1970-01-01"' }
  expect(explanationOf({ ...found, ...difference })?.reason).toMatch(/begin in 1970/)
})

test.each([
  ['another text of a function over texts', { name: 'upper', type: 'String', duckdb: '[["A"]]', clickhouse: '[["B"]]' }],
  ['another number', { name: 'arraySum', type: 'Int8', duckdb: '[[1]]', clickhouse: '[[2]]' }],
  ['a refusal without words that are known', { name: 'upper', type: 'String', duckdb: 'refused: Something new', clickhouse: '[["A"]]' }],
])('values of other types: %s has no reason', (_, difference) => {
  expect(reasonOf({ argument: 1, form: 'column', statement: '', ...difference })).toBeUndefined()
})
