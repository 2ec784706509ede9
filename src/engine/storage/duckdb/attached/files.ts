import type { AttachedColumn, AttachedTable } from '../../../../language/catalog/attached.ts'
import { filesOf, typeOfStored } from '../../../../language/dialects/duckdb/attached.ts'
import { identifier, text } from '../instance.ts'
import { inOwnInstance, readOf, saidOf } from '../writing/parquet-of-rows.ts'
import { reasonWithoutPaths } from './failure.ts'

// What attached files hold. An instance of its own looks into them, which can read their folder only.

type Files = Pick<AttachedTable, 'format' | 'files'>

/** Bytes for looking into a file, and for the keys of a table while they are compared. */
const memory = '512MB'

/** Their columns, with the types that all rows have. */
export async function columnsOfFiles({ format, files }: Files, folder: string, signal?: AbortSignal): Promise<readonly AttachedColumn[]> {
  const paths = `[${files.map(text).join(', ')}]`
  const readers = {
    parquet: `read_parquet(${paths})`,
    csv: `read_csv(${paths}, header = true, sample_size = -1)`,
    json: `read_json(${paths}, format = 'newline_delimited', sample_size = -1)`,
  }
  const rows = await asked(`DESCRIBE SELECT * FROM ${readers[format]}`, files, folder, signal)
  return rows.map(([name, stored]) => ({ name: String(name), stored: String(stored), type: typeOfStored(String(stored)) }))
}

/** A value that several rows have in a column of keys; null: there is none. */
export async function repeatedKey(
  table: Pick<AttachedTable, 'format' | 'files' | 'columns'>,
  key: string,
  folder: string,
  signal?: AbortSignal,
): Promise<string | null> {
  const value = `CAST(${identifier(key)} AS VARCHAR)`
  const statement = `SELECT ${value} FROM ${filesOf(table)} WHERE ${value} <> '' GROUP BY 1 HAVING count(*) > 1 LIMIT 1`
  const [row] = await asked(statement, table.files, folder, signal)
  return row ? String(row[0]) : null
}

async function asked(
  statement: string,
  files: readonly string[],
  folder: string,
  signal: AbortSignal | undefined,
): Promise<readonly (readonly unknown[])[]> {
  let rows: readonly (readonly unknown[])[] = []
  try {
    await inOwnInstance({ folder, memory, isReadOnly: true, signal }, async (connection) => {
      rows = (await connection.runAndReadAll(statement)).getRows()
    })
  } catch (error) {
    if (saidOf(error) !== error || signal?.aborted) throw saidOf(error)
    throw new Error(reasonWithoutPaths(error instanceof Error ? error.message : String(error), files), { cause: error })
  }
  return rows
}

interface Lines {
  /** A file of JSON objects, one a line. */
  readonly lines: string
  readonly columns: readonly { readonly name: string; readonly type: string }[]
  /** Bytes of a line. */
  readonly longest: number
  /** A Parquet file of these rows. */
  readonly file: string
  /** Both files are in it. */
  readonly folder: string
}

const leastLine = 1024 ** 2

export async function parquetOfLines({ lines, columns, longest, file, folder }: Lines, signal?: AbortSignal): Promise<void> {
  const rows = readOf(lines, columns, Math.max(leastLine, longest + 1))
  try {
    await inOwnInstance({ folder, memory, signal }, (connection) =>
      connection.run(`COPY (SELECT * FROM ${rows}) TO ${text(file)} (FORMAT parquet, COMPRESSION zstd)`),
    )
  } catch (error) {
    throw saidOf(error)
  }
}
