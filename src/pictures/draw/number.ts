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

export function drawNumber(
  { label: name, value, previous, format }: Extract<Chart, { kind: 'number' }>,
  { left, top, right }: Area,
): Drawn {
  const middle = (left + right) / 2
  const text = numberText(value, format)
  const size = Math.max(18, Math.min(64, (right - left) / (Math.max(1, [...text].length) * 0.62)))
  const change = changeText(value, previous, (number) => numberText(number, format))
  return {
    nodes: [
      label(fitted(text, right - left, size), middle, top + 80, { anchor: 'middle', size, isBold: true, pick: 0 }),
      label(fitted(name, right - left, 14), middle, top + 112, { anchor: 'middle', size: 14, className: 'faint' }),
      ...(change === null ? [] : [label(fitted(change, right - left, 14), middle, top + 136, { anchor: 'middle', size: 14 })]),
    ],
    height: 150,
  }
}
