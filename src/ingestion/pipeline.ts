import { setImmediate, setTimeout } from 'node:timers/promises'
import { InternalError, WaymarkError } from '../errors/errors.ts'
import { type Deferred, deferred } from '../lib/deferred.ts'
import { KeepAlive } from '../lib/keep-alive.ts'
import { Texts } from '../lib/texts.ts'
import { timeOrderedUuids } from '../lib/time-ordered-uuid.ts'
import { Applier } from './applier.ts'
import { type BatchFacts, type DecodedBatch, decodeEvents, decodeInTurns, decodePast, readBody } from './decode-batch.ts'
import type { EventSource } from './event-source.ts'
import { readGroups, readPersons, readPropertyTypes } from './imports.ts'
import type { EventWriter, IngestLog, LogRecords } from './ports.ts'
import { TooMuchAtOnce } from './property-room.ts'
import { readWork } from './read-work.ts'
import { UuidIndex } from './uuid-index.ts'
import type { Warning, WarningSummary } from './warnings.ts'
import type { Content, RecordWrite, Work } from './work.ts'

export interface PipelineOptions {
  readonly log: IngestLog
  readonly writer: EventWriter
  /** Folder for the index of event uuids, which may be deleted at any time; null keeps it in memory. */
  readonly uuidFolder?: string | null
  /** Part of every person's uuid. */
  readonly projectId: number
  readonly clock: () => Date
  /** Read anew for each batch. */
  readonly settings: () => { readonly anonymizeIps: boolean }
  readonly limits?: Partial<Limits>
  /** Called with errors that the pipeline recovers from. */
  readonly onError?: (error: unknown) => void
  /** Aborts when the project is closed before it is open. */
  readonly signal?: AbortSignal
}

interface Limits {
  /** Bytes of batches that wait to be worked out. Above a share of it callers are made to wait, above all of it they are refused. */
  readonly queueBytes: number
  /** Events of one transaction. */
  readonly groupRows: number
  /** People that one transaction changes, and that are kept in memory after it. */
  readonly groupPeople: number
}

const defaultQueueBytes = 64 * 1024 * 1024
// Past events wait where live ones pass: shares of the queue that may be waiting, and be entered and not worked out, when one more batch comes.
const liveLane = { waiting: 1, entered: 1 / 4 }
const pastLane = { waiting: 1 / 2, entered: 1 / 16 }
/** Batches of past events between the door and the answer: as many may be ahead of a live one. */
const pastAtOnce = 4
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
const retryMs = [10, 50, 250, 1_000, 5_000]
/** After so many failures in a row those who wait are told. */
const patience = 3
/** Whose tables have slots. */
const filledScopes = ['event', 'person'] as const

export type { BatchFacts } from './decode-batch.ts'

export interface IngestAnswer {
  /** Stored by this call. */
  readonly accepted: number
  /** Stored before, by their uuid. */
  readonly duplicates: number
  readonly dropped: number
  readonly warnings: readonly Warning[]
}

interface Waiting {
  readonly kind: Content['kind']
  firstSeq: number
  count: number
  readonly bytes: number
  /** Let go once it is worked out: the log has it, should it be needed again. */
  work: Work | null
  /** Place in `work` up to which it is worked out. */
  next: number
  duplicates: ReadonlySet<number>
  readonly decided: Deferred<ReadonlySet<number>>
  readonly applied: Deferred<readonly string[]>
  uuids: readonly string[]
}

const closed = () => new WaymarkError('closed', {})
const notWritten = (cause: unknown) => new InternalError('Events are in the log but cannot be written to the store', { cause })

/** Takes batches: checks them, makes them durable, and brings them into the store in the order of the log. */
export class Pipeline {
  private readonly options: PipelineOptions
  private readonly limits: Limits
  private applier: Applier
  private readonly uuids: UuidIndex
  private readonly arrived = new Map<number, Waiting>()
  private nextSeq: number
  private lastSeq: number
  private committedSeq: number
  private deciding: Promise<void> | null = null
  private queue: Waiting[] = []
  /** Worked out at least in part, and not committed. */
  private readonly taken = new Set<Waiting>()
  private applying: Promise<void> | null = null
  /** Transactions follow one another through this. */
  private writing: Promise<unknown> = Promise.resolve()
  private isWriting = false
  /** Of everybody who waits, and of those of them that are in the log. */
  private waitingBytes = 0
  private pastBatches = 0
  /** Rung when the group being worked out may have more to do, or has waited long enough. */
  private bell: Deferred<void> = deferred()
  private enteredBytes = 0
  private readonly wantRoom: (() => void)[] = []
  /** On their way to the log. */
  private readonly entering = new Set<Promise<unknown>>()
  private readonly waiters: { seq: number; deferred: Deferred<void> }[] = []
  private failures = 0
  private lastFailure: unknown = null
  private groupRows: number
  private calm = 0
  private isClosed = false
  /** Closed, and the store takes nothing: the log keeps what is not in it. */
  private isGivenUp = false
  private readonly closing = deferred<void>()
  private readonly keepAlive = new KeepAlive()
  private filling: Promise<void> | null = null
  private readonly newUuid: () => string

  private constructor(options: PipelineOptions, limits: Limits, applier: Applier, uuids: UuidIndex) {
    this.options = options
    this.limits = limits
    this.groupRows = this.limits.groupRows
    this.applier = applier
    this.uuids = uuids
    this.lastSeq = this.committedSeq = applier.appliedSeq
    this.nextSeq = this.lastSeq + 1
    this.newUuid = timeOrderedUuids(options.clock)
  }

  /** What the log has beyond the store is applied first. */
  static async open(options: PipelineOptions): Promise<Pipeline> {
    const { groupRows, groupPeople } = options.writer
    const limits: Limits = { queueBytes: defaultQueueBytes, groupRows, groupPeople, ...options.limits }
    const applier = await Applier.open(options.writer, options.projectId, limits.groupPeople)
    const pipeline = new Pipeline(
      options,
      limits,
      applier,
      await UuidIndex.open(options.writer, applier.appliedSeq, options.uuidFolder ?? null, options.onError ?? (() => {})),
    )
    try {
      await pipeline.keepAlive.during(pipeline.replay(options.signal))
    } catch (error) {
      await pipeline.abandon(error)
      throw error
    }
    pipeline.fillSlots()
    return pipeline
  }

  private async replay(signal?: AbortSignal): Promise<void> {
    const stop = () => {
      this.stop()
      this.giveUp(closed())
      this.makeRoom()
    }
    signal?.addEventListener('abort', stop, { once: true })
    try {
      for await (const batch of this.options.log.read(this.nextSeq)) {
        await this.deciding
        this.nextSeq = batch.firstSeq // a damaged log has gaps
        while (this.enteredBytes > this.limits.queueBytes / 16 && !this.isGivenUp) await this.room()
        if (signal?.aborted) throw closed()
        this.enter(readWork(batch))
      }
      await this.caughtUp()
    } catch (error) {
      throw signal?.aborted ? closed() : error
    } finally {
      signal?.removeEventListener('abort', stop)
    }
  }

  /** The last record that is durable. */
  get position(): number {
    return this.lastSeq
  }

  /** Records that are durable and not yet seen by queries. */
  get lag(): number {
    return this.lastSeq - this.committedSeq
  }

  /** Why events are not brought into the store, when that goes on failing; null as long as it works. */
  get failure(): unknown {
    return this.failures > patience ? this.lastFailure : null
  }

  /** Answers when the batch is durable and its duplicates are counted. Takes what `POST /batch/` takes, less the key. */
  ingest(body: unknown, about: Pick<BatchFacts, 'ip' | 'sentAt'> = {}): Promise<IngestAnswer> {
    return this.keepAlive.during(this.ingestBody(body, about))
  }

  private async ingestBody(body: unknown, about: Pick<BatchFacts, 'ip' | 'sentAt'>): Promise<IngestAnswer> {
    this.assertOpen()
    const receipt = this.receipt(about)
    const { events, facts } = readBody(body, about)
    const batch = facts.isHistorical ? await decodePast(events, receipt, facts) : decodeEvents(events, receipt, facts)
    return this.take(batch, receipt.receivedAt)
  }

  /** The same of events that are read while they are prepared, which gives others their turn in between. */
  ingestEvents(events: EventSource, facts: BatchFacts): Promise<IngestAnswer> {
    return this.keepAlive.during(this.ingestSource(events, facts))
  }

  private async ingestSource(events: EventSource, facts: BatchFacts): Promise<IngestAnswer> {
    this.assertOpen()
    const receipt = this.receipt(facts)
    return this.take(await decodeInTurns(events, receipt, facts), receipt.receivedAt)
  }

  private receipt({ ip = null }: Pick<BatchFacts, 'ip'>) {
    const { anonymizeIps } = this.options.settings()
    return { receivedAt: this.now(), ip, anonymizeIps, newUuid: this.newUuid }
  }

  private async take(batch: DecodedBatch, receivedAt: number): Promise<IngestAnswer> {
    const { events } = batch
    const dropped = events.filter((event) => event.isDropped).length
    if (events.length === 0) return { accepted: 0, duplicates: 0, dropped: 0, warnings: [] }

    const records: LogRecords = {
      kind: 'event',
      receivedAt,
      sentAt: batch.sentAt,
      historical: batch.isHistorical,
      ip: null, // it is in the properties, unless the project does not want it anywhere
      uuids: batch.uuids,
      payloads: batch.payloads,
    }
    const waiting = await this.accept(records, { kind: 'event', events, bytes: batch.payloads.bytes, duplicates: new Set() })
    const duplicates = (await waiting.decided.promise).size
    return {
      accepted: events.length - dropped - duplicates,
      duplicates,
      dropped,
      warnings: events.flatMap((event) => event.warnings),
    }
  }

  /** Makes persons with their distinct ids. Answers their uuids in order once they are stored. */
  async importPersons(rows: unknown): Promise<{ ids: readonly string[] }> {
    const persons = readPersons(rows, this.now() * 1000)
    return { ids: await this.write('persons', { kind: 'persons', persons }, persons) }
  }

  async importGroups(rows: unknown, options: { group_types?: unknown } = {}): Promise<void> {
    const groups = readGroups(rows, options.group_types, this.now() * 1000)
    await this.write('groups', { kind: 'groups', groups }, groups)
  }

  async definePropertyTypes(rows: unknown): Promise<void> {
    const types = readPropertyTypes(rows)
    await this.write('property_types', { kind: 'property_types', types }, types)
  }

  /** Definitions of actions and cohorts, and members of static cohorts. */
  async writeRecords(records: readonly RecordWrite[]): Promise<void> {
    await this.write('records', { kind: 'records', records }, records)
  }

  /** Exact counts of what was wrong with events, with a few samples of each kind. */
  warnings(): WarningSummary[] {
    return this.applier.warningSummaries()
  }

  private async write(kind: LogRecords['kind'], content: Content, rows: readonly object[]): Promise<readonly string[]> {
    this.assertOpen()
    if (rows.length === 0) return []
    const receivedAt = this.now()
    const payloads = Texts.of(rows.map((row) => JSON.stringify(row)))
    const uuids = rows.map(this.newUuid)
    const records: LogRecords = { kind, receivedAt, sentAt: null, historical: false, ip: null, uuids, payloads }
    return this.keepAlive.during(this.accept(records, content).then(({ applied }) => applied.promise))
  }

  private async accept(records: LogRecords, content: Content): Promise<Waiting> {
    const { receivedAt, historical: isHistorical, payloads } = records
    const bytes = payloads.byteLength
    const lane = isHistorical ? pastLane : liveLane
    const limit = this.limits.queueBytes * lane.waiting
    if (this.waitingBytes > 0 && this.waitingBytes + bytes > limit)
      throw new WaymarkError('queue-full', { bytes: this.waitingBytes, limit })
    this.waitingBytes += bytes
    try {
      while (this.enteredBytes > this.limits.queueBytes * lane.entered || (isHistorical && this.pastBatches >= pastAtOnce))
        await this.room()
      this.assertOpen()
      if (isHistorical) this.pastBatches++
      try {
        const entering = this.options.log
          .append(records)
          .then(({ firstSeq }) =>
            this.enter({ firstSeq, count: payloads.length, receivedAt: receivedAt * 1000, isHistorical, bytes, content }),
          )
        this.entering.add(entering)
        const waiting = await entering.finally(() => this.entering.delete(entering))
        if (isHistorical) await waiting.decided.promise
        return waiting
      } finally {
        if (isHistorical) {
          this.pastBatches--
          this.makeRoom()
        }
      }
    } finally {
      this.waitingBytes -= bytes
    }
  }

  /** Resolves when one more may look whether it can go on. */
  private room(): Promise<void> {
    const { promise, resolve } = deferred<void>()
    this.wantRoom.push(resolve)
    return promise
  }

  private released(bytes: number): void {
    this.waitingBytes -= bytes
    this.enteredBytes -= bytes
    this.makeRoom()
  }

  private makeRoom(): void {
    for (const resolve of this.wantRoom.splice(0)) resolve()
  }

  private enter(work: Work): Waiting {
    const { firstSeq, count, bytes } = work
    const waiting: Waiting = {
      kind: work.content.kind,
      firstSeq,
      count,
      bytes,
      work,
      next: 0,
      duplicates: new Set(),
      decided: deferred(),
      applied: deferred(),
      uuids: [],
    }
    this.waitingBytes += bytes
    this.enteredBytes += bytes
    this.lastSeq = Math.max(this.lastSeq, firstSeq + count - 1)
    this.arrived.set(firstSeq, waiting)
    this.decide()
    return waiting
  }

  private decide(): void {
    this.deciding ??= this.decideInOrder().finally(() => {
      this.deciding = null
      if (this.arrived.has(this.nextSeq) && !this.isGivenUp) this.decide()
    })
  }

  /** Finds duplicates, in the order of the log: of two equal events the one that was durable first stays. */
  private async decideInOrder(): Promise<void> {
    for (let waiting = this.arrived.get(this.nextSeq); waiting; waiting = this.arrived.get(this.nextSeq)) {
      const { content } = waiting.work!
      if (content.kind === 'event') {
        for (let attempt = 0; ; attempt++) {
          try {
            waiting.duplicates = content.duplicates = await this.uuids.duplicates(content.events, waiting.firstSeq)
            break
          } catch (error) {
            this.options.onError?.(error)
            this.lastFailure = error
            this.failures = Math.max(this.failures, attempt + 1)
            if (this.failures > patience) this.failWaiters(error)
            if (this.isGivenUp) return
            await this.pause(attempt)
          }
        }
      }
      this.arrived.delete(waiting.firstSeq)
      this.nextSeq = waiting.firstSeq + waiting.count
      waiting.decided.resolve(waiting.duplicates)
      this.queue.push(waiting)
      this.bell.resolve()
      this.apply()
    }
  }

  private apply(): void {
    this.applying ??= this.applyAll().finally(() => {
      this.applying = null
      if (this.queue.length > 0 && !this.isGivenUp) this.apply()
    })
  }

  private async applyAll(): Promise<void> {
    while (!this.isGivenUp) {
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
    if (applier.isFull) {
      await this.writing
      applier.forget()
    }
    applier.trim()
    const group = await this.options.writer.openGroup()
    const done: Waiting[] = []
    const lingerUntil = performance.now() + lingerMs
    let sliceStart = performance.now()
    const { groupRows } = this // it may grow meanwhile, and what is beyond it was not loaded
    const isFull = () => group.events >= groupRows || applier.changedPeople >= this.limits.groupPeople || applier.isHeavy
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
          if (performance.now() - sliceStart > sliceMs) {
            await setImmediate()
            sliceStart = performance.now()
          }
        }
        if (waiting.next < waiting.count) break
        waiting.work = null
        this.queue.shift()
        this.released(waiting.bytes)
        done.push(waiting)
        if (performance.now() - sliceStart > sliceMs) {
          await setImmediate()
          sliceStart = performance.now()
        }
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
        this.bell.resolve()
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
          () => this.bell.resolve(),
          () => undefined,
        )
      await this.bell.promise
      timer?.abort()
    }
  }

  private isAwaited(done: readonly Waiting[]): boolean {
    const { appliedSeq } = this.applier
    return this.isClosed || this.waiters.some(({ seq }) => seq <= appliedSeq) || done.some(({ kind }) => kind !== 'event')
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
    this.failures = 0
    if (this.groupRows < this.limits.groupRows && ++this.calm % calmTransactions === 0)
      this.groupRows = Math.min(this.limits.groupRows, this.groupRows * 2)
    this.committedSeq = seq
    for (const waiting of done) this.taken.delete(waiting)
    this.uuids.committed(seq)
    this.options.log.markApplied(seq)
    for (const waiting of done) waiting.applied.resolve(waiting.uuids)
    for (const { seq: wanted, deferred } of this.waiters) if (wanted <= seq) deferred.resolve()
    this.waiters.splice(0, this.waiters.length, ...this.waiters.filter((waiter) => waiter.seq > seq))
    this.fillSlots()
  }

  /** What was not committed is read from the log again, by an applier that knows only the store. */
  private async recover(error: unknown): Promise<void> {
    await this.writing.catch(() => undefined) // what is being committed must not be applied again beside it
    this.writing = Promise.resolve()
    for (let cause = error; ; ) {
      if (cause instanceof TooMuchAtOnce) this.shrinkGroups(fewestRowsOfPeople)
      else {
        this.options.onError?.(cause)
        if (this.options.writer.isTooMuch(cause)) this.shrinkGroups(fewestRows)
        this.lastFailure = cause
        if (++this.failures > patience) this.failWaiters(cause)
        if (this.isGivenUp) return
        await this.pause(this.failures - 1)
      }
      if (this.isGivenUp) return
      try {
        this.applier = await Applier.open(this.options.writer, this.options.projectId, this.limits.groupPeople)
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

  /** Before another attempt. Who closes does not wait for it. */
  private async pause(attempt: number): Promise<void> {
    const over = new AbortController()
    const rest = setTimeout(retryMs[Math.min(attempt, retryMs.length - 1)], undefined, { ref: false, signal: over.signal })
    await Promise.race([rest.catch(() => undefined), this.closing.promise])
    over.abort()
  }

  private failWaiters(cause: unknown): void {
    if (this.isClosed) this.giveUp(cause)
    const failure = notWritten(cause)
    for (const { deferred } of this.waiters.splice(0)) deferred.reject(failure)
  }

  /** Nobody tries any more: who waits for its own records is told too. */
  private giveUp(cause: unknown): void {
    this.isGivenUp = true
    const failure = notWritten(cause)
    for (const { deferred } of this.waiters.splice(0)) deferred.reject(failure)
    for (const { applied, decided } of [...this.taken, ...this.queue, ...this.arrived.values()]) {
      applied.reject(failure)
      decided.reject(failure)
    }
  }

  private async takeBack(): Promise<void> {
    const { appliedSeq } = this.applier
    const lastOf = ({ firstSeq, count }: Waiting) => firstSeq + count - 1
    const uncommitted = [...this.taken].filter((waiting) => lastOf(waiting) > appliedSeq)
    const done = [...this.taken].filter((waiting) => lastOf(waiting) <= appliedSeq) // the commit that seemed to fail had succeeded
    const [last] = uncommitted.slice(-1)
    if (last) {
      for await (const batch of this.options.log.read(appliedSeq + 1)) {
        if (batch.firstSeq > last.firstSeq) break
        const waiting = uncommitted.find((one) => one.firstSeq <= batch.firstSeq && batch.firstSeq <= lastOf(one))
        if (!waiting) continue
        if (waiting.work === null) {
          this.waitingBytes += waiting.bytes
          this.enteredBytes += waiting.bytes
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

  /** Resolves when everything acknowledged so far can be queried. */
  caughtUp(): Promise<void> {
    return this.waitFor(this.lastSeq)
  }

  private waitFor(seq: number): Promise<void> {
    if (seq <= this.committedSeq) return Promise.resolve()
    const waiter = { seq, deferred: deferred<void>() }
    this.waiters.push(waiter)
    this.bell.resolve()
    return this.keepAlive.during(waiter.deferred.promise)
  }

  /** Gives old rows the values of new slots, a few at a time between the transactions of new events. */
  private fillSlots(): void {
    const { keys } = this.applier
    if (this.filling || this.isClosed || filledScopes.every((scope) => keys.unready(scope).length === 0)) return
    this.filling = this.fillUnready()
      .catch((error: unknown) => this.options.onError?.(error))
      .finally(() => {
        this.filling = null
      })
  }

  private async fillUnready(): Promise<void> {
    const { applier } = this
    const unready = filledScopes.map((scope) => ({ scope, slots: applier.keys.unready(scope) }))
    for (const { scope, slots } of unready) {
      if (slots.length === 0 || this.isClosed) continue
      const toSeq = Math.max(...slots.map(({ slot }) => slot.unfilledTo))
      const uses = slots.map(({ use }) => use)
      const steps = await this.options.writer.fillSteps(scope, uses, toSeq)
      for (const step of steps) {
        if (this.isClosed || this.applier !== applier) return
        await this.inTurn(step)
      }
    }
    if (this.isClosed || this.applier !== applier) return
    applier.keys.markReady(unready.flatMap(({ slots }) => slots.map(({ slot }) => slot)))
    this.apply()
  }

  private inTurn(work: () => Promise<void>): Promise<void> {
    const turn = this.writing.then(work)
    this.writing = this.writing.then(() => turn.catch(() => undefined))
    this.writing.catch(() => undefined)
    return turn
  }

  private now(): number {
    return this.options.clock().getTime()
  }

  private assertOpen(): void {
    if (this.isClosed) throw closed()
  }

  /** Writes what is acknowledged, then lets go of the store. The log stays open. */
  close(): Promise<void> {
    return this.keepAlive.during(this.finish())
  }

  private async finish(): Promise<void> {
    this.stop()
    await Promise.allSettled(this.entering)
    await this.caughtUp().catch((error: unknown) => this.options.onError?.(error))
    await this.letGo()
  }

  /** Ends what was begun: a pipeline that could not be opened must not go on trying. The store stays the caller's. */
  private async abandon(cause: unknown): Promise<void> {
    this.stop()
    this.giveUp(cause)
    await this.letGo(false)
  }

  private stop(): void {
    this.isClosed = true
    this.closing.resolve()
    this.bell.resolve()
  }

  private async letGo(withStore = true): Promise<void> {
    await this.deciding
    await this.filling
    await this.applying
    await this.writing.catch(() => undefined)
    await this.uuids.close()
    if (withStore) await this.options.writer.close()
  }
}
