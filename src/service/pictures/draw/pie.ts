import type { Chart } from '../chart.ts'
import { numberText } from '../format.ts'
import { element } from '../markup.ts'
import { type Area, type Drawn, fitted, label } from '../sheet.ts'
import { filled } from '../style.ts'

type Pie = Extract<Chart, { kind: 'pie' }>

interface Slice {
  readonly share: number
  /** From the top, clockwise, in turns. */
  readonly from: number
  readonly to: number
}

export function pieGeometry(values: readonly number[]): readonly Slice[] {
  // The sum of the largest numbers overflows.
  const largest = Math.max(...values)
  const sum = values.reduce((all, value) => all + value / largest, 0)
  let from = 0
  return values.map((value) => {
    const share = value / largest / sum
    const slice = { share, from, to: Math.min(1, from + share) }
    from = slice.to
    return slice
  })
}

const inner = 0.6

export function drawPie({ items, format }: Pie, { left, top, right, bottom }: Area): Drawn {
  const radius = Math.min((bottom - top) / 2 - 6, (right - left) / 4)
  const [cx, cy] = [left + radius + 6, top + radius + 6]
  const at = (turn: number, distance: number) =>
    `${(cx + Math.sin(turn * 2 * Math.PI) * distance).toFixed(2)} ${(cy - Math.cos(turn * 2 * Math.PI) * distance).toFixed(2)}`
  const slices = pieGeometry(items.map(({ value }) => value))
  const rings = slices.map(({ from, to, share }, i) => {
    const className = filled(items[i]!.color)
    const stroke = { class: className, 'stroke-width': 1, 'data-pick': items[i]!.row }
    // An arc that ends where it starts is not drawn.
    const end = share > 0.9999 ? from + 0.9999 : to
    const large = end - from > 0.5 ? 1 : 0
    const d = `M${at(from, radius)}A${radius.toFixed(2)} ${radius.toFixed(2)} 0 ${large} 1 ${at(end, radius)}L${at(end, radius * inner)}A${(radius * inner).toFixed(2)} ${(radius * inner).toFixed(2)} 0 ${large} 0 ${at(from, radius * inner)}Z`
    return element('path', { d, ...stroke })
  })
  const x = cx + radius + 24
  const names = items.flatMap(({ label: name, value, color }, i) => {
    const y = top + 18 + i * 22
    const text = `${numberText(value, format)} (${numberText(slices[i]!.share * 100, { style: 'numeric', prefix: '', postfix: '', decimals: 1 })}%)`
    return [
      element('rect', { x, y: y - 10, width: 10, height: 10, rx: 2, class: filled(color) }),
      label(fitted(`${name}: ${text}`, right - x - 18), x + 16, y),
    ]
  })
  return { nodes: [...rings, ...names], height: Math.max(2 * radius + 12, items.length * 22 + 12) }
}
