import { chmod, stat, statfs } from 'node:fs/promises'
import { dirname } from 'node:path'
import type { DuckDBConnection } from '@duckdb/node-api'
import { InternalError, WaymarkError } from '../../../errors/errors.ts'
import { onAbort } from '../../../lib/flow/on-abort.ts'
import { removeStoreCopy, storeCopyOf, syncFile } from '../files/store-copy.ts'
import type { SpaceUse, StoreCopy, StoreSpace } from '../store-space.ts'
import { type Instance, identifier, isDiskFull, isOutOfMemory, text } from './instance.ts'
import { createTables, fileOptions, storeTables } from './schema.ts'

/** Bytes that stay free on the disk beside the copy. */
const spareBytes = 64 * 1024 ** 2
/** How often a statement that is to stop is interrupted, until it does. */
const interruptAgainMs = 20

const stopped = () => new WaymarkError('command-failed', { message: 'Compacting was stopped. The store is as it was.' })
const mebibytes = (bytes: number): string => `${Math.ceil(bytes / 1024 ** 2)} MiB`

const freeBytes = async (folder: string): Promise<number> => {
  const { bavail, bsize } = await statfs(folder)
  return bavail * bsize
}

/** The file of a store on the instance, and its copy. */
export class CopiedStore implements StoreSpace {
  private readonly instance: Instance
  private readonly database: string
  private readonly path: string
  private readonly free: (folder: string) => Promise<number>
  private copying: Promise<StoreCopy> | null = null
  private stop = new AbortController()

  constructor(instance: Instance, database: string, path: string, free = freeBytes) {
    this.free = free
    this.instance = instance
    this.database = database
    this.path = path
  }

  async measure(): Promise<SpaceUse> {
    // Blocks become free with a checkpoint.
    await this.instance.settle(this.database).catch(() => undefined)
    const { bytes } = await stat(this.path).then(({ size }) => ({ bytes: size }))
    const [blocks] = await this.instance.rows<{ total: number; free: number }>(
      'SELECT total_blocks::DOUBLE AS total, free_blocks::DOUBLE AS free FROM pragma_database_size() WHERE database_name = $1',
      [this.database],
    )
    const [rows] = await this.instance.rows<{ places: number; kept: number }>(
      `SELECT coalesce(max(rowid) + 1, 0)::DOUBLE AS places, count(*)::DOUBLE AS kept FROM ${identifier(this.database)}.main.events`,
    )
    const free = blocks && blocks.total > 0 ? blocks.free / blocks.total : 0
    const deleted = rows && rows.places > 0 ? 1 - rows.kept / rows.places : 0
    return { bytes, unused: Math.floor(bytes * (free + (1 - free) * deleted)) }
  }

  copy(): Promise<StoreCopy> {
    if (this.copying) throw new InternalError('The store is being copied already')
    this.stop = new AbortController()
    this.copying = this.make(this.stop.signal)
    return this.copying
  }

  async discard(): Promise<void> {
    this.stop.abort(stopped())
    await this.copying?.catch(() => undefined)
    this.copying = null
    await removeStoreCopy(this.path)
    this.instance.keepLog(this.database, false)
  }

  private async make(signal: AbortSignal): Promise<StoreCopy> {
    const { instance, path, database } = this
    await removeStoreCopy(path)
    await this.mustFit()
    const connection = await instance.connect()
    let again: NodeJS.Timeout | undefined
    const leave = onAbort(signal, () => {
      again = setInterval(() => connection.interrupt(), interruptAgainMs)
    })
    // Before the snapshot is taken: what is in no backup and not in the copy must stay in the log.
    instance.keepLog(database, true)
    try {
      signal.throwIfAborted()
      const seq = await copyTables(instance, connection, { database, path, signal })
      const { size } = await stat(storeCopyOf(path))
      return { seq, bytes: size }
    } catch (error) {
      await removeStoreCopy(path).catch(() => undefined)
      instance.keepLog(database, false)
      throw signal.aborted ? signal.reason : (reasonOf(error) ?? error)
    } finally {
      leave()
      clearInterval(again)
      connection.closeSync()
    }
  }

  private async mustFit(): Promise<void> {
    const [{ bytes, unused }, free] = await Promise.all([this.measure(), this.free(dirname(this.path))])
    const needed = bytes - unused + spareBytes
    if (free >= needed) return
    throw new WaymarkError('command-failed', {
      message: `A copy of the store needs ${mebibytes(needed)} of free disk, but ${mebibytes(free)} are free. Free some space, and compact again.`,
    })
  }
}

function reasonOf(cause: unknown): WaymarkError | null {
  if (isDiskFull(cause)) return new WaymarkError('no-space', {}, { cause })
  if (!isOutOfMemory(cause)) return null
  const message =
    'There was not enough memory to copy the store, which is as it was. Compact when fewer queries run, or with a larger memoryLimit.'
  return new WaymarkError('command-failed', { message }, { cause })
}

interface Copying {
  readonly database: string
  readonly path: string
  readonly signal: AbortSignal
}

/** Returns the last applied record of the copy. */
async function copyTables(instance: Instance, connection: DuckDBConnection, { database, path, signal }: Copying): Promise<number> {
  const into = `${database}_compact`
  const file = storeCopyOf(path)
  const attach = (mode: string) => connection.run(`ATTACH ${text(file)} AS ${identifier(into)} (${mode})`)
  const detach = () => connection.run(`DETACH ${identifier(into)}`)
  await attach(fileOptions)
  let isAttached = true
  try {
    await mustHaveKnownColumns(connection, database)
    await connection.run(createTables(into).join(';\n'))
    // One transaction: everything is from the same moment. One statement for each table keeps the order of its rows, and fills its row groups.
    await connection.run('BEGIN')
    const [seq] = await values(connection, `SELECT value FROM ${identifier(database)}.main.meta WHERE key = 'applied_seq'`)
    for (const table of Object.keys(storeTables)) {
      signal.throwIfAborted()
      const columns = columnsOf(table).join(', ')
      await instance.background.run(
        connection,
        `INSERT INTO ${identifier(into)}.main.${table} (${columns}) SELECT ${columns} FROM ${identifier(database)}.main.${table}`,
      )
    }
    const original = await sums(connection, database, signal)
    await connection.run('COMMIT')
    await connection.run(`CHECKPOINT ${identifier(into)}`)
    await detach()
    isAttached = false
    await chmod(file, 0o600)
    await syncFile(file)
    await attach('READ_ONLY')
    isAttached = true
    mustEqual(path, original, await sums(connection, into, signal))
    return Number(seq)
  } finally {
    await connection.run('ROLLBACK').catch(() => undefined)
    if (isAttached) await detach().catch(() => undefined)
  }
}

const columnsOf = (table: string): readonly string[] => storeTables[table]!.map((column) => column.split(' ', 1)[0]!)

const values = async (connection: DuckDBConnection, sql: string): Promise<readonly unknown[]> =>
  ((await connection.runAndReadAll(sql)).getRowsJS() as readonly (readonly unknown[])[]).flat()

async function mustHaveKnownColumns(connection: DuckDBConnection, database: string): Promise<void> {
  const found = await values(
    connection,
    `SELECT concat(table_name, '.', column_name) FROM duckdb_columns() WHERE database_name = ${text(database)} ORDER BY 1`,
  )
  const known = Object.keys(storeTables).flatMap((table) => columnsOf(table).map((column) => `${table}.${column}`))
  const strange = [...found.filter((name) => !known.includes(String(name))), ...known.filter((name) => !found.includes(name))]
  if (strange.length > 0) throw new InternalError(`The store has other columns than its format says: ${strange.slice(0, 5).join(', ')}`)
}

/** The number of rows of each table, and a hash of all their values. */
async function sums(connection: DuckDBConnection, database: string, signal: AbortSignal): Promise<ReadonlyMap<string, string>> {
  const found = new Map<string, string>()
  for (const table of Object.keys(storeTables)) {
    signal.throwIfAborted()
    const sql = `SELECT concat(count(*), ' ', sum(hash(${columnsOf(table).join(', ')})::HUGEINT)) FROM ${identifier(database)}.main.${table}`
    const [sum] = await values(connection, sql)
    found.set(table, String(sum))
  }
  return found
}

function mustEqual(path: string, original: ReadonlyMap<string, string>, copied: ReadonlyMap<string, string>): void {
  const table = [...original.keys()].find((name) => original.get(name) !== copied.get(name))
  if (table !== undefined)
    throw new InternalError(`The copy of ${path} has other rows in ${table}: ${copied.get(table)}, not ${original.get(table)}`)
}
