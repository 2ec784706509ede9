import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { axisLabels } from '../../../src/service/pictures/axes.ts'
import { chartRows } from '../../../src/service/pictures/chart-rows.ts'
import { measures } from '../../../src/service/pictures/charts/boxes.ts'
import { isAhead } from '../../../src/service/pictures/charts/retention.ts'
import { worldSize } from '../../../src/service/pictures/draw/map.ts'
import { pictureOf } from '../../../src/service/pictures/picture.ts'
import { readChart } from '../../../src/service/pictures/read-chart.ts'
import { world } from '../../../src/service/pictures/world.ts'
import { elementsOf, parseXml, textsOf } from '../../harness/xml.ts'
import { samples } from './samples.ts'

const options = { title: 'Weekly numbers', description: 'Last 7 days', timezone: 'Europe/Berlin', asOf: new Date('2026-01-05T10:00:00Z') }
/** No answer makes a larger picture. */
const largest = 300_000
const tallest = 1500

/** A picture that a browser can draw: well-formed, inside its bounds, with nothing that runs or is loaded. */
function checked(query: unknown, answer: unknown, more: object = {}) {
  const svg = pictureOf(query, answer, { ...options, ...more })
  const root = parseXml(svg)
  expect(root.name).toBe('svg')
  expect(svg.length).toBeLessThan(largest)
  expect(Number(root.attributes.get('height'))).toBeLessThan(tallest)
  const all = [...elementsOf(root)]
  expect(all.slice(1, 3).map(({ name }) => name)).toEqual(['title', 'desc'])
  for (const { name, attributes } of all) {
    expect(['svg', 'title', 'desc', 'style', 'rect', 'line', 'text', 'path', 'polyline', 'polygon', 'circle', 'g']).toContain(name)
    for (const [key, value] of attributes) {
      expect(key).not.toMatch(/^on|href|style/)
      if (key !== 'class' && key !== 'xmlns') expect(value).not.toMatch(/NaN|Infinity|undefined|null/)
    }
  }
  return root
}

describe('each sample', () => {
  test.each(Object.entries(samples))('%s', async (name, { query, answer }) => {
    checked(query, answer)
    await expect(`${pictureOf(query, answer, options).replaceAll('><', '>\n<')}\n`).toMatchFileSnapshot(
      join(import.meta.dirname, 'golden', `${name.replaceAll(' ', '-')}.svg`),
    )
  })
})

describe('what is shown', () => {
  const shown = (name: string, more: object = {}) => textsOf(checked(samples[name]!.query, samples[name]!.answer, more))
  test('the steps of a funnel say how many came through and how many dropped off', () => {
    expect(shown('funnel')).toEqual(
      expect.arrayContaining([
        '1. visit',
        '1,000',
        '2. signup',
        '42%',
        '420 · 1m 35s',
        '42% went on',
        '−580 (58%)',
        '6.3%',
        '63 · 3m 10s',
        '15% went on',
        '−357 (85%)',
      ]),
    )
    // Below each other where there is no room for bars side by side.
    expect(shown('funnel', { width: 320 })).toEqual(expect.arrayContaining(['2. signup', '420 (42%)']))
  })
  test('a split funnel has the period before beside each value, however many are left out', () => {
    const group = (browser: string, compare_label: string) =>
      ['visit', 'signup'].map((name, order) => ({ name, order, count: 9 - order, breakdown_value: [browser], compare_label }))
    const browsers = ['Chrome', 'Safari', 'Firefox', 'Edge', 'Opera', 'Vivaldi']
    const results = ['current', 'previous'].flatMap((period) => browsers.map((browser) => group(browser, period)))
    const texts = textsOf(checked({ kind: 'FunnelsQuery' }, { results }))
    const names = browsers.slice(0, 5).flatMap((browser) => [browser, `${browser} (previous)`])
    expect(texts.filter((text) => names.includes(text))).toEqual(names)
    expect(texts.join('\n')).toContain('1 more group')
  })
  test('a box of the period before stands beside the one at its place, and says when it was', () => {
    const { query, answer } = samples['compared box plot']!
    const chart = readChart(query, answer, 'Europe/Berlin')
    if (chart.kind !== 'boxes') throw new Error(chart.kind)
    expect(chart.labels).toEqual(['1-Jan-2026', '3-Jan-2026', '4-Jan-2026', '31-Dec-2025 (previous)'])
    expect(chart.boxes.map(({ at, label, when, row }) => [at, label, when, row])).toEqual([
      [0, 'purchase', '1-Jan-2026', 0],
      [0, 'purchase (previous)', '27-Dec-2025', 3],
      [1, 'purchase', '3-Jan-2026', 1],
      [1, 'purchase (previous)', '29-Dec-2025', 4],
      [2, 'purchase', '4-Jan-2026', 2],
      [3, 'purchase (previous)', '31-Dec-2025', 5],
    ])
    const root = checked(query, answer)
    expect([...elementsOf(root)].flatMap(({ attributes }) => attributes.get('data-pick') ?? [])).toEqual(['0', '3', '1', '4', '2', '5'])
    expect(textsOf(root).slice(0, 5)).toEqual(expect.arrayContaining(['purchase', 'purchase (previous)']))
    expect(textsOf(root, 'title').slice(1)).toEqual(
      chart.boxes.map(({ label, when }) => expect.stringContaining(`${label}, ${when}: `) as string),
    )
    expect(chartRows(chart).rows.map((cells) => cells.slice(0, 2))).toEqual(chart.boxes.map(({ label, when }) => [label, when]))
  })
  test('a box has the name that its series was given', () => {
    const { query, answer } = samples['compared box plot']!
    const chart = readChart({ ...query, series: [{ event: 'purchase', custom_name: 'Paid' }] }, answer, 'Europe/Berlin')
    expect(chart.kind === 'boxes' && chart.boxes.slice(0, 2).map(({ label }) => label)).toEqual(['Paid', 'Paid (previous)'])
  })
  test.each([
    ['hour', ['2026-03-29 01:00:00', '2026-03-29 03:00:00'], '2026-03-29T01:30:00+01:00', [0, 2]],
    ['day', ['2026-01-05', '2026-01-07'], '2026-01-05T15:30:00+01:00', [0, 2]],
    ['week', ['2025-12-29', '2026-01-05'], '2026-01-02T00:00:00+01:00', [0, 1]],
    ['month', ['2025-12-01', '2026-02-01'], '2025-12-20T00:00:00+01:00', [0, 2]],
    ['quarter', ['2025-10-01', '2026-01-01'], '2025-12-20T00:00:00+01:00', [0, 1]],
    ['year', ['2024-01-01', '2026-01-01'], '2024-05-01T00:00:00+02:00', [0, 2]],
  ])('boxes by the %s stand at the places of %j', (interval, days, date_from, places) => {
    const box = (day: string) => ({ day, label: day, ...Object.fromEntries(measures.map((name) => [name, 1])), series_index: 0 })
    // The period before has a box at each of three places.
    const first = '2020-01-01'
    const before = {
      hour: ['2020-01-01 00:00:00', '2020-01-01 01:00:00', '2020-01-01 02:00:00'],
      day: [first, '2020-01-02', '2020-01-03'],
      week: [first, '2020-01-08', '2020-01-15'],
      month: [first, '2020-02-01', '2020-03-01'],
      quarter: [first, '2020-04-01', '2020-07-01'],
      year: [first, '2021-01-01', '2022-01-01'],
    }[interval]!
    const chart = readChart(
      { kind: 'TrendsQuery', interval, trendsFilter: { display: 'BoxPlot' } },
      {
        resolved_date_range: { date_from },
        resolved_compare_date_range: { date_from: '2020-01-01T00:00:00+01:00' },
        boxplot_data: [...days.map(box), ...before.map((day) => ({ ...box(day), compare_label: 'previous' }))],
      },
      'Europe/Berlin',
    )
    if (chart.kind !== 'boxes') throw new Error(chart.kind)
    expect(chart.boxes.filter(({ isPrevious }) => !isPrevious).map(({ at }) => at)).toEqual(places)
    expect(chart.boxes.filter(({ isPrevious }) => isPrevious).map(({ at }) => at)).toEqual([0, 1, 2])
  })
  test('hours of the week have those of the period before below them', () => {
    const { query, answer } = samples['compared hours of the week']!
    const chart = readChart(query, answer, 'Europe/Berlin')
    if (chart.kind !== 'grid') throw new Error(chart.kind)
    expect([chart.rows.length, chart.rows[0]!.label, chart.rows[7]!.label, chart.leftOut]).toEqual([14, 'Mon', 'Mon (previous)', []])
    expect([chart.rows[0]!, chart.rows[7]!].map(({ cells }) => cells[9])).toEqual([
      { text: '12', shade: 0.6 },
      { text: '20', shade: 1 },
    ])
  })
  test('a period in which nobody converted has empty bins beside those of the other one', () => {
    const chart = (results: object, compare_results?: object) => readChart({ kind: 'FunnelsQuery' }, { results, compare_results }, 'UTC')
    const [some, none] = [{ bins: [[0, 2], [60, 1]] }, { bins: [] }] // biome-ignore format: pairs
    const series = (label: string, values: readonly number[], isPrevious: boolean) => ({
      label,
      values,
      color: 0,
      isPrevious,
      row: Number(isPrevious),
    })
    const now = (values: readonly number[]) => series('Conversions', values, false)
    const earlier = (values: readonly number[]) => series('Conversions (previous)', values, true)
    expect(chart(some)).toMatchObject({ kind: 'bars', labels: ['0s', '1m'], series: [now([2, 1])] })
    expect(chart(some, none)).toMatchObject({ kind: 'bars', labels: ['0s', '1m'], series: [now([2, 1]), earlier([0, 0])] })
    expect(chart(none, some)).toMatchObject({ kind: 'bars', labels: ['0s', '1m'], series: [now([0, 0]), earlier([2, 1])] })
    expect(chart(none, none).kind).toBe('nothing')
    expect(chart(some, {}), 'invalid').toMatchObject({ kind: 'bars', series: [now([2, 1]), earlier([0, 0])] })
  })
  test('a number says how it has changed', () => {
    expect(shown('number')).toEqual(expect.arrayContaining(['1,234,567', '▲ 23.5% from 1,000,000']))
  })
  test.each([
    ['Hour', '2026-01-05T09:00:00+01:00', 2, false],
    ['Hour', '2026-01-05T09:00:00+01:00', 3, true],
    ['Day', '2026-01-05T00:00:00+01:00', 0, false],
    ['Day', '2026-01-05T00:00:00+01:00', 1, true],
    ['Day', '2026-01-04T00:00:00+01:00', 1, false],
    ['Week', '2025-12-29T00:00:00+01:00', 1, false],
    ['Week', '2026-01-05T00:00:00+01:00', 1, true],
    ['Month', '2025-12-01T00:00:00+01:00', 1, false],
    ['Month', '2026-01-01T00:00:00+01:00', 1, true],
  ])('of a retention by %s from %s, interval %i is to come: %s', (period, date, count, expected) => {
    expect(isAhead(date, period, count, '2026-01-05T10:00:00Z')).toBe(expected)
    expect(isAhead(date, period, count, null)).toBe(false)
  })
  test('what is to come is left out of a retention', () => {
    const { query, answer } = samples.retention!
    const cells = (last_refresh: string) => {
      const chart = readChart(query, { ...answer, last_refresh }, 'Europe/Berlin')
      return chart.kind === 'grid' ? chart.rows.map((row) => row.cells.filter((cell) => cell !== null).length) : []
    }
    const all = cells('2027-01-01T00:00:00Z')
    expect(cells('2026-01-02T10:00:00Z')).toEqual(all.map((count, row) => Math.min(count, Math.max(1, 2 - row))))
  })
  test.each([
    [
      ['30-Jan-2026', '31-Jan-2026'],
      ['30 Jan', '31 Jan'],
    ],
    [
      ['1-Jan-2026 00:00', '1-Jan-2026 01:00'],
      ['1 Jan 00:00', '1 Jan 01:00'],
    ],
    [
      ['31-Dec-2025', '1-Jan-2026'],
      ['31-Dec-2025', '1-Jan-2026'],
    ],
    [
      ['1 day', '2 days'],
      ['1 day', '2 days'],
    ],
    [
      ['1-Jan-2026', 'x'],
      ['1-Jan-2026', 'x'],
    ],
    [[], []],
  ])('the axis tells %j as %j', (labels, expected) => {
    expect(axisLabels(labels)).toEqual(expected)
  })
  test('retention is a share of those who started', () => {
    expect(shown('retention')).toEqual(expect.arrayContaining(['100%', '40%', '31%', '22%', '43.8%', '25%']))
  })
  test('a map: countries with a number, a legend, and what is not on it', () => {
    const root = checked(samples['a world map']!.query, samples['a world map']!.answer)
    const picked = [...elementsOf(root)].filter(({ attributes }) => attributes.has('data-pick'))
    expect(picked.map(({ name, attributes }) => [name, attributes.get('data-pick'), attributes.get('class')])).toEqual([
      ['path', '0', 'border shade'],
      ['path', '1', 'border shade'],
      ['circle', '2', 'border shade'], // Singapore is smaller than a shape
    ])
    expect(textsOf(root)).toEqual(expect.arrayContaining(['0', '120', 'Not on the map: (none) 4, <b>Mars</b> 3']))
    expect([...elementsOf(root)].filter(({ name }) => name === 'path').length).toBeGreaterThan(170)
  })
  test('the shapes of countries lie in the map, and each has a name', () => {
    const names = new Intl.DisplayNames('en', { type: 'region', fallback: 'none' })
    for (const [code, path] of Object.entries(world.shapes)) {
      expect(names.of(code), code).toBeDefined()
      let at = [0, 0]
      let start = at
      for (const [, command, numbers] of path.matchAll(/([Mmlz])([^Mmlz]*)/g)) {
        if (command === 'z') at = start
        const all = (numbers!.match(/-?\d+/g) ?? []).map(Number)
        for (let i = 0; i < all.length; i += 2) {
          at = command === 'M' ? [all[i]!, all[i + 1]!] : [at[0]! + all[i]!, at[1]! + all[i + 1]!]
          if (command !== 'l') start = at
          expect(at[0]! >= 0 && at[0]! <= worldSize.width && at[1]! >= 0 && at[1]! <= worldSize.height, `${code} ${at}`).toBe(true)
        }
      }
    }
    expect(Object.keys(world.points).filter((code) => code in world.shapes)).toEqual([])
  })
  test('times in cells are told in the zone of the project', () => {
    expect(shown('statement')).toEqual(expect.arrayContaining(['2026-01-05 11:00', '2026-01-05 00:30', '12,345', '<script>', '{"a":[1]}']))
    expect(shown('statement', { timezone: 'America/New_York' })).toContain('2026-01-05 05:00')
  })
  test('an unknown zone is UTC', () => {
    expect(shown('statement', { timezone: 'Mars/Olympus' })).toContain('2026-01-05 10:00')
  })
  test('a table says how many rows and columns are left out', () => {
    const columns = Array.from({ length: 11 }, (_, i) => `c${i}`)
    const results = Array.from({ length: 1000 }, (_, n) => columns.map((_, i) => n * i))
    const texts = textsOf(checked({ kind: 'HogQLQuery' }, { columns, results }))
    expect(texts).toContain('Not shown: 975 more rows, 3 more columns.')
  })
  test('of many series the largest are drawn', () => {
    const results = Array.from({ length: 500 }, (_, i) => ({
      label: `s${i}`,
      data: [i, i],
      labels: ['a', 'b'],
      days: ['a', 'b'],
      count: 2 * i,
      order: i,
    }))
    const chart = readChart({ kind: 'TrendsQuery' }, { results }, 'UTC')
    expect(chart).toMatchObject({ kind: 'lines', leftOut: ['480 more series'] })
    expect(chart.kind === 'lines' && chart.series[0]!.label).toBe('s499')
  })
  test('of many intervals the peaks stay', () => {
    const data = Array.from({ length: 10_000 }, (_, i) => (i === 7_777 ? 1_000 : i % 7))
    const text = data.map((_, i) => `m${i}`)
    const chart = readChart({ kind: 'TrendsQuery' }, { results: [{ label: 'a', data, labels: text, days: text, order: 0 }] }, 'UTC')
    if (chart.kind !== 'lines') throw new Error(chart.kind)
    expect(chart.labels.length).toBeLessThanOrEqual(400)
    expect(Math.max(...chart.series[0]!.values.map(Number))).toBe(1_000)
    expect(chart.leftOut).toEqual(['each point is the largest of 25 intervals'])
  })
})

test.each([
  '<script>alert(1)</script>',
  '"onload="x',
  "'",
  '&amp;',
  ']]>',
  '\0\u0001',
  '\ud800',
  '\ufffe',
  'a\u202eb',
  '😀'.repeat(500),
  'x'.repeat(1e6),
])('a text like %j stays a text', (text) => {
  const named = { ...options, title: text, description: text }
  const rows = [{ label: text, data: [1, 2], labels: [text, text], days: ['a', 'b'], order: 0, breakdown_value: text }]
  checked({ kind: 'TrendsQuery' }, { results: rows }, named)
  checked({ kind: 'HogQLQuery' }, { columns: [text], results: [[text]] }, named)
  checked({ kind: 'PathsQuery' }, { results: [{ source: `1_${text}`, target: `2_${text}`, value: 3 }] }, named)
  checked({ kind: 'FunnelsQuery' }, { results: [{ name: text, count: 3, order: 0 }] }, named)
  const rowOf = { label: text, date: text, values: [{ count: 1, label: text }], breakdown_value: text }
  checked({ kind: 'RetentionQuery' }, { results: [rowOf] }, named)
})

// Answers with the shape of a kind and any values, and answers with no shape at all.
const anyNumber = fc.oneof(
  fc.integer(),
  fc.double(),
  fc.constantFrom(0, -0, 1e-300, 1e300, -1e300, Number.MAX_VALUE, -Number.MAX_VALUE),
  fc.constant(null),
)
const anyText = fc.oneof(fc.string(), fc.constantFrom('', '1_/a', '2_/b', '<&>"\'', 'previous', 'current', '2026-01-05T10:00:00Z'))
const leaf = fc.oneof(anyNumber, anyText, fc.boolean())
const texts = fc.array(anyText, { maxLength: 30 })
const row = fc.record(
  {
    label: anyText,
    data: fc.oneof(fc.array(anyNumber, { maxLength: 40 }), leaf),
    labels: fc.oneof(texts, leaf),
    days: texts,
    count: anyNumber,
    aggregated_value: anyNumber,
    order: anyNumber,
    compare_label: fc.constantFrom('current', 'previous', null),
    breakdown_value: fc.oneof(leaf, texts),
    name: fc.oneof(anyText, fc.constant(null)),
    status: fc.constantFrom('new', 'dormant', 'x'),
    source: anyText,
    target: anyText,
    value: anyNumber,
    average_conversion_time: anyNumber,
    values: fc.array(fc.record({ count: anyNumber, label: anyText, aggregation_value: anyNumber }), { maxLength: 40 }),
    date: anyText,
    calendar_heatmap_data: fc.record({ data: fc.array(fc.record({ row: anyNumber, column: anyNumber, value: anyNumber })) }),
    event: fc.record({ event: anyText }),
    day: anyText,
    ...Object.fromEntries(['min', 'p25', 'median', 'p75', 'max', 'mean', 'series_index'].map((name) => [name, anyNumber])),
    series_label: anyText,
  },
  { requiredKeys: [] },
)
const results = fc.oneof(
  fc.array(row, { maxLength: 40 }),
  fc.array(fc.array(row, { maxLength: 4 }), { maxLength: 8 }),
  fc.array(fc.array(leaf, { maxLength: 12 }), { maxLength: 40 }),
  fc.record({ bins: fc.array(fc.tuple(anyNumber, anyNumber)), events: fc.array(row) }),
  fc.jsonValue(),
)
const answer = fc.oneof(fc.record({ results, columns: texts, boxplot_data: fc.array(row) }, { requiredKeys: [] }), fc.jsonValue())
const kinds = ['TrendsQuery', 'FunnelsQuery', 'RetentionQuery', 'StickinessQuery', 'LifecycleQuery', 'PathsQuery', 'FunnelCorrelationQuery', 'ActorsQuery', 'EventsQuery', 'HogQLQuery', 'constructor', ''] // biome-ignore format: names
const displays = ['ActionsLineGraph', 'ActionsLineGraphCumulative', 'ActionsBar', 'ActionsUnstackedBar', 'ActionsStackedBar', 'ActionsAreaGraph', 'BoldNumber', 'ActionsPie', 'ActionsBarValue', 'ActionsTable', 'WorldMap', 'Metric', 'TwoDimensionalHeatmap', 'CalendarHeatmap', 'BoxPlot', 'SlopeGraph'] // biome-ignore format: names
const filter = fc.record({
  display: fc.constantFrom(...displays),
  aggregationAxisFormat: fc.constantFrom('numeric', 'percentage', 'percentage_scaled', 'duration', 'duration_ms', 'short', 'currency'),
  aggregationAxisPrefix: anyText,
  decimalPlaces: anyNumber,
})
const query = fc.record({
  kind: fc.constantFrom(...kinds),
  trendsFilter: filter,
  stickinessFilter: filter,
  retentionFilter: fc.record({ aggregationType: fc.constantFrom('count', 'sum') }),
})

test('any answer of any kind becomes a picture', () => {
  fc.assert(
    fc.property(query, answer, anyText, (asked, given, title) => {
      checked(asked, given, { title })
    }),
    { numRuns: Number(process.env.WAYMARK_RUNS ?? 600) },
  )
})
