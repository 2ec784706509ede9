import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'

const root = join(import.meta.dirname, '../..')

test('docs/architecture.md has a row for every folder of the sources', () => {
  const rows = [...readFileSync(join(root, 'docs/architecture.md'), 'utf8').matchAll(/^\| ((?:`[\w-]+\/` ?)+)\|/gm)]
  const named = rows.flatMap(([, names]) => names!.match(/[\w-]+(?=\/)/g)!)
  const folders = readdirSync(join(root, 'src'), { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name)
  expect([...named].sort()).toEqual(folders.sort())
})
