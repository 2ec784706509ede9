import type { Series } from '../chart.ts'
import { numberText, percentages } from '../format.ts'
import { isPercentStack, placesOf, type TimeChart, type TimePlot } from '../intervals.ts'
import { element, type Markup } from '../markup.ts'
import { spread } from '../scales.ts'
import { fitted, hatchOf, label, textWidth } from '../sheet.ts'
import { lined } from '../style.ts'

// What is drawn beside the values of a chart over time: goals, trends, moving averages, the numbers themselves.

const rounded = (value: number) => Math.round(value * 10) / 10

function drawGoals({ look }: TimeChart, { area, scale }: TimePlot): Markup[] {
  return look.goals.flatMap(({ label: name, value }) => {
    const y = scale.at(value)
    return [
      element('line', {
        x1: area.left,
        y1: y,
        x2: area.right,
        y2: y,
        class: 'inkline',
        'stroke-width': 1.5,
        'stroke-dasharray': '2 4',
      }),
      ...(name ? [label(fitted(name, area.right - area.left), area.right, y - 5, { anchor: 'end', isBold: true, size: 11 })] : []),
    ]
  })
}

/** The straight line whose squares of distances to the values are the smallest. Null: there are fewer than two. */
export function trendOf(values: readonly (number | null)[]): ((index: number) => number) | null {
  const known = values.flatMap((value, i) => (value === null ? [] : [[i, value] as const]))
  if (known.length < 2) return null
  const mean = (side: 0 | 1) => known.reduce((sum, one) => sum + one[side], 0) / known.length
  const [middle, level] = [mean(0), mean(1)]
  const rise =
    known.reduce((sum, [i, value]) => sum + (i - middle) * (value - level), 0) / known.reduce((sum, [i]) => sum + (i - middle) ** 2, 0)
  return (index) => level + rise * (index - middle)
}

/** At each place the mean of the last `count` values, from the first place that has so many. */
export function movingAverage(values: readonly (number | null)[], count: number): (number | null)[] {
  return values.map((_, i) => {
    const last = values.slice(Math.max(0, i + 1 - count), i + 1).filter((value) => value !== null)
    return i + 1 < count || last.length === 0 ? null : last.reduce((sum, value) => sum + value, 0) / last.length
  })
}

const dotted = (points: readonly (readonly [x: number, y: number])[], { color, row }: Series, dashes: string): Markup =>
  element('polyline', {
    points: points.map(([x, y]) => `${rounded(x)},${rounded(y)}`).join(' '),
    class: lined(color),
    fill: 'none',
    'stroke-width': 1.5,
    'stroke-dasharray': dashes,
    'data-series': row,
  })

/** What is not over yet would bend them. */
function drawTrends(chart: TimeChart, plot: TimePlot): Markup[] {
  const { look, series, labels, unfinished } = chart
  if (plot.spans || (!look.hasTrend && look.movingAverage === 0)) return []
  const at = placesOf(chart, plot)
  const over = labels.length - unfinished
  return series
    .filter(({ isPrevious }) => !isPrevious)
    .flatMap((one) => {
      const values = one.values.slice(0, over)
      const scale = plot.scaleOf(one)
      const [low, high] = scale.domain
      const inside = (value: number) => scale.at(Math.min(high, Math.max(low, value)))
      const trend = look.hasTrend ? trendOf(values) : null
      const places = new Set([...spread(labels.length, pointsOfTrend), labels.length - 1])
      const straight = trend ? [...places].map((i): [number, number] => [at(i), inside(trend(i))]) : []
      const averages = look.movingAverage > 0 ? movingAverage(values, look.movingAverage) : []
      const smooth = averages.flatMap((value, i): [number, number][] => (value === null ? [] : [[at(i), inside(value)]]))
      return [...(straight.length > 1 ? [dotted(straight, one, '2 5')] : []), ...(smooth.length > 1 ? [dotted(smooth, one, '7 3')] : [])]
    })
}

const valueSize = 11
/** Where there are more, none could be read; each is compared with the others. */
const mostValues = 120
/** A line that is straight but for the edges of the plot needs no more. */
const pointsOfTrend = 40

/** The numbers at their points and bars, as many as do not cover each other. */
function drawValues(chart: TimeChart, plot: TimePlot): Markup[] {
  if (!chart.look.hasValues) return []
  const { area, spans } = plot
  const at = placesOf(chart, plot)
  const own = [...chart.series.entries()].filter(([, { isPrevious }]) => !isPrevious)
  const inBars = chart.kind === 'bars' && !spans ? own.length : 1
  const barWidth = ((area.right - area.left) / Math.max(1, chart.labels.length)) * 0.8
  const taken: { readonly x: number; readonly y: number; readonly half: number }[] = []
  const nodes: Markup[] = []
  for (const [place, [s, one]] of own.entries()) {
    const scale = plot.scaleOf(one)
    const texts = one.values.map((value, i) => {
      const share = spans?.[s]?.[i]
      return numberText(
        isPercentStack(chart) && share ? share[1] - share[0] : value,
        isPercentStack(chart) ? { ...percentages, decimals: 0 } : chart.format,
      )
    })
    const widest = Math.max(...texts.map((text) => textWidth(text, valueSize))) + 4
    for (const i of spread(chart.labels.length, Math.floor((area.right - area.left) / widest))) {
      const value = one.values[i] ?? null
      if (value === null || (spans && value === 0)) continue
      const [from, to] = spans?.[s]?.[i] ?? [0, value]
      const [low, high] = [scale.at(from), scale.at(to)]
      if (spans && Math.abs(low - high) < 14) continue
      const x = at(i) + (inBars > 1 ? (place - (inBars - 1) / 2) * (barWidth / inBars) : 0)
      const y = spans ? (low + high) / 2 + 4 : Math.max(area.top - 4, high - 6)
      const half = textWidth(texts[i]!, valueSize) / 2
      if (taken.length >= mostValues || taken.some((other) => Math.abs(other.y - y) < 11 && Math.abs(other.x - x) < other.half + half))
        continue
      taken.push({ x, y, half })
      nodes.push(label(texts[i]!, Math.round(x), Math.round(y), { anchor: 'middle', size: valueSize, className: 'ink halo' }))
    }
  }
  return nodes
}

/** Hatched: lines lead through what is not over yet. */
export function drawUnfinished(chart: TimeChart, { area }: TimePlot, at: (index: number) => number): Markup[] {
  const { labels, unfinished } = chart
  if (unfinished === 0 || unfinished >= labels.length) return []
  const strokes = hatchOf({ ...area, left: at(labels.length - 1 - unfinished) })
  return strokes === '' ? [] : [element('path', { d: strokes, class: 'rule', 'stroke-width': 1 })]
}

export const drawBeside = (chart: TimeChart, plot: TimePlot): Markup[] => [
  ...drawTrends(chart, plot),
  ...drawGoals(chart, plot),
  ...drawValues(chart, plot),
]
