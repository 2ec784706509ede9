import { readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { expect, test } from 'vitest'

const folder = resolve(import.meta.dirname, '../../../src/language/functions')
const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.ts'))

/** What stands behind the name of a helper: declarations at the left margin, with their blanks made even. */
function helpersIn(file: string): readonly { readonly name: string; readonly body: string }[] {
  const text = readFileSync(join(folder, file), 'utf8')
  const declarations = text.split(/\n(?=(?:export )?(?:const|function) )/).slice(1)
  return declarations.flatMap((declaration) => {
    const found = /^(?:export )?(?:const|function) (\w+)([\s\S]*?)(?=\n\n|\n\/\*\*|\n\/\/|$)/.exec(declaration)
    return found ? [{ name: `${file}: ${found[1]}`, body: found[2]!.replace(/\s+/g, ' ').trim() }] : []
  })
}

test('no helper is written twice, under one name or two', () => {
  const names = new Map<string, string[]>()
  for (const { name, body } of files.flatMap(helpersIn))
    if (body.length > 30 && !/^= ['"]/.test(body)) names.set(body, [...(names.get(body) ?? []), name])
  expect([...names.values()].filter((same) => same.length > 1)).toEqual([])
})

test('rows of families say their work as `duckdb` and `clickhouse`, and their kind by the list they stand in', () => {
  // Rows that statements cannot name, made of others, or of another kind in spite of where they stand.
  const others = ['scalars.ts', 'row.ts', 'values/property-values.ts', 'values/whole-casts.ts', 'aggregates/grouping.ts']
  const wrong = files.filter((file) => !others.includes(file) && /^ +kind: 'scalar',$/m.test(readFileSync(join(folder, file), 'utf8')))
  // The type of a value has a kind of its own.
  expect(wrong.filter((file) => !/kind: 'scalar',\n +name: /.test(readFileSync(join(folder, file), 'utf8')))).toEqual([])
})
