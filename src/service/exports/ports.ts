import type { RowsFile, WrittenRows } from '../../engine/execution/ports.ts'

export { csvMarks } from '../../engine/execution/ports.ts'
export type { WrittenRows }

// What exports need of a project's rows. The backend implements it, in the process that has the store.

export const models = ['events', 'persons', 'sessions'] as const
export type Model = (typeof models)[number]

export type FileFormat = RowsFile['format']
/** Of the whole file for JSONLines and CSV, of the pages inside for Parquet. */
export type Compression = NonNullable<RowsFile['compression']>

export type ColumnType = 'uuid' | 'text' | 'integer' | 'float' | 'boolean' | 'time' | 'date' | 'json' | 'list'

/**
 * A column of the files. `time` is a TIMESTAMP in UTC in Parquet and `2026-01-05T10:00:00.000000Z` elsewhere. `json` is JSON text in Parquet and CSV, and the value
 * itself in JSONLines; `list` is a list, in CSV its JSON.
 */
export interface ExportColumn {
  readonly name: string
  readonly type: ColumnType
}

/** A column as it is computed: an expression of the query language over the table of the model. */
export interface Field {
  readonly expression: string
  readonly alias: string
  /** For texts that hold JSON. */
  readonly type?: 'json'
}

/** Rows by arrival: those that a run has not exported before. */
export interface ArrivalRange {
  readonly by: 'arrival'
  /** Log positions: after this one, up to that one. */
  readonly after: number
  readonly to: number
}
/** Rows by their own time, for backfills. */
export interface TimeRange {
  readonly by: 'time'
  /** ISO 8601. Null: from the first row. */
  readonly start: string | null
  readonly end: string
  /** Rows that arrived later belong to a run by arrival. */
  readonly to: number
}
export type RowRange = ArrivalRange | TimeRange

/** The rows of a run. Plain data: it is sent to the process that has the store. */
export interface RowSelection {
  readonly model: Model
  readonly fields: readonly Field[]
  /** A condition of the query language over events, and the alias of the table in it. */
  readonly where: string | null
  readonly tableAlias: string | null
  /** Property filters of events, as in queries. */
  readonly filters: readonly unknown[] | null
  /** Names of events. Empty: all. */
  readonly include: readonly string[]
  readonly exclude: readonly string[]
  readonly range: RowRange
}

/** A part of the rows: those with a row key after one value, up to another. The row key is the log position of an event, and the number of a person. */
export interface RowPart {
  readonly after: number
  readonly to: number
}

export interface RowMeasure {
  readonly rows: number
  /** The first and the last row key; null without rows, and for rows without a key. */
  readonly keys: readonly [first: number, last: number] | null
}

export interface ExportRows {
  measure(selection: RowSelection): Promise<RowMeasure>
  columns(selection: RowSelection): Promise<readonly ExportColumn[]>
  /** Writes a part of the rows into a file. In the order of arrival; of a long part, stretches may be exchanged. */
  stage(selection: RowSelection, part: RowPart | null, file: RowsFile, signal?: AbortSignal): Promise<WrittenRows>
  /** The last log position that belongs to the time before `end`, at least `after`: everything durable, unless a later event arrived at `end` or after. */
  positionAt(end: Date, after: number): Promise<number>
  /** The time of the first row of a model by its own time. Null: no rows. */
  firstTime(model: Model): Promise<Date | null>
}
