import { expect, test } from 'vitest'
import { type RowLimit, rowLimits } from '../../src/limits/limits.ts'
import { accountShapes } from '../../src/service/accounts/records.ts'

// Every table of account data has a row in the table of limits, which names columns that exist.

const limits = Object.entries<RowLimit>(rowLimits)

test('every table has a largest number of rows, and an owner', () => {
  const write = (table: string) =>
    `add \`${table}: refused('what it holds', SIZE, { OWNER_id: NUMBER }, 'why')\` to \`rowLimits\` in src/limits/limits.ts`
  expect(
    Object.keys(accountShapes)
      .filter((table) => !(table in rowLimits))
      .map(write),
  ).toEqual([])
  expect(Object.keys(rowLimits).filter((table) => !(table in accountShapes))).toEqual([])
  for (const [table, { per, inAll }] of limits)
    expect(Object.keys(per).length + (inAll ?? 0), `${table} has neither an owner nor a number`).toBeGreaterThan(0)
})

test('columns of owners, and of ages, are columns of the table', () => {
  for (const [table, { per, full }] of limits) {
    const shape: Readonly<Record<string, string>> = accountShapes[table as keyof typeof accountShapes]
    for (const column of Object.keys(per)) expect(Object.keys(shape), `${table}.${column}`).toContain(column)
    if (full !== 'refuse') expect(shape[full.oldest]?.replace('?', ''), `${table}.${full.oldest}`).toBe('time')
  }
})
