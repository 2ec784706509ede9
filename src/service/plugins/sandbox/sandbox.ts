import { existsSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { Worker } from 'node:worker_threads'
import { type Deferred, deferred } from '../../../lib/flow/deferred.ts'
import type { BrowserFile, Transpiled } from '../host-ports.ts'
import type { Capabilities, LogLevel } from '../ports.ts'
import { defaultLimits, type Limits } from './limits.ts'
import { busyEntry, busyUnit, type FromThread, type Loaded, type Outcome, type ToThread, type UnitCode } from './messages.ts'

// Runs plugins in worker threads. A thread that a plugin keeps busy is ended, and its other plugins have to be loaded again.

export interface UnitEvents {
  /** A call of the server by the plugin: resolves with JSON. The message of an error reaches the plugin. */
  call(name: string, json: string): Promise<string>
  log(level: LogLevel, text: string): void
}

/** A loaded plugin. */
export interface Unit {
  readonly capabilities: Capabilities
  /** It was ended, and answers every call with `not-run`. */
  readonly isLost: boolean
  /**
   * One call per argument, in their order as far as they do not await anything. `isOneByOne`: slower, and a limit is always that of one call.
   */
  run(method: string, args: readonly (string | null)[], isOneByOne?: boolean): Promise<readonly Outcome[]>
  unload(): Promise<void>
}

export type LoadResult = { readonly kind: 'loaded'; readonly unit: Unit } | Extract<Loaded, { kind: 'failed' }>

export interface Sandbox {
  /** `isSetUp`: calls `setupPlugin` too. `isAlone`: in a thread of its own, for what has ended a thread before. */
  load(code: UnitCode, events: UnitEvents, options: { readonly isSetUp: boolean; readonly isAlone?: boolean }): Promise<LoadResult>
  /** Compiles a file for browsers. */
  compile(name: BrowserFile, text: string): Promise<Transpiled>
  close(): Promise<void>
}

export interface SandboxOptions {
  readonly limits?: Partial<Limits>
  /** At most. One less than there are processors otherwise. */
  readonly threads?: number
}

const looksMs = 250
/** Threads for plugins that have ended a thread. */
const mostAlone = 4
/** Of the JavaScript around the plugins; their own memory is limited for each of them. */
const resourceLimits = { maxOldGenerationSizeMb: 256, stackSizeMb: 4 }

function launch(busy: SharedArrayBuffer): Worker {
  const extension = /\.(ts|mjs)$/.exec(import.meta.url)?.[0] ?? '.js'
  const program = [`./plugin-worker${extension}`, `../plugin-worker${extension}`]
    .map((name) => new URL(name, import.meta.url))
    .find((url) => existsSync(url))
  if (!program) throw new Error('The package lacks its file plugin-worker.js: a bundler must leave it beside the code that starts it')
  const options = { workerData: { busy }, execArgv: [], env: {}, resourceLimits }
  if (extension !== '.ts') return new Worker(program, options)
  // Node 20 does not load TypeScript as the main program of a thread.
  const code = `import('tsx/esm/api').then(({ register }) => (register(), import('${program}')))`
  return new Worker(code, { ...options, eval: true })
}

function outcomesOf({ values, others }: Extract<FromThread, { kind: 'ran' }>): readonly Outcome[] {
  const outcomes = values.split('\n').map((json): Outcome => ({ kind: 'value', json: json === '' ? null : json }))
  for (const [i, outcome] of others) outcomes[i] = outcome
  return outcomes
}

interface Running {
  readonly unit: number
  readonly count: number
  readonly outcomes: Deferred<readonly Outcome[]>
}

class Thread {
  private readonly busy = new Int32Array(new SharedArrayBuffer(8))
  private readonly worker = launch(this.busy.buffer as SharedArrayBuffer)
  private readonly loading = new Map<number, { readonly unit: number; readonly loaded: Deferred<Loaded> }>()
  private readonly running = new Map<number, Running>()
  private readonly compiling = new Map<number, Deferred<Transpiled>>()
  private readonly unloading = new Map<number, Deferred<void>>()
  private readonly limits: Limits
  private readonly onEnd: () => void
  private lastId = 0
  private watch: NodeJS.Timeout | null = null
  private seen = { entry: 0, looks: 0 }
  readonly units = new Map<number, UnitEvents>()
  readonly isAlone: boolean
  isEnded = false

  constructor(limits: Limits, isAlone: boolean, onEnd: () => void) {
    this.limits = limits
    this.isAlone = isAlone
    this.onEnd = onEnd
    this.worker.on('message', (message: FromThread) => this.receive(message))
    this.worker.on('error', (error) => this.end(`ended its thread: ${error.message}`))
    this.worker.on('exit', () => this.end('ended its thread'))
    this.worker.unref()
  }

  load(unit: number, code: UnitCode, events: UnitEvents, isSetUp: boolean): Promise<Loaded> {
    const loaded = deferred<Loaded>()
    const id = ++this.lastId
    this.units.set(unit, events)
    this.loading.set(id, { unit, loaded })
    this.send({ kind: 'load', id, unit, code, limits: this.limits, isSetUp })
    return loaded.promise
  }

  run(unit: number, method: string, args: readonly (string | null)[], isOneByOne: boolean): Promise<readonly Outcome[]> {
    if (this.isEnded) return Promise.resolve(args.map(() => ({ kind: 'not-run' })))
    const outcomes = deferred<readonly Outcome[]>()
    const id = ++this.lastId
    this.running.set(id, { unit, count: args.length, outcomes })
    this.send({ kind: 'run', id, unit, method, args: args.map((json) => json ?? '').join('\n'), isOneByOne })
    return outcomes.promise
  }

  compile(name: BrowserFile, text: string): Promise<Transpiled> {
    const result = deferred<Transpiled>()
    const id = ++this.lastId
    this.compiling.set(id, result)
    this.send({ kind: 'compile', id, name, text })
    return result.promise
  }

  async unload(unit: number): Promise<void> {
    this.units.delete(unit)
    if (this.isEnded) return
    const done = deferred<void>()
    const id = ++this.lastId
    this.unloading.set(id, done)
    this.send({ kind: 'unload', id, unit })
    await done.promise
  }

  async close(): Promise<void> {
    this.end('was unloaded')
    await this.worker.terminate()
  }

  private send(message: ToThread): void {
    this.worker.postMessage(message)
    this.look()
  }

  private receive(message: FromThread): void {
    if (this.isEnded) return
    switch (message.kind) {
      case 'done':
        this.loading.get(message.id)?.loaded.resolve(message.loaded)
        this.loading.delete(message.id)
        break
      case 'ran':
        this.running.get(message.id)?.outcomes.resolve(outcomesOf(message))
        this.running.delete(message.id)
        break
      case 'compiled':
        this.compiling.get(message.id)?.resolve(message.result)
        this.compiling.delete(message.id)
        break
      case 'unloaded':
        this.unloading.get(message.id)?.resolve()
        this.unloading.delete(message.id)
        break
      case 'log':
        this.units.get(message.unit)?.log(message.level, message.text)
        break
      case 'call': {
        const { unit, call } = message
        const answer = (isOk: boolean, json: string) => this.isEnded || this.send({ kind: 'answer', unit, call, isOk, json })
        const asked = this.units.get(unit)?.call(message.name, message.json) ?? Promise.reject(new Error('The plugin was unloaded'))
        asked.then(
          (json) => answer(true, json),
          (error: unknown) => answer(false, error instanceof Error ? error.message : String(error)),
        )
      }
    }
    this.look()
  }

  /** While something is asked of the thread: keeps the process running, and looks whether the same code runs for too long. */
  private look(): void {
    const isAsked = !this.isEnded && this.loading.size + this.running.size + this.compiling.size + this.unloading.size > 0
    if (isAsked === (this.watch !== null)) return
    if (!isAsked) {
      if (this.watch) clearInterval(this.watch)
      this.watch = null
      this.worker.unref()
      return
    }
    this.worker.ref()
    this.watch = setInterval(() => {
      const [unit, entry] = [Atomics.load(this.busy, busyUnit), Atomics.load(this.busy, busyEntry)]
      // Counted in looks: a machine that stood still is not the fault of a plugin.
      this.seen = unit !== 0 && entry === this.seen.entry ? { entry, looks: this.seen.looks + 1 } : { entry, looks: 0 }
      if (this.seen.looks * looksMs < this.limits.threadMs) return
      this.end(`kept its thread busy for more than ${this.limits.threadMs / 1000} s`)
      void this.worker.terminate()
    }, looksMs)
  }

  private end(text: string): void {
    if (this.isEnded) return
    this.isEnded = true
    const guilty = Atomics.load(this.busy, busyUnit)
    for (const { unit, loaded } of this.loading.values()) loaded.resolve({ kind: 'failed', text, isRetryable: unit !== guilty })
    for (const { unit, count, outcomes } of this.running.values())
      outcomes.resolve(
        Array.from({ length: count }, (_, i) =>
          unit === guilty && i === 0 ? { kind: 'limit', text, endedThread: true } : { kind: 'not-run' },
        ),
      )
    for (const done of this.unloading.values()) done.resolve()
    for (const result of this.compiling.values())
      result.resolve({ transpiled: null, status: 'ERROR', error: `Its thread ${text}. Save the file again.` })
    this.compiling.clear()
    this.loading.clear()
    this.running.clear()
    this.unloading.clear()
    this.units.clear()
    this.look()
    this.onEnd()
  }
}

/** Arguments that are in the heap of a thread together. */
const charactersOfPart = 16 * 1024 * 1024
/** All results are in memory together: so much more than what they were made of. */
const mostGrowth = 64 * 1024 * 1024

/** Large lists go to the thread in several parts, and large results come in several. */
async function runAll(
  thread: Thread,
  unit: number,
  method: string,
  args: readonly (string | null)[],
  isOneByOne: boolean,
): Promise<readonly Outcome[]> {
  const outcomes: Outcome[] = []
  let room = mostGrowth + lengthOf(args)
  while (outcomes.length < args.length && room >= 0) {
    let to = outcomes.length
    for (let characters = 0; to < args.length && (characters === 0 || characters < charactersOfPart); to++)
      characters += Math.max(1, args[to]?.length ?? 0)
    const part = await thread.run(unit, method, to - outcomes.length < args.length ? args.slice(outcomes.length, to) : args, isOneByOne)
    for (const outcome of part) outcomes.push(outcome)
    room -= lengthOf(part.map((outcome) => (outcome.kind === 'value' ? outcome.json : null)))
  }
  const text = `returned values of more than ${mostGrowth / 1024 / 1024} MB more than the list of events has`
  while (outcomes.length < args.length) outcomes.push({ kind: 'error', text, isRetryable: false })
  return outcomes
}

const sizeOf = ({ files, settings }: UnitCode): number => Object.values(files).reduce((sum, text) => sum + text.length, settings.length)
const lengthOf = (jsons: readonly (string | null)[]): number => jsons.reduce((sum, json) => sum + (json?.length ?? 0), 0)

export function createSandbox({ limits: given, threads: most = Math.max(1, availableParallelism() - 1) }: SandboxOptions = {}): Sandbox {
  const limits: Limits = { ...defaultLimits, ...given }
  const threads = new Set<Thread>()
  let lastUnit = 0
  let isClosed = false
  const threadFor = (isAlone: boolean) => {
    const same = [...threads].filter((thread) => thread.isAlone === isAlone)
    const lightest = same.sort((a, b) => a.units.size - b.units.size)[0]
    const atMost = isAlone ? mostAlone : most
    if (lightest && (lightest.units.size === 0 || same.length >= atMost)) return lightest
    const thread: Thread = new Thread(limits, isAlone, () => threads.delete(thread))
    threads.add(thread)
    return thread
  }
  return {
    async load(code, events, { isSetUp, isAlone = false }) {
      if (isClosed) return { kind: 'failed', text: 'The server is closing', isRetryable: true }
      // As a text and as values it is in the memory of the plugin twice. The heap of the thread would not have room for much more.
      if (2 * sizeOf(code) > limits.memory)
        return { kind: 'failed', text: `Its code, settings and files need more than ${limits.memory / 1024 / 1024} MB`, isRetryable: false }
      const thread = threadFor(isAlone)
      const number = ++lastUnit
      const loaded = await thread.load(number, code, events, isSetUp)
      if (loaded.kind === 'failed') {
        thread.units.delete(number)
        return loaded
      }
      let isBroken = false
      const unload = async () => {
        await thread.unload(number)
        if (thread.isAlone && thread.units.size === 0) await thread.close()
      }
      const unit: Unit = {
        capabilities: loaded.capabilities,
        get isLost() {
          return isBroken || thread.isEnded
        },
        async run(method, args, isOneByOne = false) {
          const outcomes = await runAll(thread, number, method, args, isOneByOne)
          if (!isBroken && outcomes.some(({ kind }) => kind === 'limit' || kind === 'not-run')) {
            isBroken = true
            await unload()
          }
          return outcomes
        },
        unload,
      }
      return { kind: 'loaded', unit }
    },
    compile: (name, text) => threadFor(false).compile(name, text),
    async close() {
      isClosed = true
      await Promise.all([...threads].map((thread) => thread.close()))
    },
  }
}
