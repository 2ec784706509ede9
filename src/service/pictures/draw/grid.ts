import type { Chart } from '../chart.ts'
import type { Markup } from '../markup.ts'
import { type Area, box, type Drawn, fitted, label, letterWidth, textWidth } from '../sheet.ts'

const rowHeight = 24

type Grid = Extract<Chart, { kind: 'grid' }>

/** Smaller texts are hard to read. */
const readable = 11
const besideText = 6

const longestText = ({ columns, rows }: Grid): number =>
  Math.max(
    1,
    ...columns.map((name) => [...name].length),
    ...rows.flatMap(({ cells }) => cells.map((cell) => [...(cell?.text ?? '')].length)),
  )
const noteWidth = ({ rows }: Grid): number => {
  const noted = Math.max(...rows.map(({ note }) => textWidth(note)))
  return noted > 0 ? noted + 10 : 0
}
const mostOfNames = 0.3

/** In which every number can be read. */
export function leastGridWidth(chart: Grid): number {
  const cells = chart.columns.length * (longestText(chart) * letterWidth(readable) + besideText) + 8 + noteWidth(chart)
  return Math.ceil(Math.min(cells + Math.max(...chart.rows.map((row) => textWidth(row.label))), cells / (1 - mostOfNames)) + 8)
}

/** Shaded cells in rows and columns: retention, hours of a week. */
export function drawGrid(chart: Grid, { left, top, right }: Area): Drawn {
  const { columns, rows } = chart
  const names = Math.min((right - left) * mostOfNames, Math.max(...rows.map((row) => textWidth(row.label)))) + 8
  const notes = noteWidth(chart)
  const start = left + names + notes
  const width = (right - start) / columns.length
  const size = Math.min(12, Math.max(7, width / 4.2, Math.min(readable, (width - besideText) / (longestText(chart) * letterWidth(1)))))
  const nodes: Markup[] = columns.map((name, i) =>
    label(fitted(name, width, size), start + (i + 0.5) * width, top + 14, { anchor: 'middle', className: 'faint', size }),
  )
  for (const [r, { label: name, note, cells }] of rows.entries()) {
    const y = top + 22 + r * rowHeight
    nodes.push(label(fitted(name, names), left, y + 16))
    if (note) nodes.push(label(note, start - 8, y + 16, { anchor: 'end', className: 'faint' }))
    for (const [c, cell] of cells.entries()) {
      if (!cell) continue
      const x = start + c * width
      const shade = Math.min(1, Math.max(0, cell.shade))
      nodes.push(
        box(
          { left: x + 1, right: x + width - 1, top: y + 1, bottom: y + rowHeight - 1 },
          { class: 'shade', rx: 2, opacity: 0.06 + shade * 0.94, 'data-pick': `${r} ${c}`, 'data-mark': `${r} ${c}` },
        ),
      )
      const text = fitted(cell.text, width, size)
      nodes.push(label(text, x + width / 2, y + 16, { anchor: 'middle', size, className: shade > 0.5 ? 'onshade' : 'ink' }))
    }
  }
  return { nodes, height: 22 + rows.length * rowHeight }
}
