import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { linesOf } from '../../../src/service/notifications/alert-lines.ts'
import { checkAnswer } from '../../../src/service/notifications/alert-value.ts'

const linesIn = (kind: string, results: unknown, more: { index?: number; isOngoing?: boolean; query?: object; answer?: object } = {}) =>
  linesOf({ results, ...more.answer }, { query: { kind, ...more.query }, index: more.index ?? 0, isOngoing: more.isOngoing ?? false })

describe('of a retention', () => {
  test('the share is that of all who began in intervals for which the return interval is over', () => {
    const counts = fc
      .integer({ min: 2, max: 8 })
      .chain((days) =>
        fc.tuple(...Array.from({ length: days }, (_, day) => fc.array(fc.nat(50), { minLength: days - day, maxLength: days - day }))),
      )
    fc.assert(
      fc.property(counts, fc.integer({ min: 1, max: 3 }), fc.boolean(), (rows, index, isOngoing) => {
        const results = rows.map((values) => ({ values: values.map((count) => ({ count })) }))
        // Day by day: who began on day i has been asked about day i + index.
        let [began, back, isAny] = [0, 0, false]
        for (const [i, values] of rows.entries()) {
          const day = i + index
          if (day > rows.length - 1 || (day === rows.length - 1 && !isOngoing)) continue
          began += values[0]!
          back += values[index]!
          isAny = true
        }
        const [line] = linesIn('RetentionQuery', results, { index, isOngoing }).lines
        if (!isAny) expect(line!.total).toBeNull()
        else expect(line!.total).toBeCloseTo(began === 0 ? 0 : (back / began) * 100)
      }),
    )
  })

  test('each value of a breakdown has its own, and the time before has none', () => {
    const rows = (breakdown_value: string, back: number, more = {}) =>
      [4, 4, 4].map((count, i) => ({ breakdown_value, values: [{ count }, { count: back }, { count: 0 }].slice(0, 3 - i), ...more }))
    const { lines, unit } = linesIn('RetentionQuery', [...rows('a', 1), ...rows('b', 3), ...rows('a', 4, { compare_label: 'previous' })], {
      index: 1,
    })
    expect([unit, lines.map(({ label, total }) => [label, total])]).toEqual([
      '%',
      [
        ['a', 25],
        ['b', 75],
      ],
    ])
  })
})

test('of a funnel: all of it or a step, for each value, without the time before', () => {
  const steps = (breakdown_value: string | undefined, counts: readonly number[], more = {}) =>
    counts.map((count) => ({ count, breakdown_value, ...more }))
  const totals = (results: unknown, index: number) =>
    linesIn('FunnelsQuery', results, { index }).lines.map(({ label, total }) => [label, total])
  expect(totals(steps(undefined, [200, 50, 10]), 0)).toEqual([['', 5]])
  expect(totals(steps(undefined, [200, 50, 10]), 1)).toEqual([['', 25]])
  expect(totals(steps(undefined, [200, 50, 10]), 2)).toEqual([['', 20]])
  expect(totals(steps(undefined, [0, 0]), 0)).toEqual([['', 0]])
  expect(totals([steps('a', [4, 1]), steps('b', [4, 2])], 0)).toEqual([
    ['a', 25],
    ['b', 50],
  ])
  expect(totals([...steps(undefined, [4, 2]), ...steps(undefined, [4, 4], { compare_label: 'previous' })], 0)).toEqual([['', 50]])
  const query = { funnelsFilter: { funnelVizType: 'time_to_convert' } }
  expect(linesIn('FunnelsQuery', { average_conversion_time: 90.5, bins: [] }, { query })).toMatchObject({
    unit: ' s',
    lines: [{ total: 90.5 }],
  })
})

describe('of a statement', () => {
  const answer = (columns: readonly string[], types: readonly string[]) => ({ columns, types: types.map((type, i) => [columns[i], type]) })
  const shown = (results: unknown, of: object, index = 0) => linesIn('HogQLQuery', results, { answer: of, index })

  test('the columns of numbers are counted, and those without a number are left out', () => {
    const of = answer(['name', 'a', 'b'], ['String', 'Nullable(UInt64)', 'Float64'])
    expect(shown([['x', 3, 1.5]], of, 0)).toMatchObject({ subject: 'a', isNumber: true, lines: [{ label: '', total: 3 }] })
    expect(shown([['x', 3, 1.5]], of, 1)).toMatchObject({ subject: 'b', lines: [{ total: 1.5 }] })
    expect(shown([['x', 3, 1.5]], of, 2).lines).toEqual([])
    expect(shown([], of, 0).lines).toEqual([])
    expect(shown([['x', null, 1.5]], of, 0).lines).toMatchObject([{ total: null }])
  })

  test('rows with a time are intervals, in the order of their time', () => {
    const of = answer(['n', 'day'], ['UInt64', 'DateTime'])
    const rows = [
      [3, '2026-01-03'],
      [1, '2026-01-01'],
      [2, '2026-01-02'],
    ]
    expect(shown(rows, of)).toMatchObject({ isNumber: false, isWhole: true, lines: [{ data: [1, 2, 3] }] })
  })

  test('other rows are compared one by one, and named by the first column that has no numbers', () => {
    const of = answer(['n', 'plan'], ['UInt64', 'String'])
    const { lines } = shown(
      [
        [3, 'pro'],
        [9, 'free'],
      ],
      of,
    )
    expect(lines.map(({ label, total }) => [label, total])).toEqual([
      ['pro', 3],
      ['free', 9],
    ])
  })
})

test('a notice names a hundred rows of a statement, in few characters each, and counts the others', () => {
  const rows = Array.from({ length: 5_000 }, (_, i) => [i + 1, 'x'.repeat(10_000)])
  const rule = {
    condition: 'absolute_value',
    threshold: { type: 'absolute', bounds: { upper: 0 } },
    config: { series_index: 0, check_ongoing_interval: false },
  } as const
  const answer = {
    results: rows,
    columns: ['n', 'name'],
    types: [
      ['n', 'UInt64'],
      ['name', 'String'],
    ],
  }
  const { value, breaches } = checkAnswer(answer, rule, { kind: 'HogQLQuery' })
  expect([value, breaches.length, breaches.at(-1)]).toEqual([1, 101, 'And 4900 more outside the bounds.'])
  expect(breaches.join('').length).toBeLessThan(50_000)
})

test('of a stickiness: the mean number of intervals', () => {
  const rows = [
    { order: 0, data: [1, 0, 3] },
    { order: 1, data: [0, 0, 0] },
    { order: 0, data: [9, 9, 9], compare_label: 'previous' },
  ]
  const total = (index: number) => linesIn('StickinessQuery', rows, { index }).lines.map((line) => line.total)
  expect([total(0), total(1)]).toEqual([[2.5], [0]])
})
