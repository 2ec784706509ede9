import type { RecordBatch } from 'apache-arrow'
import { ThreadPool } from '../../core/folds/thread-pool.ts'
import { InternalError } from '../../errors/errors.ts'
import { readBatch } from '../../events/ingestion/wire-batch.ts'
import { arrowBytes } from '../../lib/bytes/arrow-bytes.ts'
import { Progress } from '../../lib/flow/progress.ts'
import { loadTracing } from '../../lib/flow/tracing.ts'
import { type Admission, createAdmission, type Wanted } from '../admission/admission.ts'
import type { BackendHome, BackendSettings } from '../backend/backend.ts'
import { callOn } from '../backend/calls.ts'
import { type LocalBackend, openLocalBackend } from '../backend/local-backend.ts'
import type { LogFindings } from '../storage/log/findings.ts'
import type { TailedLog } from '../storage/log/tailed-log.ts'
import { type OpenedStores, openStoresAlone } from '../storage/open-stores.ts'
import type { Stores } from '../storage/stores.ts'
import { AnswerThread } from './answer-thread.ts'
import { type Called, Channel, type Methods, type Port } from './channel.ts'
import { EngineTransform } from './engine-transform.ts'
import type {
  DoorSide,
  EngineNotifications,
  EngineSide,
  OfProject,
  OpenArgs,
  Opened,
  QueryArgs,
  QueryNote,
  SentWanted,
  StreamHead,
} from './protocol.ts'
import { writeError } from './wire-error.ts'
import { writeValue } from './wire-value.ts'

/** How often the caller of a query receives its progress. */
const progressMs = 250
/** How often the door hears which records are processed, and may take more. */
const takenMs = 5

interface Held {
  backend: LocalBackend
  readonly log: TailedLog
  readonly transform: EngineTransform
  settings: BackendSettings
  offset: number
  transforms: boolean
}

/** The first value at once, then the last one of each interval. */
function atIntervals<T>(ms: number, tell: (value: T) => void): (value: T) => void {
  let timer: NodeJS.Timeout | null = null
  let next: { readonly value: T } | null = null
  const wait = () => {
    timer = setTimeout(() => {
      timer = null
      if (!next) return
      tell(next.value)
      next = null
      wait()
    }, ms).unref()
  }
  return (value) => {
    if (timer) next = { value }
    else {
      tell(value)
      wait()
    }
  }
}

type Bytes = AsyncGenerator<Uint8Array, unknown, undefined>

interface Streamed {
  readonly bytes: Bytes
  readonly stop: AbortController
}

interface Started {
  readonly opened: OpenedStores
  readonly stores: Stores
  readonly admission: Admission
  readonly threads: ThreadPool
  readonly longQueries: AnswerThread
}

async function openProject(
  { stores, admission, threads, longQueries }: Started,
  channel: Channel<EngineSide, DoorSide>,
  { settings, seq, offset, transforms, isLive, wasClosed }: OpenArgs,
): Promise<{ held: Held; opened: Opened }> {
  const { id } = settings
  let tailed: TailedLog | null = null
  let inOrder: Opened['log'] = null
  const state = { settings, offset, transforms }
  const tail = {
    liveSeq: isLive ? seq : null,
    writer: {
      append: ({ payloads, ...batch }: Parameters<TailedLog['append']>[0]) =>
        channel.call('append', { project: id, batch: { ...batch, payloads: [...payloads] } }),
      taken: atIntervals(takenMs, (taken: number) => channel.notify('taken', { project: id, seq: taken })),
      applied: (applied: number) => channel.notify('applied', { project: id, seq: applied }),
    },
    inOrder: (found: LogFindings, appliedSeq: number) => {
      inOrder = { found, appliedSeq }
    },
    opened: (log: TailedLog) => {
      tailed = log
    },
  }
  let made: Held | null = null
  const home: BackendHome = {
    clock: () => new Date(Date.now() + (made ?? state).offset),
    settings: () => (made ?? state).settings,
    onError: (error) =>
      void setImmediate(() =>
        channel.notify('problem', { project: id, error: writeError(error), isStuck: (made?.backend.failure ?? null) !== null }),
      ),
    onRecovery: (notice) => channel.notify('recovery', { project: id, notice }),
  }
  const transform = new EngineTransform({
    project: id,
    isOn: () => (made ?? state).transforms,
    ask: (args) => channel.call('transform', args),
  })
  // Records written by a running door need no check.
  const isThorough = isLive || wasClosed ? { isThorough: false } : {}
  const tailing: Stores = { ...stores, open: (project, about) => stores.open(project, { ...isThorough, ...about, tail }) }
  const backend = await openLocalBackend({ ...home, stores: tailing, admission, threads, longQueries, transform })
  backend.preload()
  made = { backend, log: tailed!, transform, settings, offset, transforms }
  return { held: made, opened: { log: inOrder, reports: backend.reports } }
}

const wantedOf = (project: number, wanted: SentWanted, called: Called, signal = called.signal): Wanted => ({
  ...wanted,
  project,
  signal,
  begin: () => called.note({ begun: true } satisfies QueryNote),
})

/** Rows that a query has begun to answer, by the numbers of their streams. */
function rowStreams(held: (args: OfProject) => Promise<Held>) {
  const streams = new Map<number, Streamed>()
  let lastStream = 0

  /** A call ends before its rows do, so rows have a signal of their own. */
  const stream = async <H extends object>(
    args: QueryArgs,
    called: Called,
    begin: (backend: LocalBackend, wanted: Wanted) => Promise<{ readonly head: H; readonly bytes: Bytes } | null>,
  ): Promise<(H & StreamHead) | null> => {
    const { backend } = await held(args)
    const stop = new AbortController()
    called.signal.addEventListener('abort', () => stop.abort(called.signal.reason), { once: true })
    const begun = await begin(backend, wantedOf(args.settings.id, args.wanted, called, stop.signal))
    if (!begun) return null
    const id = ++lastStream
    streams.set(id, { bytes: begun.bytes, stop })
    return { ...begun.head, stream: id }
  }

  return {
    rows: (args, called) =>
      stream(args, called, async (backend, wanted) => {
        const answer = await backend.rows(args.query, wanted, args.rows)
        if (!answer) return null
        const { batches, ...head } = answer
        return { head, bytes: arrowBytes(batches) }
      }),

    batches: (args, called) =>
      stream(args, called, async (backend, wanted) => ({ head: {}, bytes: arrowBytes(backend.batches(args.query, wanted)) })),

    table: (args, called) =>
      stream(args, called, async (backend, wanted) => {
        const { batches } = await backend.table(args.query, wanted)
        return { head: {}, bytes: arrowBytes(each(batches)) }
      }),

    download: (args, called) =>
      stream(args, called, async (backend, wanted) => {
        const { bytes, ...head } = await backend.download(args.query, args.format, wanted)
        return { head, bytes }
      }),

    async next({ stream: id }) {
      const found = streams.get(id)
      if (!found) throw new InternalError('The rows have expired')
      try {
        const { done, value } = await found.bytes.next()
        if (done) streams.delete(id)
        return done ? { end: value } : { bytes: value as Uint8Array }
      } catch (error) {
        streams.delete(id)
        throw error
      }
    },

    async leave({ stream: id }) {
      const found = streams.get(id)
      streams.delete(id)
      found?.stop.abort()
      await found?.bytes.return(undefined)
    },
  } satisfies Partial<Methods<EngineSide>>
}

/** The engine's half of a directory: stores, applying events, queries. The door owns the log, and calls the engine through the port. */
export function hostEngine(port: Port, onStart: () => void): void {
  const projects = new Map<number, Promise<Held>>()
  /** Those of them that are open. */
  const opened = new Map<number, Held>()
  let parts: Started | null = null

  const started = () => {
    if (!parts) throw new InternalError('The engine is not started')
    return parts
  }
  const notify = <N extends keyof EngineNotifications>(name: N, value: EngineNotifications[N]) => channel.notify(name, value)

  const held = async ({ settings, seq, offset, transforms }: OfProject): Promise<Held> => {
    const opening = projects.get(settings.id)
    if (!opening) throw new InternalError(`Project ${settings.id} is not open in the engine`)
    const project = await opening
    project.settings = settings
    project.offset = offset
    project.transforms = transforms
    project.log.reached(seq)
    return project
  }

  const channel: Channel<EngineSide, DoorSide> = new Channel(
    port,
    {
      async start({ engine, storage, ...of }) {
        const report = (error: unknown) => notify('problem', { project: null, error: writeError(error), isStuck: false })
        await loadTracing()
        const opened = await openStoresAlone(of, engine, storage)
        parts = {
          opened,
          stores: opened.stores,
          admission: createAdmission(opened.concurrency),
          threads: new ThreadPool(of.threads, { report }),
          longQueries: new AnswerThread(report),
        }
        onStart()
      },

      ping: () => started().opened.running,

      async open(args) {
        const { id } = args.settings
        await projects.get(id)?.catch(() => undefined)
        const opening = openProject(started(), channel, args)
        const made = opening.then(({ held }) => held)
        made.catch(() => undefined) // the call says it: a project that cannot be opened must not end the engine of the others
        projects.set(id, made)
        try {
          const { held, opened: answer } = await opening
          opened.set(id, held)
          return answer
        } catch (error) {
          projects.delete(id)
          throw error
        }
      },

      async close({ project }) {
        const open = projects.get(project)
        projects.delete(project)
        opened.delete(project)
        const found = await open?.catch(() => null)
        await found?.backend.close()
      },

      drop: ({ project }) => started().stores.drop(project),
      replace: ({ project }) => started().stores.replace(project),
      makeDurable: ({ project }) => started().stores.makeDurable(project),
      settle: ({ project }) => started().stores.settle(project),

      async duplicates(args) {
        const { backend } = await held(args)
        return backend.pipeline.duplicatesOf(args.firstSeq, args.count, args.dropped)
      },

      async answer(args, called) {
        const { backend } = await held(args)
        const progress = new Progress()
        const timer = setInterval(() => called.note(progress.rows satisfies QueryNote), progressMs)
        try {
          const wanted = wantedOf(args.settings.id, args.wanted, called)
          const { answer, endsAt } = await backend.answer(args.query, { wanted, progress, ...(args.rows ? { rows: args.rows } : {}) })
          return { text: await answer.text(), endsAt }
        } finally {
          clearInterval(timer)
        }
      },

      async stage(args, called) {
        const { backend } = await held(args)
        called.note({ begun: true } satisfies QueryNote)
        return backend.exportRows.stage(args.selection, args.part, args.file, called.signal)
      },

      ...rowStreams(held),

      async service(args) {
        const { backend } = await held(args)
        return writeValue(await callOn(backend, args))
      },

      async end() {
        for (const project of projects.values()) await (await project.catch(() => null))?.backend.close()
        await parts?.threads.close()
        await parts?.longQueries.close()
        await parts?.opened.close()
      },
    },
    {
      async grown({ project, seq, transforms, batches }) {
        // Without waiting where possible: a call that follows must find the batches here, and not read them from the log.
        const found = opened.get(project) ?? (await projects.get(project)?.catch(() => null))
        if (!found) return
        found.transforms = transforms
        for (const batch of batches) found.backend.pipeline.offer(found.transform.receives(readBatch(batch)))
        found.log.reached(seq)
      },
    },
  )
}

async function* each(batches: readonly RecordBatch[]): AsyncGenerator<RecordBatch, void, undefined> {
  yield* batches
}
