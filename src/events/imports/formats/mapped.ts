import { setOwn } from '../../../lib/own.ts'
import { type Converter, problem, rowOf, textOf, timeOf } from '../record.ts'
import { type CellFormats, cellReader } from './cells.ts'

/** The source of a field: a column's name, or a constant. */
export type FieldSource = { readonly column: string } | { readonly constant: string }

export interface Mapping {
  readonly event?: FieldSource
  readonly distinct_id?: FieldSource
  readonly timestamp?: FieldSource
  readonly uuid?: FieldSource
  /** A column with the JSON object of properties. All other columns become properties beside it. */
  readonly properties?: FieldSource
  readonly cells?: CellFormats
}

/** Column names that are tried if there is no mapping; then without regard to capitals, spaces and lines. */
const usualNames = {
  event: ['event', 'event_name', 'event_type', 'name', 'action', 'activity'],
  distinct_id: [
    ...['distinct_id', 'distinctId', 'user_id', 'userId', 'user', 'person_id', 'anonymous_id', 'email'],
    ...['customer_id', 'customer', 'visitor_id', 'visitor', 'person', 'username'],
  ],
  timestamp: ['timestamp', 'time', 'event_time', 'created_at', 'ts', 'date', 'datetime', 'when', 'occurred_at'],
  uuid: ['uuid', 'event_id', 'message_id', 'messageId'],
  properties: ['properties', 'event_properties'],
} as const

const plain = (name: string): string => name.toLowerCase().replace(/[\s_-]/g, '')
/** Written so, it is more often that of a person than that of an event. */
const isOfPerson = (column: string): boolean => plain(column) === 'name'

/** `user` or `=constant` */
export const fieldSource = (text: string): FieldSource => (text.startsWith('=') ? { constant: text.slice(1) } : { column: text })

export type Field = keyof typeof usualNames

/** The columns for the fields of events; other columns become properties. */
export type ChosenColumns = { readonly [F in Field]: FieldSource | null }

/** Fields that every event needs. */
export const neededFields = ['event', 'distinct_id', 'timestamp'] as const

/** `columns` are those of the first row: fields without a mapping are looked up there once. Null: no column has one of the usual names. */
export function findColumns(mapping: Mapping, columns: readonly string[]): ChosenColumns {
  const source = (field: Field): FieldSource | null => {
    const said = mapping[field]
    if (said) {
      if ('column' in said && !columns.includes(said.column))
        throw new Error(`there is no column ${said.column} for ${field}; the columns are ${columns.join(', ')}`)
      return said
    }
    const names: readonly string[] = usualNames[field]
    const usual = names.find((name) => columns.includes(name))
    if (usual !== undefined) return { column: usual }
    const alike = names.map((name) => columns.find((column) => plain(column) === plain(name) && !isOfPerson(column))).find(Boolean)
    return alike === undefined ? null : { column: alike }
  }
  return {
    event: source('event'),
    distinct_id: source('distinct_id'),
    timestamp: source('timestamp'),
    uuid: source('uuid'),
    properties: source('properties'),
  }
}

/** The same; refused if a field is missing that every event needs. */
export function chooseColumns(mapping: Mapping, columns: readonly string[]): ChosenColumns {
  const sources = findColumns(mapping, columns)
  for (const field of neededFields)
    if (!sources[field])
      throw new Error(`no column for ${field}; use --map ${field}=COLUMN (or ${field}==CONSTANT). The columns are ${columns.join(', ')}`)
  return sources
}

/** Rows of a plain file. */
export function mapped(sources: ChosenColumns, cells: CellFormats = {}): Converter {
  const read = cellReader(cells)
  const used = new Set(Object.values(sources).flatMap((s) => (s && 'column' in s ? [s.column] : [])))

  return (row) => {
    const value = (field: Field): unknown => {
      const from = sources[field]
      return from === null ? undefined : 'constant' in from ? from.constant : row[from.column]
    }
    const event = textOf(value('event'))
    const distinctId = textOf(value('distinct_id'))
    const timestamp = (read.time ?? timeOf)(value('timestamp'))
    if (event === null) return problem('no event name')
    if (distinctId === null) return problem('no distinct id')
    if (timestamp === null) return problem(`unreadable timestamp: ${String(value('timestamp'))}`)
    const properties: Record<string, unknown> = { ...(rowOf(value('properties')) ?? {}) }
    for (const [column, cell] of Object.entries(row)) if (!used.has(column)) setOwn(properties, column, read.value(cell))
    const uuid = textOf(value('uuid'))
    return [{ event, distinct_id: distinctId, timestamp, properties, ...(uuid !== null && { source_id: uuid }) }]
  }
}
