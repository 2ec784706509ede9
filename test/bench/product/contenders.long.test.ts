import { spawnSync } from 'node:child_process'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { contenders } from '../../../bench/product/contenders.ts'
import type { Figures } from '../../../bench/product/figures.ts'
import { readOptions } from '../../../bench/product/options.ts'
import { questions } from '../../../bench/product/questions.ts'
import { terminalReport } from '../../../bench/product/report.ts'
import { runProduct } from '../../../bench/product/run-product.ts'

// The whole benchmark on few events, each contender in processes of its own. Those that are not installed are named by the run and by the notice of ClickHouse.

let folder: string
let figures: Figures
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'waymark-contenders-'))
  const args = ['--events', '0.02', '--runs', '2', '--at-rest', '--directory', folder]
  figures = await runProduct(readOptions(args), args, 'sources')
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

test('all contenders that are installed agree on 20,000 events and have a time for each question', () => {
  const installed = Object.values(contenders).filter(({ missing }) => missing === undefined)
  expect(figures.contenders.map(({ name }) => name)).toEqual(installed.map(({ name }) => name))
  expect(figures.missing.map(({ name }) => name)).toEqual(
    Object.values(contenders).flatMap(({ name, missing }) => (missing === undefined ? [] : [name])),
  )
  expect(figures.questions).toEqual(questions.map(({ name }) => name))
  for (const { name, outcomes } of figures.contenders)
    for (const [i, outcome] of outcomes.entries())
      expect([name, figures.questions[i], outcome]).toEqual([name, figures.questions[i], times])
})
const times = { median: expect.any(Number), min: expect.any(Number), max: expect.any(Number), runs: 2 }

test('each has its own memory, bytes on disk, load rate and first answer', () => {
  for (const { eventsPerSecond, loadPeakMb, diskMb, firstAnswerMs, queryPeakMb } of figures.contenders) {
    expect(eventsPerSecond).toBeGreaterThan(100)
    expect(diskMb).toBeGreaterThan(0.5)
    expect(firstAnswerMs).toBeGreaterThan(0)
    for (const peak of [loadPeakMb, queryPeakMb]) expect(peak).toBeGreaterThan(50)
  }
})

test('the report names each contender and each question, and nothing is left on disk', () => {
  const report = terminalReport(figures)
  for (const { name } of figures.contenders) expect(report).toContain(name)
  for (const { name } of questions) expect(report).toContain(name)
  expect(readdirSync(folder)).toEqual([])
})

test('each question is also asked for the first time, right after opening, and of Waymark while events arrive', async () => {
  const args = [
    '--events',
    '0.02',
    '--runs',
    '2',
    '--only',
    'count per day',
    '--contenders',
    'waymark-core,duckdb-typed',
    '--directory',
    folder,
  ]
  const { contenders: measured } = await runProduct(readOptions(args), args, 'sources')
  const once = [{ median: expect.any(Number), min: expect.any(Number), max: expect.any(Number), runs: 1 }]
  expect(measured.map(({ conditions }) => conditions)).toEqual([
    { first: once, opened: once, live: [times] },
    { first: once, opened: once },
  ])
  expect(readdirSync(folder)).toEqual([])
})

test('a wrong option ends with exit code 2 and says what was expected', () => {
  const run = resolve(import.meta.dirname, '../../../bench/run.ts')
  const { status, stderr } = spawnSync(process.execPath, ['--import', import.meta.resolve('tsx'), run, 'product', '--events', 'many'], {
    encoding: 'utf8',
  })
  expect([status, stderr.trim()]).toEqual([2, '--events must be a number above 0, got many.'])
})
