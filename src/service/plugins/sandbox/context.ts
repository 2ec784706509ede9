import releaseVariant from '@jitl/quickjs-wasmfile-release-sync'
import {
  newQuickJSWASMModuleFromVariant,
  newVariant,
  type QuickJSContext,
  type QuickJSHandle,
  type QuickJSRuntime,
  type QuickJSSyncVariant,
} from 'quickjs-emscripten-core'
import { excerpt } from '../../../lib/text/excerpt.ts'
import { type LogLevel, logLevels } from '../ports.ts'
import type { Limits } from './limits.ts'
import { callServerFunction } from './server-functions.ts'

// A QuickJS context with its own WebAssembly memory: what one plugin does to it reaches no other. A plugin that exceeds a limit loses the context, because
// its code may have stopped anywhere.

/** What the context tells: results of calls, calls of the server, lines for the log. */
export interface ContextEvents {
  done(id: number, kind: 'value' | 'error' | 'retry', text: string): void
  call(call: number, name: string, json: string): void
  log(level: LogLevel, text: string): void
  /** Code of the plugin begins and ends to run. */
  enter(): void
  leave(): void
}

/** A limit was exceeded; the context cannot be used any more. */
export class LimitExceeded extends Error {}

/** A list of events runs for this long at once. */
const manyMs = 20
const flushMs = 200
// No type library of this project has it.
const { Memory } = (globalThis as unknown as { WebAssembly: { Memory: new (pages: { initial: number; maximum: number }) => object } })
  .WebAssembly
const pageSize = 64 * 1024
/** The engine does not start with fewer. */
const initialPages = 256
/** Of the engine itself: its stack, and the program around the plugin. */
const ownMemory = 6 * 1024 * 1024
const longestError = 2_000
const longestLine = 8_000
const doneKinds = ['error', 'value', 'retry'] as const

export class PluginContext {
  private readonly limits: Limits
  private readonly events: ContextEvents
  private readonly runtime: QuickJSRuntime
  private readonly vm: QuickJSContext
  private readonly functions: readonly QuickJSHandle[]
  private deadline = 0
  private polls = 0
  private lines = 0
  private exceeded: string | null = null
  private open = 0
  /** Results of this entry. They count if it ends within the limits: an interrupted async function rejects like any other. */
  private results: Parameters<ContextEvents['done']>[] = []
  /** The call that exceeded a limit while a list of events ran. 0: unknown. */
  current = 0
  private isFlushed = false

  /** `prelude`: the text of the program around the plugin. */
  static async create(
    wasm: WebAssembly.Module,
    prelude: string,
    settings: string,
    limits: Limits,
    events: ContextEvents,
  ): Promise<PluginContext> {
    // Its runtime bounds single allocations by `setMemoryLimit`, but does not count them together.
    const maximum = Math.max(initialPages, Math.ceil((ownMemory + limits.memory) / pageSize))
    const wasmMemory = new Memory({ initial: initialPages, maximum })
    const variant = newVariant(releaseVariant as unknown as QuickJSSyncVariant, { wasmModule: wasm, wasmMemory })
    const engine = await newQuickJSWASMModuleFromVariant(variant)
    return new PluginContext(engine.newRuntime(), prelude, settings, limits, events)
  }

  private constructor(runtime: QuickJSRuntime, prelude: string, settings: string, limits: Limits, events: ContextEvents) {
    this.limits = limits
    this.events = events
    this.runtime = runtime
    runtime.setMemoryLimit(limits.memory)
    runtime.setMaxStackSize(limits.stack)
    // The first poll can come early in a call that a busy machine has delayed: one alone does not end it.
    runtime.setInterruptHandler(() => {
      this.polls++
      if (this.polls < 2 || performance.now() < this.deadline) return false
      this.exceeded ??= `ran for more than ${limits.runMs / 1000} s without awaiting anything`
      return true
    })
    this.vm = runtime.newContext()
    this.functions = this.enter(() => {
      const { vm } = this
      const begun = vm.unwrapResult(vm.evalCode(prelude, 'plugin', { type: 'global' }))
      const given = [this.hostCall(), this.hostSync(), this.hostDone(), this.hostLog(), vm.newString(settings)]
      const list = vm.unwrapResult(vm.callFunction(begun, vm.undefined, ...given))
      for (const handle of [begun, ...given]) handle.dispose()
      const found = [0, 1, 2, 3, 4].map((i) => vm.getProp(list, i))
      list.dispose()
      return found
    })
  }

  /** Runs the code of the plugin, and returns its capabilities as JSON. Throws what the code throws. */
  start(): string {
    return this.enter(() => {
      const result = this.vm.callFunction(this.functions[0]!, this.vm.undefined)
      if (result.error) throw this.failure(result.error)
      const text = this.text(result.value, this.limits.value)
      result.value.dispose()
      return text ?? ''
    })
  }

  /** Begins a call. Its result arrives at `done`, now or later. `json`: the argument; null for calls that have none. */
  run(id: number, method: string, json: string | null): void {
    this.invoke(1, id, [method, json ?? ''])
  }

  /**
   * Begins calls with the items of a JSON list, and returns how many: it stops after some time. If a limit is exceeded, `done` has the results of those that
   * ended before.
   */
  runMany(firstId: number, method: string, json: string, openCalls: number): number {
    const { vm } = this
    this.current = 0
    this.isFlushed = false
    return this.enter(() => {
      const args = [vm.newNumber(firstId), vm.newString(method), vm.newString(json), vm.newNumber(manyMs), vm.newNumber(openCalls)]
      const result = vm.callFunction(this.functions[3]!, vm.undefined, ...args)
      for (const handle of args) handle.dispose()
      if (result.error) throw this.failure(result.error)
      return result.value.consume((value) => vm.getNumber(value))
    }, true)
  }

  /** The answer of a call of the server. */
  settle(call: number, isOk: boolean, json: string): void {
    this.open--
    const { vm } = this
    this.enter(() => {
      const args = [vm.newNumber(call), isOk ? vm.true : vm.false, vm.newString(json)]
      const result = vm.callFunction(this.functions[2]!, vm.undefined, ...args)
      for (const handle of args) handle.dispose()
      if (result.error) throw this.failure(result.error)
      result.value.dispose()
    })
  }

  private invoke(which: number, id: number, texts: readonly string[]): void {
    const { vm } = this
    this.enter(() => {
      const args = [vm.newNumber(id), ...texts.map((text) => vm.newString(text))]
      const result = vm.callFunction(this.functions[which]!, vm.undefined, ...args)
      for (const handle of args) handle.dispose()
      if (result.error) throw this.failure(result.error)
      result.value.dispose()
    })
  }

  /** Everything that the plugin runs, it runs in here: until it awaits something of the server, or exceeds a limit. */
  private enter<T>(work: () => T, isMany = false): T {
    this.deadline = performance.now() + this.limits.runMs
    this.polls = 0
    this.lines = 0
    this.results = []
    this.events.enter()
    try {
      const result = work()
      const jobs = this.runtime.executePendingJobs()
      if (jobs.error) jobs.error.dispose()
      if (isMany) this.flush()
      if (this.exceeded !== null) throw new LimitExceeded(this.exceeded)
      for (const one of this.results) this.events.done(...one)
      return result
    } catch (error) {
      if (isMany) this.reportBefore()
      if (this.exceeded !== null) throw new LimitExceeded(this.exceeded)
      if (error instanceof PluginFailure) throw error
      // A trap of WebAssembly, or an error of the library around it: the memory may be in any state.
      const isDeep = error instanceof RangeError && /call stack/.test(error.message)
      throw new LimitExceeded(isDeep ? 'nested its code or data too deeply' : `crashed its engine: ${excerpt(String(error), 200)}`, {
        cause: error,
      })
    } finally {
      this.events.leave()
    }
  }

  /** What ended before a call exceeded a limit. If it is unknown which call that was, there are no results: the code has not come to rest. */
  private reportBefore(): void {
    this.deadline = performance.now() + flushMs
    this.polls = 0
    try {
      if (!this.isFlushed) this.flush()
      if (this.current !== 0) for (const one of this.results) this.events.done(...one)
    } catch {
      // The memory may be in any state: these calls have no result.
    }
  }

  private flush(): void {
    const result = this.vm.callFunction(this.functions[4]!, this.vm.undefined)
    this.isFlushed = true
    if (result.error) {
      result.error.dispose()
      return
    }
    const [current, ...lines] = (result.value.consume((value) => this.text(value, this.limits.memory)) ?? '').split('\n')
    this.current = Number(current) || 0
    for (const line of lines) {
      const end = line.indexOf(' ')
      if (end < 0) continue
      const [id, kind, text] = [Number(line.slice(0, end)), line[end + 1], line.slice(end + 3)]
      this.note(id, Number(kind), kind === '1' ? text : String(JSON.parse(text)))
    }
  }

  private failure(handle: QuickJSHandle): Error {
    const name = this.property(handle, 'name')
    const message = this.property(handle, 'message')
    handle.dispose()
    if (name === 'InternalError' && message === 'out of memory') return new LimitExceeded(this.outOfMemory())
    return new PluginFailure(excerpt(name ? `${name}: ${message}` : message || 'threw a value without a message', longestError))
  }

  private outOfMemory(): string {
    this.exceeded ??= `needed more than ${Math.round(this.limits.memory / 1024 / 1024)} MB of memory`
    return this.exceeded
  }

  private property(handle: QuickJSHandle, name: string): string {
    return this.vm.getProp(handle, name).consume((value) => this.text(value, longestError) ?? '')
  }

  /** A text of the plugin. Null if it is longer than allowed: it is not copied then. */
  private text(handle: QuickJSHandle, longest: number): string | null {
    if (this.vm.typeof(handle) !== 'string') return ''
    const length = this.vm.getProp(handle, 'length').consume((value) => this.vm.getNumber(value))
    return length > longest ? null : this.vm.getString(handle)
  }

  private hostDone(): QuickJSHandle {
    return this.vm.newFunction('done', (id, kind, value) => {
      this.note(this.vm.getNumber(id), this.vm.getNumber(kind), this.text(value, this.limits.value))
    })
  }

  /** Null: the text is too long. */
  private note(id: number, kind: number, text: string | null): void {
    const what = doneKinds[kind] ?? 'error'
    if (text === null || text.length > this.limits.value)
      this.results.push([id, 'error', `returned a value of more than ${this.limits.value} characters`])
    else if (what === 'value') this.results.push([id, 'value', text])
    else {
      // Without room for an error, null is thrown.
      if (text === 'InternalError: out of memory' || text === 'threw null') {
        this.outOfMemory()
        this.current = id
        return
      }
      this.results.push([id, what, excerpt(text, longestError)])
    }
  }

  private hostCall(): QuickJSHandle {
    return this.vm.newFunction('call', (id, name, json) => {
      const text = this.text(json, this.limits.value)
      if (text === null) return this.vm.newString(`An argument has more than ${this.limits.value} characters`)
      if (this.open >= this.limits.openCalls) return this.vm.newString(`More than ${this.limits.openCalls} calls are waiting for an answer`)
      this.open++
      this.events.call(this.vm.getNumber(id), this.text(name, 100) ?? '', text)
      return this.vm.newString('')
    })
  }

  private hostSync(): QuickJSHandle {
    return this.vm.newFunction('sync', (name, json) => {
      const text = this.text(json, this.limits.value)
      if (text === null) throw new Error(`An argument has more than ${this.limits.value} characters`)
      return this.vm.newString(callServerFunction(this.text(name, 100) ?? '', text))
    })
  }

  private hostLog(): QuickJSHandle {
    return this.vm.newFunction('log', (level, text) => {
      this.lines++
      if (this.lines < this.limits.logLines) {
        const known = logLevels.find((one) => one === this.text(level, 10)) ?? 'LOG'
        const line = this.text(text, this.limits.value)
        this.events.log(
          known,
          line === null ? `A line of more than ${this.limits.value} characters was dropped` : excerpt(line, longestLine),
        )
      } else if (this.lines === this.limits.logLines)
        this.events.log('WARN', `Further lines of this call are dropped: at most ${this.limits.logLines} are logged`)
    })
  }
}

/** The code of a plugin threw; the context can be used further. */
export class PluginFailure extends Error {}
