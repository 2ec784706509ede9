import { randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import { promisify } from 'node:util'
import { gunzip, gzip } from 'node:zlib'
import { WaymarkError } from '../../errors/errors.ts'
import { type Deferred, deferred } from '../../lib/flow/deferred.ts'
import { decodeFrame, encodeFrame } from './log/frame.ts'
import { from, type Log, type LogBatch, lastOf, type StoredBatch } from './log/log.ts'
import { isConnectionLost } from './postgres/errors.ts'
import type { LogRow, LogRows } from './postgres/log-rows.ts'

// The log of a project that several servers write, in PostgreSQL. Each acknowledges what it has added; one of them applies it.

const packed = promisify(gzip)
const unpacked = promisify(gunzip)
const quickly = { level: 1 } as const

/** Batches of one transaction, and about how many bytes they may have. */
const mostRows = 256
const mostBytes = 8 * 1024 ** 2
/** How long a batch may wait for PostgreSQL to come back, and the pause between two attempts. */
const patienceMs = 10_000
const againMs = 200

interface Waiting {
  readonly row: LogRow
  readonly added: Deferred<{ firstSeq: number }>
}

export class SharedLog implements Log {
  lastSeq: number
  /** Others may have applied more. */
  appliedSeq: number
  /** Readers do not need it. */
  readonly firstSeq = 1
  private readonly rows: LogRows
  private readonly keptMs: number
  private waiting: Waiting[] = []
  private adding: Promise<void> | null = null
  private entering: Promise<void> = Promise.resolve()
  private growth: Deferred<void> = deferred()
  private isClosed = false

  /** `keptMs`: how long it keeps applied batches. */
  constructor(rows: LogRows, position: { readonly lastSeq: number; readonly appliedSeq: number }, keptMs: number) {
    this.rows = rows
    this.lastSeq = position.lastSeq
    this.appliedSeq = position.appliedSeq
    this.keptMs = keptMs
  }

  async append(batch: LogBatch): Promise<{ firstSeq: number }> {
    if (this.isClosed) throw new WaymarkError('closed', {})
    const packing = packed(encodeFrame(batch, 0, 0), quickly)
    const added = deferred<{ firstSeq: number }>()
    // Batches are numbered in the order of the calls, however long each takes to be compressed.
    const entering = this.entering.then(async () => {
      const row = { appendId: randomUUID(), records: batch.uuids.length, bytes: await packing, importId: batch.importId }
      this.waiting.push({ row, added })
      this.adding ??= this.addAll().finally(() => {
        this.adding = null
      })
    })
    this.entering = entering.catch(() => undefined)
    await entering
    return added.promise
  }

  /** What arrives while a transaction is in progress goes into the next one. */
  private async addAll(): Promise<void> {
    while (this.waiting.length > 0) {
      const group = this.waiting.splice(0, rowsOfGroup(this.waiting))
      try {
        const lastSeq = await this.add(group.map(({ row }) => row))
        let next = lastSeq - group.reduce((sum, { row }) => sum + row.records, 0) + 1
        for (const { row, added } of group) {
          added.resolve({ firstSeq: next })
          next += row.records
        }
        setImmediate(() => this.reached(lastSeq)) // once the batches were offered to who applies them
      } catch (error) {
        for (const { added } of group) added.reject(refusal(error))
      }
    }
  }

  /** A lost connection does not say whether the rows were committed: the next attempt looks for them. */
  private async add(rows: readonly LogRow[]): Promise<number> {
    const { lastSeq } = this
    const until = performance.now() + patienceMs
    for (let attempt = 0; ; attempt++) {
      try {
        return await (attempt === 0 ? this.rows.append(rows) : this.rows.appendAgain(rows, lastSeq))
      } catch (error) {
        if (!isConnectionLost(error) || performance.now() > until) throw error
        await pause(againMs)
      }
    }
  }

  /** The log has records up to `seq`. */
  reached(seq: number): void {
    if (seq <= this.lastSeq) return
    this.lastSeq = seq
    this.growth.resolve()
    this.growth = deferred()
  }

  /** Resolves with true if there are records after `seq`, with false if it is closed. */
  async grown(seq: number): Promise<boolean> {
    while (!this.isClosed && this.lastSeq <= seq) await this.growth.promise
    return !this.isClosed
  }

  async *read(fromSeq: number): AsyncGenerator<StoredBatch> {
    const end = this.lastSeq
    for (let next = fromSeq; next <= end; ) {
      const found = await this.rows.read(next)
      if (found.length === 0) return
      for (const { firstSeq, lastSeq, bytes } of found) {
        const batch: StoredBatch = { ...decodeFrame(await unpacked(bytes)), firstSeq }
        if (firstSeq > next || lastOf(batch) !== lastSeq)
          throw new WaymarkError('log-failed', { reason: `record ${next} is missing in PostgreSQL.` })
        if (next > end) return
        yield from(batch, next)
        next = lastSeq + 1
      }
    }
  }

  markApplied(seq: number): void {
    this.appliedSeq = Math.max(this.appliedSeq, seq)
  }

  /** Removes applied batches that are older than the log keeps them. */
  async trim(): Promise<void> {
    if (Number.isFinite(this.keptMs)) await this.rows.remove(this.appliedSeq, this.keptMs)
  }

  /** It is in PostgreSQL, whose tools copy it. */
  files(): readonly [] {
    return []
  }

  async close(): Promise<void> {
    this.isClosed = true
    this.growth.resolve()
    await this.entering
    await this.adding
  }
}

/** At least one, however large it is; and of one import or of none, because the whole group is refused if that is over. */
const rowsOfGroup = (waiting: readonly Waiting[]): number => {
  let bytes = 0
  for (const [i, { row }] of waiting.entries()) {
    bytes += row.bytes.length
    if (i > 0 && (bytes > mostBytes || i >= mostRows || row.importId !== waiting[0]!.row.importId)) return i
  }
  return waiting.length
}

const refusal = (error: unknown): unknown =>
  error instanceof WaymarkError && error.code !== 'postgres-unreachable'
    ? error
    : new WaymarkError('log-failed', { reason: error instanceof Error ? error.message : String(error) }, { cause: error })
