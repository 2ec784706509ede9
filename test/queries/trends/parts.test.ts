import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { field } from '../../../src/language/ast/build.ts'
import type { Expr } from '../../../src/language/ast/nodes.ts'
import { intervals } from '../../../src/lib/time/calendar.ts'
import { nullValue, otherValue } from '../../../src/queries/series/breakdown-values.ts'
import { bucketNumber } from '../../../src/queries/time/bucket-number.ts'
import { bucketEdges } from '../../../src/queries/time/buckets.ts'
import { resolveDateRange } from '../../../src/queries/time/dates.ts'
import { binOf, binsOf, parseBin } from '../../../src/queries/trends/histogram.ts'
import { limitGroups, rankGroups } from '../../../src/queries/trends/ranking.ts'
import { accumulate, scaleSample, smooth } from '../../../src/queries/trends/transforms.ts'
import { assertGenerated } from '../../harness/assert-generated.ts'

/** The few functions that these trees use. */
function run(expr: Expr, x: number | null): unknown {
  if (expr.kind === 'literal') return expr.value
  if (expr.kind === 'field') return x
  if (expr.kind !== 'call') throw new Error(expr.kind)
  const [a, b, c] = expr.args
  const number = (e: Expr | undefined) => run(e!, x) as number
  switch (expr.name) {
    case 'if':
      return run(a!, x) ? run(b!, x) : run(c!, x)
    case 'less':
      return number(a) < number(b)
    case 'greaterOrEquals':
      return number(a) >= number(b)
    case 'isNotNull':
      return run(a!, x) !== null
    case 'and':
      return expr.args.every((arg) => run(arg, x))
    case 'minus':
      return number(a) - number(b)
    case 'plus':
      return number(a) + number(b)
    case 'intDiv':
      return Math.trunc(number(a) / number(b))
    default:
      throw new Error(expr.name)
  }
}

test('a bucket number is the place between the edges, in any zone and interval', () => {
  const zones = fc.constantFrom('UTC', 'America/New_York', 'Australia/Lord_Howe', 'America/Sao_Paulo', 'Africa/Casablanca', 'Pacific/Apia')
  const intervalsOfDays = fc.constantFrom(...intervals.filter((i) => i !== 'second' && i !== 'minute'))
  const from = fc.integer({ min: Date.UTC(2008, 0, 1) / 1000, max: Date.UTC(2022, 0, 1) / 1000 })
  assertGenerated(
    fc.property(
      zones,
      intervalsOfDays,
      from,
      fc.integer({ min: 0, max: 200 * 86400 }),
      fc.double({ min: 0, max: 1, noNaN: true }),
      (timezone, interval, start, length, share) => {
        const iso = (seconds: number) => new Date(seconds * 1000).toISOString()
        const project = {
          id: 1,
          timezone,
          weekStartDay: 1 as const,
          testAccountFilters: [],
          personDisplayNameProperties: [],
          pathCleaningFilters: [],
        }
        const edges = bucketEdges(
          resolveDateRange({ date_from: iso(start), date_to: iso(start + length) }, interval, { now: new Date(), project }),
        )
        const instant = Math.min(Math.floor(edges[0]! + share * (edges.at(-1)! - edges[0]!)), edges.at(-1)! - 1)
        expect(run(bucketNumber(field('x'), edges), instant)).toBe(edges.filter((edge) => edge <= instant).length - 1)
      },
    ),
    { numRuns: 300 },
  )
})

describe('a histogram', () => {
  test.each<[string, number | null, number | null, number, number[] | null]>([
    ['four bins', 10, 40, 4, [10, 17.5, 25, 32.5, 40.01]],
    ['five bins', 4, 128, 5, [4, 28.8, 53.6, 78.4, 103.2, 128.01]],
    ['one value', 4, 4, 10, [4, 4.01]],
    ['bins are cut to cents', 0, 10, 3, [0, 3.33, 6.66, 10.01]],
    ['unless they are narrower', 0, 0.01, 2, [0, 0.005, 0.02]],
    ['below zero', -10, 10, 2, [-10, 0, 10.01]],
    ['numbers so large that they have no cents', 1e17, 1e17, 4, [1e17, 1e17 + 16]],
    ['a width that is no number', -1e308, 1e308, 2, [-1e308, 0, 1e308 * (1 + Number.EPSILON)]],
    ['no number at all', null, null, 4, null],
  ])('%s', (_, low, high, count, edges) => {
    expect(binsOf(low, high, count)?.edges ?? null).toEqual(edges)
  })

  test('every value between smallest and largest has the bin whose text holds it', () => {
    const cents = fc.integer({ min: -100_000, max: 100_000 }).map((n) => n / 100)
    const numbers = fc.oneof(cents, fc.double({ noNaN: true, noDefaultInfinity: true, min: -1e300, max: 1e300 }))
    assertGenerated(
      fc.property(fc.array(numbers, { minLength: 1 }), fc.integer({ min: 1, max: 12 }), (values, count) => {
        const bins = binsOf(Math.min(...values), Math.max(...values), count)!
        for (const value of values) {
          const [low, high] = parseBin(run(binOf(field('x'), bins), value) as string)!
          expect(low <= value && value < high).toBe(true)
        }
      }),
    )
  })

  test('no value has the null bucket', () => {
    expect(run(binOf(field('x'), { edges: [1, 2] }), null)).toBe(nullValue)
  })

  test('the text for all values is no bin', () => {
    expect(parseBin('["",""]')).toBeNull()
    expect(parseBin('nonsense')).toBeNull()
  })
})

describe('ranking', () => {
  const group = (part: string, ...data: number[]) => ({ parts: [part], data })

  test('ordinary values by total, ties as texts, then the null bucket, then Other', () => {
    const groups = [
      group(otherValue, 99),
      group('b', 1),
      group(nullValue, 50),
      group('a', 1),
      group('128', 1),
      group('16', 1),
      group('z', 2),
    ]
    expect(rankGroups(groups).map((g) => g.parts[0])).toEqual(['z', '128', '16', 'a', 'b', nullValue, otherValue])
  })

  test('values past the limit are summed, the null bucket among them', () => {
    expect(limitGroups([group('a', 3, 0), group('b', 1, 1), group(nullValue, 5, 5), group('c', 0, 1)], { limit: 2 })).toEqual([
      group('a', 3, 0),
      group('b', 1, 1),
      group(otherValue, 5, 6),
    ])
  })

  test('as many values as the limit need no Other', () => {
    expect(limitGroups([group('a', 1), group('b', 2)], { limit: 2 })).toEqual([group('b', 2), group('a', 1)])
  })

  test('a list with one null part ranks with the null bucket', () => {
    const list = (parts: string[], n: number) => ({ parts, data: [n] })
    const ranked = rankGroups([list(['a', nullValue], 9), list(['b', 'x'], 1), list(['a', 'x'], 1)])
    expect(ranked.map((g) => g.parts)).toEqual([
      ['a', 'x'],
      ['b', 'x'],
      ['a', nullValue],
    ])
  })
})

test.each<[number[], number, number[]]>([
  [[1, 2, 3, 4], 1, [1, 2, 3, 4]],
  [[1, 2, 3, 4], 2, [1, 1, 2, 3]],
  [[10, 0, 0, 5], 3, [10, 5, 3, 1]],
  [[-1, -2], 2, [-1, -2]],
])('smoothing %j by %i', (data, n, expected) => {
  expect(smooth(data, n)).toEqual(expected)
})

test('running totals', () => {
  expect(accumulate([1, 0, 2])).toEqual([1, 1, 3])
})

test('a sample is scaled back for counts and sums, not for averages', () => {
  expect(scaleSample([1, 3], 0.1, 'total')).toEqual([10, 30])
  expect(scaleSample([1.26], 0.5, 'sum')).toEqual([3])
  expect(scaleSample([1.5], 0.5, 'avg')).toEqual([1.5])
  expect(scaleSample([1.5], 0.5, 'avg_count_per_actor')).toEqual([1.5])
  expect(scaleSample([7], null, 'dau')).toEqual([7])
})
