import { randomUUID } from 'node:crypto'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { bytesOfRemoved } from '../../../lib/bytes/file-bytes.ts'
import type { Statements } from '../../execution/ports.ts'
import { downloadsFolder } from '../files/downloads-folder.ts'

/** The engine writes the file, and its bytes are read when it is complete. */
export const parquetFile = (dataDir: string, { writeFile }: Required<Pick<Statements, 'writeFile'>>): NonNullable<Statements['parquet']> =>
  async function* (statement, options) {
    const path = join(await downloadsFolder(dataDir), `${randomUUID()}.parquet`)
    try {
      await writeFile(statement, { path, format: 'Parquet', compression: 'zstd' }, options)
      yield* bytesOfRemoved(path)
    } finally {
      await rm(path, { force: true })
    }
  }
