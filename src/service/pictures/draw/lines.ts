import { drawLabels, drawRightScale, drawScale } from '../axes.ts'
import type { Chart, Series } from '../chart.ts'
import { intervalPlaces, type TimePlot } from '../intervals.ts'
import { element, type Markup } from '../markup.ts'
import type { Area, Drawn } from '../sheet.ts'
import { filled, lined } from '../style.ts'
import { drawBeside, drawUnfinished } from './beside.ts'

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
function linesGeometry(
  { series, labels }: Lines,
  plot: TimePlot,
  x: (index: number) => number,
): readonly (readonly (readonly Point[])[])[] {
  const stacks = plot.spans
  return series.map((one, row) => {
    const { values } = one
    const scale = plot.scaleOf(one)
    const parts: Point[][] = [[]]
    for (const [i, value] of values.slice(0, labels.length).entries()) {
      if (value === null && !stacks) {
        if (parts.at(-1)!.length > 0) parts.push([])
        continue
      }
      const [from, to] = stacks ? stacks[row]![i]! : [0, value ?? 0]
      parts.at(-1)!.push({ at: i, x: x(i), y: scale.at(to), base: scale.at(from) })
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

/** Of the period before: as whole as the line it is beside, and lighter. */
const weak = 0.45

const stroke = (part: readonly Point[], { color, isPrevious, row }: Series, isBroken: boolean): Markup[] =>
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
          opacity: isPrevious ? weak : null,
          'data-series': row,
        }),
      ]

/** Under the first line of a chart, so that it is seen as an amount. */
const groundShade = 0.08

/** Down to zero, or to the edge of the plot that is nearest to it. */
const toZero = (part: readonly Point[], { scale }: Pick<TimePlot, 'scale'>): readonly Point[] => {
  const [low, high] = scale.domain
  const base = scale.at(Math.min(high, Math.max(low, 0)))
  return part.map((point) => ({ ...point, base }))
}

/** The share of the way between two points of a slope that is drawn as not over. */
const endOfSlope = 0.2

const between = (from: Point, to: Point, share: number): Point => ({
  at: from.at,
  x: from.x + (to.x - from.x) * share,
  y: from.y + (to.y - from.y) * share,
  base: from.base + (to.base - from.base) * share,
})

export function drawLines(chart: Lines, sheet: Area): Drawn {
  const { plot, at } = intervalPlaces(chart, sheet)
  const over = chart.labels.length - chart.unfinished
  const first = chart.isFilled || chart.isSlope ? undefined : chart.series.find(({ isPrevious }) => !isPrevious)
  const lines = linesGeometry(chart, plot, at).flatMap((parts, i): Markup[] => {
    const one = chart.series[i]!
    const { color, isPrevious, row } = one
    const mark = { class: filled(color), 'data-series': row }
    return parts.flatMap((part): Markup[] => {
      if (part.length === 1)
        return [element('circle', { cx: part[0]!.x, cy: part[0]!.y, r: 3, ...mark, opacity: isPrevious ? weak : null })]
      const ground =
        one === first
          ? [element('polygon', { points: around(toZero(part, { scale: plot.scaleOf(one) })), ...mark, opacity: groundShade })]
          : []
      const area = chart.isFilled ? [element('polygon', { points: around(part), ...mark, opacity: 0.25 })] : ground
      // The line to what is not over yet is broken: it is no fall.
      const isOver = ({ at }: Point) => isPrevious || at < over
      const finished = part.filter(isOver)
      const unfinished = part.length > finished.length ? part.slice(Math.max(0, finished.length - 1)) : []
      const turn = chart.isSlope && unfinished.length === 2 ? [between(unfinished[0]!, unfinished[1]!, 1 - endOfSlope)] : []
      return [
        ...area,
        ...stroke([...finished, ...turn], one, false),
        ...stroke(turn.length > 0 ? [...turn, unfinished[1]!] : unfinished, one, true),
      ]
    })
  })
  const scales = [...drawScale(plot), ...(plot.right ? drawRightScale(plot.area, plot.right) : [])]
  return {
    nodes: [
      ...plot.names.nodes,
      ...scales,
      ...drawUnfinished(chart, plot, at),
      ...lines,
      ...drawBeside(chart, plot),
      ...drawLabels(chart.labels, plot, at),
    ],
    height: sheet.bottom - sheet.top,
  }
}
