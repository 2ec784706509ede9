import { describe, expect, test } from 'vitest'
import { displays } from '../../../src/queries/trends/schema.ts'
import { chartRows } from '../../../src/service/pictures/chart-rows.ts'
import { withBaseline } from '../../../src/service/pictures/charts/funnels.ts'
import { labelsOf } from '../../../src/service/pictures/charts/trends.ts'
import { breakdownInBrackets, breakdownText } from '../../../src/service/pictures/charts/values.ts'
import { pictureOf } from '../../../src/service/pictures/picture.ts'
import { readChart } from '../../../src/service/pictures/read-chart.ts'

// What a person reads of the values of a breakdown: no name that only programs know, and no two rows of the same name.

const none = '$$_posthog_breakdown_null_$$'
const other = '$$_posthog_breakdown_other_$$'
const days = ['2026-01-01', '2026-01-02']
const action = (name: string, custom_name: string | null = null) => ({ name, custom_name })
const row = (label: string, breakdown_value: unknown, more: object = {}) => ({
  label,
  breakdown_value,
  data: [1, 2],
  days,
  labels: ['1-Jan-2026', '2-Jan-2026'],
  count: 3,
  aggregated_value: 3,
  order: 0,
  action: action('visit'),
  ...more,
})

describe('the names of rows', () => {
  test.each<[what: string, rows: readonly object[], names: readonly string[]]>([
    ['one series', [row('Chrome', 'Chrome'), row(none, none), row(other, other)], ['Chrome', '(none)', 'Other']],
    [
      'several series, one of them renamed',
      [row('visit - Chrome', 'Chrome'), row(`buy - ${none}`, none, { order: 1, action: action('buy', 'Bought') })],
      ['visit - Chrome', 'Bought - (none)'],
    ],
    ['two properties', [row(`Chrome::${none}`, ['Chrome', none]), row(`${other}::${other}`, [other, other])], ['Chrome, (none)', 'Other']],
    [
      'a formula',
      [
        row('Formula (A / B)', 'Chrome', { action: null }),
        row('Formula (A / B)', none, { action: null }),
        row('Formula (A / B)', other, { action: null }),
      ],
      ['Chrome', '(none)', 'Other'],
    ],
    [
      'two formulas',
      [row('Rate', 'Chrome', { action: null }), row('Formula (A + B)', 'Chrome', { action: null, order: 1 })],
      ['Rate - Chrome', 'Formula (A + B) - Chrome'],
    ],
    [
      'a formula of cohorts',
      [
        row('Formula (A + B)', 7, { action: null, breakdown_label: 'Payers' }),
        row('Formula (A + B)', 'all', { action: null, breakdown_label: 'all users' }),
      ],
      ['Payers', 'all users'],
    ],
    ['cohorts', [row('Payers', 7, { breakdown_label: 'Payers' }), row('visit - Payers', 7)], ['Payers', 'visit - Payers']],
    [
      'a comparison',
      [
        row('Formula (A / B)', 'x', { action: null, compare_label: 'current' }),
        row('Formula (A / B)', 'x', { action: null, compare_label: 'previous' }),
      ],
      ['x', 'x (previous)'],
    ],
    ['no breakdown', [row('visit', undefined), row('Formula (A)', undefined, { action: null })], ['visit', 'Formula (A)']],
  ])('%s', (_, rows, names) => {
    expect(labelsOf(rows as never)).toEqual(names)
  })
})

test('a value in brackets has one pair of them', () => {
  expect([['Chrome'], [''], none, [none, 'Chrome'], [other]].map(breakdownInBrackets)).toEqual([
    '(Chrome)',
    '(none)',
    '(none)',
    '(none, Chrome)',
    '(Other)',
  ])
  expect([[''], true, 7, null].map(breakdownText)).toEqual(['(none)', 'true', '7', '(none)'])
})

const shownDisplays = displays.filter((display) => display !== 'BoxPlot' && display !== 'CalendarHeatmap')
test.each(shownDisplays)('%s: its chart, table and picture have no name for programs', (display) => {
  const query = { kind: 'TrendsQuery', series: [], trendsFilter: { display } }
  const results = [row('DE', 'DE'), row(none, none), row(other, other)]
  for (const rows of [results, results.map((one) => ({ ...one, label: 'Formula (A / B)', action: null }))]) {
    const chart = readChart(query, { results: rows }, 'UTC')
    const { rows: cells, leftOut } = chartRows(chart)
    const all = JSON.stringify([chart, cells, leftOut]) + pictureOf(query, { results: rows }, { title: 'x', timezone: 'UTC' })
    expect(all).not.toMatch(/\$\$|Formula/)
    if (!['BoldNumber', 'Metric'].includes(display)) expect(all).toMatch(/\(none\).*Other/)
  }
})

test('a pie has one slice of the others: those of the answer and those without room', () => {
  const results = [
    row(other, other, { aggregated_value: 50 }),
    ...Array.from({ length: 12 }, (_, i) => row(`v${i}`, `v${i}`, { aggregated_value: 20 - i })),
  ]
  const chart = readChart({ kind: 'TrendsQuery', trendsFilter: { display: 'ActionsPie' } }, { results }, 'UTC')
  if (chart.kind !== 'pie') throw new Error(chart.kind)
  expect(chart.items.filter(({ label }) => label === 'Other').map(({ value }) => value)).toEqual([50 + 10 + 9])
  expect(chart.items).toHaveLength(11)
})

describe('conversion over time', () => {
  const query = { kind: 'FunnelsQuery', interval: 'day' }
  const line = { data: [0, 50, 0], days: ['2026-01-01', '2026-01-02', '2026-01-03'], labels: ['1', '2', '3'], count: 3 }
  test('an interval in which nobody began has no rate, one that is not over is dashed', () => {
    const answer = { results: [{ ...line, reached_from_step_count: [0, 4, 3] }], last_refresh: '2026-01-03T10:00:00Z' }
    const chart = readChart(query, answer, 'UTC')
    if (chart.kind !== 'lines') throw new Error(chart.kind)
    expect(chart.series[0]!.values).toEqual([null, 50, 0])
    expect(chart.unfinished).toBe(1)
    expect(pictureOf(query, answer, { title: 'x', timezone: 'UTC' })).toContain('stroke-dasharray')
  })
  test('an answer without these numbers is drawn as it is', () => {
    const chart = readChart(query, { results: [line] }, 'UTC')
    expect(chart.kind === 'lines' && chart.series[0]!.values).toEqual([0, 50, 0])
  })
})

test('of a slope only its end is dashed while the last interval is not over', () => {
  const query = { kind: 'TrendsQuery', interval: 'day', trendsFilter: { display: 'SlopeGraph' } }
  const lines = (last_refresh: string) =>
    [
      ...pictureOf(query, { results: [row('visit', undefined)], last_refresh }, { title: 'x', timezone: 'UTC' }).matchAll(
        /<polyline[^>]*>/g,
      ),
    ].map(([text]) => ({
      isDashed: text.includes('dasharray'),
      points: /points="(.*?)"/
        .exec(text)![1]!
        .split(' ')
        .map((point) => Number(point.split(',')[0])),
    }))
  const [solid, dashed, ...more] = lines('2026-01-02T10:00:00Z')
  expect([solid!.isDashed, dashed!.isDashed, more.length]).toEqual([false, true, 0])
  expect(solid!.points.at(-1)).toBe(dashed!.points[0])
  expect(dashed!.points[1]! - dashed!.points[0]!).toBeLessThan((solid!.points[1]! - solid!.points[0]!) / 2)
  expect(lines('2026-01-03T10:00:00Z').map(({ isDashed }) => isDashed)).toEqual([false])
})

describe('a statement that is split by a column', () => {
  const node = (split: string | undefined, y = ['n']) => ({
    kind: 'DataVisualizationNode',
    display: 'ActionsLineGraph',
    chartSettings: { xAxis: { column: 'day' }, yAxis: y.map((column) => ({ column })), seriesBreakdownColumn: split },
    source: { kind: 'HogQLQuery', query: '' },
  })
  const answer = {
    columns: ['browser', 'day', 'n', 'm'],
    results: [
      ['Chrome', '2026-01-02', 3, 1],
      ['Chrome', '2026-01-03', 4, 1],
      [null, '2026-01-01', 1, 1],
      ['Chrome', '2026-01-03', 2, 1],
    ],
  }
  test('has a series for each value, times in their order, and sums of the same place', () => {
    const chart = readChart(node('browser'), answer, 'UTC')
    if (chart.kind !== 'lines') throw new Error(chart.kind)
    expect(chart.labels).toEqual(['2026-01-01', '2026-01-02', '2026-01-03'])
    expect(chart.series.map(({ label, values }) => [label, values])).toEqual([
      ['Chrome', [null, 3, 6]],
      ['(none)', [1, null, null]],
    ])
  })
  test('several numbers are named beside the value, and a column that is gone splits nothing', () => {
    const names = (of: object) => {
      const chart = readChart(of, answer, 'UTC')
      return chart.kind === 'lines' ? chart.series.map(({ label }) => label) : []
    }
    expect(names(node('browser', ['n', 'm']))).toEqual(['Chrome - n', 'Chrome - m', '(none) - n', '(none) - m'])
    expect(names(node('gone'))).toEqual(['n'])
  })
})

test('beside the values of a split funnel stands the whole one, in grey and in addition to those that have room', () => {
  const steps = (count: number, more: object) => ['visit', 'signup'].map((name, order) => ({ name, order, count: count - order, ...more }))
  const results = Array.from({ length: 6 }, (_, i) => steps(10 - i, { breakdown_value: [`v${i}`] }))
  const chart = readChart({ kind: 'FunnelsQuery' }, { results: withBaseline(results, steps(40, {})) }, 'UTC')
  if (chart.kind !== 'funnel') throw new Error(chart.kind)
  expect(chart.groups.map(({ label, steps, row }) => [label, steps[0]!.count, row])).toEqual([
    ['Baseline', 40, 0],
    ...[10, 9, 8, 7, 6].map((count, i) => [`v${i}`, count, i + 1]),
  ])
  expect(chart.groups.map(({ color }) => color < 0)).toEqual([true, false, false, false, false, false])
  expect(chart.leftOut).toEqual(['1 more group'])
  const both = (count: number, more: object) => [
    steps(count, { compare_label: 'current', ...more }),
    steps(count - 5, { compare_label: 'previous', ...more }),
  ]
  const compared = readChart({ kind: 'FunnelsQuery' }, { results: withBaseline(both(20, { breakdown_value: ['a'] }), both(40, {})) }, 'UTC')
  expect(compared.kind === 'funnel' && compared.groups.map(({ label, steps }) => [label, steps[0]!.count])).toEqual([
    ['Baseline', 40],
    ['Baseline (previous)', 35],
    ['a', 20],
    ['a (previous)', 15],
  ])
})
