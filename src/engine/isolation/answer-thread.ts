import { Worker } from 'node:worker_threads'
import { type Table, tableToIPC } from 'apache-arrow'
import { folds } from '../../core/folds/folds.ts'
import { ThreadLost } from '../../core/folds/thread-pool.ts'
import type { ColumnSource, ColumnSpec, ReadSpec, TakeColumns } from '../../core/lists/ports.ts'
import type { KernelName } from '../../core/simd/kernels.ts'
import type { StoreFacts } from '../../language/catalog/store-facts.ts'
import { dialectName } from '../../language/dialects/registry.ts'
import { addHeap, removeHeap } from '../../lib/memory/thread-heaps.ts'
import type { AnswerText, LongQueries } from '../backend/long-queries.ts'
import type { AnswerOptions } from '../execution/checkpoint.ts'
import type { QueryProject } from '../execution/query-context.ts'
import type { AnswerSide, ColumnsArgs, MainSide } from './answer-protocol.ts'
import { type Called, Channel, Gone, type Methods } from './channel.ts'
import { threadPort } from './thread-port.ts'
import { writeError } from './wire-error.ts'

/** A thread that is not used for this long ends. */
const idleMs = 60_000
/** A thread that ends so often is not started again. */
const mostLosses = 3

/** The program is beside this file, with the same extension: TypeScript when run from the sources. */
function launch(heap: Float64Array): Worker {
  const extension = /\.(ts|mjs)$/.exec(import.meta.url)?.[0] ?? '.js'
  const program = new URL(`./answer-worker${extension}`, import.meta.url)
  if (extension !== '.ts') return new Worker(program, { execArgv: [], workerData: { heap } })
  // Node 20 does not load TypeScript as the main program of a thread.
  const code = `import('tsx/esm/api').then(({ register }) => (register(), import('${program}')))`
  return new Worker(code, { eval: true, execArgv: [], workerData: { heap } })
}

type AnswerChannel = Channel<MainSide, AnswerSide>

interface Work {
  readonly project: QueryProject
  readonly options: AnswerOptions
  /** Folds that read the lists. */
  readonly folding: Set<Promise<unknown>>
}

const bytesOf = (table: Table): Uint8Array => tableToIPC(table, 'stream')

/** Answers long queries in one worker thread. It starts with the first one, and ends when it is not used. */
export class AnswerThread implements LongQueries {
  private readonly report: (error: unknown) => void
  private readonly launch: (heap: Float64Array) => Worker
  private readonly works = new Map<number, Work>()
  private readonly versions = new WeakMap<StoreFacts, number>()
  private lastVersion = 0
  private lastId = 0
  private losses = 0
  private running: { readonly worker: Worker; readonly channel: AnswerChannel } | null = null
  private idle: NodeJS.Timeout | null = null

  /** `report` receives the errors that end the thread: its queries are then answered in the main thread. */
  constructor(report: (error: unknown) => void, start: (heap: Float64Array) => Worker = launch) {
    this.report = report
    this.launch = start
  }

  async answer(query: unknown, project: QueryProject, options: AnswerOptions): Promise<AnswerText | null> {
    if (this.losses >= mostLosses) return null
    const id = ++this.lastId
    const { settings, now, dialect, limits, rowLimits, failedCohorts = [], fold, threads } = project
    const { signal } = options
    const stop = new Int32Array(new SharedArrayBuffer(4))
    const halt = () => void Atomics.store(stop, 0, 1)
    signal?.addEventListener('abort', halt, { once: true })
    this.works.set(id, { project, options, folding: new Set() })
    const { worker, channel } = this.thread()
    worker.ref()
    try {
      return await channel.call(
        'answer',
        {
          id,
          query,
          settings,
          now,
          limits,
          rowLimits,
          dialect: dialectName(dialect),
          failedCohorts: [...failedCohorts].map(([cohort, failure]) => [cohort, writeError(failure)] as const),
          hasLists: fold !== undefined,
          hasThreads: threads?.isUsable === true,
          stop,
        },
        { signal },
      )
    } catch (error) {
      if (error instanceof Gone) return null
      throw signal?.aborted ? signal.reason : error
    } finally {
      signal?.removeEventListener('abort', halt)
      this.works.delete(id)
      this.rest()
    }
  }

  release(): void {
    this.running?.channel.notify('release', null)
  }

  async close(): Promise<void> {
    if (this.idle) clearTimeout(this.idle)
    const ending = this.running
    this.running = null
    await ending?.worker.terminate()
  }

  private thread() {
    if (this.idle) clearTimeout(this.idle)
    this.idle = null
    this.running ??= this.start()
    return this.running
  }

  /** An idle thread does not keep the process running. */
  private rest(): void {
    if (this.works.size > 0 || !this.running) return
    this.running.worker.unref()
    if (this.idle) clearTimeout(this.idle)
    this.idle = setTimeout(() => void this.close(), idleMs).unref()
  }

  private start() {
    const heap = addHeap()
    const worker = this.launch(heap)
    const readings = new Map<number, TakeColumns>()
    let lastReading = 0
    const of = ({ id }: { readonly id: number }): Work => this.works.get(id)!
    /** Stops with the query, and with the call. */
    const during = ({ options }: Work, { signal }: Called, mostBytes?: number) => ({
      signal: options.signal ? AbortSignal.any([options.signal, signal]) : signal,
      ...(options.progress ? { progress: options.progress } : {}),
      ...(mostBytes === undefined ? {} : { mostBytes }),
    })
    const methods: Methods<MainSide> = {
      facts: async (args) => {
        const facts = await of(args).project.facts()
        const version = this.versions.get(facts) ?? ++this.lastVersion
        this.versions.set(facts, version)
        return version === args.known ? null : { version, facts }
      },

      run: async (args, called) => {
        const work = of(args)
        return bytesOf(await work.project.run(args.statement, during(work, called, args.mostBytes)))
      },

      /** The next rows are read when the thread has taken these. */
      runInParts: async (args, called) => {
        const work = of(args)
        const take = (table: Table) => channel.call('part', { reading: args.reading, part: bytesOf(table) })
        await work.project.runInParts(args.statement, take, during(work, called, args.mostBytes))
      },

      columnRows: async ({ reading, keys, parts }) => {
        await readings.get(reading)!(keys, parts)
      },

      fold: (args) => {
        const { fold, seq, columns, actors } = args
        type Range = Pick<ColumnsArgs, 'after' | 'last' | 'keys'>
        const read = async (specs: readonly ColumnSpec[], range: Range, take: TakeColumns): Promise<void> => {
          const reading = ++lastReading
          readings.set(reading, take)
          try {
            const asked = specs.map((spec) => columns.indexOf(spec))
            await channel.call('columns', { fold, reading, columns: asked, ...range })
          } finally {
            readings.delete(reading)
          }
        }
        const source: ColumnSource = {
          columns,
          actors: actors ? { ...actors, column: columns[actors.column] as ReadSpec } : null,
          ofEvents: (specs, after, last, take) => read(specs, { after, last, keys: null }, take),
          ofPersons: (spec, after, take) => read([spec], { after, last: 0, keys: null }, take),
          ofKeys: (spec, keys, take) => read([spec], { after: 0, last: 0, keys }, take),
        }
        const { project, folding } = of(args)
        return project.fold!(seq, source, async ({ lists, columns: found, order, owners }) => {
          const { start, end, time, event, seq: records, persons, events, used } = lists
          const listed = {
            lists: { start, end, time, event, seq: records, persons, events, used },
            order,
            ...(owners && { owners }),
            columns: found.map(({ values, texts, numbers }) => ({ values, texts, numbers })),
          }
          try {
            await channel.call('loop', { fold, listed })
          } finally {
            await Promise.allSettled(folding) // the lists must not change while they are read, also if the thread has ended
          }
        })
      },

      threads: async (args, { signal }) => {
        const { project, folding } = of(args)
        const called = new Set<KernelName>()
        const work = project.threads!.run(folds.get(args.fold)!, args.lists, args.params, signal, null, called)
        folding.add(work)
        try {
          return { result: await work, kernels: [...called] }
        } catch (error) {
          if (error instanceof ThreadLost) return null
          throw error
        } finally {
          folding.delete(work)
        }
      },
    }
    const channel: AnswerChannel = new Channel(threadPort(worker), methods, {})
    const thread = { worker, channel }
    const lost = (cause: unknown) => {
      if (this.running === thread) {
        this.losses++ // not closed
        this.running = null
      }
      removeHeap(heap)
      channel.end(`The worker thread for long queries exited: ${cause}`)
    }
    worker.on('error', (error) => {
      this.report(error)
      lost(error)
    })
    worker.on('exit', lost)
    return thread
  }
}
