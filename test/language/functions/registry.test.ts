import { describe, expect, test } from 'vitest'
import { candidates, families, lookup, registry } from '../../../src/language/functions/registry.ts'
import { isUnsupported } from '../../../src/language/functions/row.ts'
import { casesOf } from './cases-of.ts'
import { suffixCases } from './suffix-cases.ts'

describe('lookup', () => {
  test('finds the exact spelling first', () => {
    expect(lookup('sum')).toMatchObject({ name: 'sum', row: { kind: 'aggregate' } })
  })
  test('accepts any case only where the row says so', () => {
    expect(lookup('CoUnT')?.name).toBe('count')
    expect(lookup('UNIQ')).toBeUndefined()
  })
  test('does not find what every object has', () => {
    for (const name of ['constructor', 'hasOwnProperty', '__proto__', 'valueOf']) expect(lookup(name)).toBeUndefined()
  })
  test('proposes names that are spelled nearly the same', () => {
    expect(candidates('cuont')).toContain('count')
    expect(candidates('qqqqqqqqq')).toEqual([])
  })
})

test('no name stands in two families', () => {
  const names = Object.values(families).flatMap((family) => Object.keys(family))
  expect(names.length).toBe(new Set(names).size)
  expect(names.length).toBe(registry.size)
})

test('names that differ in case only are different functions with exact spelling', () => {
  const wrong = [...registry].filter(([name, row]) => row.caseInsensitive && name !== name.toLowerCase())
  expect(wrong.map(([name]) => name)).toEqual([])
})

/** Rows that an expression alone cannot show. */
const withoutCases: Readonly<Record<string, string>> = {
  getSurveyResponse: 'it reads events: surveys.test.ts',
  matchesAction: 'it needs an action of the project: actions.test.ts',
  uniqUpToMerge: 'no function of the language makes its states',
  uniqUpToMergeIf: 'no function of the language makes its states',
  uniqueSurveySubmissionsFilter: 'it reads events: surveys.test.ts',
}

test('every row that an engine supports has a case', () => {
  const missing = [...registry].filter(
    ([name, { sql }]) => casesOf(name).length === 0 && !(isUnsupported(sql.duckdb) && isUnsupported(sql.clickhouse)),
  )
  expect(missing.map(([name]) => name).sort()).toEqual(Object.keys(withoutCases).sort())
})

test('the cases of suffixes are of rows that suffixes make', () => {
  const made = families['Aggregates with suffixes']!
  expect(Object.keys(suffixCases).filter((name) => !Object.hasOwn(made, name))).toEqual([])
})
