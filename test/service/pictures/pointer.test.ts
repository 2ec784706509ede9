import { describe, expect, test } from 'vitest'
import { atMark, litBy } from '../../../src/service/pictures/at-mark.ts'
import type { Chart } from '../../../src/service/pictures/chart.ts'
import { plainNumbers } from '../../../src/service/pictures/format.ts'
import { namedParts, withoutParts } from '../../../src/service/pictures/named-parts.ts'
import { readChart } from '../../../src/service/pictures/read-chart.ts'
import { samples } from './samples.ts'

// What the pointer is told over the shapes of a chart, and what is left of it without some of its names.

const chartOf = (name: string, more: object = {}): Chart => {
  const { query, answer } = samples[name]!
  return readChart({ ...query, ...more }, answer, 'UTC')
}

describe('the words over a shape', () => {
  const pie: Chart = {
    kind: 'pie',
    items: [
      { label: 'Chrome', value: 3, color: 0, isPrevious: false, row: 0 },
      { label: 'Safari', value: 1, color: 1, isPrevious: false, row: 1 },
    ],
    format: plainNumbers,
    leftOut: [],
  }
  test.each<[what: string, chart: Chart, mark: string, title: string, lines: readonly (readonly string[])[]]>([
    ['a slice', pie, '1', 'Safari', [['', '1 (25%)']]],
    [
      'a bar of totals',
      { ...pie, kind: 'totals' },
      '0',
      'Chrome',
      [
        ['', '3'],
        ['Of those shown', '75%'],
      ],
    ],
    [
      'the second step of a funnel',
      chartOf('funnel'),
      '0 1',
      '2. signup',
      [
        ['People', '420'],
        ['Of the first step', '42%'],
        ['Of the step before', '42%'],
        ['Dropped off', '580 (58%)'],
        ['Median time', '1m 35s'],
      ],
    ],
    ['the first step of a group', chartOf('funnel by browser'), '1 0', '1. visit, Firefox', [['People', expect.any(String) as string]]],
    ['nothing', pie, '7', '', []],
  ])('%s', (_, chart, mark, title, lines) => {
    const words = atMark(chart, mark)
    expect(words?.title ?? '').toBe(title)
    expect(words?.lines ?? []).toEqual(lines)
  })
})

describe('paths', () => {
  const edge = (from: string, to: string, value: number, row: number) => ({ from, to, value, row, previous: null })
  // a → b → d, a → c → d, x → c → e
  const chart: Chart = {
    kind: 'flow',
    edges: [
      edge('1_a', '2_b', 5, 0),
      edge('1_a', '2_c', 3, 1),
      edge('1_x', '2_c', 2, 2),
      edge('2_b', '3_d', 4, 3),
      edge('2_c', '3_d', 2, 4),
      edge('2_c', '3_e', 1, 5),
    ],
    leftOut: [],
  }
  // Nodes in the order of the edges: a b c x d e.
  test('a node says how many came and went on, an edge its share', () => {
    expect(atMark(chart, 'node 2')).toEqual({
      title: 'c',
      lines: [
        ['Came here', '5'],
        ['Went on', '3 (60%)'],
      ],
    })
    expect(atMark(chart, 'edge 0')).toEqual({
      title: 'a → b',
      lines: [
        ['Paths', '5'],
        ['Of those after a', '62.5%'],
      ],
    })
  })
  test('what lies on a path through a node stands out', () => {
    expect([...litBy(chart, 'node 2')!].sort()).toEqual([
      'edge 1',
      'edge 2',
      'edge 4',
      'edge 5',
      'node 0',
      'node 2',
      'node 3',
      'node 4',
      'node 5',
    ])
    expect([...litBy(chart, 'node 1')!].sort()).toEqual(['edge 0', 'edge 3', 'node 0', 'node 1', 'node 4'])
    expect([...litBy(chart, 'edge 5')!].sort()).toEqual(['edge 5', 'node 2', 'node 5'])
  })
})

describe('the names of a chart', () => {
  const withNames = ['lines', 'compared lines', 'stacked bars', 'pie', 'funnel by browser', 'compared box plot', 'lifecycle']
  test.each(withNames)('%s: without one of them, the others keep their colors and their rows', (name) => {
    const chart = chartOf(name)
    const parts = namedParts(chart)
    expect(new Set(parts.map(({ key }) => key)).size).toBe(parts.length)
    const left = namedParts(withoutParts(chart, new Set([parts[0]!.key])))
    expect(left.map(({ note: _, ...one }) => one)).toEqual(parts.slice(1).map(({ note: _, ...one }) => one))
    expect(namedParts(withoutParts(chart, new Set(['of another answer'])))).toEqual(parts)
  })
  test('two series of one name are hidden one by one', () => {
    const { query, answer } = samples.lines!
    const [row] = (answer as { results: readonly object[] }).results
    const chart = readChart(query, { ...answer, results: [row, { ...row, order: 1 }] }, 'UTC')
    const [first, second] = namedParts(chart)
    expect(second!.label).toBe(first!.label)
    expect(namedParts(withoutParts(chart, new Set([second!.key])))).toEqual([first])
  })
  test('a funnel of one group, a number and a table have none', () => {
    for (const name of ['funnel', 'number', 'statement']) expect(namedParts(chartOf(name))).toEqual([])
  })
})
