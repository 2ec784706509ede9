import { type CellFormats, guessNumberFormat, guessTimeFormat } from '../../events/imports/formats/cells.ts'
import { type ChosenColumns, type Field, findColumns, type Mapping, neededFields } from '../../events/imports/formats/mapped.ts'
import type { ImportedEvent } from '../../events/imports/record.ts'
import { type OpenedFile, rowsOf } from './read-file.ts'

// The first rows of a file as they will be understood. Nothing is sent.

const mostShown = 10
/** Rows that are looked at for what cannot be read. */
const mostLookedAt = 2000

export interface PreviewRow {
  readonly row: number
  readonly events: readonly ImportedEvent[]
}
export interface Preview {
  /** How times and numbers are read: as chosen, or guessed by the first rows. */
  readonly cells: CellFormats
  /** Null: the format says what the columns are. */
  readonly chosen: ChosenColumns | null
  /** Fields that every event needs and that no column was found for. */
  readonly missing: readonly Field[]
  /** Columns that become properties. */
  readonly others: readonly string[]
  readonly lookedAt: number
  readonly isWhole: boolean
  readonly rows: readonly PreviewRow[]
  readonly unreadable: number
  readonly problems: readonly { readonly row: number; readonly problem: string }[]
}

/** What the first values of the columns say. */
function guessCells({ columns, samples }: Pick<OpenedFile, 'columns' | 'samples'>, mapping: Mapping): CellFormats {
  if (!columns) return {}
  const { timestamp } = findColumns(mapping, columns)
  const time = timestamp && 'column' in timestamp ? guessTimeFormat(samples[timestamp.column] ?? []) : null
  const used = usedBy(findColumns(mapping, columns))
  const numbers = guessNumberFormat(columns.filter((column) => !used.has(column)).map((column) => samples[column] ?? []))
  return { ...(time && { time }), ...(numbers && { numbers }) }
}

const usedBy = (chosen: ChosenColumns | null): ReadonlySet<string> =>
  new Set(Object.values(chosen ?? {}).flatMap((source) => (source && 'column' in source ? [source.column] : [])))

/** A mapping with formats, which are guessed if none are given. */
export const completeMapping = (opened: OpenedFile, mapping: Mapping): Mapping =>
  opened.columns ? { ...mapping, cells: mapping.cells ?? guessCells(opened, mapping) } : mapping

export async function previewFile(opened: OpenedFile, given: Mapping, signal: AbortSignal): Promise<Preview> {
  const mapping = completeMapping(opened, given)
  const chosen = opened.columns && findColumns(mapping, opened.columns)
  const missing = chosen ? neededFields.filter((field) => chosen[field] === null) : []
  const used = usedBy(chosen)
  const others = (opened.columns ?? []).filter((column) => !used.has(column))
  const rows: PreviewRow[] = []
  const problems: { row: number; problem: string }[] = []
  const counts = { lookedAt: 0, unreadable: 0 }
  let isWhole = true
  if (missing.length === 0)
    for await (const { row, converted } of rowsOf(opened, mapping)) {
      signal.throwIfAborted()
      if (counts.lookedAt === mostLookedAt) {
        isWhole = false
        break
      }
      counts.lookedAt++
      if ('problem' in converted) {
        counts.unreadable++
        if (problems.length < mostShown) problems.push({ row, problem: converted.problem })
      } else if (rows.length < mostShown) rows.push({ row, events: converted })
    }
  return { cells: mapping.cells ?? {}, chosen, missing, others, isWhole, rows, problems, ...counts }
}
