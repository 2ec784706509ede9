import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { otlpPath } from '../../src/doors/http/capture/otlp.ts'
import { segmentPaths } from '../../src/doors/http/capture/segment.ts'
import { clientRows } from '../doors/http/capture/server-clients.ts'

const root = join(import.meta.dirname, '../..')
const page = readFileSync(join(root, 'docs/clients.md'), 'utf8')

test('docs/clients.md has every path, and the tests that it names are there', () => {
  for (const path of [...segmentPaths, otlpPath]) expect(page).toContain(`\`${path}\``)
  const tests = [...page.matchAll(/`(test\/[^`]+)`/g)].map(([, path]) => path!)
  expect(tests.length).toBeGreaterThan(3)
  expect(tests.filter((path) => !existsSync(join(root, path)))).toEqual([])
})

test('the libraries for other languages that it names have requests, and each that has them is named', () => {
  const line = page.split('\n').find((one) => one.includes('server-clients.test.ts'))!
  const named = [...line.split('|')[1]!.matchAll(/`([^`]+)`/g)].map(([, name]) => name!)
  expect(named).toEqual([...new Set(clientRows.map(({ client }) => client))])
})
