import { setImmediate } from 'node:timers/promises'
import type { BrokenInvariant } from '../../errors/invariants.ts'
import type { KeptFrom } from '../../language/catalog/removals.ts'
import { KeepAlive } from '../../lib/web/keep-alive.ts'
import { Applier } from './applying/applier.ts'
import { ApplyFailures, closed, notWritten } from './applying/apply-failures.ts'
import { ApplyLoop, type GroupLimits } from './applying/apply-loop.ts'
import { Attempts, noAttempts } from './applying/attempts.ts'
import { Backpressure, defaultQueueBytes } from './applying/backpressure.ts'
import { CommitWaiters } from './applying/commit-waiters.ts'
import { DuplicateOrder } from './applying/duplicate-order.ts'
import { type FollowedLog, LogFollower } from './applying/log-follower.ts'
import { type QueuedBatch, queuedBatch } from './applying/queued-batch.ts'
import { readWork } from './applying/read-work.ts'
import { RecentEvents } from './applying/recent-events.ts'
import { RecentWaits } from './applying/recent-waits.ts'
import { SlotBackfill } from './applying/slot-backfill.ts'
import { UuidIndex } from './applying/uuid-index.ts'
import { Changes, recordsOf } from './changes.ts'
import type { Salts } from './cookieless/salts.ts'
import type { EventSource } from './decoding/event-source.ts'
import { type BatchFacts, type Handed, type IngestAnswer, Intake } from './intake.ts'
import type { AttemptStore, EventWriter, IngestLog, LogRecords } from './ports.ts'
import type { Transform } from './transforming/transform.ts'
import { TransformOrder } from './transforming/transform-order.ts'
import type { WarningSummary } from './warnings.ts'
import type { WireBatch } from './wire-batch.ts'
import type { Content, Work } from './work.ts'

/** Reading the log yields to the event loop after this time. */
const sliceMs = 10
/** The first part of a replay is committed after this time. */
const firstPartMs = 100

export interface PipelineOptions {
  readonly log: IngestLog
  readonly writer: EventWriter
  /** Folder for the index of event uuids. It can be deleted at any time; null keeps the index in memory. */
  readonly uuidFolder?: string | null
  /** The uuid of every person is derived from it. */
  readonly projectId: number
  readonly clock: () => Date
  /** Read again for each batch. */
  readonly settings: () => { readonly anonymizeIps: boolean; readonly timezone?: string }
  /** For visitors without cookies. Default: salts that end with the process. */
  readonly salts?: Salts | undefined
  /** Default: events are stored as they were sent. */
  readonly transform?: Transform | undefined
  /** What outlives a process that ended while it applied records. Default: nothing. */
  readonly attempts?: AttemptStore | undefined
  readonly limits?: Partial<Limits>
  /** Called with errors that the pipeline recovers from. */
  readonly onError?: (error: unknown) => void
  /** Aborts when the project is closed before it is open. */
  readonly signal?: AbortSignal
}

interface Limits extends GroupLimits {
  /** Limit on the bytes of batches that are not applied. Above a fraction of it callers wait; above the limit they are refused. */
  readonly queueBytes: number
}

const noTransform: Transform = { isOn: () => false, transform: async (works) => works, forget: () => undefined }

interface Entered extends Handed {
  readonly waiting: QueuedBatch
}

/** What a project's backend needs of the part that takes and applies its events. */
export type Ingestion = Pick<
  Pipeline,
  | 'recent'
  | 'position'
  | 'lag'
  | 'failure'
  | 'ingest'
  | 'ingestEvents'
  | 'ingestPrepared'
  | 'importPersons'
  | 'importGroups'
  | 'definePropertyTypes'
  | 'writeRecords'
  | 'changePersons'
  | 'deletePersons'
  | 'remove'
  | 'keptFrom'
  | 'changeGroup'
  | 'end'
  | 'caughtUp'
  | 'processed'
  | 'close'
> & {
  warnings(): readonly WarningSummary[] | Promise<readonly WarningSummary[]>
}

/**
 * Validates batches, makes them durable, and applies them to the store in log order. A batch passes through `backpressure.ts`, the log,
 * `duplicate-order.ts`, `transform-order.ts` and `apply-loop.ts`; `apply-failures.ts` handles errors.
 */
export class Pipeline extends Changes {
  private readonly options: PipelineOptions
  private readonly queries = new RecentWaits()
  private readonly backpressure: Backpressure
  private readonly failures: ApplyFailures
  private readonly waiters: CommitWaiters
  /** What queries may read before the store has it. */
  readonly recent: RecentEvents
  private readonly uuids: UuidIndex
  private readonly order: DuplicateOrder
  private readonly transforming: TransformOrder
  private readonly loop: ApplyLoop
  private readonly slots: SlotBackfill
  private readonly intake: Intake<Entered>
  /** Follows a log that another process writes. */
  private readonly follower: LogFollower | null
  private lastSeq: number
  private yieldedAt = 0
  private readonly keepAlive = new KeepAlive()
  private readonly attempts: Attempts

  private constructor(options: PipelineOptions, limits: Limits, applier: Applier, uuids: UuidIndex, attempts: Attempts) {
    super()
    this.attempts = attempts
    const { writer, log, projectId, transform = noTransform } = options
    this.options = options
    this.uuids = uuids
    this.lastSeq = applier.appliedSeq
    const report = (error: unknown) => options.onError?.(error)
    this.backpressure = new Backpressure(limits.queueBytes, this.queries)
    this.waiters = new CommitWaiters(applier.appliedSeq)
    this.recent = new RecentEvents(applier.appliedSeq, applier.factsVersion, (seq) => this.upTo(seq))
    const { backpressure, waiters, queries, recent } = this
    this.failures = new ApplyFailures({
      report,
      hopeless: (cause) => {
        waiters.reject(notWritten(cause))
        recent.reject(notWritten(cause))
      },
      givenUp: (cause) => this.rejectAll(notWritten(cause)),
    })
    const { failures } = this
    const committed = (seq: number) => {
      uuids.committed(seq)
      transform.forget(seq)
      log.markApplied(seq)
      this.slots.look()
    }
    const processed = (seq: number) => log.markTaken?.(seq)
    this.loop = new ApplyLoop(
      { writer, projectId, log, limits, backpressure, failures, waiters, queries, transform, attempts, recent, processed, committed },
      applier,
    )
    this.slots = new SlotBackfill(writer, this.loop, failures, report)
    this.transforming = new TransformOrder(transform, failures, (waiting) => this.loop.take(waiting))
    this.order = new DuplicateOrder(uuids, failures, applier.appliedSeq + 1, (waiting) => this.transforming.take(waiting))
    this.intake = new Intake({
      log,
      backpressure,
      clock: options.clock,
      settings: options.settings,
      projectId,
      salts: options.salts,
      mustBeOpen: () => this.mustBeOpen(),
      handOver: (work) => handed(this.follower ? this.follower.entered(work.firstSeq) : Promise.resolve(this.enter(work))),
    })
    this.follower = log.grown
      ? new LogFollower(log as FollowedLog, (signal) => this.readOn(Number.POSITIVE_INFINITY, signal), report)
      : null
  }

  /** Replays the records of the log that are not applied yet. */
  static async open(options: PipelineOptions): Promise<Pipeline> {
    const { writer, projectId, uuidFolder = null, onError = () => {} } = options
    const { groupRows, groupPeople } = writer
    const limits: Limits = { queueBytes: defaultQueueBytes, groupRows, groupPeople, ...options.limits }
    const applier = await Applier.open(writer, projectId, limits)
    const uuids = await UuidIndex.open(writer, applier.appliedSeq, uuidFolder, onError)
    const attempts = new Attempts(options.attempts ?? noAttempts, applier.appliedSeq)
    const pipeline = new Pipeline(options, limits, applier, uuids, attempts)
    try {
      await pipeline.setAside()
      await pipeline.keepAlive.during(pipeline.replay(options.signal))
    } catch (error) {
      await pipeline.abandon(error)
      throw error
    }
    pipeline.slots.look()
    pipeline.follower?.start(() => pipeline.lastSeq)
    return pipeline
  }

  /** A record that has ended the process whenever it was applied is kept in a file, and the project goes on without it. */
  private async setAside(): Promise<void> {
    const { attempts } = this
    const seq = attempts.condemned
    if (seq === null) return
    for await (const { kind, receivedAt, sentAt, uuids, payloads } of this.options.log.read(seq)) {
      const file = await attempts.setAside({ seq, kind, uuid: uuids[0]!, receivedAt, sentAt, payload: payloads.at(0) })
      this.options.onError?.(new Error(`Record ${seq} crashed the engine each time it was applied. It was set aside in ${file}.`))
      return
    }
  }

  private async replay(signal?: AbortSignal): Promise<void> {
    const { failures } = this
    const stop = () => {
      this.stop()
      failures.abandon(closed())
    }
    signal?.addEventListener('abort', stop, { once: true })
    try {
      const { lastSeq } = this.options.log
      const reading = this.readOn(lastSeq, signal)
      this.commitMeanwhile(reading)
      await reading
      await this.upTo(this.lastSeq)
    } catch (error) {
      throw signal?.aborted ? closed() : error
    } finally {
      signal?.removeEventListener('abort', stop)
    }
  }

  /** Commits parts of a replay, each twice as long as the one before: a process that is killed repeatedly still makes progress. */
  private commitMeanwhile(reading: Promise<void>): void {
    let timer: NodeJS.Timeout | undefined
    const commitAfter = (ms: number) => {
      timer = setTimeout(() => {
        this.upTo(this.lastSeq).catch(() => undefined)
        commitAfter(ms * 2)
      }, ms)
    }
    commitAfter(firstPartMs)
    reading.catch(() => undefined).finally(() => clearTimeout(timer))
  }

  /** A batch that the log has or is about to get: the follower takes it from memory instead of reading the log. */
  offer(work: Work): void {
    this.follower?.offer(work, this.lastSeq)
  }

  /** Queues the records after the last queued one, up to `toSeq`. */
  private async readOn(toSeq: number, signal?: AbortSignal): Promise<void> {
    const { log } = this.options
    while (this.lastSeq < Math.min(toSeq, log.lastSeq)) {
      const offered = this.follower?.takeOffer(this.lastSeq + 1)
      if (offered) {
        await this.enterNext(offered, signal)
        continue
      }
      const { lastSeq } = this
      for await (const batch of log.read(lastSeq + 1)) {
        if (batch.firstSeq > toSeq) return
        await this.enterNext(readWork(batch, this.attempts.aside), signal)
        if (this.follower?.hasOffer(this.lastSeq + 1)) break
      }
      if (this.lastSeq === lastSeq) return // the log has no more records
    }
  }

  private async enterNext(work: Work, signal?: AbortSignal): Promise<void> {
    const { backpressure, failures, order } = this
    await order.skipTo(work.firstSeq)
    while (backpressure.isCrowded && !failures.isAbandoned) await backpressure.change()
    if (signal?.aborted) throw closed()
    const waiting = this.enter(work)
    this.follower?.enters(waiting)
    if (performance.now() - this.yieldedAt < sliceMs) return
    await setImmediate() // reading batches of one event does not yield otherwise
    this.yieldedAt = performance.now()
  }

  /** The last record that is durable. */
  get position(): number {
    return this.follower ? this.options.log.lastSeq : this.lastSeq
  }

  /** Number of records that are durable but not applied. */
  get lag(): number {
    return this.position - this.waiters.seq
  }

  /** The cause when applying keeps failing; null while it works. */
  get failure(): unknown {
    return this.failures.failure
  }

  /** Takes the body of `POST /batch/` without the key. Resolves when the batch is durable and its duplicates are counted. */
  ingest(body: unknown, about: Pick<BatchFacts, 'ip' | 'userAgent' | 'sentAt' | 'attempt' | 'importId'> = {}): Promise<IngestAnswer> {
    return this.keepAlive.during(this.intake.ingest(body, about))
  }

  /** The same for events that are parsed while they are prepared; yields to the event loop in between. */
  ingestEvents(events: EventSource, facts: BatchFacts): Promise<IngestAnswer> {
    return this.keepAlive.during(this.intake.ingestEvents(events, facts))
  }

  /** The same for past events that another thread has prepared. */
  ingestPrepared(batch: WireBatch): Promise<IngestAnswer> {
    return this.keepAlive.during(this.intake.ingestPrepared(batch))
  }

  /** The events that are kept by the records that are applied. */
  get keptFrom(): KeptFrom {
    return this.loop.applier.keptFrom
  }

  /** Exact numbers of warnings about events, with a few samples of each kind. */
  warnings(): WarningSummary[] {
    return this.loop.applier.warningSummaries()
  }

  protected async write(kind: LogRecords['kind'], content: Content, rows: readonly object[]): Promise<readonly string[]> {
    this.mustBeOpen()
    if (rows.length === 0) return []
    const { intake } = this
    const records = recordsOf(kind, rows, intake)
    return this.keepAlive.during(intake.accept(records, content).then(({ waiting }) => waiting.applied.promise))
  }

  protected now(): number {
    return this.intake.now()
  }

  protected async groupType(index: number): Promise<string | undefined> {
    return this.loop.applier.groupType(index)
  }

  private enter(work: Work): QueuedBatch {
    const { firstSeq, count, bytes } = work
    const waiting = queuedBatch(work)
    this.backpressure.enter(bytes)
    this.lastSeq = Math.max(this.lastSeq, firstSeq + count - 1)
    this.order.take(waiting)
    return waiting
  }

  /** Ends what is done for this project: its state is wrong, and the next process begins anew from the log and the store. */
  end(cause: BrokenInvariant): void {
    this.failures.broken(cause)
  }

  /** Resolves when every record acknowledged so far is applied. */
  async caughtUp(): Promise<void> {
    this.mustBeWhole()
    this.queries.note()
    return this.upTo(this.position)
  }

  /** Resolves when every record acknowledged so far is processed, and in `recent`, whether the store has it or not. */
  async processed(): Promise<void> {
    this.mustBeWhole()
    this.queries.note()
    return this.keepAlive.during(this.recent.until(this.position))
  }

  private upTo(seq: number): Promise<void> {
    const seen = this.waiters.until(seq)
    if (this.lag === 0) return seen
    this.loop.wake()
    return this.keepAlive.during(seen)
  }

  private mustBeWhole(): void {
    if (this.failures.brokenBy) throw this.failures.brokenBy
  }

  private mustBeOpen(): void {
    this.mustBeWhole()
    if (this.failures.isClosed) throw closed()
  }

  /** Applies what is acknowledged, then releases the store. The log stays open. */
  close(): Promise<void> {
    return this.keepAlive.during(this.finish())
  }

  /** Number of duplicates in a batch that another process acknowledged. */
  async duplicatesOf(firstSeq: number, count: number, dropped: number): Promise<number> {
    const isQueued = firstSeq <= this.lastSeq
    const known = isQueued ? this.follower?.find(firstSeq) : await this.keepAlive.during(Promise.resolve(this.follower?.entered(firstSeq)))
    if (known?.count === count) return (await known.decided.promise).size
    this.mustBeOpen()
    const lastSeq = firstSeq + count - 1
    await this.keepAlive.during(this.waiters.until(lastSeq))
    let stored = 0
    for await (const { uuids } of this.options.writer.uuids(firstSeq, lastSeq)) stored += uuids.length
    return count - dropped - stored
  }

  private async finish(): Promise<void> {
    this.intake.flush()
    this.stop()
    await this.intake.settled()
    await this.caughtUp().catch((error: unknown) => this.options.onError?.(error))
    await this.letGo()
    await this.options.writer.close()
  }

  /** Stops a pipeline that failed to open, so that it does not keep retrying. The caller still owns the store. */
  private async abandon(cause: unknown): Promise<void> {
    this.stop()
    this.failures.abandon(cause)
    await this.letGo()
  }

  private stop(): void {
    this.failures.close()
    this.backpressure.close()
    this.loop.wake()
  }

  /** Ends without applying the rest: another process does. What is being committed ends first. */
  async release(cause: unknown): Promise<void> {
    await this.abandon(cause)
    await this.options.writer.close()
  }

  private rejectAll(failure: unknown): void {
    this.waiters.reject(failure)
    this.recent.reject(failure)
    for (const { applied, decided } of [...this.loop.unfinished, ...this.transforming.unfinished, ...this.order.undecided]) {
      applied.reject(failure)
      decided.reject(failure)
    }
  }

  private async letGo(): Promise<void> {
    await this.follower?.stop()
    await this.order.settled()
    await this.transforming.settled()
    await this.slots.settled()
    await this.loop.settled()
    await this.uuids.close()
    this.attempts.close()
  }
}

const handed = async (entering: Promise<QueuedBatch | undefined>): Promise<Entered> => {
  const waiting = await entering
  if (!waiting) throw closed()
  return { waiting, duplicates: async () => (await waiting.decided.promise).size }
}
