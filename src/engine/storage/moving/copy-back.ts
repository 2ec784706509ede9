import { mkdir } from 'node:fs/promises'
import { StringDecoder } from 'node:string_decoder'
import { WaymarkError } from '../../../errors/errors.ts'
import type { ProjectStore } from '../clickhouse/project-store.ts'
import { clickHouseSettings } from '../clickhouse/schema.ts'
import { type Instance, identifier } from '../duckdb/instance.ts'
import { filesOf } from '../project-storage.ts'
import type { CopyProgress } from './copy-project.ts'
import { eventsBack, namesBack, tablesBack } from './rows-back.ts'

// Copies the rows of a project from ClickHouse into a store of its own. Events go in ranges of the log, each in one transaction with a note of how far they are: the next
// attempt goes on there. All other tables are replaced.

/** Records of the log whose events are one transaction, or fewer if they have more bytes. */
const rangeRecords = 20_000
const rangeBytes = 16 * 1024 ** 2
/** Characters of rows in one statement, or those of one row. */
const pieceCharacters = 8 * 1024 ** 2
/** A key of `meta` while the store is not whole. */
const copiedKey = 'copied_back_to'

interface CopyingBack {
  readonly instance: Instance
  readonly store: ProjectStore
  readonly signal: AbortSignal
  onProgress(progress: CopyProgress): void
}

export interface StoreBack {
  /** The name of the attached store. */
  readonly database: string
  /** Copies the missing events of records up to `toSeq`. */
  copyEvents(toSeq: number): Promise<void>
  /** Removes all events. */
  clearEvents(): Promise<void>
  /** Replaces everything else, and sets the position. The store is whole then. */
  finish(seq: number): Promise<void>
  close(): Promise<void>
}

/** The rows of a statement, some megabytes at a time: each piece is a list of objects as JSON. */
async function* piecesOf({ store, signal }: CopyingBack, query: string): AsyncGenerator<string> {
  const statement = `${query.replaceAll('{project}', String(store.project))} FORMAT JSONEachRow`
  const settings = { ...clickHouseSettings, output_format_json_quote_64bit_integers: 0 }
  const decoder = new StringDecoder('utf8')
  let text = ''
  const listOf = (lines: string) => `[${lines.trimEnd().replaceAll('\n', ',')}]`
  for await (const bytes of await store.stream(statement, { params: {}, settings, signal })) {
    text += decoder.write(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength))
    if (text.length < pieceCharacters) continue
    const end = text.lastIndexOf('\n')
    if (end < 0) continue
    yield listOf(text.slice(0, end))
    text = text.slice(end + 1)
  }
  text += decoder.end()
  if (text.trim() !== '') yield listOf(text)
}

export async function openStoreBack(copying: CopyingBack, project: number): Promise<StoreBack> {
  const { instance, store, signal, onProgress } = copying
  await mkdir(filesOf(instance.dataDir, project).log, { recursive: true, mode: 0o700 })
  const database = await instance.attachProject(project)
  const at = `${identifier(database)}.main`
  /** A table of the store until it is whole. */
  const names = `${at}.copied_names`
  const noteCopied = (seq: number) => [
    `DELETE FROM ${at}.meta WHERE key = '${copiedKey}'`,
    `INSERT INTO ${at}.meta VALUES ('${copiedKey}', '${seq}')`,
  ]
  const inTransaction = (statements: readonly string[]) =>
    instance.transaction(async (sql) => {
      for (const statement of statements) await sql.run(statement)
    })
  /** `before`, all rows of a statement, and `after` in one transaction. Returns how many rows there were. */
  const insertAll = (
    query: string,
    insert: string,
    { before = [], after = [] }: { before?: readonly string[]; after?: readonly string[] },
  ) =>
    instance.transaction(async (sql) => {
      let rows = 0
      for (const statement of before) await sql.run(statement)
      for await (const piece of piecesOf(copying, query)) rows += await sql.run(insert, [piece])
      for (const statement of after) await sql.run(statement)
      return rows
    })

  const copied = async (): Promise<number> => {
    const found = await instance.rows<{ key: string; value: string }>(
      `SELECT key, value FROM ${at}.meta WHERE key IN ('${copiedKey}', 'applied_seq')`,
    )
    const values = new Map(found.map(({ key, value }) => [key, Number(value)]))
    return values.get(copiedKey) ?? values.get('applied_seq') ?? 0 // of an attempt that had everything
  }

  /** Events are in the order of the log, so a range is as large as its bytes allow. */
  async function rangesAfter(from: number, to: number): Promise<readonly (readonly [fromSeq: number, toSeq: number, events: number])[]> {
    const rows = await store.rows<[number, number, number]>(
      `SELECT intDiv(log_seq - 1, ${rangeRecords}) AS n, count(), sum(length(properties) + length(elements_chain) + 400) FROM events
       WHERE project_id = ${project} AND log_seq > ${from} AND log_seq <= ${to} GROUP BY n ORDER BY n`,
    )
    const ranges = rows.map(
      ([n, events, bytes]) => [Math.max(n * rangeRecords, from) + 1, Math.min((n + 1) * rangeRecords, to), events, bytes] as const,
    )
    const parts = await Promise.all(ranges.map(([first, last, events, bytes]) => partsOf(first, last, events, bytes)))
    return parts.flat()
  }

  async function partsOf(
    first: number,
    last: number,
    events: number,
    bytes: number,
  ): Promise<readonly (readonly [fromSeq: number, toSeq: number, events: number])[]> {
    if (bytes <= rangeBytes || first === last) return [[first, last, events]]
    const middle = Math.floor((first + last) / 2)
    const sizeOf = async (from: number, to: number) => {
      const [[count, size] = [0, 0]] = await store.rows<[number, number]>(
        `SELECT count(), sum(length(properties) + length(elements_chain) + 400) FROM events WHERE project_id = ${project} AND log_seq BETWEEN ${from} AND ${to}`,
      )
      return partsOf(from, to, count, size)
    }
    return [...(await sizeOf(first, middle)), ...(await sizeOf(middle + 1, last))]
  }

  const readNames = () =>
    insertAll(namesBack.query, namesBack.insert(names), { before: [`CREATE OR REPLACE TABLE ${names} (event_id INTEGER, name VARCHAR)`] })

  async function copyRange(fromSeq: number, toSeq: number, events: number): Promise<void> {
    await insertAll(eventsBack.query(fromSeq, toSeq), eventsBack.insert(at, names), { after: noteCopied(toSeq) })
    const [there] = await instance.rows<{ n: number }>(
      `SELECT count(*)::DOUBLE AS n FROM ${at}.events WHERE log_seq BETWEEN ${fromSeq} AND ${toSeq}`,
    )
    if (there?.n === events) return
    await instance.run(`DELETE FROM ${at}.events WHERE log_seq > ${fromSeq - 1}`)
    await inTransaction(noteCopied(fromSeq - 1))
    const message = `Project ${project}: ClickHouse has ${events} events in the records ${fromSeq} to ${toSeq}, and ${there?.n} arrived. Run the command again.`
    throw new WaymarkError('command-failed', { message })
  }

  return {
    database,
    async copyEvents(toSeq) {
      const from = await copied()
      const ranges = await rangesAfter(from, toSeq)
      const ofRows = ranges.reduce((sum, [, , events]) => sum + events, 0)
      let rows = 0
      await readNames()
      for (const [first, last, events] of ranges) {
        signal.throwIfAborted()
        await copyRange(first, last, events)
        rows += events
        onProgress({ table: 'events', rows, ofRows })
      }
    },
    async clearEvents() {
      await inTransaction([`DELETE FROM ${at}.events`, ...noteCopied(0)])
    },
    async finish(seq) {
      for (const { name, query, remove, insert } of tablesBack) {
        signal.throwIfAborted()
        const rows = await insertAll(query, insert(at), { before: [remove(at)] })
        onProgress({ table: name, rows, ofRows: rows })
      }
      await inTransaction([
        `DELETE FROM ${at}.meta WHERE key IN ('${copiedKey}', 'applied_seq')`,
        `INSERT INTO ${at}.meta VALUES ('applied_seq', '${seq}')`,
      ])
      await instance.run(`DROP TABLE IF EXISTS ${names}`)
      await instance.checkpoint(database)
    },
    close: () => instance.closeFile(database),
  }
}
