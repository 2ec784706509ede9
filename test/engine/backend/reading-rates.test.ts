import { expect, test } from 'vitest'
import type { LackingValues } from '../../../src/core/lists/ports.ts'
import { ReadingRates } from '../../../src/engine/backend/reading-rates.ts'

const million = 1_000_000
type Step = (rates: ReadingRates) => void
const read =
  (values: LackingValues, seconds: number): Step =>
  (rates) =>
    rates.hasRead(values, seconds)
const answered =
  (what: string, events: number, seconds: number, isWhole = true): Step =>
  (rates) =>
    rates.hasAnswered(what, events, seconds, isWhole)

const codes = (values: number): LackingValues => ({ codes: values })

test.each<[string, Step[], { values: LackingValues | null; events: number; what?: string }, boolean]>([
  ['few values are read at once', [], { values: codes(400_000), events: 400_000 }, true],
  ['many are not, as long as nothing was measured', [], { values: codes(10 * million), events: 5 * million }, false],
  ['conditions are read faster than texts', [], { values: { flags: 10 * million }, events: 5 * million }, true],
  ['a statement of paths takes longer than that', [], { values: codes(5 * million), events: 5 * million, what: 'paths' }, true],
  ['one that counts does not', [], { values: { numbers: 5 * million }, events: 5 * million, what: 'series 0, sum, current period' }, false],
  ['nothing is lacking', [], { values: { lists: 0, codes: 0 }, events: 100 * million }, true],
  ['another load is running', [], { values: null, events: 100 * million }, false],
  ['reading was fast', [read(codes(million), 0.1)], { values: codes(5 * million), events: 5 * million }, true],
  [
    'reading was fast, and so was the statement',
    [read(codes(million), 0.1), answered('funnel', million, 0.01)],
    { values: codes(5 * million), events: 5 * million },
    false,
  ],
  ['reading of another type was slow', [read({ numbers: million }, 10)], { values: codes(2 * million), events: 5 * million }, true],
  [
    'two types were slow together',
    [read({ flags: million, codes: million }, 100)],
    { values: codes(2 * million), events: 5 * million },
    false,
  ],
  [
    'ids were slow, which says nothing about other texts',
    [read({ actors: million }, 100)],
    { values: codes(2 * million), events: 5 * million },
    true,
  ],
  ['the statement was slow', [answered('funnel', million, 4)], { values: codes(5 * million), events: 5 * million }, true],
  [
    'that of another fold was slow',
    [answered('funnel', million, 4)],
    { values: codes(10 * million), events: 5 * million, what: 'counts' },
    false,
  ],
  [
    'it was stopped, and would have taken longer',
    [answered('funnel', million, 4, false)],
    { values: codes(5 * million), events: 5 * million },
    true,
  ],
  ['it failed at once', [answered('funnel', 40 * million, 0.001, false)], { values: codes(10 * million), events: 5 * million }, false],
  [
    'few events say nothing',
    [answered('funnel', 1000, 4), read(codes(1000), 0.00001)],
    { values: codes(10 * million), events: 5 * million },
    false,
  ],
  [
    'the last measurements count most',
    [read(codes(million), 10), read(codes(million), 0.01), read(codes(million), 0.01)],
    { values: codes(5 * million), events: 5 * million },
    true,
  ],
])('whether a question waits for its columns: %s', (_, steps, { values, events, what = 'funnel' }, waits) => {
  const rates = new ReadingRates()
  for (const step of steps) step(rates)
  expect(rates.isFaster(values, what, events)).toBe(waits)
})
