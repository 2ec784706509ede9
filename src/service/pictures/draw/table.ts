import type { Chart } from '../chart.ts'
import { type Area, type Drawn, fitted, label, line, textWidth } from '../sheet.ts'

const rowHeight = 24
const isNumeric = (text: string) => /^-?[\d,.]+[%KMB]?$/.test(text)

/** Widths of the columns: what they need, and where that is too much, what is left is shared. */
export function columnWidths(needs: readonly number[], width: number): readonly number[] {
  const sum = needs.reduce((all, need) => all + need, 0)
  if (sum <= width) return needs.map((need) => need + (width - sum) / needs.length)
  const fair = width / needs.length
  const spare = needs.reduce((all, need) => all + Math.max(0, fair - need), 0)
  const wanted = needs.reduce((all, need) => all + Math.max(0, need - fair), 0)
  return needs.map((need) => (need <= fair ? need : fair + ((need - fair) / wanted) * spare))
}

export function drawTable({ columns, rows }: Extract<Chart, { kind: 'table' }>, { left, top, right }: Area): Drawn {
  const gap = 14
  const needs = columns.map((name, i) => Math.max(24, textWidth(name) * 1.05, ...rows.map((row) => textWidth(row[i] ?? ''))) + gap)
  const widths = columnWidths(needs, right - left)
  const starts = widths.map((_, i) => left + widths.slice(0, i).reduce((sum, width) => sum + width, 0))
  const numeric = columns.map((_, i) => rows.some((row) => row[i]) && rows.every((row) => !row[i] || isNumeric(row[i])))
  const cell = (text: string, i: number, y: number, isHead: boolean) => {
    const shown = fitted(text, widths[i]! - gap)
    const options = { isBold: isHead, className: isHead ? 'faint' : 'ink' }
    return numeric[i] ? label(shown, starts[i]! + widths[i]! - gap, y, { ...options, anchor: 'end' }) : label(shown, starts[i]!, y, options)
  }
  const nodes = [
    ...columns.map((name, i) => cell(name, i, top + 14, true)),
    line(left, top + 22, right, top + 22, 'inkline'),
    ...rows.flatMap((row, n) => {
      const y = top + 38 + n * rowHeight
      return [...columns.flatMap((_, i) => (row[i] ? [cell(row[i], i, y, false)] : [])), line(left, y + 8, right, y + 8)]
    }),
  ]
  return { nodes, height: 30 + rows.length * rowHeight }
}
