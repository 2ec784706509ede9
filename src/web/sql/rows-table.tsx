import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import { copyText } from '../lib/copy-text.ts'
import { useProject } from '../lib/session.ts'
import { CopyButton, Dialog } from '../ui/parts.tsx'
import { type Column, shownText, valueText } from './columns.ts'

// A table of any number of rows: only those in view are in the document.

const rowHeight = 28
const headHeight = 46
const spare = 12
const sampled = 100
const widest = 60

interface Cell {
  readonly row: number
  readonly column: number
}

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
  const [at, setAt] = useState<Cell>({ row: 0, column: 0 })
  const [open, setOpen] = useState<Cell | null>(null)
  const text = (value: unknown, column: Column) => shownText(value, column, timezone)
  const widths = useMemo(() => columns.map((column, i) => widthOf(column, i, rows, text)), [columns, rows])

  useEffect(() => {
    const element = box.current!
    const observer = new ResizeObserver(([entry]) => setHeight(entry!.contentRect.height))
    observer.observe(element)
    return () => observer.disconnect()
  }, [])
  useEffect(() => {
    setAt({ row: 0, column: 0 })
    setTop(0)
    box.current?.scrollTo(0, 0)
  }, [rows])

  const first = Math.max(0, Math.floor(top / rowHeight) - spare)
  const last = Math.min(rows.length, Math.ceil((top + height) / rowHeight) + spare)

  const show = (row: number) => {
    const element = box.current!
    const [from, to] = [row * rowHeight, (row + 1) * rowHeight]
    if (from < element.scrollTop) element.scrollTop = from
    else if (to + headHeight > element.scrollTop + element.clientHeight) element.scrollTop = to + headHeight - element.clientHeight
  }
  const showColumn = (column: number) => {
    const element = box.current!
    const [number, ...heads] = element.firstElementChild!.children
    const head = heads[column] as HTMLElement | undefined
    if (!head) return
    const left = head.offsetLeft - (number as HTMLElement).offsetWidth
    if (left < element.scrollLeft) element.scrollLeft = left
    else if (head.offsetLeft + head.offsetWidth > element.scrollLeft + element.clientWidth)
      element.scrollLeft = Math.min(left, head.offsetLeft + head.offsetWidth - element.clientWidth)
  }
  const move = (to: Cell) => {
    const cell = {
      row: Math.max(0, Math.min(rows.length - 1, to.row)),
      column: Math.max(0, Math.min(columns.length - 1, to.column)),
    }
    setAt(cell)
    show(cell.row)
    showColumn(cell.column)
  }
  const page = Math.max(1, Math.floor(height / rowHeight) - 3)
  const steps: Readonly<Record<string, Cell>> = {
    ArrowDown: { row: at.row + 1, column: at.column },
    ArrowUp: { row: at.row - 1, column: at.column },
    ArrowRight: { row: at.row, column: at.column + 1 },
    ArrowLeft: { row: at.row, column: at.column - 1 },
    PageDown: { row: at.row + page, column: at.column },
    PageUp: { row: at.row - page, column: at.column },
    Home: { row: at.row, column: 0 },
    End: { row: at.row, column: columns.length - 1 },
  }
  const steer = (event: KeyboardEvent) => {
    if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === 'c' && (getSelection()?.isCollapsed ?? true)) {
      event.preventDefault()
      void copyText(valueText(rows[at.row]?.[at.column]), event.currentTarget as Element)
      return
    }
    if ((event.ctrlKey || event.metaKey) && (event.key === 'Home' || event.key === 'End')) {
      event.preventDefault()
      move({ row: event.key === 'Home' ? 0 : rows.length - 1, column: at.column })
      return
    }
    if (event.ctrlKey || event.metaKey || event.altKey) return
    const to = Object.hasOwn(steps, event.key) ? steps[event.key] : undefined
    if (to) {
      event.preventDefault()
      move(to)
    }
    if (event.key === 'Enter') {
      event.preventDefault()
      setOpen(at)
    }
  }
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
        <Dialog title={`${columns[open.column]!.name}, row ${open.row + 1}`} onClose={() => setOpen(null)}>
          <pre tabIndex={0}>
            <code>{pretty(rows[open.row]?.[open.column])}</code>
          </pre>
          <CopyButton text={valueText(rows[open.row]?.[open.column])} />
        </Dialog>
      )}
    </>
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
