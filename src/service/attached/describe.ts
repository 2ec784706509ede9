import { columnsOfFiles, repeatedKey } from '../../engine/storage/instance.ts'
import type { AttachedProperties, AttachedTable } from '../../language/catalog/attached.ts'
import type { FolderTable } from './folder-tables.ts'

const mostColumns = 1_000

/** A table with its columns, and with the keys that are not unique. */
export async function describedTable(
  folder: string,
  attachment: string,
  { problem, ...found }: FolderTable,
  properties: readonly AttachedProperties[],
  signal: AbortSignal,
): Promise<AttachedTable> {
  const name = `${attachment}.${found.name}`
  if (problem !== undefined) return { ...found, name, columns: [], problem }
  try {
    const columns = await columnsOfFiles(found, folder, signal)
    if (columns.length > mostColumns) throw new Error(`it has ${columns.length} columns, and at most ${mostColumns} are read.`)
    const table = { ...found, name, columns }
    const ambiguous: Record<string, string> = {}
    for (const { table: of, key } of properties) {
      if (of !== name) continue
      if (!columns.some((column) => column.name === key)) throw new Error(`it has no column ${key}, which is the key of its properties.`)
      const repeated = await repeatedKey(table, key, folder, signal)
      if (repeated !== null) ambiguous[key] = repeated
    }
    return Object.keys(ambiguous).length > 0 ? { ...table, ambiguous } : table
  } catch (error) {
    signal.throwIfAborted()
    return { ...found, name, columns: [], problem: error instanceof Error ? error.message : String(error) }
  }
}
