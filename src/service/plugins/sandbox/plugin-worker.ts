import { existsSync, readFileSync } from 'node:fs'
// The bundle has a `createRequire` already.
import { createRequire as requireBeside } from 'node:module'
import { parentPort, workerData } from 'node:worker_threads'
import { excerpt } from '../../../lib/text/excerpt.ts'
import type { Capabilities } from '../ports.ts'
import { compileForBrowsers } from './browser-files.ts'
import { LimitExceeded, PluginContext } from './context.ts'
import { busyEntry, busyUnit, type FromThread, type Loaded, type Outcome, type ToThread } from './messages.ts'
import { transpile } from './transpile.ts'

// The program of a thread that runs plugins. Each unit (a plugin of a project) has a context of its own. Several calls of a unit can wait for the server at once.

const busy = new Int32Array((workerData as { readonly busy: SharedArrayBuffer }).busy)
const send = (message: FromThread) => parentPort!.postMessage(message)

/** The engine is beside this program in the package, and in its own package when run from the sources. */
const engine = (() => {
  const beside = new URL('./quickjs.wasm', import.meta.url)
  const file = existsSync(beside) ? beside : requireBeside(import.meta.url).resolve('@jitl/quickjs-wasmfile-release-sync/wasm')
  return new (globalThis as unknown as { WebAssembly: { Module: new (bytes: Uint8Array) => WebAssembly.Module } }).WebAssembly.Module(
    readFileSync(file),
  )
})()

/** The program around each plugin. The build writes it beside this program; from the sources it is built now. */
const prelude = await (async () => {
  const beside = new URL('./plugin-prelude.js', import.meta.url)
  if (existsSync(beside)) return readFileSync(beside, 'utf8')
  const { preludeText } = (await import(new URL('../../../../build/prelude.mjs', import.meta.url).href)) as {
    preludeText(): Promise<string>
  }
  return preludeText()
})()

/** Calls of one unit that wait for the server at the same time. */
const callsAtOnce = 20
/** Events that run in one entry of the context. */
const eventsOfList = 50
/** Results that are sent together, unless the last of them have more: the heap of this thread has room for a few times as many. */
const charactersOfResults = 16 * 1024 * 1024
/** The list and its values are in the memory of the context. */
const charactersOfList = 200_000
function listFrom(args: readonly (string | null)[], from: number): readonly (string | null)[] {
  let [to, characters] = [from, 0]
  do characters += args[to++]?.length ?? 0
  while (to < args.length && to - from < eventsOfList && characters < charactersOfList)
  return args.slice(from, to)
}

interface Call {
  finish(outcome: Outcome): void
}

class Unit {
  readonly number: number
  private readonly message: Extract<ToThread, { kind: 'load' }>
  private context: PluginContext | null = null
  private readonly calls = new Map<number, Call>()
  private held: [call: number, isOk: boolean, json: string][] = []
  private heldCharacters = 0
  private lastCall = 0
  private turn: Promise<unknown> = Promise.resolve()
  /** Whose fault it is if a limit is exceeded now. */
  private current = 0
  broken: string | null = null
  /** A limit that was exceeded while no call ran: the next call is told. */
  private untold: string | null = null

  constructor(message: Extract<ToThread, { kind: 'load' }>) {
    this.number = message.unit
    this.message = message
  }

  async load(): Promise<Loaded> {
    const { code, limits, isSetUp } = this.message
    try {
      this.enter()
      const files = Object.fromEntries(
        Object.entries(code.files)
          .filter(([name]) => /\.(?:[jt]sx?|json)$/.test(name) && name !== 'frontend.tsx' && name !== 'site.ts')
          .map(([name, text]) => [name, transpiled(name, text)]),
      )
      const main = mainFile(code.main, files)
      const settings = JSON.stringify({ ...(JSON.parse(code.settings) as object), files, main })
      this.leave()
      this.context = await PluginContext.create(engine, prelude, settings, limits, {
        done: (id, kind, text) => this.done(id, kind, text),
        call: (call, name, json) => send({ kind: 'call', unit: this.number, call, name, json }),
        log: (level, text) => send({ kind: 'log', unit: this.number, level, text }),
        enter: () => this.enter(),
        leave: () => this.leave(),
      })
      const capabilities = JSON.parse(this.context.start()) as Capabilities
      if (!isSetUp) return { kind: 'loaded', capabilities }
      const outcome = await this.begin('setupPlugin', null)
      if (outcome.kind === 'value') return { kind: 'loaded', capabilities }
      const text = outcome.kind === 'not-run' ? 'was ended' : outcome.text
      return { kind: 'failed', text: `setupPlugin ${sentence(text)}`, isRetryable: outcome.kind === 'error' && outcome.isRetryable }
    } catch (error) {
      return { kind: 'failed', text: excerpt(error instanceof Error ? error.message : String(error), 2_000), isRetryable: false }
    } finally {
      this.leave()
    }
  }

  /** Transformations of one list end before those of the next begin. Large results are those of the first calls only: the others have not begun. */
  runInOrder(method: string, args: readonly (string | null)[], isOneByOne: boolean): Promise<readonly Outcome[]> {
    if (method !== 'processEvent') return this.run(method, args, true)
    const turn = this.turn.then(() => this.run(method, args, isOneByOne))
    this.turn = turn
    return turn
  }

  private async run(method: string, args: readonly (string | null)[], isOneByOne: boolean): Promise<readonly Outcome[]> {
    const outcomes: Outcome[] = []
    const open = new Set<Promise<void>>()
    let characters = 0
    const ended = (i: number, outcome: Outcome) => {
      outcomes[i] = outcome
      if (outcome.kind === 'value') characters += outcome.json?.length ?? 0
    }
    const take = (i: number, outcome: Outcome | Promise<Outcome>) => {
      if ('kind' in outcome) return ended(i, outcome)
      const waiting: Promise<void> = outcome.then((value) => {
        ended(i, value)
        open.delete(waiting)
      })
      open.add(waiting)
    }
    for (let i = 0; i < args.length && characters < charactersOfResults; ) {
      if (open.size >= callsAtOnce) await Promise.race(open)
      const begun: readonly (Outcome | Promise<Outcome>)[] =
        this.broken !== null
          ? [this.outcomeOfBroken()]
          : isOneByOne
            ? [this.begin(method, args[i]!)]
            : this.beginMany(method, listFrom(args, i), callsAtOnce - open.size)
      for (const [n, outcome] of begun.entries()) take(i + n, outcome)
      i += begun.length
    }
    await Promise.all(open)
    return outcomes
  }

  /** An answer of the server to a call of the plugin. */
  answer(call: number, isOk: boolean, json: string): void {
    if (this.broken !== null) return
    // Code runs only during calls: what a plugin did not await goes on with the next one.
    if (this.calls.size === 0) this.hold([call, isOk, json])
    else this.guard(() => this.context?.settle(call, isOk, json))
  }

  private hold(answer: [call: number, isOk: boolean, json: string]): void {
    this.heldCharacters += answer[2].length
    this.held.push(answer)
    const { memory } = this.message.limits
    if (this.heldCharacters <= memory) return
    this.untold = `left answers of more than ${Math.round(memory / 1024 / 1024)} MB that no call awaits`
    this.end(this.untold)
  }

  private outcomeOfBroken(): Outcome {
    const text = this.untold
    this.untold = null
    return text === null ? { kind: 'not-run' } : { kind: 'limit', text }
  }

  /** Ends all calls. `text` is the fault of the one that runs now. */
  end(text: string): void {
    this.broken = text
    this.context = null // its memory is collected with it
    this.held = []
    const calls = [...this.calls]
    this.calls.clear()
    for (const [id, call] of calls) call.finish(id === this.current || calls.length === 1 ? { kind: 'limit', text } : { kind: 'not-run' })
  }

  /** The outcome, at once if the plugin did not await anything of the server. */
  private begin(method: string, json: string | null): Outcome | Promise<Outcome> {
    const outcome = this.expect(++this.lastCall)
    this.current = this.lastCall
    this.guard(() => this.context!.run(this.lastCall, method, json))
    this.settleHeld(this.lastCall)
    return outcome()
  }

  /** The outcomes of the first of these calls, as many as began. */
  private beginMany(method: string, jsons: readonly (string | null)[], openCalls: number): readonly (Outcome | Promise<Outcome>)[] {
    const first = this.lastCall + 1
    this.lastCall += jsons.length
    const outcomes = jsons.map((_, n) => this.expect(first + n))
    let begun = jsons.length
    this.guard(() => {
      begun = this.context!.runMany(first, method, `[${jsons.join()}]`, openCalls)
    })
    for (let n = begun; n < jsons.length; n++) this.calls.delete(first + n)
    this.settleHeld(first)
    return outcomes.slice(0, begun).map((outcome) => outcome())
  }

  /** Answers that arrived while no call ran. */
  private settleHeld(id: number): void {
    const held = this.held
    this.held = []
    this.heldCharacters = 0
    for (const answer of held) {
      if (this.broken !== null) break
      this.current = id
      this.guard(() => this.context!.settle(...answer))
    }
  }

  /** Waits for the result of a call that is about to begin. */
  private expect(id: number): () => Outcome | Promise<Outcome> {
    let early: Outcome | null = null
    let late: ((outcome: Outcome) => void) | null = null
    this.calls.set(id, {
      finish: (outcome) => {
        if (late) late(outcome)
        else early = outcome
      },
    })
    return () =>
      early ??
      new Promise((resolve) => {
        const { awaitMs } = this.message.limits
        const timer = setTimeout(() => {
          this.current = id
          this.end(`did not end within ${awaitMs / 1000} s`)
        }, awaitMs)
        late = (outcome) => {
          clearTimeout(timer)
          resolve(outcome)
        }
      })
  }

  private guard(work: () => void): void {
    try {
      work()
    } catch (error) {
      this.current ||= this.context?.current ?? 0
      if (error instanceof LimitExceeded) this.end(error.message)
      else this.end(excerpt(String(error), 500))
    }
    this.current = 0
  }

  private done(id: number, kind: 'value' | 'error' | 'retry', text: string): void {
    const call = this.calls.get(id)
    if (!call) return
    this.calls.delete(id)
    call.finish(
      kind === 'value' ? { kind: 'value', json: text === '' ? null : text } : { kind: 'error', text, isRetryable: kind === 'retry' },
    )
  }

  private enter(): void {
    Atomics.store(busy, busyUnit, this.number)
    Atomics.add(busy, busyEntry, 1)
  }

  private leave(): void {
    Atomics.store(busy, busyUnit, 0)
  }
}

const sentence = (text: string) => (/^[A-Z]\w*: /.test(text) ? `threw ${text}` : text)

function transpiled(name: string, text: string): string {
  try {
    return name.endsWith('.json') ? text : transpile(name, text)
  } catch (error) {
    throw new Error(`${name} cannot be read: ${excerpt(error instanceof Error ? error.message : String(error), 500)}`)
  }
}

function mainFile(main: string | null, files: Readonly<Record<string, string>>): string {
  const wanted = main?.replace(/^\.\//, '') ?? null
  const candidates = wanted === null ? ['index.ts', 'index.js'] : [wanted, `${wanted}.ts`, `${wanted}.js`, `${wanted}/index.js`]
  const found = candidates.find((name) => Object.hasOwn(files, name))
  if (found === undefined) throw new Error(`The plugin has no file ${wanted ?? 'index.ts or index.js'}`)
  return found
}

const units = new Map<number, Unit>()

async function handle(message: ToThread): Promise<void> {
  switch (message.kind) {
    case 'load': {
      const unit = new Unit(message)
      units.set(message.unit, unit)
      const loaded = await unit.load()
      if (loaded.kind === 'failed') units.delete(message.unit)
      return send({ kind: 'done', id: message.id, loaded })
    }
    case 'run': {
      const unit = units.get(message.unit)
      const args = message.args.split('\n').map((json) => (json === '' ? null : json))
      const outcomes = unit
        ? await unit.runInOrder(message.method, args, message.isOneByOne)
        : args.map((): Outcome => ({ kind: 'not-run' }))
      const values = outcomes.map((outcome) => (outcome.kind === 'value' ? (outcome.json ?? '') : '')).join('\n')
      const others = [...outcomes.entries()].filter(([, { kind }]) => kind !== 'value')
      return send({ kind: 'ran', id: message.id, values, others })
    }
    case 'unload':
      units.get(message.unit)?.end('was unloaded')
      units.delete(message.unit)
      return send({ kind: 'unloaded', id: message.id })
    case 'compile':
      return send({ kind: 'compiled', id: message.id, result: compileForBrowsers(message.name, message.text) })
    case 'answer':
      return units.get(message.unit)?.answer(message.call, message.isOk, message.json)
  }
}

parentPort!.on('message', (message: ToThread) => void handle(message))
