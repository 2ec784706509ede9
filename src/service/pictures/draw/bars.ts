import { drawLabels, drawScale, type Plot, plotOf, valuesOf } from '../axes.ts'
import type { Chart } from '../chart.ts'
import { bands, stacked } from '../scales.ts'
import { type Area, box, type Drawn, legend } from '../sheet.ts'
import { filled } from '../style.ts'

type Bars = Extract<Chart, { kind: 'bars' }>

interface Bar {
  readonly area: Area
  readonly series: number
  readonly index: number
}

/** Beside each other, or on top of each other. */
function barsGeometry({ series, labels, isStacked }: Bars, { area, scale }: Plot): readonly Bar[] {
  const groups = bands(labels.length, [area.left, area.right], 0.2)
  const stacks = isStacked ? stacked(series.map(({ values }) => values)) : null
  const inside = bands(stacks ? 1 : series.length, [0, groups.width], 0)
  return series.flatMap(({ values }, row) =>
    values.slice(0, labels.length).flatMap((value, index) => {
      const [from, to] = stacks ? stacks[row]![index]! : [0, value ?? 0]
      if (from === to) return []
      const left = groups.start(index) + inside.start(stacks ? 0 : row)
      const [a, b] = [scale.at(from), scale.at(to)]
      return [{ area: { left, right: left + inside.width, top: Math.min(a, b), bottom: Math.max(a, b) }, series: row, index }]
    }),
  )
}

export function drawBars(chart: Bars, { left, top, right, bottom }: Area): Drawn {
  const names = legend(chart.series, left, top, right - left)
  const all = chart.isStacked ? stacked(chart.series.map(({ values }) => values)).flat(2) : valuesOf(chart.series)
  const plot = plotOf(all, { left, top: top + names.height + 6, right: right - 8, bottom }, chart.format)
  const bars = barsGeometry(chart, plot).map(({ area, series }) => {
    const { color, isPrevious } = chart.series[series]!
    return box(area, { class: filled(color), opacity: isPrevious ? 0.5 : null })
  })
  const groups = bands(chart.labels.length, [plot.area.left, plot.area.right], 0.2)
  return {
    nodes: [...names.nodes, ...drawScale(plot), ...bars, ...drawLabels(chart.labels, plot, (i) => groups.centre(i))],
    height: bottom - top,
  }
}
