import { expect, test } from 'vitest'
import { type Slice, verdictsOf } from './verdicts.ts'

/** A slice of a run in which nothing grows. */
const slice = (n: number, changed: Partial<Slice> = {}, memory = 400): Slice => ({
  at: n + 1,
  samples: [{ processes: 3, memory, descriptors: 120, threads: 40 }],
  disk: { events: 300 * (1_000 + n), rest: 5e6, files: 30 },
  backups: 2e6 * n,
  events: 1_000 + n,
  captures: [4, 5, 6],
  queries: new Map([
    ['TrendsQuery', [20]],
    ['PathsQuery', [40]],
    ['SqlLikeQuery', [30]],
  ]),
  kills: 0,
  ...changed,
})
const run = (change: (n: number) => Slice) =>
  verdictsOf(Array.from({ length: 12 }, (_, n) => change(n)))
    .filter(({ holds }) => !holds)
    .map(({ name }) => name)

test.each([
  ['nothing grows', (n: number) => slice(n), []],
  ['memory grows all the time', (n: number) => slice(n, {}, 100 + n * 60), ['memory is flat']],
  ['memory grows a little while little is used', (n: number) => slice(n, {}, 20 + n), []],
  ['memory grows before a kill only', (n: number) => slice(n, { kills: n === 5 ? 1 : 0 }, n < 6 ? n * 100 : 400), []],
  [
    'a descriptor for each event',
    (n: number) => slice(n, { samples: [{ processes: 3, memory: 400, descriptors: 100 + n * 20, threads: 40 }] }),
    ['descriptors are flat'],
  ],
  [
    'files are left behind',
    (n: number) => slice(n, { disk: { events: 300 * (1_000 + n), rest: n * 1e7, files: 30 } }),
    ['disk beside events is flat'],
  ],
  [
    'events take more and more',
    (n: number) => slice(n, { disk: { events: 300_000 * (n + 1), rest: 0, files: 30 } }),
    ['disk per event does not grow'],
  ],
  ['copies take more and more', (n: number) => slice(n, { backups: 1e6 * n ** 2 }), ['backups take no more each minute']],
  [
    'one kind of three is slower',
    (n: number) =>
      slice(
        n,
        n < 11
          ? {}
          : {
              queries: new Map([
                ['TrendsQuery', [90]],
                ['PathsQuery', [41]],
                ['SqlLikeQuery', [30]],
              ]),
            },
      ),
    [],
  ],
  [
    'two kinds of three are slower',
    (n: number) =>
      slice(
        n,
        n < 11
          ? {}
          : {
              queries: new Map([
                ['TrendsQuery', [90]],
                ['PathsQuery', [60]],
                ['SqlLikeQuery', [30]],
              ]),
            },
      ),
    ['queries stay as fast'],
  ],
  ['one capture of three is slower', (n: number) => slice(n, n < 11 ? {} : { captures: [4, 5, 60] }), ['captures stay as fast: p95']],
  ['the first minute is slow', (n: number) => slice(n, n > 0 ? {} : { captures: [400, 500, 600] }), []],
] as const)('%s', (_, change, missed) => {
  expect(run(change)).toEqual(missed)
})
