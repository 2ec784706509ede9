import type { Chart } from '../chart.ts'
import type { Markup } from '../markup.ts'
import { type Area, box, type Drawn, fitted, label, textWidth } from '../sheet.ts'

const rowHeight = 24

/** Shaded cells in rows and columns: retention, hours of a week. */
export function drawGrid({ columns, rows }: Extract<Chart, { kind: 'grid' }>, { left, top, right }: Area): Drawn {
  const names = Math.min((right - left) * 0.3, Math.max(...rows.map((row) => textWidth(row.label)))) + 8
  const noted = Math.max(...rows.map(({ note }) => textWidth(note)))
  const notes = noted > 0 ? noted + 10 : 0
  const start = left + names + notes
  const width = (right - start) / columns.length
  const size = Math.min(12, Math.max(7, width / 4.2))
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
          { class: 'shade', rx: 2, opacity: 0.06 + shade * 0.94, 'data-pick': `${r} ${c}` },
        ),
      )
      const text = fitted(cell.text, width, size)
      nodes.push(label(text, x + width / 2, y + 16, { anchor: 'middle', size, className: shade > 0.5 ? 'onshade' : 'ink' }))
    }
  }
  return { nodes, height: 22 + rows.length * rowHeight }
}
