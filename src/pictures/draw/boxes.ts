import { drawLabels, drawScale, plotOf } from '../axes.ts'
import type { Chart } from '../chart.ts'
import { element, type Markup } from '../markup.ts'
import { bands } from '../scales.ts'
import { type Area, box, type Drawn, legend } from '../sheet.ts'
import { filled, lined } from '../style.ts'

/** From the smallest to the largest value, with a box around the middle half, a line at the median and a dot at the mean. */
export function drawBoxes({ labels, boxes, format }: Extract<Chart, { kind: 'boxes' }>, { left, top, right, bottom }: Area): Drawn {
  const colors = [...new Map(boxes.map(({ color, label }) => [color, { color, label, isPrevious: false }])).values()]
  const names = legend(colors, left, top, right - left)
  const plot = plotOf(
    boxes.flatMap(({ min, max }) => [min, max]),
    { left, top: top + names.height + 6, right: right - 8, bottom },
    format,
  )
  const groups = bands(labels.length, [plot.area.left, plot.area.right], 0.3)
  const inside = bands(colors.length, [0, groups.width], 0.15)
  const { scale } = plot
  const marks = boxes.flatMap(({ at, color, min, q1, median, q3, max, mean }): Markup[] => {
    const x = groups.start(at) + inside.start(colors.findIndex((one) => one.color === color))
    const middle = x + inside.width / 2
    const rule = (y1: number, y2: number, x1 = middle, x2 = middle) =>
      element('line', { x1, y1, x2, y2, class: lined(color), 'stroke-width': 1.5 })
    return [
      rule(scale.at(max), scale.at(min)),
      box(
        { left: x, right: x + inside.width, top: scale.at(q3), bottom: scale.at(q1) },
        { class: `${filled(color)} ${lined(color)}`, 'fill-opacity': 0.3 },
      ),
      rule(scale.at(median), scale.at(median), x, x + inside.width),
      element('circle', { cx: middle, cy: scale.at(mean), r: 2, class: filled(color) }),
    ]
  })
  return {
    nodes: [...names.nodes, ...drawScale(plot), ...marks, ...drawLabels(labels, plot, (i) => groups.centre(i))],
    height: bottom - top,
  }
}
