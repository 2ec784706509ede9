import type { Chart } from '../chart.ts'
import { numberText, plainNumbers } from '../format.ts'
import { type Area, type Drawn, fitted, label } from '../sheet.ts'

/** The change as a text: `▲ 12.5% from 80`. */
export function changeText(value: number | null, previous: number | null, shown: (number: number) => string): string | null {
  if (value === null || previous === null) return null
  if (previous === 0) return `from ${shown(previous)}`
  const change = ((value - previous) / Math.abs(previous)) * 100
  const arrow = change > 0 ? '▲' : change < 0 ? '▼' : '='
  return `${arrow} ${numberText(Math.abs(change), { ...plainNumbers, decimals: 1 })}% from ${shown(previous)}`
}

const lineHeight = 24
const enough = 110

export function drawNumber(
  { label: name, value, previous, format }: Extract<Chart, { kind: 'number' }>,
  { left, top, right, bottom }: Area,
): Drawn {
  const middle = (left + right) / 2
  const text = numberText(value, format)
  const change = changeText(value, previous, (number) => numberText(number, format))
  // Where there is no room for both, the change says more than the name.
  const names = change === null || bottom - top >= enough ? [name] : []
  const below = names.length + (change === null ? 0 : 1)
  const inWidth = (right - left) / (Math.max(1, [...text].length) * 0.62)
  const inHeight = bottom - top - below * lineHeight - 12
  const size = Math.max(18, Math.min(64, inWidth, inHeight))
  const free = bottom - top - size - below * lineHeight
  const base = top + Math.max(0, Math.min(16, free / 2)) + size * 0.85
  return {
    nodes: [
      label(fitted(text, right - left, size), middle, base, { anchor: 'middle', size, isBold: true, pick: 0 }),
      ...names.map((text) =>
        label(fitted(text, right - left, 14), middle, base + lineHeight + 2, { anchor: 'middle', size: 14, className: 'faint' }),
      ),
      ...(change === null
        ? []
        : [label(fitted(change, right - left, 14), middle, base + below * lineHeight + 2, { anchor: 'middle', size: 14 })]),
    ],
    height: base - top + below * lineHeight + 10,
  }
}
