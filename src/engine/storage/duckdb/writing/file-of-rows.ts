import { createWriteStream } from 'node:fs'
import { mkdtemp, rename, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import type { DataType } from 'apache-arrow'
import { WaymarkError } from '../../../../errors/errors.ts'
import { isNamed } from '../../../../language/types/types.ts'
import type { FileOfRows, ResultColumn } from '../../../execution/ports.ts'
import { withinReserve } from '../../files/disk-reserve.ts'
import { isDiskFull } from '../instance.ts'
import { inOwnInstance, readOf, typeOf } from './parquet-of-rows.ts'
import { bytesOf, compressFile, copyStatement, isCompressedAfterwards } from './write-file.ts'

/** Row groups of wide rows are held in memory. */
const memory = '512MB'

/** A type that keeps more than the JSON form shows, so that `written` finds what it finds in a store. */
function readAs({ type }: ResultColumn, arrow: DataType): string {
  if (!type) return typeOf(arrow)
  if (isNamed(type, 'Dynamic')) return 'JSON'
  if (isNamed(type, 'UUID')) return 'UUID'
  if (isNamed(type, 'Bool')) return 'BOOLEAN' // the server calls it UInt8
  if (isNamed(type, 'UInt64')) return 'UBIGINT'
  if (isNamed(type, 'Int128', 'Int256', 'UInt128', 'UInt256')) return 'VARCHAR'
  return typeOf(arrow)
}

/** Writes rows of another engine as this one writes its own: first as lines of JSON beside the file, then by COPY. */
export const fileOfRows: FileOfRows = async ({ columns, types, lines }, file, signal) => {
  const folder = await mkdtemp(join(dirname(file.path), 'rows-'))
  const rows = join(folder, 'rows.jsonl')
  try {
    return await withinReserve(folder, signal, async (within) => {
      await pipeline(lines, createWriteStream(rows, { mode: 0o600 }), { signal: within })
      const read = columns.map(({ name, type }, i) => ({ name, type: readAs(types[i]!, type) }))
      const plain = join(folder, 'rows')
      const statement = copyStatement({ sql: `SELECT * FROM ${readOf(rows, read)}`, params: [], columns: types }, file, plain)
      let count = 0
      await inOwnInstance({ folder, memory, signal: within }, async (connection) => {
        count = (await connection.run(statement.sql)).rowsChanged
      })
      await rm(rows)
      await (isCompressedAfterwards(file) ? compressFile(plain, file.path, file.compression) : rename(plain, file.path))
      return { rows: count, bytes: await bytesOf(file.path) }
    })
  } catch (error) {
    throw isDiskFull(error) || (error as NodeJS.ErrnoException).code === 'ENOSPC'
      ? new WaymarkError('no-space', {}, { cause: error })
      : error
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}
