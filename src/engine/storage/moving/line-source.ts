import type { Instance } from '../duckdb/instance.ts'

/** Bytes of text in one INSERT. */
const insertBytes = 16 * 1024 ** 2

/** The lines that a statement prints, some megabytes at a time, with their number. */
export async function* linesOf(instance: Instance, sql: string): AsyncGenerator<{ readonly text: string; readonly rows: number }> {
  const { connection, close } = await instance.beside()
  try {
    const result = await connection.stream(sql)
    let lines: string[] = []
    let bytes = 0
    for (let chunk = await result.fetchChunk(); chunk && chunk.rowCount > 0; chunk = await result.fetchChunk()) {
      for (const line of chunk.getColumnValues(0) as string[]) {
        lines.push(line)
        bytes += line.length
        if (bytes < insertBytes) continue
        yield { text: lines.join('\n'), rows: lines.length }
        lines = []
        bytes = 0
      }
    }
    if (lines.length > 0) yield { text: lines.join('\n'), rows: lines.length }
  } finally {
    await close()
  }
}

/** All lines of a statement whose size is known to be small. */
export async function allLines(instance: Instance, sql: string): Promise<{ readonly text: string; readonly rows: number }> {
  const rows = await instance.rows<{ line: string }>(sql)
  return { text: rows.map(({ line }) => line).join('\n'), rows: rows.length }
}
