import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { tables } from '../../../src/language/catalog/tables.ts'

const page = readFileSync(join(import.meta.dirname, '../../../docs/sql.md'), 'utf8')

test('every table and every column of it is on the page', () => {
  const missing: string[] = []
  for (const [table, { fields }] of Object.entries(tables)) {
    if (table.startsWith('@')) continue
    const row = page.split('\n').find((line) => line.startsWith('| ') && line.split('|')[1]!.includes(`\`${table}\``))
    if (!row) missing.push(table)
    else if (table !== 'sessions' && !table.startsWith('raw_'))
      for (const name of Object.keys(fields)) {
        const isListed = name === 'poe' || name.startsWith('@') || /_[1-3]$/.test(name) || row.includes(`\`${name}\``)
        if (!isListed) missing.push(`${table}.${name}`)
      }
  }
  expect(missing).toEqual([])
})
