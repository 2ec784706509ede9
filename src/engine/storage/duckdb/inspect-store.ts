import { constants, copyFile, mkdtemp, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { exists } from '../files/exists.ts'
import type { StoreContent, StoreFindings } from '../recovery/store-findings.ts'
import { countRows } from './facts.ts'
import { beginsAsLog, damagedLog } from './file/write-ahead-log.ts'
import { BrokenFileError, type Instance, identifier, isCorruption, openInstance } from './instance.ts'
import { storeFile } from './migrations.ts'
import { storeTables } from './schema.ts'

/** Larger stores are not read completely; a query that needs a damaged block will find it. */
const readThroughLimit = 1024 ** 3

/** Reads stores that no process has open. */
export interface StoreInspector {
  readonly instance: Instance
  inspect(path: string): Promise<StoreFindings>
  close(): Promise<void>
}

export async function openStoreInspector(dataDir: string): Promise<StoreInspector> {
  const beside = await mkdtemp(join(tmpdir(), 'waymark-store-'))
  const instance = await openInstance({ dataDir, besideDirs: [beside], access: 'read' })
  return {
    instance,
    async inspect(path) {
      if (!(await exists(path))) return { state: 'missing' }
      const whole = (await beginsAsLog(`${path}.wal`)) ? await look(instance, path) : damagedLog
      if (typeof whole !== 'string') return { state: 'sound', ...whole }
      if (!(await exists(`${path}.wal`))) return { state: 'broken', reason: whole }
      const alone = join(beside, 'store.duckdb')
      await copyFile(path, alone, constants.COPYFILE_FICLONE) // DuckDB looks for the write-ahead log beside the file, and follows links
      const content = await look(instance, alone)
      await rm(alone)
      return typeof content === 'string'
        ? { state: 'broken', reason: content }
        : { state: 'readable-without-wal', reason: whole, ...content }
    },
    async close() {
      await instance.close()
      await rm(beside, { recursive: true, force: true })
    },
  }
}

const name = 'inspected'

/** The contents, or the reason why the file cannot be read. */
async function look(instance: Instance, path: string): Promise<StoreContent | string> {
  try {
    await instance.attach(name, path, storeFile)
    const tables = await instance.rows('SELECT table_name FROM duckdb_tables() WHERE database_name = $1', [name])
    if (tables.length === 0) return { appliedSeq: 0, events: 0, persons: 0 } // a crash left it before it was made
    await readThrough(instance, name, path)
    const counts = await instance.look((connection) => countRows(connection, name))
    const warnings = await instance.rows<{ kind: string; count: number }>(`SELECT kind, count::DOUBLE AS count FROM ${name}.main.warnings`)
    return { appliedSeq: await readAppliedSeq(instance, name), ...counts, warnings }
  } catch (error) {
    if (error instanceof BrokenFileError) return error.message
    if (isCorruption(error)) return (error as Error).message
    throw error
  } finally {
    await instance.abandon(name)
  }
}

/** The last record of the log that is applied. */
export async function readAppliedSeq(instance: Instance, database: string): Promise<number> {
  const [row] = await instance.rows<{ value: string }>(`SELECT value FROM ${identifier(database)}.main.meta WHERE key = 'applied_seq'`)
  return Number(row?.value ?? 0)
}

export async function readThrough(instance: Instance, database: string, path: string): Promise<void> {
  const { size } = await stat(path)
  for (const table of Object.keys(storeTables)) {
    if (table === 'events' && size > readThroughLimit) continue
    try {
      await instance.rows(`SELECT bit_xor(hash(t)) FROM ${identifier(database)}.main.${table} AS t`)
    } catch (error) {
      throw isCorruption(error) ? new BrokenFileError(path, error) : error
    }
  }
}
