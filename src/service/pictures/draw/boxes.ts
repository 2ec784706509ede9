import { drawLabels, drawScale, plotOf } from '../axes.ts'
import type { Box, Chart } from '../chart.ts'
import { type NumberFormat, numberText } from '../format.ts'
import { element, type Markup } from '../markup.ts'
import { bands } from '../scales.ts'
import { type Area, box, type Drawn, legend } from '../sheet.ts'
import { filled, lined } from '../style.ts'

const byColor = (a: Box, b: Box) => a.color - b.color || Number(a.isPrevious) - Number(b.isPrevious)
export const keyOf = ({ color, isPrevious }: Box) => `${color} ${isPrevious}`

/** What the pointer over a box is told. */
const toldOf = ({ label, when, min, p25, median, p75, max, mean }: Box, format: NumberFormat): string => {
  const text = (value: number) => numberText(value, format)
  return `${label}, ${when}: ${text(min)} to ${text(max)}, half of it from ${text(p25)} to ${text(p75)}, median ${text(median)}, mean ${text(mean)}`
}

type Boxes = Extract<Chart, { kind: 'boxes' }>

/** One box of each series, in their order. */
export const boxesSeries = ({ boxes }: Pick<Boxes, 'boxes'>): readonly Box[] => [
  ...new Map([...boxes].sort(byColor).map((one) => [keyOf(one), one])).values(),
]

/** Where the axes are, and the intervals on them. */
export function boxesGeometry({ labels, boxes, format, isNamedApart }: Boxes, { left, top, right, bottom }: Area) {
  const series = boxesSeries({ boxes })
  const names = legend(series, { left, top, right, bottom }, isNamedApart)
  const plot = plotOf(
    boxes.flatMap(({ min, max }) => [min, max]),
    { left, top: top + names.height + 6, right: right - 8, bottom },
    format,
  )
  return { series, names, plot, groups: bands(labels.length, [plot.area.left, plot.area.right], 0.3) }
}

/** From the smallest to the largest value, with a box around the middle half, a line at the median and a dot at the mean. */
export function drawBoxes(chart: Boxes, area: Area): Drawn {
  const { labels, boxes, format } = chart
  const { series, names, plot, groups } = boxesGeometry(chart, area)
  const order = new Map(series.map((one, i) => [keyOf(one), i]))
  const inside = bands(series.length, [0, groups.width], 0.15)
  const { scale } = plot
  const marks = boxes.map((one): Markup => {
    const { at, color, isPrevious, min, p25, median, p75, max, mean, row } = one
    const x = groups.start(at) + inside.start(order.get(keyOf(one))!)
    const middle = x + inside.width / 2
    const rule = (y1: number, y2: number, x1 = middle, x2 = middle) =>
      element('line', { x1, y1, x2, y2, class: lined(color), 'stroke-width': 1.5, 'stroke-dasharray': isPrevious ? '4 4' : null })
    const sides = { left: x, right: x + inside.width }
    return element(
      'g',
      { opacity: isPrevious ? 0.6 : null, 'data-series': keyOf(one) },
      element('title', {}, toldOf(one, format)),
      rule(scale.at(max), scale.at(min)),
      box(
        { ...sides, top: scale.at(p75), bottom: scale.at(p25) },
        { class: `${filled(color)} ${lined(color)}`, 'fill-opacity': 0.3, 'stroke-dasharray': isPrevious ? '4 4' : null },
      ),
      rule(scale.at(median), scale.at(median), x, x + inside.width),
      element('circle', { cx: middle, cy: scale.at(mean), r: 2, class: filled(color) }),
      // Also where the box has no height.
      box({ ...sides, top: scale.at(max) - 4, bottom: scale.at(min) + 4 }, { class: filled(color), 'fill-opacity': 0, 'data-pick': row }),
    )
  })
  return {
    nodes: [...names.nodes, ...drawScale(plot), ...marks, ...drawLabels(labels, plot, (i) => groups.centre(i))],
    height: area.bottom - area.top,
  }
}
