// The result of every reader: events as ingestion accepts them, or the reason why a row is invalid.

export interface ImportedEvent {
  readonly event: string
  readonly distinct_id: string
  readonly timestamp: string
  readonly properties: Readonly<Record<string, unknown>>
  /** Set by formats that have one. Otherwise the import derives it from the file and the row, so that a second import stores nothing new. */
  readonly uuid?: string
  readonly [field: string]: unknown
}

export type FileRow = Readonly<Record<string, unknown>>

/** One row may be several events, or none (`[]`: left out on purpose). */
export type Converted = readonly ImportedEvent[] | Problem
/** Why a row is invalid. `line`: its line, if the number of the row differs. */
export interface Problem {
  readonly problem: string
  readonly line?: number
}

/** Turns one row of a file into events. Pure. */
export type Converter = (row: FileRow) => Converted

export const problem = (text: string): Problem => ({ problem: text })

/** A text for an id or a name: numbers are converted; null for empty texts and containers. */
export const textOf = (value: unknown): string | null =>
  typeof value === 'string' && value !== '' ? value : typeof value === 'number' || typeof value === 'bigint' ? String(value) : null

export const isRow = (value: unknown): value is FileRow => typeof value === 'object' && value !== null && !Array.isArray(value)

/** An object, or the JSON text of one; null otherwise. */
export function rowOf(value: unknown): FileRow | null {
  if (isRow(value)) return value
  if (typeof value !== 'string' || !value.startsWith('{')) return null
  try {
    const parsed: unknown = JSON.parse(value)
    return isRow(parsed) ? parsed : null
  } catch {
    return null
  }
}

/** ISO text of a time given as text, as seconds or milliseconds since 1970, or as a Date; null when it is invalid. */
export function timeOf(value: unknown): string | null {
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? null : value.toISOString()
  const number =
    typeof value === 'number'
      ? value
      : typeof value === 'bigint'
        ? Number(value)
        : typeof value === 'string' && /^\d{9,13}(\.\d+)?$/.test(value)
          ? Number(value)
          : null
  if (number !== null) return Number.isFinite(number) ? new Date(Math.abs(number) < 1e11 ? number * 1000 : number).toISOString() : null
  if (typeof value !== 'string') return null
  const spaced = /^(\d{4}-\d\d-\d\d)[ T](\d\d:\d\d:\d\d(?:\.\d+)?)$/.exec(value.trim())
  const text = spaced ? `${spaced[1]}T${spaced[2]}Z` : value.trim()
  return text === '' || Number.isNaN(Date.parse(text)) ? null : text
}
