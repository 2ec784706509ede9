import type { Answer } from '../lib/api.ts'
import { dateText } from '../lib/format.ts'

// The columns of an answer: what their types mean for the table and for a chart.

export interface Column {
  readonly name: string
  readonly type: string
  readonly kind: 'number' | 'time' | 'text' | 'other'
}

const bare = (type: string): string => {
  const inner = /^(?:Nullable|LowCardinality)\((.*)\)$/.exec(type)
  return inner ? bare(inner[1]!) : type
}
export const kindOf = (type: string): Column['kind'] => {
  const plain = bare(type)
  if (/^(U?Int|Float|Decimal)/.test(plain)) return 'number'
  if (/^Date/.test(plain)) return 'time'
  return /^(String|UUID|FixedString|Enum|Bool)/.test(plain) ? 'text' : 'other'
}

export const columnsOf = ({ columns = [], types = [] }: Answer): readonly Column[] =>
  columns.map((name, i) => {
    const type = types[i]?.[1] ?? ''
    return { name, type, kind: kindOf(type) }
  })
export const rowsOf = ({ results }: Answer): readonly (readonly unknown[])[] =>
  Array.isArray(results) ? results.filter((row): row is unknown[] => Array.isArray(row)) : []

/** As it is copied: null is nothing, objects are JSON. */
export const valueText = (value: unknown): string =>
  value === null || value === undefined ? '' : typeof value === 'object' ? JSON.stringify(value) : String(value)

const field = (text: string) => text.replace(/[\t\r\n]+/g, ' ')
/** For spreadsheets. */
export const tabSeparated = (columns: readonly Column[], rows: readonly (readonly unknown[])[]): string =>
  [columns.map(({ name }) => field(name)), ...rows.map((row) => row.map((value) => field(valueText(value))))]
    .map((cells) => cells.join('\t'))
    .join('\n')

/** As it is shown: times in the zone of the project, to the microsecond if they have any. */
export function shownText(value: unknown, { kind }: Column, timezone: string): string {
  if (value === null || value === undefined) return 'null'
  if (kind !== 'time' || typeof value !== 'string' || !value.endsWith('Z')) return valueText(value)
  const date = new Date(value)
  if (Number.isNaN(date.getTime())) return value
  const fraction = /\.(\d*[1-9])0*Z$/.exec(value)
  return `${dateText(date, 'exact', timezone)}${fraction ? `.${fraction[1]}` : ''}`
}
