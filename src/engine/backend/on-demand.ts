import { setTimeout } from 'node:timers/promises'
import type { RecordBatch, Table } from 'apache-arrow'
import { WaymarkError } from '../../errors/errors.ts'
import type { EventSource } from '../../events/ingestion/decoding/event-source.ts'
import type { BatchFacts, IngestAnswer } from '../../events/ingestion/intake.ts'
import type { WireBatch } from '../../events/ingestion/wire-batch.ts'
import { type Deferred, deferred } from '../../lib/flow/deferred.ts'
import type { ExportRows } from '../../service/exports/ports.ts'
import type { EventReader } from '../../service/plugins/delivery/ports.ts'
import type { Wanted } from '../admission/admission.ts'
import type { Computed, Computing } from '../admission/computing.ts'
import type { ActionService } from '../definitions/actions.ts'
import type { CohortService } from '../definitions/cohorts.ts'
import type { RowsAnswer } from '../execution/answer-rows.ts'
import type { Download, DownloadFormat } from '../execution/download.ts'
import type { RecoveryReport } from '../storage/recovery/recovery-report.ts'
import type { StoreCopy, StoreSpace } from '../storage/store-space.ts'
import type { BackendHome, Backends, LogState, ProjectBackend, RowLimits } from './backend.ts'
import { callOn, forwardedCalls, type KnownFacts, type Records } from './calls.ts'
import { type Compacted, type Compacting, copied, failed, isLittle } from './compaction.ts'
import type { Closable, OpenLimit } from './open-limit.ts'

const noRefreshes: CohortService['refreshes'] = { whole: 0, partial: 0 }

interface Failed {
  readonly error: unknown
  /** The earliest time of the next attempt, by `performance.now()`. */
  readonly until: number
}

// Opening a damaged project reads all of it before it fails: repeated requests must not block the server with that.
const pauses = { timesAsLong: 10, shortestMs: 1_000, longestMs: 60_000 } as const
/** A store that must be opened again waits this long for what uses it. */
const useUpMs = 2_000

/** Nothing of what was asked is done. */
const isClosedError = (error: unknown): boolean => error instanceof WaymarkError && error.code === 'closed'

/** How long new calls wait for those in progress before a store is replaced, the pause before the next attempt, and how long there are attempts. */
const rests = { restMs: 2_000, lookMs: 5, pauseMs: 1_000, longestMs: 60_000 } as const

type Errors = Pick<Backends, 'isOutOfMemory' | 'isLost'>

/** A project that is open while it is used, and closed when others need its memory. Its methods open it. */
export class OnDemandBackend implements ProjectBackend, Closable {
  readonly records: Records
  readonly known: KnownFacts
  readonly actions: ActionService
  readonly cohorts: CohortService
  readonly exportRows: ExportRows
  readonly storedEvents: EventReader
  readonly space: StoreSpace
  readonly reports: RecoveryReport[] = []
  uses = 0
  usedAt = performance.now()
  private readonly home: BackendHome
  private readonly backends: Pick<Backends, 'open' | 'replace'> & Errors
  private readonly limit: OpenLimit
  private opening: Promise<ProjectBackend> | null = null
  /** The open project. */
  private inner: ProjectBackend | null = null
  private closing: Promise<void> | null = null
  private failed: Failed | null = null
  private hasBeenOpen = false
  private readonly hasPosition: boolean
  private isClosed = false
  /** New calls wait for it: the store is being replaced. */
  private resting: Deferred<void> | null = null
  /** When it was closed last. */
  private last = { position: 0, lag: 0 }

  constructor(home: BackendHome, backends: Pick<Backends, 'open' | 'replace'> & Errors, limit: OpenLimit, position: number | null) {
    this.home = home
    this.backends = backends
    this.limit = limit
    this.last = { position: position ?? 0, lag: 0 }
    this.hasPosition = position !== null
    const calls = forwardedCalls((call) => this.use((backend) => callOn(backend, call)))
    const innerOf = () => this.inner
    this.records = calls.records
    this.known = calls.known
    this.actions = calls.actions
    this.storedEvents = calls.storedEvents
    this.space = calls.space
    this.cohorts = {
      ...calls.cohorts,
      get refreshes() {
        return innerOf()?.cohorts.refreshes ?? noRefreshes
      },
    }
    this.exportRows = { ...calls.exportRows, stage: (...args) => this.use((backend) => backend.exportRows.stage(...args)) }
  }

  get isOpen(): boolean {
    return this.inner !== null
  }

  get position(): number {
    return this.inner?.position ?? this.last.position
  }

  get lag(): number {
    return this.inner?.lag ?? this.last.lag
  }

  get failure(): unknown {
    return this.inner?.failure ?? null
  }

  /** Why it could not be opened when it was last needed; null if it could. */
  get openFailure(): unknown {
    return this.failed?.error ?? null
  }

  /** Opens it, if it was never open in this process: later it is opened by its first use. */
  async firstOpened(): Promise<void> {
    if (!this.hasBeenOpen || this.failed) await this.use(async () => undefined)
  }

  /** Opens it if the end of its log is not known. */
  async positioned(): Promise<void> {
    if (!this.hasPosition) await this.firstOpened()
    await this.inner?.look?.()
  }

  /** The last record of its log, also of those that other servers have added. */
  async end(): Promise<number> {
    if (this.hasPosition) return this.position
    return this.use(async (backend) => {
      await backend.look?.()
      return backend.position
    })
  }

  ingest(body: unknown, about: Pick<BatchFacts, 'ip' | 'userAgent' | 'attempt' | 'importId'>): Promise<IngestAnswer> {
    return this.taken((backend) => backend.ingest(body, about))
  }

  ingestEvents(events: EventSource, facts: BatchFacts): Promise<IngestAnswer> {
    return this.taken((backend) => backend.ingestEvents(events, facts))
  }

  ingestPrepared(batch: WireBatch): Promise<IngestAnswer> {
    return this.taken((backend) => backend.ingestPrepared(batch))
  }

  answer(query: unknown, asked: Computing & { readonly rows?: RowLimits }): Promise<Computed> {
    return this.useAgain((backend) => backend.answer(query, asked))
  }

  rows(query: unknown, wanted: Wanted, limits?: RowLimits): Promise<RowsAnswer | null> {
    return this.held(async (backend, release) => {
      const answer = await backend.rows(query, wanted, limits)
      return answer && { ...answer, batches: releasing(answer.batches, release) }
    })
  }

  table(query: unknown, wanted: Wanted): Promise<Table> {
    return this.useAgain((backend) => backend.table(query, wanted))
  }

  download(query: unknown, format: DownloadFormat, wanted: Wanted): Promise<Download> {
    return this.held(async (backend, release) => {
      const { warnings, bytes } = await backend.download(query, format, wanted)
      return { warnings, bytes: releasing(bytes, release) }
    })
  }

  async *batches(query: unknown, wanted: Wanted): AsyncGenerator<RecordBatch, void, undefined> {
    const { backend, release } = await this.hold()
    try {
      yield* backend.batches(query, wanted)
    } finally {
      release()
    }
  }

  settle(): Promise<void> {
    return this.use((backend) => backend.settle())
  }

  get logState(): LogState | null {
    return this.inner?.logState ?? null
  }

  /** For good. */
  async close(): Promise<void> {
    this.isClosed = true
    await this.closing?.catch(() => undefined)
    const opened = await this.opening?.catch(() => null)
    if (opened) await this.closeInner(opened)
  }

  async retire(): Promise<boolean> {
    const { inner } = this
    if (!inner || this.closing) return false
    try {
      if (inner.lag > 0) await inner.known.warnings() // what is applied now need not be applied while it is closed
    } catch {
      return false // it is retried while it is open
    }
    if (this.uses > 0 || this.closing || this.inner !== inner || inner.lag > 0) return false
    await this.closeInner(inner).catch((error: unknown) => this.home.onError(error))
    return true
  }

  /** Gives back the space of deleted rows. */
  async compact({ isForced, signal }: Compacting): Promise<Compacted> {
    const began = performance.now()
    const seconds = () => (performance.now() - began) / 1000
    const { backend, release } = await this.hold()
    const skipped = (bytes: number): Compacted => ({ outcome: 'skipped', before: bytes, after: bytes, seconds: seconds() })
    let before = 0
    try {
      await backend.known.warnings() // what is not applied yet would count as more space afterwards
      const { bytes, unused } = await backend.space.measure()
      before = bytes
      if (!isForced && isLittle(unused, bytes)) return skipped(bytes)
      const copy = await copied(backend, signal)
      if (!isForced && isLittle(bytes - copy.bytes, bytes)) {
        await backend.space.discard() // less than it was estimated to be
        return skipped(bytes)
      }
      await this.exchange(backend, copy, signal)
    } finally {
      release()
    }
    const { bytes } = await this.space.measure() // opens it, which applies the rest of the log
    return { outcome: 'compacted', before, after: bytes, seconds: seconds() }
  }

  /** Replaces the store by its copy. The caller holds the project. */
  private async exchange(inner: ProjectBackend, { seq }: StoreCopy, signal: AbortSignal): Promise<void> {
    try {
      await this.rest(inner, signal)
      if (this.inner !== inner || this.closing || this.isClosed) throw failed('The project was closed while its store was copied.')
      const again = inner.position - seq
      if (again > 0 && this.home.transformations?.isOn())
        throw failed(`${again} events arrived while the store was copied, and plugins change events, which they would do twice.`)
    } catch (error) {
      if (this.inner === inner) await inner.space.discard().catch(() => undefined)
      this.goOn()
      throw error
    }
    try {
      await this.closeInner(inner)
      await this.backends.replace(this.home.settings().id)
    } finally {
      this.goOn()
    }
  }

  /** Resolves while no other call is in progress and everything is applied. New calls wait until `goOn`. */
  private async rest(inner: ProjectBackend, signal: AbortSignal): Promise<void> {
    for (const until = performance.now() + rests.longestMs; ; await setTimeout(rests.pauseMs, undefined, { ref: false })) {
      signal.throwIfAborted()
      if (inner.lag > 0) await inner.known.warnings() // so that little is left to apply
      this.resting = deferred()
      const atRest = performance.now() + rests.restMs
      while (this.uses > 1 && performance.now() < atRest) await setTimeout(rests.lookMs)
      // Plugins may capture events while others are applied, which would wait for this: so it is not waited for in `close`.
      if (this.uses <= 1 && inner.lag > 0) await Promise.race([inner.known.warnings(), setTimeout(rests.restMs)])
      if (this.uses <= 1 && inner.lag === 0) return
      this.goOn()
      if (performance.now() > until) throw failed('Queries kept the store in use, which is as it was. Compact when fewer run.')
    }
  }

  private goOn(): void {
    this.resting?.resolve()
    this.resting = null
  }

  /** The engine has lost the store, which must be opened again. */
  private async reopen(inner: ProjectBackend): Promise<void> {
    if (this.inner !== inner || this.closing || this.isClosed) return
    const until = performance.now() + useUpMs
    while (this.uses > 0 && performance.now() < until) await setTimeout(20, undefined, { ref: false })
    if (this.inner !== inner || this.closing || this.isClosed) return
    await this.limit.release(this)
    await this.closeInner(inner).catch((error: unknown) => this.home.onError(error))
    if (!this.isClosed) await this.use(async () => undefined).catch(() => undefined) // also applies what is in the log
  }

  private closeInner(inner: ProjectBackend): Promise<void> {
    this.closing ??= (async () => {
      try {
        await inner.close()
      } finally {
        this.last = { position: inner.position, lag: inner.lag }
        this.inner = this.opening = this.closing = null
        this.limit.leave(this)
      }
    })()
    return this.closing
  }

  private async opened(): Promise<ProjectBackend> {
    for (;;) {
      if (this.closing) await this.closing.catch(() => undefined)
      if (this.isClosed) throw new WaymarkError('closed', {})
      if (this.closing) continue
      if (this.opening) return this.opening
      if (this.failed && performance.now() < this.failed.until) throw this.failed.error
      this.opening = this.open()
    }
  }

  private async open(): Promise<ProjectBackend> {
    const began = performance.now()
    try {
      await this.limit.enter(this)
      const inner = await this.backends.open(this.homeOfInner()).catch(async (error: unknown) => {
        if (!this.backends.isOutOfMemory(error) || !(await this.limit.release(this))) throw error
        return this.backends.open(this.homeOfInner())
      })
      this.inner = inner
      this.hasBeenOpen = true
      this.failed = null
      this.reports.push(...inner.reports)
      return inner
    } catch (error) {
      this.opening = null
      this.limit.leave(this)
      const pause = Math.min(pauses.longestMs, Math.max(pauses.shortestMs, pauses.timesAsLong * (performance.now() - began)))
      if (!this.home.signal?.aborted) {
        this.failed = { error, until: performance.now() + pause }
        this.home.onError(error)
      }
      throw error
    }
  }

  private homeOfInner(): BackendHome {
    return {
      ...this.home,
      wasClosed: this.hasBeenOpen,
      onError: (error) => {
        this.home.onError(error)
        const { inner } = this
        if (inner && this.backends.isLost(error)) void this.reopen(inner)
        else if (this.backends.isOutOfMemory(error)) void this.limit.release(this)
      },
    }
  }

  private async hold(): Promise<{ readonly backend: ProjectBackend; release(): void }> {
    while (this.resting) await this.resting.promise
    this.uses++
    let isHeld = true
    const release = () => {
      if (!isHeld) return
      isHeld = false
      this.uses--
      this.usedAt = performance.now()
      if (this.uses === 0) this.limit.idles(this)
    }
    try {
      return { backend: await this.opened(), release }
    } catch (error) {
      release()
      throw error
    }
  }

  private async use<T>(work: (backend: ProjectBackend) => Promise<T>): Promise<T> {
    const { backend, release } = await this.hold()
    try {
      return await work(backend)
    } catch (error) {
      if (this.backends.isLost(error)) void this.reopen(backend)
      throw error
    } finally {
      release()
    }
  }

  /** A batch that still waited when its store was closed to be opened again is handed to the next one. */
  private async taken<T>(work: (backend: ProjectBackend) => Promise<T>): Promise<T> {
    for (;;) {
      const { inner } = this
      try {
        return await this.use(work)
      } catch (error) {
        if (!isClosedError(error) || this.isClosed || (this.inner === inner && !this.closing)) throw error
      }
    }
  }

  /** The same for what may be repeated: once more if memory was short and others could give theirs back. */
  private useAgain<T>(work: (backend: ProjectBackend) => Promise<T>): Promise<T> {
    return this.use(async (backend) => {
      try {
        return await work(backend)
      } catch (error) {
        if (!this.backends.isOutOfMemory(error) || !(await this.limit.release(this))) throw error
        return work(backend)
      }
    })
  }

  /** In use until the rows of the answer are read, or left. */
  private async held<T>(work: (backend: ProjectBackend, release: () => void) => Promise<T | null>): Promise<T> {
    const { backend, release } = await this.hold()
    try {
      const answer = await work(backend, release)
      if (answer === null) release()
      return answer as T
    } catch (error) {
      release()
      throw error
    }
  }
}

/** Calls `release` at the end of a source, also if it is left before it was read. */
function releasing<T, R>(source: AsyncGenerator<T, R, undefined>, release: () => void): AsyncGenerator<T, R, undefined> {
  const ending = async (step: Promise<IteratorResult<T, R>>) => {
    try {
      const result = await step
      if (result.done) release()
      return result
    } catch (error) {
      release()
      throw error
    }
  }
  return {
    next: () => ending(source.next()),
    return: (value) => ending(source.return(value)),
    throw: (error) => ending(source.throw(error)),
    [Symbol.asyncIterator]() {
      return this
    },
    [Symbol.asyncDispose]: async () => {
      release()
      await source[Symbol.asyncDispose]?.()
    },
  } as AsyncGenerator<T, R, undefined>
}
