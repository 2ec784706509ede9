import { createHash } from 'node:crypto'
import { open, readFile, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { gunzipSync, gzipSync } from 'node:zlib'
import { version } from '@duckdb/node-api'
import type { FileFormat } from '../format.ts'

// Database files with empty tables, which the build makes: copying one takes a tenth of the time of creating its tables.

type Creating = Pick<FileFormat, 'create'>

/** Other tables, or another engine, make another name: a file that does not fit is not found. */
const nameOf = ({ create }: Creating): string => {
  const made = createHash('sha256').update([version(), ...create('empty')].join('\n'))
  return `empty-${made.digest('hex').slice(0, 16)}.duckdb.gz`
}

/** Puts an empty file at `path`. False if this program has none for the format: it is built here, or runs from the sources. */
export async function copyEmptyFile(format: Creating, path: string): Promise<boolean> {
  const packed = await readFile(new URL(`./${nameOf(format)}`, import.meta.url)).catch(() => null)
  if (packed === null) return false
  const file = await open(`${path}.new`, 'w', 0o600)
  try {
    await file.writeFile(gunzipSync(packed))
    await file.sync()
  } finally {
    await file.close()
  }
  await rename(`${path}.new`, path)
  return true
}

/** For the build: the contents of a file whose tables have just been created, in the folder of the programs. */
export const keepEmptyFile = async (format: Creating, path: string, folder: string): Promise<void> =>
  writeFile(join(folder, nameOf(format)), gzipSync(await readFile(path), { level: 9 }))
