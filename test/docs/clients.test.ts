import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { otlpPath } from '../../src/doors/http/capture/otlp.ts'
import { segmentPaths } from '../../src/doors/http/capture/segment.ts'

const root = join(import.meta.dirname, '../..')
const page = readFileSync(join(root, 'docs/clients.md'), 'utf8')

test('docs/clients.md has every path, and the tests that it names are there', () => {
  for (const path of [...segmentPaths, otlpPath]) expect(page).toContain(`\`${path}\``)
  const tests = [...page.matchAll(/`(test\/[^`]+)`/g)].map(([, path]) => path!)
  expect(tests.length).toBeGreaterThan(3)
  expect(tests.filter((path) => !existsSync(join(root, path)))).toEqual([])
})
