import type { RefObject } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { copyText } from '../lib/copy-text.ts'
import { valueText } from './columns.ts'

// Pixels.
export const rowHeight = 28
const headHeight = 46

export interface Cell {
  readonly row: number
  readonly column: number
}

interface Options {
  /** Rows of a step by page. */
  readonly page: number
  onOpen(cell: Cell): void
}

/** The cell that the keyboard is at, in the table of `box`: moves it, keeps it in view, copies its value. */
export function useCellCursor(
  box: RefObject<HTMLDivElement | null>,
  rows: readonly (readonly unknown[])[],
  columnCount: number,
  { page, onOpen }: Options,
) {
  const [at, setAt] = useState<Cell>({ row: 0, column: 0 })
  useEffect(() => setAt({ row: 0, column: 0 }), [rows])

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
      column: Math.max(0, Math.min(columnCount - 1, to.column)),
    }
    setAt(cell)
    show(cell.row)
    showColumn(cell.column)
  }
  const steps: Readonly<Record<string, Cell>> = {
    ArrowDown: { row: at.row + 1, column: at.column },
    ArrowUp: { row: at.row - 1, column: at.column },
    ArrowRight: { row: at.row, column: at.column + 1 },
    ArrowLeft: { row: at.row, column: at.column - 1 },
    PageDown: { row: at.row + page, column: at.column },
    PageUp: { row: at.row - page, column: at.column },
    Home: { row: at.row, column: 0 },
    End: { row: at.row, column: columnCount - 1 },
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
      onOpen(at)
    }
  }
  return { at, setAt, steer }
}
