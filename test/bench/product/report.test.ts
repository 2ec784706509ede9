import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { expect, test } from 'vitest'
import { chartOf } from '../../../bench/product/chart.ts'
import type { ContenderFigures, Figures, Outcome } from '../../../bench/product/figures.ts'
import { aligned, conditionsTable, pageReport, questionTable, resourceTable, terminalReport } from '../../../bench/product/report.ts'
import { withReport } from '../../../bench/product/write-page.ts'

// What is made of the figures of a run, from fixed figures.

const times = (median: number): Outcome => ({ median, min: median * 0.9, max: median * 1.2, runs: 5 })
const contender = (key: ContenderFigures['key'], name: string, outcomes: readonly Outcome[]): ContenderFigures => ({
  key,
  name,
  layout: `how ${name} keeps events`,
  version: name.startsWith('Waymark') ? 'Waymark 0.1.0' : 'ClickHouse 26.7',
  loadSeconds: 20,
  eventsPerSecond: 50_000,
  loadPeakMb: 512.4,
  diskMb: 1234.5,
  firstAnswerMs: 1500,
  queryPeakMb: 300,
  outcomes,
})
const figures: Figures = {
  events: 1_000_000,
  seed: 1,
  persons: 20_000,
  threads: 2,
  memory: '2GB',
  command: 'npm run bench -- product --events 1',
  date: '2026-11-23',
  machine: { cpu: 'A <fast> CPU', cores: 2, memory_gb: 24, node: 'v20.20.2' },
  questions: ['count per day', 'retention, 30 days'],
  contenders: [
    contender('waymark-sql', 'Waymark (SQL)', [times(10), 'not built']),
    contender('clickhouse-best', 'ClickHouse (best layout)', [times(20), times(1250)]),
    contender('clickhouse-reference', 'ClickHouse (reference layout)', [times(200), 'failed: out of memory']),
  ],
  missing: [{ name: 'DuckDB (JSON text)', reason: 'it is not installed.' }],
}

test('the table has medians with their spread and ratios, and says openly what has no time', () => {
  expect(questionTable(figures)).toEqual([
    ['question', 'Waymark (SQL)', 'ClickHouse (best layout)', 'ClickHouse (reference layout)'],
    ['count per day', '10.0 ms (9.00..12.0) 0.50x', '20.0 ms (18.0..24.0)', '200 ms (180..240) 10.0x'],
    ['retention, 30 days', 'not built', '1,250 ms (1125..1500)', 'failed: out of memory'],
  ])
  expect(resourceTable(figures)[3]).toEqual(['on disk', '1,235 MB', '1,235 MB', '1,235 MB'])
})

test('times under other conditions stand beside those of the yardstick under the same one, and while events arrive beside its times at rest', () => {
  expect(conditionsTable(figures)).toBeNull()
  const [core, best] = figures.contenders
  const conditions = { first: [times(100), times(5)], opened: [times(300), 'failed: killed'] }
  const measured: Figures = {
    ...figures,
    contenders: [
      { ...core!, conditions: { ...conditions, live: [times(40), times(125)] } },
      { ...best!, conditions: { first: [times(50), times(10)], opened: [times(100), times(100)] } },
    ],
  }
  expect(conditionsTable(measured)).toEqual([
    ['question', ...['first time asked', 'right after opening', 'while events arrive'].map((name) => `Waymark (SQL), ${name}`)],
    ['count per day', '100 ms 2.00x', '300 ms 3.00x', '40.0 ms 2.00x'],
    ['retention, 30 days', '5.00 ms 0.50x', 'failed: killed', '125 ms 0.10x'],
  ])
  expect(terminalReport(measured)).toContain('1,000 events a second')
})

test('without the yardstick there are times and no ratios', () => {
  const alone = { ...figures, contenders: figures.contenders.slice(0, 1) }
  expect(questionTable(alone)[1]).toEqual(['count per day', '10.0 ms (9.00..12.0)'])
  expect(chartOf(alone)).not.toContain('NaN')
})

test('columns of the terminal are aligned, and contenders that are missing are named', () => {
  const lines = aligned(questionTable(figures)).split('\n')
  expect(new Set(lines.map(({ length }) => length)).size).toBe(1)
  expect(terminalReport(figures)).toContain('DuckDB (JSON text) did not take part: it is not installed.')
})

test('the page says the command, the machine, the versions and how each keeps its events', () => {
  const page = pageReport(figures, 'product-benchmark.svg')
  expect(page).toContain(
    '`npm run bench -- product --events 1` on 2026-11-23: 1,000,000 events of 20,000 persons (seed 1), 2 threads and 2GB for each engine. A <fast> CPU, 2 cores, 24 GiB; Waymark 0.1.0, ClickHouse 26.7, Node v20.20.2.',
  )
  expect(page).toContain('| count per day | 10.0 ms (9.00..12.0) 0.50x | 20.0 ms (18.0..24.0) | 200 ms (180..240) 10.0x |')
  expect(page).toContain('- Waymark (SQL): how Waymark (SQL) keeps events.')
  expect(page).toContain('](product-benchmark.svg)')
})

test('the chart has a bar for each time, to the left of the line of the yardstick where it is faster, and all within the picture', () => {
  const svg = chartOf(figures)
  const [, width] = /viewBox="0 0 (\d+) (\d+)"/.exec(svg)!.map(Number)
  const bars = [...svg.matchAll(/<rect x="([\d.]+)" y="[\d.]+" width="([\d.]+)" height="9"/g)].map(
    ([, x, w]) => [Number(x), Number(w)] as const,
  )
  const line = Number(/<line x1="([\d.]+)"[^>]*stroke="#333"/.exec(svg)![1])
  expect(bars).toHaveLength(4) // three for the first question, the yardstick's own for the second one
  const [faster, same, slower] = bars
  expect(faster![0] + faster![1]).toBeCloseTo(line, 0)
  expect(same![1]).toBeLessThan(2)
  expect(slower![0]).toBeCloseTo(line, 0)
  expect(slower![1]).toBeGreaterThan(2 * faster![1])
  for (const [x, w] of bars) expect(x + w).toBeLessThan(width!)
  expect(svg).toContain('>0.50x<')
  expect(svg).toContain('>10x<')
  expect(svg).toContain('retention, 30 days')
})

test('the page of the project has markers for the report, and the text around it stays', () => {
  const page = readFileSync(join(resolve(import.meta.dirname, '../../..'), 'docs/benchmarks.md'), 'utf8')
  const written = withReport(page, 'THE REPORT')
  expect(withReport(written, 'ANOTHER REPORT')).toBe(withReport(page, 'ANOTHER REPORT'))
  expect(written).toContain('\n\nTHE REPORT\n\n')
  expect(written.startsWith('# Benchmarks')).toBe(true)
  expect(() => withReport('# Benchmarks', 'THE REPORT')).toThrow('docs/benchmarks.md must contain')
})
