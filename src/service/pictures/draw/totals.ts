import type { Chart } from '../chart.ts'
import { numberText } from '../format.ts'
import { linear } from '../scales.ts'
import { type Area, box, type Drawn, fitted, label, textWidth } from '../sheet.ts'
import { filled } from '../style.ts'

type Totals = Extract<Chart, { kind: 'totals' }>

const rowHeight = 26

/** A horizontal bar for each number. */
export function drawTotals({ items, format }: Totals, { left, top, right }: Area): Drawn {
  const width = right - left
  const names = Math.min(width * 0.35, Math.max(...items.map((item) => textWidth(item.label))))
  const texts = items.map(({ value }) => numberText(value, format))
  const numbers = Math.min(width * 0.2, Math.max(...texts.map((text) => textWidth(text)))) + 8
  const scale = linear(
    items.map(({ value }) => value),
    [left + names + 10, right - numbers],
  )
  const zero = scale.at(0)
  const nodes = items.flatMap(({ label: name, value, color, isPrevious, row }, i) => {
    const y = top + i * rowHeight
    const end = scale.at(value)
    const bar = { left: Math.min(zero, end), right: Math.max(zero, end), top: y + 4, bottom: y + rowHeight - 4 }
    return [
      label(fitted(name, names), left + names, y + 17, { anchor: 'end' }),
      box(bar, { class: filled(color), rx: 2, opacity: isPrevious ? 0.5 : null, 'data-pick': row, 'data-mark': i }),
      label(fitted(texts[i]!, numbers), bar.right + 5, y + 17, { className: 'faint' }),
    ]
  })
  return { nodes, height: items.length * rowHeight + 4 }
}
