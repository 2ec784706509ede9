import { type FileHandle, mkdir, rename, rm, stat } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { setImmediate, setTimeout } from 'node:timers/promises'
import { InternalError, WaymarkError } from '../../../errors/errors.ts'
import { ClosedSegments } from './closed-segments.ts'
import type { BlockLimit } from './compressing.ts'
import { type Disk, disk as realDisk } from './disk.ts'
import { firstSeqOf, inspectLog, type LogFindings, repairLog } from './findings.ts'
import { decodeFrame, encodeFrame, logFormat, segmentHeader } from './frame.ts'
import { from, indexOfSeq, type Log, type LogBatch, type LogDamage, type LogFile, lastOf, type StoredBatch } from './log.ts'
import { PositionFile, readBackedUp } from './position.ts'
import { isFrame, markHeader, type Segment, segmentName, walkSegment, withSegment } from './segment.ts'

export interface Retention {
  /** How long applied segments are kept, in milliseconds. */
  readonly maxAge: number
  /** How many bytes of applied segments are kept. */
  readonly maxBytes: number
}

export interface LogSettings {
  /** `fsync`: acknowledged events survive a power cut. `os`: they survive the process, not the machine. */
  readonly durability: 'fsync' | 'os'
  /** The size in bytes at which a new segment starts. */
  readonly segmentBytes: number
  /** While many clients write, one fsync serves all batches of this many milliseconds. A single writer never waits. */
  readonly windowMs: number
  /** Batches are refused if less than this many bytes would stay free on the disk. */
  readonly minFreeBytes: number
  readonly retention: Retention
  /** What to do with an unreadable range: throw, or report it and continue after it. */
  readonly onDamage: 'refuse' | ((damage: LogDamage) => void)
  /** Called before segments are removed: their records must be durable in the store by then. */
  readonly beforeDelete: () => Promise<void>
  /** The file with the position of the log; null for none. */
  readonly positionFile: string | null
  /** The file with the last record that a backup has, if backups are made regularly: later segments stay. */
  readonly backedUpFile: string | null
  readonly disk: Disk
  /** Closed segments are compressed block by block: those of all logs of a process one after the other. Null: they stay as they are. */
  readonly compression: BlockLimit | null
  /** Called with the first reason why a segment could not be compressed. */
  readonly report: (error: unknown) => void
}

export const logDefaults: LogSettings = {
  durability: 'fsync',
  segmentBytes: 64 * 1024 ** 2,
  windowMs: 2,
  minFreeBytes: 64 * 1024 ** 2,
  retention: { maxAge: 7 * 86_400_000, maxBytes: Number.POSITIVE_INFINITY },
  onDamage: 'refuse',
  beforeDelete: async () => undefined,
  positionFile: null,
  backedUpFile: null,
  disk: realDisk,
  compression: null,
  report: () => undefined,
}

/** One group is written and synced with one call each; a batch that exceeds this size waits for the next group. */
const maxGroupBytes = 16 * 1024 ** 2
/** The most bytes of durable but not applied batches kept in memory, so that the apply stage rarely reads the files. */
const maxTailBytes = 16 * 1024 ** 2

/** How long a block of a closed segment waits for batches before it is compressed. */
const longestYieldMs = 50

interface Waiting {
  readonly batch: LogBatch
  resolve(answer: { firstSeq: number }): void
  reject(error: Error): void
}

const payloadBytes = (batch: LogBatch) => batch.payloads.byteLength
const codeOf = (error: unknown) => (error instanceof Error && 'code' in error ? String(error.code) : '')
const isFull = (error: unknown) => ['ENOSPC', 'EDQUOT', 'EFBIG'].includes(codeOf(error))
const reasonOf = (error: unknown) => (error instanceof Error ? error.message : String(error))

export class FileLog implements Log {
  private readonly waiting: Waiting[] = []
  private writing: Promise<void> | null = null
  private forgetting: Promise<void> = Promise.resolve()
  private isClosed = false
  private handle: FileHandle | null = null
  /** The last group had several writers, so it is worth waiting for the next one. */
  private isBusy = false
  private lastCommitAt = 0
  private appliedSeq = 0
  private tail: StoredBatch[] = []
  private tailBytes = 0
  private readonly directory: string
  private readonly settings: LogSettings
  private readonly segments: Segment[]
  private durableSeq: number
  private readonly position: PositionFile | null
  private readonly closed: ClosedSegments | null
  /** The newest segment has the header of a log with compressed segments. */
  private isMarked = false
  /** Damaged ranges found when the log was opened. */
  readonly damages: readonly LogDamage[]

  private constructor(directory: string, settings: LogSettings, { segments, lastSeq, damages }: LogFindings, appliedSeq: number) {
    this.directory = directory
    this.settings = settings
    this.segments = segments.map((segment) => ({ ...segment }))
    this.damages = damages
    this.durableSeq = Math.max(lastSeq, appliedSeq)
    this.appliedSeq = appliedSeq
    this.position = settings.positionFile === null ? null : new PositionFile(settings.positionFile)
    this.position?.write(this.durableSeq)
    const { disk, minFreeBytes, compression, report } = settings
    this.closed =
      compression &&
      new ClosedSegments({
        segments: this.segments,
        isMarked: () => this.isMarked,
        appliedSeq: () => this.appliedSeq,
        calm: () => this.calm(),
        inTurn: (work) => this.inTurn(work),
        disk,
        minFreeBytes,
        limit: compression,
        report,
      })
  }

  /**
   * Opens the log in a directory, and truncates what a crash left incomplete. `appliedSeq` is the last record in the store: numbers up to it
   * are never assigned again, even if the log has lost them.
   */
  static async open(directory: string, settings: Partial<LogSettings> = {}, appliedSeq = 0, findings?: LogFindings): Promise<FileLog> {
    return FileLog.openRepaired(await repaired(directory, appliedSeq, findings), settings, appliedSeq)
  }

  /** Opens a log that `repaired` has repaired. */
  static async openRepaired(found: LogFindings, settings: Partial<LogSettings>, appliedSeq: number): Promise<FileLog> {
    const all = { ...logDefaults, ...settings }
    const log = new FileLog(found.directory, all, found, appliedSeq)
    if (!isLost(found)) await log.continueNewest()
    log.startForgetting()
    log.closed?.wake()
    return log
  }

  private async continueNewest(): Promise<void> {
    const newest = this.segments.at(-1)
    if (!newest) return
    const { disk, segmentBytes } = this.settings
    const isPlain = await withSegment(newest.path, async ({ isCompressed }) => !isCompressed)
    if (isPlain && newest.bytes < segmentBytes) this.handle = await disk.open(newest.path, 'r+')
    if (!this.closed) return
    // An earlier version of Waymark looks at the newest segment only.
    if (!isPlain) await this.beginSegment().catch(() => this.takeBack())
    else if (this.segments.length > 1) this.isMarked = await markHeader(newest.path).catch(() => false)
  }

  get lastSeq(): number {
    return this.durableSeq
  }

  get firstSeq(): number {
    return firstSeqOf({ segments: this.segments, lastSeq: this.durableSeq })
  }

  append(batch: LogBatch): Promise<{ firstSeq: number }> {
    if (this.isClosed) return Promise.reject(new WaymarkError('closed', {}))
    if (batch.uuids.length === 0 || batch.uuids.length !== batch.payloads.length) {
      return Promise.reject(new InternalError('a batch of the log needs one payload for each uuid, and at least one'))
    }
    return new Promise((resolve, reject) => {
      this.waiting.push({ batch, resolve, reject })
      this.writing ??= this.drain()
    })
  }

  async *read(fromSeq: number): AsyncGenerator<StoredBatch> {
    let next = fromSeq
    while (next <= this.durableSeq) {
      const inMemory = this.tail[0] && next >= this.tail[0].firstSeq ? this.tail[indexOfSeq(this.tail, next)] : undefined
      if (inMemory) {
        yield from(inMemory, next)
        next = lastOf(inMemory) + 1
        continue
      }
      const index = this.segments.findLastIndex((segment) => segment.firstSeq <= next)
      const segment = this.segments[index]
      const end = this.segments[index + 1]?.firstSeq ?? this.durableSeq + 1
      for await (const found of walkSegment(segment, this.directory, next, end)) {
        if (!isFrame(found)) {
          this.report(found)
          continue
        }
        const batch = decodeFrame(found.bytes)
        yield from(batch, next)
        next = lastOf(batch) + 1
      }
      next = Math.max(next, end)
    }
  }

  markApplied(seq: number): void {
    this.appliedSeq = Math.max(this.appliedSeq, seq)
    for (const batch of this.tail.splice(0, indexOfSeq(this.tail, this.appliedSeq + 1))) this.tailBytes -= payloadBytes(batch)
    this.closed?.wake()
  }

  /** Resolves when no segment is being compressed. */
  async compressed(): Promise<void> {
    await this.closed?.idle()
  }

  files(): readonly LogFile[] {
    return this.segments.map(({ path, firstSeq, bytes }) => ({ name: basename(path), firstSeq, bytes }))
  }

  async close(): Promise<void> {
    this.isClosed = true
    const stopped = this.closed?.stop()
    while (this.writing) await this.writing
    await stopped
    await this.forgetting
    if (this.handle) {
      await this.settings.disk.sync(this.handle).catch(() => undefined)
      await this.handle.close()
      this.handle = null
    }
    this.position?.close()
  }

  private async drain(): Promise<void> {
    try {
      while (this.waiting.length > 0) {
        await this.gather()
        await this.commit(this.takeGroup())
      }
    } finally {
      this.writing = null
    }
  }

  /** Lets others join the group: always those of the same turn of the event loop; under load also those of the next milliseconds. */
  private async gather(): Promise<void> {
    const rest = this.isBusy ? this.lastCommitAt + this.settings.windowMs - performance.now() : 0
    if (rest >= 1) await setTimeout(rest)
    else await setImmediate()
  }

  private takeGroup(): Waiting[] {
    let bytes = 0
    let count = 0
    while (count < this.waiting.length && (count === 0 || bytes < maxGroupBytes)) bytes += payloadBytes(this.waiting[count++]!.batch)
    return this.waiting.splice(0, count)
  }

  private async commit(group: readonly Waiting[]): Promise<void> {
    this.isBusy = group.length > 1
    this.lastCommitAt = performance.now()
    const stored: StoredBatch[] = []
    try {
      const frames: Buffer[] = []
      let seq = this.durableSeq + 1
      for (const { batch } of group) {
        frames.push(encodeFrame(batch, seq, this.durableSeq + 1))
        stored.push({ ...batch, firstSeq: seq })
        seq += batch.uuids.length
      }
      await this.write(frames)
    } catch (error) {
      for (const { reject } of group) reject(error as Error)
      return
    }
    for (const batch of stored) this.remember(batch)
    this.position?.write(this.durableSeq)
    group.forEach(({ resolve }, i) => {
      resolve({ firstSeq: stored[i]!.firstSeq })
    })
  }

  private remember(batch: StoredBatch): void {
    this.durableSeq = lastOf(batch)
    this.tail.push(batch)
    this.tailBytes += payloadBytes(batch)
    while (this.tailBytes > maxTailBytes) this.tailBytes -= payloadBytes(this.tail.shift()!)
  }

  /** All or nothing: what was written before a failure is truncated. */
  private async write(frames: readonly Buffer[]): Promise<void> {
    const { disk, durability, minFreeBytes, segmentBytes } = this.settings
    const size = frames.reduce((sum, frame) => sum + frame.length, 0)
    const free = await disk.freeBytes(this.directory).catch((error: unknown) => {
      throw new WaymarkError('log-failed', { reason: reasonOf(error) }, { cause: error })
    })
    if (free - size < minFreeBytes) throw new WaymarkError('disk-full', { free, floor: minFreeBytes })
    const newest = this.segments.at(-1)
    if (newest && newest.bytes >= segmentBytes) await this.leaveSegment()
    try {
      const handle = this.handle ?? (await this.beginSegment())
      const segment = this.segments.at(-1)!
      await disk.write(handle, frames, segment.bytes)
      if (durability === 'fsync') await disk.sync(handle)
      segment.bytes += size
    } catch (error) {
      await this.takeBack()
      if (isFull(error)) throw new WaymarkError('disk-full', { free, floor: minFreeBytes }, { cause: error })
      throw new WaymarkError('log-failed', { reason: reasonOf(error) }, { cause: error })
    }
  }

  private async beginSegment(): Promise<FileHandle> {
    const { disk, durability } = this.settings
    const firstSeq = this.durableSeq + 1
    const path = join(this.directory, segmentName(firstSeq))
    // One that never got a record is replaced as a whole: without it the log might not have any.
    const replaced = this.segments.at(-1)?.path === path ? this.segments.at(-1)! : null
    const made = replaced ? `${path}.new` : path
    const isFirst = this.segments.length === (replaced ? 1 : 0)
    const header = segmentHeader(isFirst ? undefined : logFormat)
    await rm(made, { force: true })
    const handle = await disk.open(made, 'wx')
    try {
      await disk.write(handle, [header], 0)
      if (durability === 'fsync') await disk.sync(handle)
      if (replaced) await rename(made, path)
      if (durability === 'fsync') await disk.syncDirectory(this.directory)
    } catch (error) {
      await handle.close().catch(() => undefined)
      if (!replaced) await rm(made, { force: true }).catch(() => undefined)
      throw error
    }
    this.handle = handle
    this.isMarked = !isFirst
    if (replaced) this.segments.pop()
    this.segments.push({ path, firstSeq, bytes: header.length })
    return handle
  }

  private async leaveSegment(): Promise<void> {
    const handle = this.handle
    this.handle = null
    if (handle) {
      if (this.settings.durability === 'os') await this.settings.disk.sync(handle).catch(() => undefined)
      await handle.close()
    }
    this.startForgetting()
  }

  /**
   * After a failure the segment is truncated and never written again: after a failed fsync the state of a file is unknown. If even truncating
   * fails, the name of the next segment, which is the number of its first record, shows where this one ends.
   */
  private async takeBack(): Promise<void> {
    const handle = this.handle
    const segment = this.segments.at(-1)
    this.handle = null
    if (!handle) return
    await handle.truncate(segment?.bytes ?? 0).catch(() => undefined)
    await handle.close().catch(() => undefined)
    // The only segment stays, without a record: its name says where the log goes on.
    if (segment?.firstSeq === this.durableSeq + 1 && this.segments.length > 1) {
      this.segments.pop()
      this.isMarked = false
      await rm(segment.path, { force: true }).catch(() => undefined)
    }
  }

  private report(damage: LogDamage): void {
    if (this.settings.onDamage === 'refuse') throw new WaymarkError('log-damaged', { ...damage })
    this.settings.onDamage(damage)
  }

  private startForgetting(): void {
    // If removal fails, it is tried again when the next segment starts.
    this.inTurn(() => this.forget()).catch(() => undefined)
  }

  /** Files of closed segments are removed and replaced one after the other. */
  private inTurn<T>(work: () => Promise<T>): Promise<T> {
    const done = this.forgetting.then(work)
    this.forgetting = done.then(
      () => undefined,
      () => undefined,
    )
    return done
  }

  /** Batches that are being written go first, but those of a busy hour not for ever. */
  private async calm(): Promise<void> {
    if (this.writing) await Promise.race([this.writing, setTimeout(longestYieldMs, undefined, { ref: false })])
  }

  /** Removes the oldest segments whose records are all applied, and in a backup if backups are made regularly, once they exceed the retention time or size. */
  private async forget(): Promise<void> {
    const { retention, beforeDelete, backedUpFile } = this.settings
    const removable = Math.min(this.appliedSeq, backedUpFile === null ? Number.POSITIVE_INFINITY : await readBackedUp(backedUpFile))
    let bytes = this.segments.reduce((sum, segment) => sum + segment.bytes, 0)
    const due: Segment[] = []
    for (const [i, segment] of this.segments.entries()) {
      const following = this.segments[i + 1]
      if (!following || following.firstSeq - 1 > removable) break
      const age = Date.now() - (await stat(segment.path)).mtimeMs
      if (age <= retention.maxAge && bytes <= retention.maxBytes) break
      bytes -= segment.bytes
      due.push(segment)
    }
    if (due.length === 0) return
    await beforeDelete()
    for (const segment of due) {
      if (segment === this.segments.at(-1)) break // the one after it could not be begun
      this.segments.splice(this.segments.indexOf(segment), 1)
      await rm(segment.path, { force: true }).catch((error: unknown) => {
        this.segments.unshift(segment) // the next time
        throw error
      })
    }
  }
}

/** Repairs the files: what a crash left incomplete is truncated. */
export async function repaired(directory: string, appliedSeq: number, findings?: LogFindings): Promise<LogFindings> {
  await mkdir(directory, { recursive: true, mode: 0o700 })
  const found = withStoreAhead(findings ?? (await inspectLog(directory)), appliedSeq)
  await repairLog(found, !isLost(found))
  return { ...found, remains: [] }
}

/** Records are missing at the end: a new segment marks where this one ends. */
const isLost = ({ damages, lastSeq }: LogFindings) => damages.some(({ fromSeq }) => fromSeq > lastSeq)

/** The store is ahead of the log: the log was truncated, and data after its last complete batch was not left by a crash. */
function withStoreAhead(found: LogFindings, appliedSeq: number): LogFindings {
  const { lastSeq, segments, directory, damages } = found
  if (lastSeq >= appliedSeq || damages.some(({ toSeq }) => toSeq !== null && toSeq >= appliedSeq)) return found
  const { path: file, bytes: offset } = segments.at(-1) ?? { path: directory, bytes: 0 }
  return { ...found, damages: [...damages, { file, offset, fromSeq: lastSeq + 1, toSeq: appliedSeq }] }
}
