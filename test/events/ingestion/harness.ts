import { EventEmitter, once } from 'node:events'
import { type DuckDBConnection, DuckDBInstance } from '@duckdb/node-api'
import { BackgroundStatements } from '../../../src/engine/storage/duckdb/background-statements.ts'
import { openEventWriter } from '../../../src/engine/storage/duckdb/event-writer.ts'
import { WriteGate } from '../../../src/engine/storage/duckdb/file/write-gate.ts'
import { createStore } from '../../../src/engine/storage/duckdb/schema.ts'
import { from } from '../../../src/engine/storage/log/log.ts'
import { DailySalts, type Salts } from '../../../src/events/ingestion/cookieless/salts.ts'
import { Pipeline, type PipelineOptions } from '../../../src/events/ingestion/pipeline.ts'
import type { EventWriter, IngestLog, LogRecords } from '../../../src/events/ingestion/ports.ts'

type Stored = LogRecords & { readonly firstSeq: number }

/** A log in memory that can be made to fail. */
export class TestLog implements IngestLog {
  readonly batches: Stored[] = []
  lastSeq = 0
  appliedSeq = 0
  failure: Error | null = null
  /** Readers get an error at this record. */
  unreadable: { readonly from: number; readonly error: Error } | null = null
  /** Readers wait there until everything before it is applied. */
  readOnceApplied: number | null = null
  private readonly applied = new EventEmitter()
  reads = 0

  async append(batch: LogRecords): Promise<{ firstSeq: number }> {
    if (this.failure) throw this.failure
    const firstSeq = this.lastSeq + 1
    this.batches.push({ ...batch, firstSeq })
    this.lastSeq += batch.payloads.length
    return { firstSeq }
  }

  async *read(fromSeq: number): AsyncIterable<Stored> {
    this.reads++
    for (const batch of [...this.batches]) {
      if (batch.firstSeq + batch.payloads.length <= fromSeq) continue
      if (this.unreadable && batch.firstSeq >= this.unreadable.from) throw this.unreadable.error
      if (batch.firstSeq === this.readOnceApplied) while (this.appliedSeq < batch.firstSeq - 1) await once(this.applied, 'applied')
      yield from(batch, fromSeq)
    }
  }

  markApplied(seq: number): void {
    this.appliedSeq = seq
    this.applied.emit('applied')
  }
}

/** Where a world's events are stored, if not in its own database. */
export interface WorldStore {
  /** Starts with an empty store. */
  fresh(): Promise<void>
  openWriter(): Promise<EventWriter>
  /** Writes all of it into the tables of an empty store. */
  copyInto(connection: DuckDBConnection, database: string): Promise<void>
}

export interface World {
  readonly log: TestLog
  readonly pipeline: Pipeline
  readonly connection: DuckDBConnection
  now: Date
  anonymizeIps: boolean
  timezone: string
  /** Number of next transactions that fail. */
  failCommits: number
  /** Number of next steps of filling slots that get too little memory. */
  shortSteps: number
  /** Called before each transaction. */
  beforeCommit: ((events: number) => Promise<void>) | null
  /** Number of attempts. */
  readonly commits: number
  /** Bytes of properties that were loaded for one transaction, at most. */
  readonly mostLoaded: number
  /** Errors that the pipeline recovered from. */
  readonly errors: unknown[]
  rows(sql: string): Promise<Record<string, unknown>[]>
  /** The same log and store with a new pipeline: what is not committed is lost from memory. */
  restart(): Promise<void>
  /** The same log with an empty store. `signal` aborts while it opens. */
  rebuild(signal?: AbortSignal): Promise<void>
  close(): Promise<void>
}

let instance: Promise<DuckDBInstance> | null = null
let databases = 0

/** A project's store in memory with a pipeline before it. Tables are in the database `p`. */
export async function openWorld(
  options: {
    now?: string
    limits?: PipelineOptions['limits']
    projectId?: number
    uuidFolder?: string
    store?: WorldStore
    memoryLimit?: number
    /** For visitors without cookies. Default: its own. */
    salts?: Salts
    log?: TestLog
  } = {},
): Promise<World> {
  instance ??= DuckDBInstance.create(':memory:', { threads: '1' })
  const connection = await (await instance).connect()
  const { log = new TestLog() } = options
  const world = {
    now: new Date(options.now ?? '2026-01-15T12:00:00Z'),
    anonymizeIps: false,
    timezone: 'UTC',
    failCommits: 0,
    shortSteps: 0,
    commits: 0,
    beforeCommit: null as World['beforeCommit'],
  }
  const errors: unknown[] = []
  const { salts = new DailySalts(() => world.now) } = options
  let database = ''
  const { store } = options
  const emptyDatabase = async () => {
    if (database) await connection.run('USE memory')
    if (database) await connection.run(`DETACH ${database}`)
    database = `w${++databases}`
    await connection.run(`ATTACH ':memory:' AS ${database}`)
    for (const statement of createStore(database)) await connection.run(statement)
  }
  const fresh = async () => {
    await emptyDatabase()
    await store?.fresh()
  }
  const engine = {
    connect: async () => (await instance!).connect(),
    memoryLimit: options.memoryLimit ?? 2 ** 31,
    largeEvents: (options.memoryLimit ?? 2 ** 31) / 16,
    background: new BackgroundStatements(() => true),
    gate: new WriteGate(),
    checkpoint: async () => undefined,
    checkpointEarly: async () => undefined,
    noteLarge: async () => undefined,
    writing: <T>(work: () => Promise<T>) => work(),
  }
  const openWriter = async () => store?.openWriter() ?? openEventWriter(engine, database)
  const open = async (signal?: AbortSignal) =>
    Pipeline.open({
      log,
      writer: failing(await openWriter()),
      uuidFolder: options.uuidFolder ?? null,
      projectId: options.projectId ?? 1,
      clock: () => world.now,
      settings: () => ({ anonymizeIps: world.anonymizeIps, timezone: world.timezone }),
      salts,
      ...(options.limits && { limits: options.limits }),
      onError: (error) => errors.push(error),
      ...(signal && { signal }),
    })
  let loaded = 0
  let mostLoaded = 0
  /** Counts the properties that a look returns. */
  const counted = <F>(look: F): F =>
    (async (...args: unknown[]) => {
      const rows = (await (look as (...args: unknown[]) => Promise<{ properties?: string; state?: string }[]>)(...args)) ?? []
      loaded += rows.reduce((sum, { properties = '', state = '' }) => sum + properties.length + state.length, 0)
      mostLoaded = Math.max(mostLoaded, loaded)
      return rows
    }) as F
  const looks = (store: EventWriter) =>
    Object.fromEntries(
      Object.entries(store).map(([name, value]) => [
        name,
        /^(persons|groups|families)/.test(name) && typeof value === 'function' ? counted(value) : value,
      ]),
    ) as unknown as EventWriter
  const failing = (store: EventWriter): EventWriter => ({
    ...looks(store),
    fillSteps: async (...given) =>
      (await store.fillSteps(...given)).map(
        (step) => () =>
          world.shortSteps-- > 0 ? Promise.reject(new Error('Out of Memory Error: failed to allocate data of size 8.0 MiB')) : step(),
      ),
    openGroup: async () => {
      loaded = 0
      const group = await store.openGroup()
      const commit: typeof group.commit = async (slots) => {
        world.commits++
        await world.beforeCommit?.(group.events)
        return world.failCommits-- > 0 ? Promise.reject(new Error('no commit')) : group.commit(slots)
      }
      return Object.create(group, { commit: { value: commit } }) as typeof group // the event count of a copy would stay 0
    },
  })
  await fresh()
  let pipeline = await open()
  const result: World = {
    log,
    connection,
    get pipeline() {
      return pipeline
    },
    get now() {
      return world.now
    },
    set now(value) {
      world.now = value
    },
    get anonymizeIps() {
      return world.anonymizeIps
    },
    set anonymizeIps(value) {
      world.anonymizeIps = value
    },
    get timezone() {
      return world.timezone
    },
    set timezone(value) {
      world.timezone = value
    },
    get failCommits() {
      return world.failCommits
    },
    set failCommits(value) {
      world.failCommits = value
    },
    get shortSteps() {
      return world.shortSteps
    },
    set shortSteps(value) {
      world.shortSteps = value
    },
    get beforeCommit() {
      return world.beforeCommit
    },
    set beforeCommit(value) {
      world.beforeCommit = value
    },
    errors,
    async rows(sql) {
      await pipeline.caughtUp()
      if (errors.length) throw errors[0]
      if (store) {
        await emptyDatabase()
        await store.copyInto(connection, database)
      }
      await connection.run(`USE ${database}`)
      return (await connection.run(sql)).getRowObjectsJS() as Promise<Record<string, unknown>[]>
    },
    async restart() {
      await pipeline.close()
      pipeline = await open()
    },
    get commits() {
      return world.commits
    },
    get mostLoaded() {
      return mostLoaded
    },
    async rebuild(signal) {
      await pipeline.close()
      await fresh()
      log.appliedSeq = 0
      pipeline = await open(signal)
    },
    async close() {
      await pipeline.close()
      await connection.run('USE memory')
      connection.closeSync()
    },
  }
  return result
}
