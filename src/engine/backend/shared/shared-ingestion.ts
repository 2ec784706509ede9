import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { InternalError, WaymarkError } from '../../../errors/errors.ts'
import { defaultQueueBytes } from '../../../events/ingestion/applying/backpressure.ts'
import { CommitWaiters } from '../../../events/ingestion/applying/commit-waiters.ts'
import type { RecentEvents } from '../../../events/ingestion/applying/recent-events.ts'
import { Changes, recordsOf } from '../../../events/ingestion/changes.ts'
import type { EventSource } from '../../../events/ingestion/decoding/event-source.ts'
import { type BatchFacts, type Handed, type IngestAnswer, Intake } from '../../../events/ingestion/intake.ts'
import { type Ingestion, Pipeline } from '../../../events/ingestion/pipeline.ts'
import type { IngestLog, LogRecords } from '../../../events/ingestion/ports.ts'
import { Transformer } from '../../../events/ingestion/transforming/transformer.ts'
import type { WarningSummary } from '../../../events/ingestion/warnings.ts'
import type { WireBatch } from '../../../events/ingestion/wire-batch.ts'
import type { Content, Work } from '../../../events/ingestion/work.ts'
import type { KeptFrom } from '../../../language/catalog/removals.ts'
import { KeepAlive } from '../../../lib/web/keep-alive.ts'
import { LagBackpressure } from '../../isolation/lag-backpressure.ts'
import type { Lease } from '../../storage/postgres/partitions.ts'
import { LeaseLost } from '../../storage/shared-journal.ts'
import type { SharedStorage, SharedStores } from '../../storage/shared-stores.ts'
import type { BackendHome } from '../backend.ts'
import type { Followed, SharedNode } from './shared-node.ts'

/** A query that waits says so again after this time. */
const wantMs = 1_000
/** A server that could not begin to apply a project tries again after this time, as long as it has the lease. */
const againMs = 1_000

interface Entered extends Handed {
  readonly firstSeq: number
}

/**
 * The events of a project whose log several servers write. Each of them acknowledges what it has added; the one with the lease applies it all, and the others
 * wait until it has.
 */
export class SharedIngestion extends Changes implements Ingestion, Followed {
  readonly project: number
  private readonly home: BackendHome
  private readonly storage: SharedStorage
  private readonly stores: Pick<SharedStores, 'blocks'>
  private readonly node: SharedNode
  private readonly intake: Intake<Entered>
  private readonly room: LagBackpressure
  private readonly waiters: CommitWaiters
  private readonly keepAlive = new KeepAlive()
  private readonly outcomes = new Map<number, string>()
  /** While this server has the lease. */
  private inner: Pipeline | null = null
  private holding: { readonly lease: Lease; readonly ending: AbortController; done: Promise<void> } | null = null
  private startFailure: unknown = null
  /** Of the latest lease. */
  private transformed: Awaited<ReturnType<SharedStorage['openTransformed']>> | null = null
  private kept: { readonly seq: number; readonly from: KeptFrom } | null = null
  private isClosed = false

  constructor(home: BackendHome, storage: SharedStorage, stores: Pick<SharedStores, 'blocks'>, node: SharedNode) {
    super()
    this.home = home
    this.storage = storage
    this.stores = stores
    this.node = node
    this.project = home.settings().id
    this.room = new LagBackpressure(defaultQueueBytes, () => true)
    this.waiters = new CommitWaiters(storage.log.appliedSeq)
    this.intake = new Intake({
      log: storage.log,
      backpressure: this.room,
      clock: home.clock,
      settings: home.settings,
      projectId: this.project,
      salts: home.salts,
      mustBeOpen: () => this.mustBeOpen(),
      handOver: (work) => this.handOver(work),
    })
  }

  get recent(): RecentEvents {
    throw new InternalError('Events of several servers are not followed in memory')
  }

  get position(): number {
    return this.storage.log.lastSeq
  }

  get lag(): number {
    return this.position - this.waiters.seq
  }

  get failure(): unknown {
    return this.inner ? this.inner.failure : this.startFailure
  }

  get keptFrom(): KeptFrom {
    if (!this.kept) throw new InternalError('What the project keeps was not read')
    return this.kept.from
  }

  ingest(body: unknown, about: Pick<BatchFacts, 'ip' | 'userAgent' | 'sentAt' | 'importId'> = {}): Promise<IngestAnswer> {
    return this.keepAlive.during(this.intake.ingest(body, about))
  }

  ingestEvents(events: EventSource, facts: BatchFacts): Promise<IngestAnswer> {
    return this.keepAlive.during(this.intake.ingestEvents(events, facts))
  }

  ingestPrepared(batch: WireBatch): Promise<IngestAnswer> {
    return this.keepAlive.during(this.intake.ingestPrepared(batch))
  }

  async warnings(): Promise<readonly WarningSummary[]> {
    const stored = await this.storage.warnings()
    return stored.map(({ samples, ...rest }) => ({ ...rest, samples: JSON.parse(samples) }) as WarningSummary)
  }

  /** Learns what all servers have acknowledged by now. */
  async look(): Promise<void> {
    this.see(await this.node.state(this.project))
  }

  /** Resolves when everything is applied that any server acknowledged before the call. */
  async caughtUp(): Promise<void> {
    await this.look()
    await this.appliedUpTo(this.position)
    if (this.kept?.seq !== this.waiters.seq) await this.readKept()
  }

  processed(): Promise<void> {
    return this.caughtUp()
  }

  end(cause: unknown): void {
    this.home.onError(cause)
  }

  see({ lastSeq, appliedSeq }: { readonly lastSeq: number; readonly appliedSeq: number }): void {
    this.storage.log.reached(lastSeq)
    this.applied(appliedSeq)
  }

  wanted(seq: number): void {
    this.storage.log.reached(seq)
    this.inner?.caughtUp().catch(() => undefined) // its failures are reported
  }

  hold(lease: Lease): void {
    if (this.isClosed) return // the next server gets it
    const ending = new AbortController()
    const holding = { lease, ending, done: Promise.resolve() }
    this.holding = holding
    holding.done = this.begin(lease, ending.signal)
  }

  async lose(): Promise<void> {
    const { holding } = this
    this.holding = null
    holding?.ending.abort()
    await holding?.done
    const { inner } = this
    this.inner = null
    await inner?.release(new LeaseLost())
    await this.transformed?.release().catch(() => undefined) // tried again before the next lease
  }

  trim(): Promise<void> {
    return this.storage.log.trim()
  }

  async close(): Promise<void> {
    this.intake.flush()
    this.isClosed = true
    await this.intake.settled()
    this.holding?.ending.abort()
    await this.holding?.done
    const { inner } = this
    this.inner = null
    try {
      await inner?.close()
      await this.transformed?.release()
    } finally {
      await this.node.leave(this)
      this.waiters.reject(new WaymarkError('closed', {}))
    }
  }

  protected now(): number {
    return this.intake.now()
  }

  protected async groupType(index: number): Promise<string | undefined> {
    await this.caughtUp()
    return (await this.storage.engine.facts()).groupTypes.find((type) => type.index === index)?.name
  }

  protected async write(kind: LogRecords['kind'], content: Content, rows: readonly object[]): Promise<readonly string[]> {
    this.mustBeOpen()
    if (rows.length === 0) return []
    const { firstSeq } = await this.keepAlive.during(this.intake.accept(recordsOf(kind, rows, this.intake), content))
    await this.appliedUpTo(firstSeq + rows.length - 1)
    const outcome = await this.stores.blocks.outcome(this.project, firstSeq)
    if (outcome === null) throw new WaymarkError('engine-ended', { isChange: true })
    if (kind === 'removals') await this.readKept()
    return JSON.parse(outcome) as string[]
  }

  private async readKept(): Promise<void> {
    const { seq } = this.waiters
    this.kept = { seq, from: await this.storage.keptFrom() }
  }

  private handOver(work: Work): Entered {
    const { firstSeq, count, bytes, content } = work
    const lastSeq = firstSeq + count - 1
    this.room.enter(lastSeq, bytes)
    if (this.waiters.seq >= lastSeq) this.room.leave(this.waiters.seq)
    this.inner?.offer(work)
    const dropped = content.kind === 'event' ? content.events.filter(({ isDropped }) => isDropped).length : 0
    const duplicates = async () => {
      const { inner } = this
      const known = await inner?.duplicatesOf(firstSeq, count, dropped).catch(() => null)
      if (typeof known === 'number') return known
      await this.appliedUpTo(lastSeq)
      return count - dropped - (await this.storage.countStored(firstSeq, lastSeq))
    }
    return { firstSeq, duplicates }
  }

  private async appliedUpTo(seq: number): Promise<void> {
    if (seq <= this.waiters.seq) return
    this.mustBeOpen()
    const there = this.keepAlive.during(this.waiters.until(seq))
    const isThere = there.then(() => true)
    for (;;) {
      const { inner } = this
      if (inner) await Promise.race([there, this.appliedBy(inner)])
      else this.node.want(this.project, seq)
      const over = new AbortController()
      const rest = pause(wantMs, false, { ref: false, signal: over.signal }).catch(() => false)
      const isOver = await Promise.race([isThere, rest])
      over.abort()
      if (isOver) return
      await this.look().catch(() => undefined)
    }
  }

  /** Rejects if this server applies the project and cannot. */
  private async appliedBy(inner: Pipeline): Promise<void> {
    try {
      await inner.caughtUp()
    } catch (error) {
      if (inner === this.inner) throw error
    }
  }

  private applied(seq: number): void {
    if (seq <= this.waiters.seq) return
    this.storage.log.markApplied(seq)
    this.room.leave(seq)
    this.waiters.reached(seq)
  }

  /** Applies the log from the position on. */
  private async begin(lease: Lease, signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      try {
        this.inner = await this.keepAlive.during(this.openPipeline(lease, signal))
        this.startFailure = null
        return
      } catch (error) {
        if (signal.aborted) return
        if (!(error instanceof LeaseLost)) {
          // Once, however often it is tried.
          if (String(this.startFailure) !== String(error)) this.home.onError(error)
          this.startFailure = error
        }
        await pause(againMs, undefined, { signal, ref: false }).catch(() => undefined)
      }
    }
  }

  private async openPipeline(lease: Lease, signal: AbortSignal): Promise<Pipeline> {
    const { home, storage, project } = this
    const { log } = storage
    const view: IngestLog = {
      append: () => Promise.reject(new InternalError('Batches are added by the log of the project itself')),
      read: (fromSeq) => log.read(fromSeq),
      get lastSeq() {
        return log.lastSeq
      },
      markApplied: (seq) => this.applied(seq),
      grown: (seq) => log.grown(seq),
      noteOutcome: (firstSeq, outcome) => void this.outcomes.set(firstSeq, JSON.stringify(outcome)),
    }
    await this.node.usePlugins(project, signal)
    await this.look()
    const [transform, attempts] = [await this.openTransform(lease), await storage.openAttempts(lease)]
    const writer = await storage.openWriter(lease, {
      lost: () => this.node.hasLost(this),
      takeOutcomes: (seq) => {
        const taken = [...this.outcomes].filter(([firstSeq]) => firstSeq <= seq)
        for (const [firstSeq] of taken) this.outcomes.delete(firstSeq)
        return taken
      },
    })
    try {
      return await Pipeline.open({
        log: view,
        writer,
        uuidFolder: storage.cacheFolder && join(storage.cacheFolder, 'uuids'),
        projectId: project,
        clock: home.clock,
        settings: home.settings,
        salts: home.salts,
        transform,
        attempts,
        onError: (error) => {
          if (!(error instanceof LeaseLost)) home.onError(error)
        },
        signal: home.signal ? AbortSignal.any([signal, home.signal]) : signal,
      })
    } catch (error) {
      await writer.close()
      throw error
    }
  }

  private async openTransform(lease: Lease): Promise<Transformer | undefined> {
    const { transformations } = this.home
    if (!transformations) return undefined
    const { project, storage } = this
    // What this server had begun and did not finish has not ended it.
    await this.transformed?.release()
    const file = await storage.openTransformed(lease)
    this.transformed = file
    const transformer = new Transformer({ projectId: project, transformations, file })
    transformer.started(storage.log.lastSeq)
    return transformer
  }

  private mustBeOpen(): void {
    if (this.isClosed) throw new WaymarkError('closed', {})
  }
}
