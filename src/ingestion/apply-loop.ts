import { setImmediate, setTimeout } from 'node:timers/promises'
import { type Deferred, deferred } from '../lib/deferred.ts'
import { Applier } from './applier.ts'
import type { CommitWaiters } from './commit-waiters.ts'
import type { EventWriter, IngestLog } from './ports.ts'
import { TooMuchAtOnce } from './property-room.ts'
import { readWork } from './read-work.ts'
import type { Room } from './room.ts'
import type { Trouble } from './trouble.ts'
import { lastSeqOf, type Waiting } from './waiting.ts'

export interface GroupLimits {
  /** Events of one transaction. */
  readonly groupRows: number
  /** People that one transaction changes, and that are kept in memory after it. */
  readonly groupPeople: number
}

/** Transactions that did not fit into memory are made smaller down to so many rows, and larger again after so many that did. */
const fewestRows = 1_024
/** And those whose people did not, down to so many. */
const fewestRowsOfPeople = 128
const calmTransactions = 16
/** How long the first events of a transaction wait for more of them, when nobody wants to see them. */
const lingerMs = 5_000
/** The main thread is given to others after so long, looked at after so many events. */
const sliceMs = 2
const eventsOfLook = 32

interface Parts {
  readonly writer: EventWriter
  readonly projectId: number
  readonly log: Pick<IngestLog, 'read'>
  readonly limits: GroupLimits
  readonly room: Room
  readonly trouble: Trouble
  readonly waiters: CommitWaiters
  /** Everything up to this record is worked out. */
  workedOut(seq: number): void
  /** Everything up to this record is in the store. */
  committed(seq: number): void
}

/** Brings batches into the store in the order of the log, a transaction at a time. What fails is read from the log again. */
export class ApplyLoop {
  private readonly parts: Parts
  applier: Applier
  private queue: Waiting[] = []
  /** Worked out at least in part, and not committed. */
  private readonly taken = new Set<Waiting>()
  private applying: Promise<void> | null = null
  /** Transactions follow one another through this. */
  private writing: Promise<unknown> = Promise.resolve()
  private isWriting = false
  /** Rung when the group being worked out may have more to do, or has waited long enough. */
  private bell: Deferred<void> = deferred()
  private groupRows: number
  private calm = 0

  constructor(parts: Parts, applier: Applier) {
    this.parts = parts
    this.applier = applier
    this.groupRows = parts.limits.groupRows
  }

  take(waiting: Waiting): void {
    this.queue.push(waiting)
    this.ring()
    this.apply()
  }

  /** A group that waits for more goes on when somebody waits for it. */
  ring(): void {
    this.bell.resolve()
  }

  /** What is not in the store. */
  get unfinished(): readonly Waiting[] {
    return [...this.taken, ...this.queue]
  }

  async settled(): Promise<void> {
    await this.applying
    await this.writing.catch(() => undefined)
  }

  /** Between two transactions. */
  inTurn(work: () => Promise<void>): Promise<void> {
    const turn = this.writing.then(work)
    this.writing = this.writing.then(() => turn.catch(() => undefined))
    this.writing.catch(() => undefined)
    return turn
  }

  apply(): void {
    this.applying ??= this.applyAll().finally(() => {
      this.applying = null
      if (this.queue.length > 0 && !this.parts.trouble.isGivenUp) this.apply()
    })
  }

  private async applyAll(): Promise<void> {
    while (!this.parts.trouble.isGivenUp) {
      try {
        if (this.queue.length === 0 && !this.applier.hasChanges) await this.writing
        if (this.queue.length === 0 && !this.applier.hasChanges) return
        await this.applyGroup()
      } catch (error) {
        await this.recover(error)
      }
    }
  }

  /** One transaction's worth. While it is worked out the one before is being committed. */
  private async applyGroup(): Promise<void> {
    const { applier } = this
    const { writer, room, limits } = this.parts
    if (applier.isFull) {
      await this.writing
      applier.forget()
    }
    applier.trim()
    const group = await writer.openGroup()
    const done: Waiting[] = []
    const lingerUntil = performance.now() + lingerMs
    let sliceStart = performance.now()
    const pause = async () => {
      if (performance.now() - sliceStart <= sliceMs) return
      await setImmediate()
      sliceStart = performance.now()
    }
    const { groupRows } = this // it may grow meanwhile, and what is beyond it was not loaded
    const isFull = () => group.events >= groupRows || applier.changedPeople >= limits.groupPeople || applier.isHeavy
    while (!isFull() && (await this.hasMore(done, lingerUntil))) {
      const rows = groupRows - group.events
      const next = this.peek(rows)
      const isAlone = next[0]!.work!.content.kind === 'records' // it looks into the store: what is before it must be there
      if (isAlone && (done.length > 0 || group.events > 0)) break
      if (isAlone) await this.writing
      await applier.load(
        next.map(({ work, next: from }) => ({ work: work!, from })),
        rows,
        rows > fewestRowsOfPeople,
      )
      for (const waiting of next) {
        if (isFull()) break
        this.taken.add(waiting)
        for (;;) {
          const upTo = Math.min(groupRows, group.events + eventsOfLook)
          const { next: place, uuids } = applier.apply(waiting.work!, waiting.next, group, upTo)
          waiting.next = place
          waiting.uuids = uuids
          if (place >= waiting.count || isFull()) break
          await pause()
        }
        if (waiting.next < waiting.count) break
        waiting.work = null
        this.queue.shift()
        room.leave(waiting.bytes)
        this.parts.workedOut(lastSeqOf(waiting))
        done.push(waiting)
        await pause()
      }
      if (isAlone) break
    }
    await applier.stage(group)
    const seq = applier.appliedSeq
    await this.writing
    this.isWriting = true
    this.writing = applier
      .commit(group)
      .then(() => this.committed(done, seq))
      .finally(() => {
        this.isWriting = false
        this.ring()
      })
    this.writing.catch(() => undefined) // seen by the next who waits for it
  }

  /**
   * Whether the group goes on. A transaction costs much the same for one event as for hundreds, and least of all when it fills a row group: so it
   * waits for more while the one before is under way, and while nobody waits for its rows.
   */
  private async hasMore(done: readonly Waiting[], lingerUntil: number): Promise<boolean> {
    for (;;) {
      const rest = lingerUntil - performance.now()
      const isDue = rest <= 0 || done.length === 0 || this.isAwaited(done)
      if (this.queue.length > 0 && (done.length === 0 || !isDue || this.isWriting)) return true
      if (isDue && !this.isWriting) return false
      this.bell = deferred()
      const timer = rest > 0 ? new AbortController() : null
      if (timer)
        setTimeout(rest, undefined, { signal: timer.signal, ref: false }).then(
          () => this.ring(),
          () => undefined,
        )
      await this.bell.promise
      timer?.abort()
    }
  }

  private isAwaited(done: readonly Waiting[]): boolean {
    const { trouble, waiters } = this.parts
    return trouble.isClosed || waiters.isAwaited(this.applier.appliedSeq) || done.some(({ kind }) => kind !== 'event')
  }

  /** The next batches, of about so many rows. Records stand alone. */
  private peek(rows: number): Waiting[] {
    let count = 0
    const next: Waiting[] = []
    for (const waiting of this.queue) {
      if (count >= rows || (next.length > 0 && waiting.work!.content.kind === 'records')) break
      next.push(waiting)
      count += waiting.count - waiting.next
      if (waiting.work!.content.kind === 'records') break
    }
    return next
  }

  private committed(done: readonly Waiting[], seq: number): void {
    const { trouble, waiters, limits } = this.parts
    trouble.succeeded()
    if (this.groupRows < limits.groupRows && ++this.calm % calmTransactions === 0)
      this.groupRows = Math.min(limits.groupRows, this.groupRows * 2)
    for (const waiting of done) this.taken.delete(waiting)
    waiters.seq = seq
    this.parts.committed(seq)
    for (const waiting of done) waiting.applied.resolve(waiting.uuids)
    waiters.reached(seq)
  }

  /** What was not committed is read from the log again, by an applier that knows only the store. */
  private async recover(error: unknown): Promise<void> {
    const { writer, trouble, projectId, limits } = this.parts
    await this.writing.catch(() => undefined) // what is being committed must not be applied again beside it
    this.writing = Promise.resolve()
    for (let cause = error; ; ) {
      if (cause instanceof TooMuchAtOnce) this.shrinkGroups(fewestRowsOfPeople)
      else {
        if (writer.isTooMuch(cause)) this.shrinkGroups(fewestRows)
        trouble.failed(cause)
        if (trouble.isGivenUp) return
        await trouble.pause()
      }
      if (trouble.isGivenUp) return
      try {
        this.applier = await Applier.open(writer, projectId, limits.groupPeople)
        await this.takeBack()
        return
      } catch (again) {
        cause = again
      }
    }
  }

  private shrinkGroups(fewest: number): void {
    this.groupRows = Math.min(this.groupRows, Math.max(fewest, this.groupRows >> 1))
    this.calm = 0
  }

  private async takeBack(): Promise<void> {
    const { log, room } = this.parts
    const { appliedSeq } = this.applier
    const uncommitted = [...this.taken].filter((waiting) => lastSeqOf(waiting) > appliedSeq)
    const done = [...this.taken].filter((waiting) => lastSeqOf(waiting) <= appliedSeq) // the commit that seemed to fail had succeeded
    const [last] = uncommitted.slice(-1)
    if (last) {
      for await (const batch of log.read(appliedSeq + 1)) {
        if (batch.firstSeq > last.firstSeq) break
        const waiting = uncommitted.find((one) => one.firstSeq <= batch.firstSeq && batch.firstSeq <= lastSeqOf(one))
        if (!waiting) continue
        if (waiting.work === null) {
          room.enter(waiting.bytes)
          this.queue.push(waiting)
        }
        // Of a batch that was stored in part the log gives the rest.
        const before = batch.firstSeq - waiting.firstSeq
        waiting.work = readWork(batch)
        waiting.duplicates = new Set([...waiting.duplicates].map((place) => place - before).filter((place) => place >= 0))
        if (waiting.work.content.kind === 'event') waiting.work.content.duplicates = waiting.duplicates
        Object.assign(waiting, { firstSeq: batch.firstSeq, count: batch.payloads.length, next: 0 })
      }
    }
    this.queue.sort((a, b) => a.firstSeq - b.firstSeq)
    for (const waiting of uncommitted) this.taken.delete(waiting)
    if (done.length > 0) this.committed(done, appliedSeq)
  }
}
