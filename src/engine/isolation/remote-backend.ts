import { type RecordBatch, Table } from 'apache-arrow'
import { InternalError, WaymarkError } from '../../errors/errors.ts'
import { defaultQueueBytes } from '../../events/ingestion/applying/backpressure.ts'
import { RecentWaits } from '../../events/ingestion/applying/recent-waits.ts'
import type { EventSource } from '../../events/ingestion/decoding/event-source.ts'
import { type BatchFacts, type IngestAnswer, Intake } from '../../events/ingestion/intake.ts'
import { type WireBatch, writeBatch } from '../../events/ingestion/wire-batch.ts'
import type { Work as Batch } from '../../events/ingestion/work.ts'
import { arrowBatches } from '../../lib/bytes/arrow-bytes.ts'
import type { RowCount } from '../../lib/flow/progress.ts'
import { Texts } from '../../lib/text/texts.ts'
import { KeepAlive } from '../../lib/web/keep-alive.ts'
import type { ExportRows } from '../../service/exports/ports.ts'
import type { EventReader } from '../../service/plugins/delivery/ports.ts'
import type { Wanted } from '../admission/admission.ts'
import { Answer } from '../admission/answer.ts'
import type { Computed, Computing } from '../admission/computing.ts'
import type { BackendHome, LogState, ProjectBackend, RowLimits } from '../backend/backend.ts'
import { forwardedCalls, type KnownFacts, type ProjectCall, type Records } from '../backend/calls.ts'
import type { ActionService } from '../definitions/actions.ts'
import type { CohortService } from '../definitions/cohorts.ts'
import type { RowsAnswer } from '../execution/answer-rows.ts'
import type { Download, DownloadFormat } from '../execution/download.ts'
import type { FileLog } from '../storage/log/file-log.ts'
import type { LogFindings } from '../storage/log/findings.ts'
import type { RecoveryReport } from '../storage/recovery/recovery-report.ts'
import type { StoreSpace } from '../storage/store-space.ts'
import { type AnswerOf, type ArgsOf, type CallOptions, Gone, type NameOf } from './channel.ts'
import type { DoorTransform } from './door-transform.ts'
import { type EngineChild, newWork, type Work } from './engine-child.ts'
import { Growth } from './growth.ts'
import { LagBackpressure } from './lag-backpressure.ts'
import type { AppendArgs, EngineCalls, EngineChannel, OfProject, QueryNote, SentWanted, ServiceArgs, StreamHead } from './protocol.ts'
import { readValue } from './wire-value.ts'

interface Parts {
  readonly home: BackendHome
  readonly engine: EngineChild
  /** Opens the log after the engine has recovered it. */
  openLog(found: LogFindings, appliedSeq: number): Promise<FileLog>
  /** Null: events are stored as they were sent. */
  readonly transform: DoorTransform | null
  /** Resolves when a restarted engine has reopened the projects of the previous one, or after a time limit. */
  comeBack(): Promise<void>
  onClose(): void
}

/** Calls that run a query. */
type Streamed = 'rows' | 'batches' | 'table' | 'download'
type Asked = Streamed | 'answer' | 'stage'
/** What a call has besides the project and the caller. */
type What<N extends Asked> = Omit<ArgsOf<EngineCalls, N>, keyof OfProject | 'wanted'>
interface Found<N extends Asked> {
  readonly value: AnswerOf<EngineCalls, N>
  readonly channel: EngineChannel
}

/** Null is the answer to a query that has no rows to stream. */
const isStreamed = <H>(head: H): head is H & StreamHead => head !== null

/** Seconds that writing one file of an export may take. */
const longestStaging = 86_400

/** A project whose log is in this process, and whose store is in another one. */
export class RemoteBackend implements ProjectBackend {
  readonly records: Records
  readonly known: KnownFacts
  readonly actions: ActionService
  readonly cohorts: CohortService
  readonly exportRows: ExportRows
  readonly storedEvents: EventReader
  readonly space: StoreSpace
  reports: readonly RecoveryReport[] = []
  failure: unknown = null
  private readonly parts: Parts
  private readonly id: number
  private log: FileLog | null = null
  private appliedSeq = 0
  private readonly queries = new RecentWaits()
  private readonly room: LagBackpressure
  private readonly intake: Intake
  private readonly openings = new WeakMap<EngineChannel, Promise<void>>()
  private readonly keepAlive = new KeepAlive()
  private isClosed = false
  private readonly growth: Growth

  private constructor(parts: Parts) {
    const { home, engine } = parts
    this.parts = parts
    this.id = home.settings().id
    this.growth = new Growth((batches) => {
      const { id: project, position: seq, transforms } = this
      engine.notify('grown', { project, seq, transforms, batches })
    })
    this.room = new LagBackpressure(defaultQueueBytes, () => engine.isUp, this.queries)
    this.intake = new Intake({
      log: { append: (batch) => this.mustHaveLog().append(batch) },
      backpressure: this.room,
      clock: home.clock,
      settings: home.settings,
      projectId: this.id,
      salts: home.salts,
      mustBeOpen: () => this.mustBeOpen(),
      handOver: (batch) => this.handOver(batch),
    })
    const calls = forwardedCalls((call, isRepeatable) => this.forward(call, isRepeatable))
    this.records = calls.records
    this.known = calls.known
    this.actions = calls.actions
    this.storedEvents = calls.storedEvents
    this.space = calls.space
    this.cohorts = {
      ...calls.cohorts,
      get refreshes(): CohortService['refreshes'] {
        throw new InternalError('Refreshes are counted in the engine process')
      },
    }
    this.exportRows = {
      ...calls.exportRows,
      stage: async (selection, part, file, signal) => {
        const wanted: Wanted = { project: this.id, caller: 'export', isBackground: true, signal, seconds: longestStaging }
        return (await this.ask('stage', { selection, part, file }, wanted)).value
      },
    }
  }

  static async open(parts: Parts): Promise<RemoteBackend> {
    const backend = new RemoteBackend(parts)
    await backend.keepAlive.during(backend.ready(parts.home.signal))
    return backend
  }

  get position(): number {
    return this.log?.lastSeq ?? 0
  }

  get lag(): number {
    return this.position - this.appliedSeq
  }

  /** The engine has applied the records up to `seq`. */
  applied(seq: number): void {
    this.appliedSeq = Math.max(this.appliedSeq, seq)
    this.failure = null
    this.taken(seq)
    this.log?.markApplied(seq)
    this.parts.transform?.applied(seq)
  }

  /** The engine has processed the records up to `seq`. */
  taken(seq: number): void {
    this.room.leave(seq)
  }

  /** An error of the engine that it recovers from; `isStuck`: it keeps failing. */
  met(failure: unknown, isStuck: boolean): void {
    this.failure = isStuck ? failure : null
    this.parts.home.onError(failure)
  }

  engineEnded(): void {
    this.room.release()
    this.parts.transform?.engineEnded()
  }

  async append({ batch }: AppendArgs): Promise<{ firstSeq: number }> {
    const answer = await this.mustHaveLog().append({ ...batch, payloads: Texts.of(batch.payloads) })
    this.hasGrown()
    return answer
  }

  /** Opens the project in the engine as soon as one is up. */
  async openAgain(): Promise<void> {
    await this.ready().catch((error: unknown) => {
      if (!this.isClosed) this.parts.home.onError(error)
    })
  }

  ingest(body: unknown, about: Pick<BatchFacts, 'ip' | 'userAgent' | 'attempt' | 'importId'>): Promise<IngestAnswer> {
    return this.keepAlive.during(this.intake.ingest(body, about))
  }

  ingestEvents(events: EventSource, facts: BatchFacts): Promise<IngestAnswer> {
    return this.keepAlive.during(this.intake.ingestEvents(events, facts))
  }

  ingestPrepared(batch: WireBatch): Promise<IngestAnswer> {
    return this.keepAlive.during(this.intake.ingestPrepared(batch))
  }

  async answer(query: unknown, { wanted, progress, rows }: Computing & { readonly rows?: RowLimits }): Promise<Computed> {
    let count: RowCount = { read: 0, total: 0 }
    const finished = progress?.follow(() => count)
    try {
      const { value: answer } = await this.ask('answer', { query, rows }, wanted, (known) => {
        count = known
      })
      return { answer: Answer.ofText(answer.text), endsAt: answer.endsAt }
    } finally {
      finished?.()
    }
  }

  async rows(query: unknown, wanted: Wanted, limits?: RowLimits): Promise<RowsAnswer | null> {
    const found = await this.askStream('rows', { query, rows: limits }, wanted)
    if (!found) return null
    const { limit, timezone, warnings } = found.head
    return { limit, timezone, warnings, batches: arrowBatches(found.bytes) as RowsAnswer['batches'] }
  }

  async table(query: unknown, wanted: Wanted): Promise<Table> {
    const found = await this.askStream('table', { query }, wanted)
    const batches: RecordBatch[] = []
    for await (const batch of arrowBatches(found!.bytes)) batches.push(batch)
    return new Table(batches)
  }

  async download(query: unknown, format: DownloadFormat, wanted: Wanted): Promise<Download> {
    const found = await this.askStream('download', { query, format }, wanted)
    return { warnings: found!.head.warnings, bytes: found!.bytes as Download['bytes'] }
  }

  async *batches(query: unknown, wanted: Wanted): AsyncGenerator<RecordBatch, void, undefined> {
    const found = await this.askStream('batches', { query }, wanted)
    yield* arrowBatches(found!.bytes)
  }

  settle(): Promise<void> {
    return this.call('settle', () => ({ project: this.id }))
  }

  get logState(): LogState | null {
    return this.log && { position: this.log.lastSeq, log: this.log.files() }
  }

  async close(): Promise<void> {
    this.intake.flush()
    this.isClosed = true
    await this.intake.settled()
    const { engine } = this.parts
    try {
      // If the engine has ended, the next open applies the rest of the log.
      if (engine.isUp) {
        const channel = await this.ready()
        this.growth.flush()
        await channel.call('close', { project: this.id })
      }
    } catch (error) {
      if (!(error instanceof Gone)) throw error
    } finally {
      await this.log?.close()
      this.parts.onClose()
    }
  }

  private handOver(batch: Batch) {
    const { firstSeq, count, content } = batch
    this.room.enter(firstSeq + count - 1, batch.bytes)
    this.hasGrown(batch)
    const dropped = content.kind === 'event' ? content.events.filter((event) => event.isDropped).length : 0
    return { duplicates: () => this.call('duplicates', () => ({ ...this.ofProject(), firstSeq, count, dropped })) }
  }

  private hasGrown(batch: Batch | null = null): void {
    const wire = batch && this.parts.engine.isUp ? writeBatch(batch) : null
    if (wire) this.parts.transform?.sends(batch!)
    this.growth.add(wire)
  }

  /** Of a call, which the engine gets after all batches that are durable. */
  private ofProject(): OfProject {
    const { settings, clock } = this.parts.home
    this.growth.flush()
    return { settings: settings(), seq: this.position, offset: clock().getTime() - Date.now(), transforms: this.transforms }
  }

  private get transforms(): boolean {
    return this.parts.transform?.isOn ?? false
  }

  /** The engine, once this project is open in it. */
  private async ready(signal?: AbortSignal): Promise<EngineChannel> {
    for (;;) {
      const channel = await this.parts.engine.channel(signal)
      try {
        await this.openedIn(channel)
        return channel
      } catch (error) {
        if (!(error instanceof Gone) || this.isClosed) throw error
      }
    }
  }

  private openedIn(channel: EngineChannel): Promise<void> {
    const known = this.openings.get(channel)
    if (known) return known
    const opening = this.openIn(channel)
    this.openings.set(channel, opening)
    opening.catch(() => this.openings.delete(channel)) // the next call tries again
    return opening
  }

  private async openIn(channel: EngineChannel): Promise<void> {
    const { wasClosed = false } = this.parts.home
    const { reports, log } = await channel.call('open', { ...this.ofProject(), isLive: this.log !== null, wasClosed })
    if (this.log) return this.hasGrown()
    this.reports = reports
    this.log = await this.parts.openLog(log!.found, log!.appliedSeq)
    this.appliedSeq = this.log.lastSeq // opening has applied the whole log
    this.parts.transform?.started(this.log.lastSeq)
  }

  /** Retries the call if the engine has ended meanwhile. */
  private async call<N extends NameOf<EngineCalls>>(
    name: N,
    args: () => ArgsOf<EngineCalls, N>,
    options: CallOptions = {},
  ): Promise<AnswerOf<EngineCalls, N>> {
    for (;;) {
      try {
        const channel = await this.ready(options.signal)
        return await this.keepAlive.during(channel.call(name, args(), options))
      } catch (error) {
        if (!(error instanceof Gone) || this.isClosed) throw error
      }
    }
  }

  private async forward(call: ProjectCall, isRepeatable: boolean): Promise<unknown> {
    const sent = (): ServiceArgs => ({ ...this.ofProject(), ...call })
    if (isRepeatable) return readValue(await this.call('service', sent))
    const channel = await this.ready()
    try {
      return readValue(await this.keepAlive.during(channel.call('service', sent())))
    } catch (error) {
      throw error instanceof Gone ? new WaymarkError('engine-ended', { isChange: true }) : error
    }
  }

  /** Retries the query if the engine has ended meanwhile and the query is not to blame. */
  private async ask<N extends Asked>(name: N, what: What<N>, wanted: Wanted, onProgress?: (rows: RowCount) => void): Promise<Found<N>> {
    const work = newWork(what)
    this.queries.note()
    try {
      return await this.askUntilAnswered(work, name, what, wanted, onProgress)
    } finally {
      this.parts.engine.isOver(work)
    }
  }

  private async askUntilAnswered<N extends Asked>(
    work: Work,
    name: N,
    what: What<N>,
    { signal, begin, project: _, seconds = Number.POSITIVE_INFINITY, ...ofCaller }: Wanted,
    onProgress?: (rows: RowCount) => void,
  ): Promise<Found<N>> {
    const since = performance.now()
    const { engine } = this.parts
    for (;;) {
      const left = seconds - (performance.now() - since) / 1000
      const over = AbortSignal.timeout(Math.min(2 ** 31 - 1, Math.max(0, Math.ceil(left * 1000))))
      const channel = await this.ready(signal ? AbortSignal.any([signal, over]) : over).catch((error: unknown) => {
        throw over.aborted ? new WaymarkError('query-timeout', { seconds, waited: seconds, ran: 0 }) : error
      })
      await this.parts.comeBack() // a heavy query would delay the reopening of projects
      await engine.mayAsk(work)
      work.begunAt = null
      const note = (told: unknown) => {
        const known = told as QueryNote
        if ('read' in known) return onProgress?.(known)
        work.begunAt ??= performance.now()
        begin?.()
      }
      const sent: SentWanted = { ...ofCaller, seconds: Math.ceil(left) }
      try {
        const args = { ...this.ofProject(), ...what, wanted: sent } as ArgsOf<EngineCalls, N>
        const value = await this.keepAlive.during(engine.work(channel, work, left, name, args, { signal, note }))
        return { value, channel }
      } catch (error) {
        if (!(error instanceof Gone)) throw error
        if (signal?.aborted) throw signal.reason instanceof WaymarkError ? signal.reason : new WaymarkError('query-cancelled', {})
        if (work.fate) throw work.fate
        if (this.isClosed) throw new WaymarkError('closed', {})
      }
    }
  }

  private async askStream<N extends Streamed>(name: N, what: What<N>, wanted: Wanted) {
    const { value: head, channel } = await this.ask(name, what, wanted)
    return isStreamed(head) ? { head, bytes: this.pieces(channel, head.stream, wanted.signal) } : null
  }

  private async *pieces(channel: EngineChannel, stream: number, signal?: AbortSignal): AsyncGenerator<Uint8Array, unknown, undefined> {
    let isOver = false
    const leave = () => {
      if (!isOver) channel.call('leave', { stream }).catch(() => undefined)
      isOver = true
    }
    signal?.addEventListener('abort', leave, { once: true })
    try {
      for (;;) {
        const piece = await this.keepAlive.during(channel.call('next', { stream }))
        if (signal?.aborted) throw signal.reason instanceof WaymarkError ? signal.reason : new WaymarkError('query-cancelled', {})
        if ('end' in piece) {
          isOver = true
          return piece.end
        }
        yield piece.bytes
      }
    } catch (error) {
      throw error instanceof Gone ? new WaymarkError('engine-ended', { isChange: false }) : error
    } finally {
      signal?.removeEventListener('abort', leave)
      leave()
    }
  }

  private mustHaveLog(): FileLog {
    if (!this.log) throw new InternalError(`The log of project ${this.id} is not open`)
    return this.log
  }

  private mustBeOpen(): void {
    if (this.isClosed) throw new WaymarkError('closed', {})
  }
}
