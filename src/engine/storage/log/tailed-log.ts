import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { WaymarkError } from '../../../errors/errors.ts'
import { type Deferred, deferred } from '../../../lib/flow/deferred.ts'
import { decodeFrame } from './frame.ts'
import { from, type Log, type LogBatch, type LogDamage, lastOf, type StoredBatch } from './log.ts'
import { isFrame, listSegments, type Segment, walkSegment } from './segment.ts'

/** The process that writes a log, for the process that reads it. */
export interface LogWriter {
  append(batch: LogBatch): Promise<{ firstSeq: number }>
  /** Records up to `seq` are processed. */
  taken(seq: number): void
  /** Records up to `seq` are applied. */
  applied(seq: number): void
}

interface TailSettings {
  readonly directory: string
  readonly lastSeq: number
  readonly writer: LogWriter
  readonly onDamage: 'refuse' | ((damage: LogDamage) => void)
}

/** A log that another process writes. It is notified how far the log is durable, and reads no further. */
export class TailedLog implements Log {
  private readonly settings: TailSettings
  private durableSeq: number
  private isClosed = false
  private takenSeq = 0
  private telling: NodeJS.Immediate | null = null
  private growth: Deferred<void> = deferred()
  /** The file offset after the last record that was read: nothing before it is read again. */
  private next: { readonly seq: number; readonly path: string; readonly offset: number } | null = null

  constructor(settings: TailSettings) {
    this.settings = settings
    this.durableSeq = settings.lastSeq
  }

  get lastSeq(): number {
    return this.durableSeq
  }

  /** Readers do not need it. */
  get firstSeq(): number {
    return 1
  }

  reached(seq: number): void {
    if (seq <= this.durableSeq) return
    this.durableSeq = seq
    this.growth.resolve()
    this.growth = deferred()
  }

  /** Resolves with true if there are records after `seq`, with false if it is closed. */
  async grown(seq: number): Promise<boolean> {
    while (!this.isClosed && this.durableSeq <= seq) await this.growth.promise
    return !this.isClosed
  }

  append(batch: LogBatch): Promise<{ firstSeq: number }> {
    return this.isClosed ? Promise.reject(new WaymarkError('closed', {})) : this.settings.writer.append(batch)
  }

  /** Those of its writer. */
  files(): readonly [] {
    return []
  }

  async *read(fromSeq: number): AsyncGenerator<StoredBatch> {
    const { directory, onDamage } = this.settings
    let next = fromSeq
    while (next <= this.durableSeq) {
      const behind = this.durableSeq + 1 // what is durable by now is in the files that are looked at next
      const segments = await this.segments()
      const index = segments.findLastIndex((segment) => segment.firstSeq <= next)
      const segment = segments[index]
      const end = Math.min(segments[index + 1]?.firstSeq ?? behind, behind)
      for await (const found of walkSegment(segment, directory, next, end, this.offsetOf(segment, next))) {
        if (!isFrame(found)) {
          if (onDamage === 'refuse') throw new WaymarkError('log-damaged', { ...found })
          onDamage(found)
          continue
        }
        const batch = decodeFrame(found.bytes)
        next = lastOf(batch) + 1
        this.next = { seq: next, path: segment!.path, offset: found.offset + found.frameBytes }
        yield from(batch, Math.max(fromSeq, batch.firstSeq))
      }
      next = Math.max(next, end)
    }
  }

  markApplied(seq: number): void {
    this.settings.writer.applied(seq)
  }

  /** Notifies once for all of one turn of the event loop. */
  markTaken(seq: number): void {
    this.takenSeq = seq
    this.telling ??= setImmediate(() => {
      this.telling = null
      this.settings.writer.taken(this.takenSeq)
    })
  }

  async close(): Promise<void> {
    this.isClosed = true
    this.growth.resolve()
  }

  private offsetOf(segment: Segment | undefined, seq: number): number | undefined {
    const { next } = this
    return next && segment && next.seq <= seq && next.path === segment.path ? next.offset : undefined
  }

  private async segments(): Promise<Segment[]> {
    const { directory } = this.settings
    const names = await listSegments(directory)
    return Promise.all(
      names.map(async ({ name, firstSeq }) => {
        const path = join(directory, name)
        return { path, firstSeq, bytes: (await stat(path)).size }
      }),
    )
  }
}
