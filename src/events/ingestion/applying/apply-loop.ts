import { setImmediate } from 'node:timers/promises'
import { InternalError } from '../../../errors/errors.ts'
import { BrokenInvariant, mustHold } from '../../../errors/invariants.ts'
import { addRemovals, keptFromText, noRemovals } from '../../../language/catalog/removals.ts'
import { type Deferred, deferred } from '../../../lib/flow/deferred.ts'
import type { EventWriter, IngestLog } from '../ports.ts'
import { withoutProperty } from '../properties/removed-property.ts'
import type { Transform } from '../transforming/transform.ts'
import { Applier } from './applier.ts'
import type { ApplyFailures } from './apply-failures.ts'
import type { Attempts } from './attempts.ts'
import type { Backpressure } from './backpressure.ts'
import type { CommitWaiters } from './commit-waiters.ts'
import { firstRecords, lastSeqOf, type QueuedBatch } from './queued-batch.ts'
import { readWork } from './read-work.ts'
import type { RecentEvents } from './recent-events.ts'
import type { RecentWaits } from './recent-waits.ts'

export interface GroupLimits {
  /** Events of one transaction. */
  readonly groupRows: number
  /** Persons that one transaction changes, and that stay cached after it. */
  readonly groupPeople: number
  /** Characters of one family of past merges. */
  readonly pastFamily?: number
}

/** A transaction that does not fit into memory is retried with fewer rows, down to this. After several that fit, the size grows again. */
const minRows = 1_024
const transactionsBeforeGrowth = 16
/** Events of a transaction while queries come: each waits for the one being committed, and for its own. */
const rowsAheadOfQueries = 16_384
/** How long the first events of a transaction wait for more, while no query waits for them. */
const lingerMs = 5_000
/** Yields to the event loop after this time. The clock is read once per this many events. */
const sliceMs = 2
const eventsPerTimeCheck = 32

interface Parts {
  readonly writer: EventWriter
  readonly projectId: number
  readonly log: Pick<IngestLog, 'read' | 'lastSeq' | 'noteOutcome'>
  readonly limits: GroupLimits
  readonly backpressure: Backpressure
  readonly failures: ApplyFailures
  readonly waiters: CommitWaiters
  readonly queries: RecentWaits
  readonly transform: Transform
  readonly attempts: Attempts
  readonly recent: RecentEvents
  /** Everything up to this record is processed. */
  processed(seq: number): void
  /** Everything up to this record is applied. */
  committed(seq: number): void
}

const readsNothing: ReadonlySet<string> = new Set(['event', 'persons', 'groups', 'property_types'] satisfies QueuedBatch['kind'][])
const readsStore = ({ work }: QueuedBatch): boolean => !readsNothing.has(work!.content.kind)

/** Applies batches in log order, one transaction at a time. What fails is read from the log again. */
export class ApplyLoop {
  private readonly parts: Parts
  applier: Applier
  private queue: QueuedBatch[] = []
  /** Batches that are processed at least in part, but not committed. */
  private readonly taken = new Set<QueuedBatch>()
  private applying: Promise<void> | null = null
  /** Serializes the transactions. */
  private writing: Promise<unknown> = Promise.resolve()
  private isWriting = false
  /** Wakes the group being processed: it may have more events, or has waited long enough. */
  private wakeUp: Deferred<void> = deferred()
  private groupRows: number
  private transactionsSinceFailure = 0

  constructor(parts: Parts, applier: Applier) {
    this.parts = parts
    this.applier = applier
    this.groupRows = parts.limits.groupRows
  }

  take(waiting: QueuedBatch): void {
    this.queue.push(waiting)
    this.wake()
    this.apply()
  }

  /** A group that waits for more events commits when a query waits for it. */
  wake(): void {
    this.wakeUp.resolve()
  }

  /** Batches that are not applied. */
  get unfinished(): readonly QueuedBatch[] {
    return [...this.taken, ...this.queue]
  }

  async settled(): Promise<void> {
    await this.applying
    await this.writing.catch(() => undefined)
  }

  /** Called between two transactions. */
  inTurn(work: () => Promise<void>): Promise<void> {
    const turn = this.writing.then(work)
    this.writing = this.writing.then(() => turn.catch(() => undefined))
    this.writing.catch(() => undefined)
    return turn
  }

  apply(): void {
    this.applying ??= this.applyAll().finally(() => {
      this.applying = null
      if (this.queue.length > 0 && !this.parts.failures.isAbandoned) this.apply()
    })
  }

  private async applyAll(): Promise<void> {
    while (!this.parts.failures.isAbandoned) {
      try {
        if (this.queue.length === 0 && !this.applier.hasChanges) await this.writing
        if (this.queue.length === 0 && !this.applier.hasChanges) return
        await this.applyGroup()
      } catch (error) {
        await this.recover(error)
      }
    }
  }

  /** Processes the events of one transaction while the previous one commits. */
  private async applyGroup(): Promise<void> {
    if (this.queue[0]?.kind === 'removals') return this.remove(this.queue[0])
    const { applier } = this
    const { writer, backpressure, limits, queries, attempts, recent } = this.parts
    if (applier.isFull) {
      await this.writing
      applier.forget()
    }
    applier.trim()
    const group = await writer.openGroup()
    const noting = recent.noting(group)
    const done: QueuedBatch[] = []
    const lingerUntil = performance.now() + lingerMs
    let sliceStart = performance.now()
    const pause = async () => {
      if (performance.now() - sliceStart <= sliceMs) return
      await setImmediate()
      sliceStart = performance.now()
    }
    // The limit may grow meanwhile, and rows beyond the old one were not loaded.
    const groupRows = queries.areThere ? Math.min(this.groupRows, rowsAheadOfQueries) : this.groupRows
    let removesIds = false
    const isFull = () => group.events >= groupRows || applier.changedPeople >= limits.groupPeople || applier.isHeavy
    while (!isFull() && (await this.hasMore(done, lingerUntil))) {
      const rows = groupRows - group.events
      const next = this.peek(rows)
      const isAlone = readsStore(next[0]!) // earlier records must be applied first
      if (next[0]!.kind === 'removals') break
      if (isAlone && (done.length > 0 || group.events > 0)) break
      const from = applier.appliedSeq + 1
      const most = attempts.most(from)
      const isSuspicious = Number.isFinite(most)
      if (isSuspicious && (done.length > 0 || group.events > 0)) break
      if (isAlone || isSuspicious) await this.writing
      removesIds = next[0]!.kind === 'person_changes'
      const last = lastSeqOf(next.at(-1)!)
      attempts.begin(isSuspicious ? from : this.parts.waiters.seq + 1, isSuspicious ? Math.min(last, from + most - 1) : last)
      const ends = await applier.load(firstRecords(next, most), rows)
      let isWhole = true
      for (const [i, waiting] of next.entries()) {
        if (isFull() || this.isAskedFor(done)) break
        const to = ends[i]
        if (to === undefined) break
        isWhole = to === waiting.count
        if (to === waiting.next) break
        this.taken.add(waiting)
        for (;;) {
          const upTo = Math.min(groupRows, group.events + eventsPerTimeCheck)
          const { next: reached, uuids } = applier.apply(waiting.work!, { from: waiting.next, to }, noting, upTo)
          waiting.next = reached
          waiting.uuids = [...waiting.uuids, ...uuids]
          if (reached >= to || isFull()) break
          await pause()
        }
        if (waiting.next < waiting.count) break
        this.noteRecent(waiting, noting !== group)
        waiting.work = null
        this.queue.shift()
        backpressure.leave(waiting.bytes)
        this.parts.processed(lastSeqOf(waiting))
        done.push(waiting)
        await pause()
      }
      if (isAlone || isSuspicious || !isWhole) break // the rest needs more than fits beside this
    }
    await applier.stage(group)
    for (const { kind, startSeq, uuids } of done) if (kind !== 'event') this.parts.log.noteOutcome?.(startSeq, uuids)
    const seq = applier.appliedSeq
    const { version } = recent
    await this.writing
    this.isWriting = true
    this.writing = applier
      .commit(group)
      .then(() => this.committed(done, seq, version))
      .finally(() => {
        this.isWriting = false
        this.wake()
      })
    this.writing.catch(() => undefined) // the next caller that awaits it gets the error
    if (removesIds) await this.writing // the store still has them, and the next group reads it
  }

  private noteRecent(waiting: QueuedBatch, isNoted: boolean): void {
    const { applier } = this
    const { recent } = this.parts
    const merges = applier.takeMerges()
    const seq = lastSeqOf(waiting)
    if (waiting.kind === 'event') recent.processed(seq, merges, isNoted, applier.factsVersion)
    else recent.changed(seq, applier.factsVersion)
  }

  /** Removals change what the applier has cached, so it starts from the store again. */
  private async remove(waiting: QueuedBatch): Promise<void> {
    const { writer, backpressure, attempts, projectId, limits, recent } = this.parts
    await this.writing
    const { content, firstSeq } = waiting.work!
    if (content.kind !== 'removals') throw new InternalError(`Removals were expected, got ${content.kind}`)
    const seq = lastSeqOf(waiting)
    attempts.begin(this.parts.waiters.seq + 1, seq)
    this.taken.add(waiting)
    const counts: string[] = []
    const group = await writer.openGroup()
    for (const [i, removal] of content.removals.entries()) {
      let counted = noRemovals
      const isAside = waiting.work!.aside?.has(i) ?? false
      for (const step of isAside ? [] : await writer.removalSteps(removal, firstSeq + i, withoutProperty))
        counted = addRemovals(counted, await step())
      if (!isAside && removal.remove === 'old_events') group.setMeta('kept_from', keptFromText(removal.from))
      counts.push(JSON.stringify(counted))
    }
    group.noteRemoved()
    group.setMeta('applied_seq', String(seq))
    waiting.work = null
    waiting.uuids = [...waiting.uuids, ...counts] // before the commit, which may succeed although it reports an error
    this.queue.shift()
    backpressure.leave(waiting.bytes)
    recent.changed(seq, this.applier.factsVersion)
    this.parts.processed(seq)
    this.parts.log.noteOutcome?.(waiting.startSeq, waiting.uuids)
    await group.commit({ event: [], person: [] })
    this.applier = await Applier.open(writer, projectId, limits)
    recent.changed(seq, this.applier.factsVersion)
    this.committed([waiting], seq, recent.version)
  }

  /**
   * Whether the group takes more events. A transaction costs about the same for one event as for hundreds, and least per event when it fills a row
   * group. So it waits for more while the previous one commits, and while no query waits for its rows. What a query waits for gets no longer.
   */
  private async hasMore(done: readonly QueuedBatch[], lingerUntil: number): Promise<boolean> {
    for (;;) {
      const rest = lingerUntil - performance.now()
      const isAsked = this.isAskedFor(done)
      const isDue = rest <= 0 || done.length === 0 || isAsked || this.mayNotWait(done)
      if (this.queue.length > 0 && !isAsked && (done.length === 0 || !isDue || this.isWriting)) return true
      if (isDue && !this.isWriting) return false
      this.wakeUp = deferred()
      const timer = rest > 0 ? setTimeout(() => this.wake(), rest).unref() : null
      await this.wakeUp.promise
      if (timer) clearTimeout(timer)
    }
  }

  /** Whether a query waits for what the group has so far. */
  private isAskedFor(done: readonly QueuedBatch[]): boolean {
    return done.length > 0 && this.parts.waiters.isAwaited(this.applier.appliedSeq)
  }

  private mayNotWait(done: readonly QueuedBatch[]): boolean {
    return this.parts.failures.isClosed || done.some(({ kind }) => kind !== 'event')
  }

  /** The next batches, with about this many rows in total. A batch of import records is processed alone. */
  private peek(rows: number): QueuedBatch[] {
    let count = 0
    const next: QueuedBatch[] = []
    for (const waiting of this.queue) {
      if (count >= rows || (next.length > 0 && readsStore(waiting))) break
      next.push(waiting)
      count += waiting.count - waiting.next
      if (readsStore(waiting)) break
    }
    return next
  }

  private committed(done: readonly QueuedBatch[], seq: number, version: number): void {
    const { failures, waiters, limits, writer, log } = this.parts
    mustHold('applied never back', seq >= waiters.seq, () => ({ record: seq, applied: waiters.seq }))
    mustHold('applied within the log', seq <= log.lastSeq, () => ({ record: seq, log: log.lastSeq }))
    this.parts.recent.committed(seq, version)
    failures.succeeded()
    if (this.groupRows < limits.groupRows && ++this.transactionsSinceFailure % transactionsBeforeGrowth === 0)
      this.groupRows = Math.min(limits.groupRows, this.groupRows * 2)
    for (const waiting of done) this.taken.delete(waiting)
    waiters.seq = seq
    this.parts.attempts.end(seq, this.taken.size === 0)
    this.parts.committed(seq)
    if (writer.tidy && waiters.isAwaited(seq)) this.inTurn(() => writer.tidy!())
    for (const waiting of done) waiting.applied.resolve(waiting.uuids)
    waiters.reached(seq)
  }

  /** Rereads what was not committed from the log, with a new applier that starts from the store. */
  private async recover(error: unknown): Promise<void> {
    const { writer, failures, projectId, limits } = this.parts
    await this.writing.catch(() => undefined) // what is being committed must not be applied a second time
    this.writing = Promise.resolve()
    for (let cause = error; ; ) {
      if (cause instanceof BrokenInvariant) failures.broken(cause)
      else failures.failed(writer.isTooMuch(cause) ? this.tooMuch(cause) : cause)
      if (failures.isAbandoned) return
      await failures.pause()
      if (failures.isAbandoned) return
      try {
        this.applier = await Applier.open(writer, projectId, limits)
        await this.takeBack()
        return
      } catch (again) {
        cause = again
      }
    }
  }

  private tooMuch(cause: unknown): Error {
    this.shrinkGroups()
    const { groupRows } = this
    return new InternalError(`Not enough memory for a transaction of events. It is retried with at most ${groupRows} events.`, { cause })
  }

  private shrinkGroups(): void {
    this.groupRows = Math.min(this.groupRows, Math.max(minRows, this.groupRows >> 1))
    this.transactionsSinceFailure = 0
  }

  private async takeBack(): Promise<void> {
    const { log, backpressure, transform } = this.parts
    const { appliedSeq } = this.applier
    const uncommitted = [...this.taken].filter((waiting) => lastSeqOf(waiting) > appliedSeq)
    const done = [...this.taken].filter((waiting) => lastSeqOf(waiting) <= appliedSeq) // their commit succeeded although it reported an error
    const [last] = uncommitted.slice(-1)
    if (last) {
      for await (const batch of log.read(appliedSeq + 1)) {
        if (batch.firstSeq > last.firstSeq) break
        const waiting = uncommitted.find((one) => one.firstSeq <= batch.firstSeq && batch.firstSeq <= lastSeqOf(one))
        if (!waiting) continue
        if (waiting.work === null) {
          backpressure.enter(waiting.bytes)
          this.queue.push(waiting)
        }
        // For a batch that was stored in part, the log returns the rest.
        const before = batch.firstSeq - waiting.firstSeq
        const work = readWork(batch, this.parts.attempts.aside)
        waiting.duplicates = new Set([...waiting.duplicates].map((index) => index - before).filter((index) => index >= 0))
        if (work.content.kind === 'event') work.content.duplicates = waiting.duplicates
        waiting.work = transform.isOn() ? (await transform.transform([work]))[0]! : work
        Object.assign(waiting, { firstSeq: batch.firstSeq, count: batch.payloads.length, next: 0 })
        waiting.uuids = waiting.uuids.slice(0, batch.firstSeq - waiting.startSeq)
      }
    }
    this.queue.sort((a, b) => a.firstSeq - b.firstSeq)
    for (const waiting of uncommitted) this.taken.delete(waiting)
    const { recent } = this.parts
    recent.lost(appliedSeq, this.applier.factsVersion)
    if (done.length > 0) this.committed(done, appliedSeq, recent.version)
  }
}
