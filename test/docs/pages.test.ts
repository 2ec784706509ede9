import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { pages } from '../../docs/pages.ts'

test.each(Object.entries(pages))('%s says what the code does (npm run docs writes it)', (name, text) => {
  expect(readFileSync(join(import.meta.dirname, '../../docs', name), 'utf8')).toBe(text())
})
