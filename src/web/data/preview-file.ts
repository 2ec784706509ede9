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

export async function previewFile(opened: OpenedFile, mapping: Mapping, signal: AbortSignal): Promise<Preview> {
  const chosen = opened.columns && findColumns(mapping, opened.columns)
  const missing = chosen ? neededFields.filter((field) => chosen[field] === null) : []
  const used = new Set(Object.values(chosen ?? {}).flatMap((source) => (source && 'column' in source ? [source.column] : [])))
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
  return { chosen, missing, others, isWhole, rows, problems, ...counts }
}
