import { randomUUID } from 'node:crypto'
import { InternalError } from '../../../errors/errors.ts'
import type { ProjectStore } from '../clickhouse/project-store.ts'
import { clickHouseTables } from '../clickhouse/schema.ts'
import { readAppliedSeq } from '../duckdb/inspect-store.ts'
import { type Instance, identifier } from '../duckdb/instance.ts'
import { type MovedProject, readMovedProject, writeMovedProject } from '../postgres/moving.ts'
import { allLines, linesOf } from './line-source.ts'
import { firstChange, movedEvents, movedTables } from './moved-rows.ts'
import type { MoveTarget } from './target.ts'

// Copies the rows of a store that does not change meanwhile. Whatever ends it, the next attempt goes on: tables are copied again as a whole, events by ranges of the log,
// each with a token by which ClickHouse knows it again.

/** Records of the log whose events are one INSERT. */
const rangeRecords = 20_000
/** Or fewer, if they have more bytes. */
const rangeBytes = 32 * 1024 ** 2
/** Inserts of a range. */
const mostTries = 3

export interface CopyProgress {
  readonly table: string
  /** Rows that are there, and how many there will be. */
  readonly rows: number
  readonly ofRows: number
}

interface Copying {
  readonly instance: Instance
  /** Attached. */
  readonly database: string
  readonly target: MoveTarget
  readonly project: number
  readonly signal: AbortSignal
  onProgress(progress: CopyProgress): void
}

interface Range {
  readonly fromSeq: number
  readonly toSeq: number
  readonly events: number
}

/** Returns the record of the log up to which the project is there. */
export async function copyProject(copying: Copying): Promise<number> {
  const { instance, database, target, project, signal } = copying
  const seq = await readAppliedSeq(instance, database)
  const known = await readMovedProject(target.postgres, project)
  if (known?.isWhole && known.seq === seq) return seq
  if (known && (known.isWhole || known.seq !== seq)) await target.clear(project) // of another moment
  const store = target.store(project)
  await store.stopWrites() // of an attempt that was killed
  const { postgres } = target
  let moved: MovedProject = known?.seq === seq && !known.isWhole ? known : { attempt: randomUUID(), seq, tables: [], isWhole: false }
  await writeMovedProject(postgres, postgres.schema, project, moved)
  await copyEvents(copying, store, moved.attempt)
  for (const { name, insert, lines } of movedTables(project, `${identifier(database)}.main`)) {
    if (moved.tables.includes(name)) continue
    await removeRowsOf(store, name)
    let rows = 0
    for await (const piece of linesOf(instance, lines)) {
      signal.throwIfAborted()
      await store.run(insert, piece.text)
      rows += piece.rows
      copying.onProgress({ table: name, rows, ofRows: rows })
    }
    moved = { ...moved, tables: [...moved.tables, name] }
    await writeMovedProject(postgres, postgres.schema, project, moved)
  }
  await postgres.transaction(async (on) => {
    const { schema } = postgres
    await on.run(`INSERT INTO ${schema}.cluster_log_ends (project, last_seq) VALUES ($1, $2)`, [project, seq])
    await on.run(`INSERT INTO ${schema}.cluster_partitions (project, applied_seq, last_change) VALUES ($1, $2, $3)`, [
      project,
      seq,
      firstChange,
    ])
    await writeMovedProject(on, schema, project, { ...moved, isWhole: true })
  })
  return seq
}

async function removeRowsOf(store: ProjectStore, table: string): Promise<void> {
  if (clickHouseTables[table] === undefined) return
  const ofProject = `FROM ${table} WHERE project_id = ${store.project}`
  const [[rows] = [0]] = await store.rows<[number]>(`SELECT count() ${ofProject} SETTINGS final = 0`)
  if (rows > 0) await store.run(`DELETE ${ofProject}`)
}

async function copyEvents(copying: Copying, store: ProjectStore, attempt: string): Promise<void> {
  const { instance, database, project, signal } = copying
  const at = `${identifier(database)}.main`
  const index = `(log_seq - 1) // ${rangeRecords}`
  const wanted = await instance.rows<{ n: number; events: number; bytes: number }>(
    `SELECT (${index})::DOUBLE AS n, count(*)::DOUBLE AS events, sum(strlen(properties) + strlen(elements_chain) + 400)::DOUBLE AS bytes
     FROM ${at}.events GROUP BY 1 ORDER BY 1`,
  )
  const there = new Map(
    await store.rows<[number, number]>(
      `SELECT intDiv(log_seq - 1, ${rangeRecords}), count() FROM events WHERE project_id = ${project} GROUP BY 1`,
    ),
  )
  const ofRows = wanted.reduce((sum, { events }) => sum + events, 0)
  let rows = 0
  for (const { n, events, bytes } of wanted) {
    const range = { fromSeq: n * rangeRecords + 1, toSeq: (n + 1) * rangeRecords, events }
    const isThere = there.get(n) === events
    for (const part of isThere ? [] : await partsOf(instance, at, range, bytes)) {
      signal.throwIfAborted()
      await copyRange(copying, store, at, part, attempt)
    }
    rows += events
    copying.onProgress({ table: 'events', rows, ofRows })
  }
}

/** The same ones at each attempt. */
async function partsOf(instance: Instance, at: string, range: Range, bytes: number): Promise<readonly Range[]> {
  const { fromSeq, toSeq } = range
  if (bytes <= rangeBytes || toSeq - fromSeq < 1) return [range]
  const middle = Math.floor((fromSeq + toSeq) / 2)
  const halves = await Promise.all(
    [
      [fromSeq, middle],
      [middle + 1, toSeq],
    ].map(async ([first, last]) => {
      const [found] = await instance.rows<{ events: number; bytes: number }>(
        `SELECT count(*)::DOUBLE AS events, coalesce(sum(strlen(properties) + strlen(elements_chain) + 400), 0)::DOUBLE AS bytes
         FROM ${at}.events WHERE log_seq BETWEEN ${first} AND ${last}`,
      )
      const { events, bytes: size } = found!
      return partsOf(instance, at, { fromSeq: first!, toSeq: last!, events }, size)
    }),
  )
  return halves.flat()
}

async function copyRange({ instance, project }: Copying, store: ProjectStore, at: string, range: Range, attempt: string): Promise<void> {
  const { fromSeq, toSeq, events } = range
  if (events === 0) return
  const inRange = `FROM events WHERE project_id = ${project} AND log_seq BETWEEN ${fromSeq} AND ${toSeq}`
  const count = async () => (await store.rows<[number]>(`SELECT count() ${inRange}`))[0]?.[0] ?? 0
  let there = await count()
  let token = `${attempt} ${project} ${fromSeq} ${toSeq}`
  for (let tries = 0; there !== events; tries++) {
    if (tries === mostTries)
      throw new InternalError(`Records ${fromSeq} to ${toSeq} have ${events} events, and ClickHouse has ${there} of them`)
    if (there > 0) {
      await store.run(`DELETE ${inRange}`)
      token = randomUUID() // by the token, ClickHouse would take what was removed for what is there
    }
    const { text } = await allLines(instance, movedEvents.lines(project, at, fromSeq, toSeq))
    await store.run(movedEvents.insert, text, undefined, { insert_deduplicate: 1, insert_deduplication_token: token })
    there = await count()
  }
}
