import { expect, test } from 'vitest'
import { ReadingRates } from '../../../src/engine/backend/reading-rates.ts'

const million = 1_000_000
type Step = (rates: ReadingRates) => void
const read =
  (values: number, seconds: number): Step =>
  (rates) =>
    rates.hasRead(values, seconds)
const answered =
  (what: string, events: number, seconds: number, isWhole = true): Step =>
  (rates) =>
    rates.hasAnswered(what, events, seconds, isWhole)

test.each<[string, Step[], { values: number; events: number; what?: string }, boolean]>([
  ['few values are read at once', [], { values: 400_000, events: 400_000 }, true],
  ['many are not, as long as nothing was measured', [], { values: 5 * million, events: 5 * million }, false],
  ['a statement of paths takes longer than that', [], { values: 5 * million, events: 5 * million, what: 'paths' }, true],
  ['nothing is lacking', [], { values: 0, events: 100 * million }, true],
  ['another load is running', [], { values: Number.POSITIVE_INFINITY, events: 100 * million }, false],
  ['reading was fast', [read(million, 0.1)], { values: 5 * million, events: 5 * million }, true],
  [
    'reading was fast, and so was the statement',
    [read(million, 0.1), answered('funnel', million, 0.01)],
    { values: 5 * million, events: 5 * million },
    false,
  ],
  ['the statement was slow', [answered('funnel', million, 4)], { values: 5 * million, events: 5 * million }, true],
  ['that of another fold was slow', [answered('funnel', million, 4)], { values: 5 * million, events: 5 * million, what: 'counts' }, false],
  [
    'it was stopped, and would have taken longer',
    [answered('funnel', million, 4, false)],
    { values: 5 * million, events: 5 * million },
    true,
  ],
  ['it failed at once', [answered('funnel', 40 * million, 0.001, false)], { values: 5 * million, events: 5 * million }, false],
  ['few events say nothing', [answered('funnel', 1000, 4), read(1000, 0.00001)], { values: 5 * million, events: 5 * million }, false],
  [
    'the last measurements count most',
    [read(million, 10), read(million, 0.01), read(million, 0.01)],
    { values: 5 * million, events: 5 * million },
    true,
  ],
])('whether a question waits for its columns: %s', (_, steps, { values, events, what = 'funnel' }, waits) => {
  const rates = new ReadingRates()
  for (const step of steps) step(rates)
  expect(rates.isFaster(values, what, events)).toBe(waits)
})
