import { expect, test } from 'vitest'
import { asKind, statementQuery, variableNames, variablesOf, withValues } from '../../../src/web/sql/variables.ts'

test.each<[statement: string, names: readonly string[]]>([
  ['select 1', []],
  ['select {variables.a}, { variables.b_2 }, {variables.a}', ['a', 'b_2']],
  ['select {a.b}, {variables}, {variables.1}, {myvariables.a}', []],
  ["select 'it''s {variables.text}' -- {variables.line}\n, {variables.a} /* {variables.block} * / */", ['a']],
  ["select '\\'{variables.text}', {variables.a}", ['a']],
])('the variables of %j', (statement, names) => {
  expect(variableNames(statement)).toEqual(names)
})

test('a statement keeps the values that it uses, under the ids that they have', () => {
  const known = { 'id-of-a-client': { code_name: 'plan', value: 'pro' }, gone: { code_name: 'gone', value: 1 } }
  expect(variablesOf('select {variables.plan}, {variables.fresh}', known)).toEqual({
    'id-of-a-client': { code_name: 'plan', value: 'pro' },
    fresh: { code_name: 'fresh', value: '' },
  })
  expect(statementQuery('select 1', known)).toEqual({ kind: 'HogQLQuery', query: 'select 1' })
})

test('values of an address are laid over those that are known; others are left out', () => {
  const variables = { a: { code_name: 'a', value: 1 }, b: { code_name: 'b', value: 'x' } }
  expect(withValues(variables, { a: 2, c: 3, toString: 4 })).toEqual({ a: { code_name: 'a', value: 2 }, b: { code_name: 'b', value: 'x' } })
})

test.each<[value: unknown, kind: 'text' | 'number' | 'boolean', changed: unknown]>([
  ['5', 'number', 5],
  ['five', 'number', 0],
  [5, 'text', '5'],
  ['true', 'boolean', true],
  [1, 'boolean', false],
  [null, 'text', ''],
])('%j as %s', (value, kind, changed) => {
  expect(asKind(value, kind)).toBe(changed)
})
