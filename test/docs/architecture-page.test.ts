import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { floors } from '../layers.ts'

test('docs/architecture.md has a row for every room of the layer table', () => {
  const page = readFileSync(join(import.meta.dirname, '../../docs/architecture.md'), 'utf8')
  const rows = [...page.matchAll(/^\| ((?:`[\w/-]+\/` ?)+)\|/gm)]
  const named = rows.flatMap(([, names]) => names!.match(/[\w-][\w/-]*(?=\/`)/g)!)
  const rooms = floors.flatMap(({ rooms }) => Object.keys(rooms)).filter((room) => room !== 'root' && room !== 'index.ts')
  expect([...named].sort()).toEqual(rooms.sort())
})
