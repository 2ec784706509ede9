import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import { useProject } from '../lib/session.ts'
import { CopyButton, Dialog } from '../ui/parts.tsx'
import { type Column, shownText, valueText } from './columns.ts'
import { type Cell, rowHeight, useCellCursor } from './use-cell-cursor.ts'

// A table of any number of rows: only those in view are in the document.

const spare = 12
const sampled = 100
const widest = 60

/** In characters. */
const widthOf = (column: Column, index: number, rows: readonly (readonly unknown[])[], text: (value: unknown, column: Column) => string) =>
  Math.min(
    widest,
    Math.max(8, column.name.length + 3, column.type.length, ...rows.slice(0, sampled).map((row) => text(row[index], column).length + 2)),
  )

export function RowsTable({ columns, rows }: { columns: readonly Column[]; rows: readonly (readonly unknown[])[] }) {
  const { timezone } = useProject()
  const box = useRef<HTMLDivElement>(null)
  const [top, setTop] = useState(0)
  const [height, setHeight] = useState(400)
  const [open, setOpen] = useState<Cell | null>(null)
  const text = (value: unknown, column: Column) => shownText(value, column, timezone)
  const widths = useMemo(() => columns.map((column, i) => widthOf(column, i, rows, text)), [columns, rows])

  useEffect(() => {
    const element = box.current!
    const observer = new ResizeObserver(([entry]) => setHeight(entry!.contentRect.height))
    observer.observe(element)
    return () => observer.disconnect()
  }, [])
  const { at, setAt, steer } = useCellCursor(box, rows, columns.length, {
    page: Math.max(1, Math.floor(height / rowHeight) - 3),
    onOpen: setOpen,
  })
  useEffect(() => {
    setTop(0)
    box.current?.scrollTo(0, 0)
  }, [rows])

  const first = Math.max(0, Math.floor(top / rowHeight) - spare)
  const last = Math.min(rows.length, Math.ceil((top + height) / rowHeight) + spare)
  const id = (cell: Cell) => `cell-${cell.row}-${cell.column}`
  return (
    <>
      <div
        class="sheet"
        ref={box}
        role="grid"
        tabIndex={0}
        aria-label="Rows"
        aria-rowcount={rows.length + 1}
        aria-colcount={columns.length}
        aria-activedescendant={rows.length > 0 ? id(at) : undefined}
        onScroll={(event) => setTop(event.currentTarget.scrollTop)}
        onKeyDown={steer}
      >
        <div class="sheet-head" role="row" aria-rowindex={1}>
          <span class="sheet-number" aria-hidden="true" />
          {columns.map(({ name, type, kind }, i) => (
            <div
              key={i}
              role="columnheader"
              class={kind === 'number' ? 'number' : ''}
              style={{ width: `${widths[i]}ch` }}
              title={`${name}: ${type}`}
            >
              <strong>{name}</strong>
              <small>{type}</small>
            </div>
          ))}
        </div>
        <div class="sheet-body" role="rowgroup" style={{ height: `${rows.length * rowHeight}px` }}>
          {rows.slice(first, last).map((row, i) => {
            const index = first + i
            return (
              <div class="sheet-row" role="row" key={index} aria-rowindex={index + 2} style={{ top: `${index * rowHeight}px` }}>
                <span class="sheet-number" aria-hidden="true">
                  {index + 1}
                </span>
                {columns.map((column, c) => {
                  const isAt = at.row === index && at.column === c
                  const value = row[c]
                  const kind = value === null || value === undefined ? 'none' : column.kind === 'number' ? 'number' : ''
                  return (
                    <div
                      key={c}
                      id={id({ row: index, column: c })}
                      role="gridcell"
                      aria-selected={isAt}
                      class={`${kind}${isAt ? ' chosen' : ''}`}
                      style={{ width: `${widths[c]}ch` }}
                      onClick={() => setAt({ row: index, column: c })}
                      onDblClick={() => setOpen({ row: index, column: c })}
                    >
                      {text(value, column).slice(0, 300)}
                    </div>
                  )
                })}
              </div>
            )
          })}
        </div>
      </div>
      {open && columns[open.column] && (
        <CellDialog name={columns[open.column]!.name} row={open.row} value={rows[open.row]?.[open.column]} onClose={() => setOpen(null)} />
      )}
    </>
  )
}

function CellDialog({ name, row, value, onClose }: { name: string; row: number; value: unknown; onClose: () => void }) {
  return (
    <Dialog title={`${name}, row ${row + 1}`} onClose={onClose}>
      <pre tabIndex={0}>
        <code>{pretty(value)}</code>
      </pre>
      <CopyButton text={valueText(value)} />
    </Dialog>
  )
}

/** Properties are JSON in a text. */
function pretty(value: unknown): string {
  if (typeof value === 'string' && /^[[{]/.test(value)) {
    try {
      return JSON.stringify(JSON.parse(value), null, 2)
    } catch {
      return value
    }
  }
  return value === null || value === undefined ? 'null' : typeof value === 'object' ? JSON.stringify(value, null, 2) : String(value)
}
