import { expect, test } from 'vitest'
import type { ContenderFigures, Figures } from '../../../bench/product/figures.ts'
import { together } from '../../../bench/product/together.ts'

const contender = (key: ContenderFigures['key'], rows: number): ContenderFigures => ({
  key,
  name: key,
  layout: '',
  version: '1',
  loadSeconds: 1,
  eventsPerSecond: 1,
  loadPeakMb: 1,
  diskMb: 1,
  firstAnswerMs: 1,
  queryPeakMb: 1,
  outcomes: [{ median: 1, min: 1, max: 1, runs: 1 }],
  answers: [[['2026-01-01', rows]]],
})
const run = (more: Partial<Figures>): Figures => ({
  events: 100,
  seed: 1,
  persons: 2,
  threads: 2,
  memory: '2GB',
  command: 'a',
  date: '2026-01-01',
  machine: { cpu: 'one', cores: 2, memory_gb: 24, node: 'v20' } as Figures['machine'],
  questions: ['count per day'],
  contenders: [],
  missing: [],
  ...more,
})
const others = run({
  command: 'others',
  contenders: [contender('clickhouse-best', 7)],
  missing: [{ name: 'waymark-core', reason: 'not installed' }],
})

test('runs of some contenders each are one run, in the usual order', () => {
  const both = together([others, run({ command: 'ours', contenders: [contender('waymark-core', 7)] })])
  expect(both.contenders.map(({ key }) => key)).toEqual(['waymark-core', 'clickhouse-best'])
  expect([both.command, both.missing]).toEqual(['others, then ours', []])
  expect(together([others])).toBe(others)
})

test.each<[string, Partial<Figures>, RegExp]>([
  [
    'other answers',
    { contenders: [contender('waymark-core', 8)] },
    /disagree about "count per day": clickhouse-best answers .*7.*waymark-core answers .*8/,
  ],
  ['other events', { events: 101 }, /Only runs of the same events/],
  ['another machine', { machine: { cpu: 'two', cores: 2, memory_gb: 24, node: 'v20' } as Figures['machine'] }, /on the same machine/],
  ['the same contender', { contenders: [contender('clickhouse-best', 7)] }, /clickhouse-best is in more than one/],
])('runs with %s are not put together', (_, more, message) => {
  expect(() => together([others, run(more)])).toThrow(message)
})
