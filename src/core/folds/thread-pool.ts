import { availableParallelism } from 'node:os'
import { Worker } from 'node:worker_threads'
import { type Deferred, deferred } from '../../lib/flow/deferred.ts'
import { DamagedPages } from '../lists/pages/page.ts'
import type { Selection } from '../lists/selections.ts'
import { type KernelName, kernelMode } from '../simd/kernels.ts'
import type { Fold, ListView } from './fold.ts'
import { partOfPage } from './page-reader.ts'
import { type FoldPart, type FoldTask, type FromWorker, type PartResult, stopped, type ToWorker } from './worker-messages.ts'

/** Threads that are not used for this long end. */
const idleMs = 60_000
/** More parts than threads: the last one to finish keeps the others waiting less. */
const partsPerThread = 3

/** The program is beside this file, with the same extension: TypeScript when run from the sources. */
function launch(): Worker {
  const extension = /\.(ts|mjs)$/.exec(import.meta.url)?.[0] ?? '.js'
  const program = new URL(`./fold-worker${extension}`, import.meta.url)
  if (extension !== '.ts') return new Worker(program, { execArgv: [] })
  // Node 20 does not load TypeScript as the main program of a thread.
  const code = `import('tsx/esm/api').then(({ register }) => (register(), import('${program}')))`
  return new Worker(code, { eval: true, execArgv: [] })
}

interface Thread {
  readonly worker: Worker
  /** The part that it works on. */
  task: Task | null
}
/** What one thread does for a fold. */
interface Task {
  readonly message: FoldTask
  /** Gets the kernels that it calls. */
  readonly called: Set<KernelName>
  /** Of the parts that it took; null: it was stopped. */
  readonly results: Deferred<readonly PartResult[] | null>
}

/** A thread ended while it worked, or could not start: a bundler may have left out its program. The fold can run in the calling thread. */
export class ThreadLost extends Error {}

/** Threads that end so often are not started again. */
const mostLosses = 3

export interface ThreadOptions {
  readonly start?: () => Worker
  /** Receives the error when the threads are given up: folds then run in the thread that calls. */
  readonly report?: (error: unknown) => void
  /** There are no more threads than these. Default: the processors of the machine. */
  readonly processors?: number
}

/** Runs folds in worker threads. They start with the first fold, and end when they are not used. */
export class ThreadPool {
  readonly threads: number
  private readonly launch: () => Worker
  private running: Thread[] = []
  private waiting: Task[] = []
  private idle: NodeJS.Timeout | null = null
  private losses = 0
  private readonly report: (error: unknown) => void

  /** `threads`: at most; one per processor otherwise. */
  constructor(
    threads = Number.POSITIVE_INFINITY,
    { start = launch, report = () => undefined, processors = availableParallelism() }: ThreadOptions = {},
  ) {
    this.launch = start
    this.report = report
    this.threads = Math.min(threads, processors)
  }

  get isUsable(): boolean {
    return this.threads > 1 && this.losses < mostLosses
  }

  /** Resolves with null if `signal` aborts. `selection`: the events of the fold; null: it finds them. `called`: gets the kernels that it calls. */
  async run<P, R>(
    fold: Fold<P, R>,
    lists: ListView,
    params: P,
    signal: AbortSignal,
    selection: Selection | null = null,
    called: Set<KernelName> = new Set(),
  ): Promise<R | null> {
    const shared = new Int32Array(new SharedArrayBuffer(8))
    const halt = () => void Atomics.store(shared, stopped, 1)
    if (signal.aborted) return null
    signal.addEventListener('abort', halt, { once: true })
    try {
      const parts: readonly FoldPart[] =
        selection?.map((one) => ({ from: one.from, to: one.to, selection: one })) ?? partsOf(fold, lists, this.threads * partsPerThread)
      const message: FoldTask = { kind: 'fold', fold: fold.name, lists, params, parts, shared, kernels: kernelMode() }
      let found = 0
      const settled = await Promise.allSettled(
        Array.from({ length: Math.min(this.threads, parts.length) }, async () => {
          const results = await this.add(message, called).catch((error: unknown) => {
            halt() // nobody may read the lists once this has settled
            throw error
          })
          found += results?.length ?? 0
          if (found === parts.length) this.withdraw(message)
          return results
        }),
      )
      const failed = settled.find((one) => one.status === 'rejected')
      if (failed) throw failed.reason
      if (signal.aborted) return null
      const results = settled.flatMap((one) => (one as PromiseFulfilledResult<readonly PartResult[] | null>).value ?? [])
      // In their order: who has folded a part changes no digit of the answer.
      results.sort(([a], [b]) => a - b)
      return fold.join(
        results.map(([, result]) => result as R),
        params,
      )
    } finally {
      signal.removeEventListener('abort', halt)
    }
  }

  /** The threads release memory that is unused now. */
  release(): void {
    for (const { worker } of this.running) worker.postMessage({ kind: 'release' } satisfies ToWorker)
  }

  async close(): Promise<void> {
    if (this.idle) clearTimeout(this.idle)
    const ending = this.running
    this.running = []
    for (const { results } of this.waiting.splice(0)) results.reject(new ThreadLost('The worker threads for lists of events were closed'))
    await Promise.all(ending.map(({ worker }) => worker.terminate()))
  }

  private add(message: FoldTask, called: Set<KernelName>): Promise<readonly PartResult[] | null> {
    const task: Task = { message, called, results: deferred() }
    this.waiting.push(task)
    this.assign()
    return task.results.promise
  }

  /** No part is left for the threads that are still to begin. */
  private withdraw(message: FoldTask): void {
    const late = this.waiting.filter((task) => task.message === message)
    this.waiting = this.waiting.filter((task) => task.message !== message)
    for (const { results } of late) results.resolve([])
  }

  private assign(): void {
    if (this.idle) clearTimeout(this.idle)
    this.idle = null
    while (this.waiting.length > 0) {
      const thread = this.running.find(({ task }) => task === null) ?? (this.running.length < this.threads ? this.start() : null)
      if (!thread) return
      thread.task = this.waiting.shift()!
      thread.worker.ref()
      thread.worker.postMessage(thread.task.message satisfies ToWorker)
    }
    if (this.running.some(({ task }) => task !== null)) return
    this.idle = setTimeout(() => void this.close(), idleMs).unref()
  }

  private start(): Thread {
    const thread: Thread = { worker: this.launch(), task: null }
    this.running.push(thread)
    thread.worker.on('message', (message: FromWorker) => {
      const { task } = thread
      thread.task = null
      thread.worker.unref() // an idle thread does not keep the process running
      if (!task) return
      if ('error' in message) task.results.reject(message.isDamage ? damaged(message.error) : message.error)
      else {
        if ('results' in message) for (const name of message.kernels) task.called.add(name)
        task.results.resolve('results' in message ? message.results : null)
      }
      this.assign()
    })
    const lost = (cause: unknown) => {
      if (this.running.includes(thread) && ++this.losses === mostLosses)
        // not closed
        this.report(
          new Error('The worker threads for lists of events exited too often and are no longer used: queries over lists take longer', {
            cause,
          }),
        )
      this.running = this.running.filter((one) => one !== thread)
      const error = new ThreadLost('A worker thread for lists of events exited', { cause })
      for (const { results } of [thread.task, ...(this.isUsable ? [] : this.waiting.splice(0))].filter((task) => task !== null))
        results.reject(error)
      thread.task = null
      if (this.waiting.length > 0) this.assign()
    }
    thread.worker.on('error', lost)
    thread.worker.on('exit', lost)
    return thread
  }
}

type Range = readonly [from: number, to: number]

/** Errors of another thread have no class. */
const damaged = (error: unknown) => new DamagedPages((error as Error).message, { cause: error })

/** Pages come first: they are the larger part, where there are any. */
function partsOf({ over }: Pick<Fold<unknown, unknown>, 'over'>, lists: ListView, parts: number): FoldPart[] {
  const pages = lists.pages?.pages ?? []
  const edge = (part: number) => Math.floor((lists.used * part) / parts)
  const inMemory: Range[] =
    over === 'persons' ? evenParts(lists, parts) : Array.from({ length: parts }, (_, part) => [edge(part), edge(part + 1)])
  return [...pages.map((one, page) => partOfPage(over, one, page)), ...inMemory.map(([from, to]) => ({ from, to, selection: null }))]
}

/** Ranges of persons with about as many events each. */
function evenParts({ start, end, persons }: ListView, parts: number): Range[] {
  let events = 0
  for (let person = 0; person < persons; person++) events += end[person]! - start[person]!
  if (events === 0) return [[0, persons]]
  const ranges: Range[] = []
  let from = 0
  let taken = 0
  for (let person = 0; person < persons; person++) {
    taken += end[person]! - start[person]!
    if (taken < ((ranges.length + 1) * events) / parts && person < persons - 1) continue
    ranges.push([from, person + 1])
    from = person + 1
  }
  return ranges.length > 0 ? ranges : [[0, persons]]
}
