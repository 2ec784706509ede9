import { drawLabels, drawScale, type Plot, plotOf, valuesOf } from '../axes.ts'
import type { Chart } from '../chart.ts'
import { element, type Markup } from '../markup.ts'
import { points, stacked } from '../scales.ts'
import { type Area, type Drawn, legend } from '../sheet.ts'
import { filled, lined } from '../style.ts'

type Lines = Extract<Chart, { kind: 'lines' }>

interface Point {
  /** Of the labels. */
  readonly at: number
  readonly x: number
  readonly y: number
  /** The lower edge, of a filled area. */
  readonly base: number
}

/** Each line in its parts: a value that is missing is a gap. */
function linesGeometry({ series, labels, isFilled }: Lines, plot: Plot): readonly (readonly (readonly Point[])[])[] {
  const x = points(labels.length, [plot.area.left, plot.area.right])
  const stacks = isFilled ? stacked(series.map(({ values }) => values)) : null
  return series.map(({ values }, row) => {
    const parts: Point[][] = [[]]
    for (const [i, value] of values.slice(0, labels.length).entries()) {
      if (value === null && !stacks) {
        if (parts.at(-1)!.length > 0) parts.push([])
        continue
      }
      const [from, to] = stacks ? stacks[row]![i]! : [0, value ?? 0]
      parts.at(-1)!.push({ at: i, x: x(i), y: plot.scale.at(to), base: plot.scale.at(from) })
    }
    return parts.filter((part) => part.length > 0)
  })
}

const xy = ({ x }: Point, y: number) => `${Math.round(x * 10) / 10},${Math.round(y * 10) / 10}`
const path = (part: readonly Point[]) => part.map((point) => xy(point, point.y)).join(' ')
const around = (part: readonly Point[]) =>
  `${path(part)} ${[...part]
    .reverse()
    .map((point) => xy(point, point.base))
    .join(' ')}`

const stroke = (part: readonly Point[], color: number, isBroken: boolean, isWeak: boolean): Markup[] =>
  part.length < 2
    ? []
    : [
        element('polyline', {
          points: path(part),
          class: lined(color),
          fill: 'none',
          'stroke-width': 2,
          'stroke-linejoin': 'round',
          'stroke-dasharray': isBroken ? '4 4' : null,
          opacity: isWeak ? 0.6 : null,
        }),
      ]

/** The share of the way between two points of a slope that is drawn as not over. */
const endOfSlope = 0.2

const between = (from: Point, to: Point, share: number): Point => ({
  at: from.at,
  x: from.x + (to.x - from.x) * share,
  y: from.y + (to.y - from.y) * share,
  base: from.base + (to.base - from.base) * share,
})

export function drawLines(chart: Lines, { left, top, right, bottom }: Area): Drawn {
  const names = legend(chart.series, left, top, right - left)
  const all = chart.isFilled ? stacked(chart.series.map(({ values }) => values)).flat(2) : valuesOf(chart.series)
  const plot = plotOf(all, { left, top: top + names.height + 6, right: right - 8, bottom }, chart.format)
  const over = chart.labels.length - chart.unfinished
  const lines = linesGeometry(chart, plot).flatMap((parts, i): Markup[] => {
    const { color, isPrevious } = chart.series[i]!
    return parts.flatMap((part): Markup[] => {
      if (part.length === 1) return [element('circle', { cx: part[0]!.x, cy: part[0]!.y, r: 3, class: filled(color) })]
      const area = chart.isFilled ? [element('polygon', { points: around(part), class: filled(color), opacity: 0.25 })] : []
      // The line to what is not over yet is broken: it is no fall.
      const isOver = ({ at }: Point) => isPrevious || at < over
      const finished = part.filter(isOver)
      const unfinished = part.length > finished.length ? part.slice(Math.max(0, finished.length - 1)) : []
      const turn = chart.isSlope && unfinished.length === 2 ? [between(unfinished[0]!, unfinished[1]!, 1 - endOfSlope)] : []
      return [
        ...area,
        ...stroke([...finished, ...turn], color, isPrevious, isPrevious),
        ...stroke(turn.length > 0 ? [...turn, unfinished[1]!] : unfinished, color, true, isPrevious),
      ]
    })
  })
  const x = points(chart.labels.length, [plot.area.left, plot.area.right])
  return { nodes: [...names.nodes, ...drawScale(plot), ...lines, ...drawLabels(chart.labels, plot, x)], height: bottom - top }
}
