import { rm } from 'node:fs/promises'
import { dirname } from 'node:path'
import { WaymarkError } from '../../../errors/errors.ts'
import { type CompressingParts, compressSegment, temporaryOf } from './compressing.ts'
import type { Segment } from './segment.ts'

interface Parts extends Omit<CompressingParts, 'signal' | 'isBehind'> {
  /** Of the log, oldest first. The newest one is written to. */
  readonly segments: readonly Segment[]
  /** Whether the newest segment says that others may be compressed, so that an earlier version refuses the log. */
  isMarked(): boolean
  /** Records up to this one are in the store, and nobody reads them again soon. */
  appliedSeq(): number
  /** Runs work while no segment is removed. */
  inTurn<T>(work: () => Promise<T>): Promise<T>
  /** Called with the first failure. */
  report(error: unknown): void
}

/** Segments of this process that may wait for the pauses of other work: what arrives faster would fill the disk. */
export const mostWaiting = 8

const isFull = (error: unknown) =>
  (error instanceof WaymarkError && error.code === 'disk-full') ||
  ['ENOSPC', 'EDQUOT', 'EFBIG'].includes(String((error as NodeJS.ErrnoException).code))

/** Compresses the closed segments of a log in the background, one after the other. */
export class ClosedSegments {
  private readonly parts: Parts
  /** Compressed, or left as they are. */
  private readonly settled = new WeakSet<Segment>()
  /** From before the log was opened: however many they are, nothing is in a hurry. */
  private readonly old: WeakSet<Segment>
  private readonly stopping = new AbortController()
  private running: Promise<void> | null = null
  private isReported = false
  /** The newest segment when the disk was full: it is tried again with the next one. */
  private fullAt: Segment | undefined

  constructor(parts: Parts) {
    this.parts = parts
    this.old = new WeakSet(parts.segments)
  }

  /** Begins if there is something to compress. */
  wake(): void {
    if (this.running || this.stopping.signal.aborted || !this.next()) return
    this.running = this.compressAll().finally(() => {
      this.running = null
    })
  }

  /** Resolves when nothing is being compressed. */
  async idle(): Promise<void> {
    while (this.running) await this.running
  }

  /** Does not wait for a block, nor for the disk. */
  async stop(): Promise<void> {
    this.stopping.abort(new WaymarkError('closed', {}))
    await this.running
  }

  /** The newest one that is not settled: the oldest will be removed first. */
  private next(): Segment | undefined {
    const { segments, isMarked } = this.parts
    if (!isMarked() || segments.at(-1) === this.fullAt) return undefined
    for (const segment of this.waiting()) return segment
    return undefined
  }

  /** Those that are not settled, the newest first. */
  private *waiting(): Generator<Segment, void, void> {
    const { segments, appliedSeq } = this.parts
    const applied = appliedSeq()
    for (let i = segments.length - 2; i >= 0; i--)
      if (segments[i + 1]!.firstSeq - 1 <= applied && !this.settled.has(segments[i]!)) yield segments[i]!
  }

  private isBehind(): boolean {
    let own = 0
    for (const segment of this.waiting()) if (!this.old.has(segment) && ++own > mostWaiting) return true
    return false
  }

  private async compressAll(): Promise<void> {
    await this.parts.inTurn(async () => undefined) // those that are too old are gone
    for (let segment = this.next(); segment; segment = this.next()) {
      try {
        const size = await compressSegment(segment, { ...this.parts, isBehind: () => this.isBehind(), signal: this.stopping.signal })
        if (size !== null) await this.replace(segment, size)
      } catch (error) {
        if (this.stopping.signal.aborted) return
        if (!this.parts.segments.includes(segment)) continue // it became too old meanwhile
        this.failed(segment, error)
        if (isFull(error)) return
      }
      this.settled.add(segment)
    }
  }

  /** Both files are durable, so it does not matter which one a power cut leaves. */
  private replace(segment: Segment, size: number): Promise<void> {
    const { segments, disk, inTurn } = this.parts
    const temporary = temporaryOf(segment.path)
    return inTurn(async () => {
      try {
        if (this.stopping.signal.aborted || !segments.includes(segment)) return
        await disk.rename(temporary, segment.path)
        segment.bytes = size
      } finally {
        await rm(temporary, { force: true })
      }
      await disk.syncDirectory(dirname(segment.path))
    })
  }

  private failed({ path }: Segment, error: unknown): void {
    if (isFull(error)) this.fullAt = this.parts.segments.at(-1)
    if (this.isReported) return
    this.isReported = true
    const reason = error instanceof Error ? error.message : String(error)
    this.parts.report(new WaymarkError('log-not-compressed', { file: path, reason }, { cause: error }))
  }
}
