import { drawLabels, drawRightScale, drawScale } from '../axes.ts'
import type { Chart } from '../chart.ts'
import { type TimePlot, timePlot } from '../intervals.ts'
import { element, type Markup } from '../markup.ts'
import { type Band, bands } from '../scales.ts'
import { type Area, box, type Drawn, hatchOf } from '../sheet.ts'
import { filled, lined } from '../style.ts'
import { drawBeside } from './beside.ts'

type Bars = Extract<Chart, { kind: 'bars' }>

interface Bar {
  readonly area: Area
  readonly series: number
  readonly index: number
}

/** Beside each other, or on top of each other. */
function barsGeometry({ series, labels }: Bars, plot: TimePlot, groups: Band): readonly Bar[] {
  const stacks = plot.spans
  const inside = bands(stacks ? 1 : series.length, [0, groups.width], 0)
  return series.flatMap((one, row) => {
    const scale = plot.scaleOf(one)
    return one.values.slice(0, labels.length).flatMap((value, index) => {
      const [from, to] = stacks ? stacks[row]![index]! : [0, value ?? 0]
      if (from === to) return []
      const left = groups.start(index) + inside.start(stacks ? 0 : row)
      const [a, b] = [scale.at(from), scale.at(to)]
      return [{ area: { left, right: left + inside.width, top: Math.min(a, b), bottom: Math.max(a, b) }, series: row, index }]
    })
  })
}

/** A range that lies ahead would be nothing but strokes. */
const mostHatched = 40

export function drawBars(chart: Bars, sheet: Area): Drawn {
  const plot = timePlot(chart, sheet)
  const groups = bands(chart.labels.length, [plot.area.left, plot.area.right], 0.2)
  const over = chart.labels.length - chart.unfinished
  const all = barsGeometry(chart, plot, groups)
  const isOver = ({ series, index }: Bar) => chart.series[series]!.isPrevious || index < over
  const hasStrokes = all.filter((bar) => !isOver(bar)).length <= mostHatched
  const bars = all.flatMap((bar): Markup[] => {
    const { area, series } = bar
    const { color, isPrevious, row } = chart.series[series]!
    const mark = { class: filled(color), 'data-series': row }
    if (isOver(bar)) return [box(area, { ...mark, opacity: isPrevious ? 0.5 : null })]
    // What is not over yet may still rise.
    const strokes = hasStrokes ? hatchOf(area) : ''
    return [
      box(area, { ...mark, opacity: 0.3 }),
      ...(strokes ? [element('path', { d: strokes, class: lined(color), 'stroke-width': 1.5, 'data-series': row })] : []),
    ]
  })
  const scales = [...drawScale(plot), ...(plot.right ? drawRightScale(plot.area, plot.right) : [])]
  return {
    nodes: [
      ...plot.names.nodes,
      ...scales,
      ...bars,
      ...drawBeside(chart, plot),
      ...drawLabels(chart.labels, plot, (i) => groups.centre(i)),
    ],
    height: sheet.bottom - sheet.top,
  }
}
