import { availableParallelism } from 'node:os'
import { Worker } from 'node:worker_threads'
import { InternalError } from '../../errors/errors.ts'
import type { PreparedPart, Preparing, WireBatch } from '../../events/bulk/prepare-part.ts'
import { ImportFileError } from '../../events/imports/format.ts'
import { type Block, blocksOf, isReadInAnyOrder, type Reading, type Recipe, type SourceFile } from '../../events/imports/open.ts'
import type { ImportedEvent } from '../../events/imports/record.ts'
import type { BatchResult, Part } from '../../events/imports/run.ts'
import { type Deferred, deferred } from '../../lib/flow/deferred.ts'
import type { Answered, Asked } from './import-protocol.ts'

// Files are read and prepared in threads of their own, one less than there are cores: the main thread applies events.

/** Where prepared events go. */
export interface PreparedTarget {
  /** Threads that may prepare them; 0: none. */
  readonly threads: number
  preparing(): Promise<Preparing>
  store(batch: WireBatch, importId?: string): Promise<BatchResult>
}

/** Bytes of lines that a thread prepares at a time: one or two thousand events, which are a batch of the log. The main thread reads what comes back without a pause. */
const bytesOfBlock = 1 << 19
/** The main thread takes twice as long for an event as one of them. */
const mostThreads = 4
/** Of the budget of the store, for one thread: it has a heap of its own beside it. */
const memoryOfThread = 512 * 1024 ** 2

export const threadsFor = (memoryLimit: number): number =>
  Math.min(mostThreads, Math.max(1, availableParallelism() - 1), Math.floor(memoryLimit / memoryOfThread))

/** The program is beside this file, with the same extension: TypeScript when run from the sources. */
function launch(): Worker {
  const extension = /\.(ts|mjs)$/.exec(import.meta.url)?.[0] ?? '.js'
  const program = new URL(`./import-worker${extension}`, import.meta.url)
  if (extension !== '.ts') return new Worker(program, { execArgv: [] })
  // Node 20 does not load TypeScript as the main program of a thread.
  const code = `import('tsx/esm/api').then(({ register }) => (register(), import('${program}')))`
  return new Worker(code, { eval: true, execArgv: [] })
}

export type Call = Asked extends infer A ? (A extends Asked ? Omit<A, 'id'> : never) : never

/** A thread, as an import sees it. */
export interface PreparingThread {
  /** Calls are answered one after the other. `moved`: memory that is handed over. */
  ask(call: Call, moved?: readonly ArrayBuffer[]): Promise<Answered>
  close(): Promise<void>
}

class ImportThread implements PreparingThread {
  private readonly worker = launch()
  private readonly waiting = new Map<number, Deferred<Answered>>()
  private lastId = 0
  private lost: Error | null = null

  constructor() {
    this.worker.on('message', (answered: Answered) => {
      const waiting = this.waiting.get(answered.id)
      this.waiting.delete(answered.id)
      if (answered.failure) waiting?.reject(errorOf(answered.failure))
      else waiting?.resolve(answered)
    })
    this.worker.on('error', (error) => this.end(error))
    this.worker.on('exit', (code) => this.end(new InternalError(`A thread that prepares events exited with ${code}`)))
  }

  ask(call: Call, moved: readonly ArrayBuffer[] = []): Promise<Answered> {
    if (this.lost) return Promise.reject(this.lost)
    const id = ++this.lastId
    const answer = deferred<Answered>()
    this.waiting.set(id, answer)
    answer.promise.catch(() => undefined) // who waits for it gets the error
    this.worker.postMessage({ ...call, id } as Asked, moved)
    return answer.promise
  }

  private end(error: Error): void {
    this.lost ??= error
    for (const { reject } of this.waiting.values()) reject(this.lost)
    this.waiting.clear()
  }

  async close(): Promise<void> {
    await this.worker.terminate()
  }
}

const errorOf = ({ message, isOfFile }: NonNullable<Answered['failure']>): Error =>
  isOfFile ? new ImportFileError(message) : new InternalError(message)

/** Memory of its own, which can be handed over. */
const ownBytes = ({ bytes }: Block): Uint8Array<ArrayBuffer> =>
  bytes.buffer instanceof ArrayBuffer && bytes.byteLength === bytes.buffer.byteLength
    ? new Uint8Array(bytes.buffer)
    : Uint8Array.from(bytes)

export class ImportThreads {
  private readonly target: PreparedTarget
  private readonly send: (events: readonly ImportedEvent[]) => Promise<BatchResult>
  private readonly start: () => PreparingThread
  private readonly started: PreparingThread[] = []

  /** `send` stores events that only the project itself can prepare. */
  constructor(
    target: PreparedTarget,
    send: (events: readonly ImportedEvent[]) => Promise<BatchResult>,
    start: () => PreparingThread = () => new ImportThread(),
  ) {
    this.target = target
    this.send = send
    this.start = start
  }

  /** Parts in the order of the file. A few more are prepared ahead. */
  async *parts(file: SourceFile, reading: Required<Reading>): AsyncGenerator<Part, void, void> {
    const { path, name, format, mapping, fingerprint, sample, isParquet } = file
    const recipe: Recipe = { path, name, format, mapping, fingerprint, sample, isParquet }
    const isText = sample !== null
    const threads = this.first(isText && isReadInAnyOrder(file) ? this.target.threads : 1)
    const opened = await Promise.all(threads.map((thread) => thread.ask({ ask: 'open', recipe, done: reading.skip })))
    let isChosen = false
    const choose = ({ chosen }: Answered) => {
      if (chosen && !isChosen) reading.onColumns(chosen)
      isChosen ||= Boolean(chosen)
    }
    choose(opened[0]!)
    for await (const answered of isText ? this.blocks(file, threads, reading) : this.tables(threads[0]!)) {
      choose(answered)
      if (answered.part) yield this.part(answered.part)
    }
  }

  private first(count: number): readonly PreparingThread[] {
    while (this.started.length < count) this.started.push(this.start())
    return this.started.slice(0, count)
  }

  private part({ counts, batch, events }: PreparedPart): Part {
    const { target, send } = this
    return { counts, store: batch ? () => target.store(batch) : events.length > 0 ? () => send(events) : null }
  }

  private async *blocks(file: SourceFile, threads: readonly PreparingThread[], { onBytes }: Required<Reading>): AsyncGenerator<Answered> {
    const blocks = blocksOf(file, bytesOfBlock, onBytes)
    const ahead: Promise<Answered>[] = []
    const failures: unknown[] = []
    let turn = 0
    try {
      for (;;) {
        const next = await blocks.next().catch((error: unknown) => void failures.push(error))
        if (!next || next.done) break
        const bytes = ownBytes(next.value)
        const preparing = await this.target.preparing()
        const call = { ask: 'block', bytes, first: next.value.first, preparing } as const
        ahead.push(threads[turn++ % threads.length]!.ask(call, [bytes.buffer]))
        // A part that fails ends the file: those after it must not count as stored.
        if (ahead.length > 2 * threads.length) yield await ahead.shift()!
      }
      for (const answer of ahead) yield await answer // what comes before an unreadable place
    } finally {
      await blocks.return()
    }
    if (failures.length > 0) throw failures[0]
  }

  private async *tables(thread: PreparingThread): AsyncGenerator<Answered> {
    const ahead: Promise<Answered>[] = []
    for (;;) {
      while (ahead.length < 2) ahead.push(thread.ask({ ask: 'rows', preparing: await this.target.preparing() }))
      const answered = await ahead.shift()!
      if (!answered.part) return
      yield answered
    }
  }

  async close(): Promise<void> {
    await Promise.all(this.started.map((thread) => thread.close()))
  }
}
