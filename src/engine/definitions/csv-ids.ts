import { WaymarkError } from '../../errors/errors.ts'

/** Ids from a CSV: the column person_id or distinct_id if there is a header, else the first column. */
export function csvIds(text: string): { readonly kind: 'person' | 'distinct'; readonly ids: string[] } {
  const start = text.startsWith('\uFEFF') ? 1 : 0
  let first = rowAt(text, start, maxColumns)
  while (first.end < text.length && first.cells.every((cell) => cell === '')) first = rowAt(text, first.end, maxColumns)
  const names = first.cells.map((cell) => cell.toLowerCase().replaceAll(/[ -]/g, '_'))
  const person = names.indexOf('person_id')
  const distinct = names.indexOf('distinct_id')
  const column = person >= 0 ? person : Math.max(distinct, 0)
  const ids = new Set<string>()
  const isHeader = person >= 0 || distinct >= 0
  for (let at = isHeader ? first.end : start; at < text.length; ) {
    const { cells, end } = rowAt(text, at, column + 1)
    const id = cells[column]
    if (id) ids.add(id)
    at = end
  }
  return { kind: person >= 0 ? 'person' : 'distinct', ids: [...ids] }
}

/** The values of a column. A `named` one must be there; otherwise the first column is read, also its first row, if none has this name. */
export function columnOfCsv(text: string, name: string, isNamed: boolean): string[] {
  const start = text.startsWith('\uFEFF') ? 1 : 0
  const first = rowAt(text, start, maxColumns)
  const column = first.cells.findIndex((cell) => cell.toLowerCase() === name.toLowerCase())
  if (column < 0 && isNamed)
    throw new WaymarkError('validation-failed', {
      message: `The CSV has no column ${name}; its columns are ${first.cells.slice(0, 20).join(', ')}.`,
      attr: 'csv_column',
    })
  const values = new Set<string>()
  for (let at = column < 0 ? start : first.end; at < text.length; ) {
    const { cells, end } = rowAt(text, at, Math.max(column, 0) + 1)
    const value = cells[Math.max(column, 0)]
    if (value) values.add(value)
    at = end
  }
  return [...values]
}

/** How many names are searched. */
const maxColumns = 1_000

interface Row {
  readonly cells: readonly string[]
  /** Where the next row starts. */
  readonly end: number
}

/** The first cells of the next row that is not empty. Quoted cells may contain commas, line ends and doubled quotes. */
function rowAt(text: string, start: number, most: number): Row {
  let at = start
  while (at < text.length && isLineEnd(text.charCodeAt(at))) at++
  const cells: string[] = []
  for (;;) {
    const { cell, end } = cellAt(text, at)
    if (cells.length < most) cells.push(cell)
    at = end
    if (text[at] !== ',') break
    at++
  }
  return { cells, end: at + 1 }
}

const isLineEnd = (code: number) => code === 10 || code === 13

/** A cell without its quotes and surrounding spaces, and the offset of its comma or line end. An unclosed quote is an ordinary character. */
function cellAt(text: string, start: number): { readonly cell: string; readonly end: number } {
  const closing = text[start] === '"' ? closingQuote(text, start + 1) : -1
  const from = closing < 0 ? start : closing + 1
  const end = delimiterFrom(text, from)
  const plain = text.slice(from, end)
  return { cell: (closing < 0 ? plain : text.slice(start + 1, closing).replaceAll('""', '"')).trim(), end }
}

/** Two quotes are an escaped one. -1: not found. */
function closingQuote(text: string, start: number): number {
  for (let at = text.indexOf('"', start); at >= 0; at = text.indexOf('"', at + 2)) if (text[at + 1] !== '"') return at
  return -1
}

function delimiterFrom(text: string, start: number): number {
  for (let at = start; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === comma || isLineEnd(code)) return at
  }
  return text.length
}
const comma = 44
