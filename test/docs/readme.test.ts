import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { keptLines } from '../../bench/figures/kept-lines.ts'
import type { Figures } from '../../bench/product/figures.ts'
import { pageReport } from '../../bench/product/report.ts'
import { shownFigures, withReport } from '../../bench/product/write-page.ts'
import { readmeFile, withReadmeFigures } from '../../docs/readme-figures.ts'
import { maxSteps } from '../../src/core/kernels/funnels/columns.ts'

// Every number of README.md comes from somewhere: a line that a bench printed, or a limit of the source.

const page = readFileSync(readmeFile, 'utf8')
const [, table] = /<!-- figures[^>]*-->([\s\S]*?)<!-- end of the figures -->/.exec(page) ?? []

test('the figures are those that the benches printed (npm run docs writes them)', () => {
  expect(table?.trim()).toBeTruthy()
  expect(withReadmeFigures(page)).toBe(page)
})

test('the product benchmark of docs/benchmarks.md is the run that README.md quotes', () => {
  const benchmarks = readFileSync(join(import.meta.dirname, '../../docs/benchmarks.md'), 'utf8')
  const figures = JSON.parse(readFileSync(shownFigures, 'utf8')) as Figures
  expect(withReport(benchmarks, pageReport(figures, 'product-benchmark.svg'))).toBe(benchmarks)
})

test('each line names its machine, its size and its state', () => {
  for (const { command, date, line } of keptLines()) {
    expect(command).toMatch(/^npm run bench -- --only \w+/)
    expect(date).toMatch(/^\d{4}-\d\d-\d\d$/)
    expect(line.machine.cores, JSON.stringify(line)).toBeGreaterThan(0)
  }
})

/** Sentences outside of the table that have numbers. */
const elsewhere: readonly string[] = [
  `A funnel has at most ${maxSteps} steps.`,
  'All default tests run on Node 20, those of storage, folds, clients and the server also on the newest Node, and the example below on 22, 24 and 26.',
]

test('there is no figure outside of the table but limits of the source', () => {
  const prose = page
    .replace(/```[\s\S]*?```/g, '')
    .replace(/<!-- figures[\s\S]*?<!-- end of the figures -->/, '')
    .replace(/`[^`]*`/g, '')
    .replace(/\]\([^)]*\)/g, ']')
  for (const sentence of elsewhere) expect(prose).toContain(sentence)
  const others = elsewhere.reduce((text, sentence) => text.replace(sentence, ''), prose)
  const numbers = others.split(/(?<=[.:|])\s/).filter((sentence) => /\d/.test(sentence))
  expect(numbers).toEqual([])
})

test('what it says of versions of Node is what CI runs', () => {
  const read = (file: string) => readFileSync(join(import.meta.dirname, '../..', file), 'utf8')
  expect(page).toContain('All default tests run on Node 20')
  expect(JSON.parse(read('package.json')).engines.node).toBe('>=20')
  expect(read('.ci/run')).toMatch(/test:newest/)
  expect(read('test/package/run.ts')).toContain('[20, 22, 24, 26]')
})
