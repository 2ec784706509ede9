import type { Chart, Item } from '../chart.ts'
import { numberText, percentages } from '../format.ts'
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

/** `12 (34.5%)` for each. */
export function pieTexts({ items, format }: Pie): readonly string[] {
  const slices = pieGeometry(items.map(({ value }) => value))
  return items.map(
    ({ value }, i) => `${numberText(value, format)} (${numberText(slices[i]!.share * 100, { ...percentages, decimals: 1 })})`,
  )
}

/** What names a slice in a drawing: its row, where it has one. */
export const markOf = ({ row }: Item): string => (row === null ? 'other' : String(row))

export function drawPie(chart: Pie, { left, top, right, bottom }: Area): Drawn {
  const { items, isNamedApart } = chart
  const radius = Math.min((bottom - top) / 2 - 6, (right - left) / (isNamedApart ? 2 : 4) - 6)
  const [cx, cy] = [isNamedApart ? (left + right) / 2 : left + radius + 6, top + radius + 6]
  const at = (turn: number, distance: number) =>
    `${(cx + Math.sin(turn * 2 * Math.PI) * distance).toFixed(2)} ${(cy - Math.cos(turn * 2 * Math.PI) * distance).toFixed(2)}`
  const slices = pieGeometry(items.map(({ value }) => value))
  const rings = slices.map(({ from, to, share }, i) => {
    const className = filled(items[i]!.color)
    const stroke = { class: className, 'stroke-width': 1, 'data-pick': items[i]!.row, 'data-mark': i, 'data-series': markOf(items[i]!) }
    // An arc that ends where it starts is not drawn.
    const end = share > 0.9999 ? from + 0.9999 : to
    const large = end - from > 0.5 ? 1 : 0
    const d = `M${at(from, radius)}A${radius.toFixed(2)} ${radius.toFixed(2)} 0 ${large} 1 ${at(end, radius)}L${at(end, radius * inner)}A${(radius * inner).toFixed(2)} ${(radius * inner).toFixed(2)} 0 ${large} 0 ${at(from, radius * inner)}Z`
    return element('path', { d, ...stroke })
  })
  const x = cx + radius + 24
  if (isNamedApart) return { nodes: rings, height: 2 * radius + 12 }
  const texts = pieTexts(chart)
  const names = items.flatMap(({ label: name, color }, i) => {
    const y = top + 18 + i * 22
    const text = texts[i]!
    return [
      element('rect', { x, y: y - 10, width: 10, height: 10, rx: 2, class: filled(color) }),
      label(fitted(`${name}: ${text}`, right - x - 18), x + 16, y),
    ]
  })
  return { nodes: [...rings, ...names], height: Math.max(2 * radius + 12, items.length * 22 + 12) }
}
