import { faultText, isFault } from '../../errors/faults.ts'
import { excerpt } from '../../lib/text/excerpt.ts'
import { type Breaker, breakerMinutes, createBreaker } from './breaker.ts'
import type { Capabilities, LogLevel, LogSource, PluginConfig, PluginPorts } from './ports.ts'
import type { Outcome } from './sandbox/messages.ts'
import type { LoadResult, Sandbox, Unit } from './sandbox/sandbox.ts'
import type { ServerCall } from './server-calls.ts'

// One plugin of one project: loads it, calls it, loads it again after it was ended, and switches it off when it keeps failing.

/** `deferred`: the plugin is switched off, or not set up yet. `absent`: it has no such function. */
export type CallResult =
  | Extract<Outcome, { kind: 'value' | 'error' | 'limit' }>
  | { readonly kind: 'deferred' }
  | { readonly kind: 'absent' }

/** Calls that another one kept from ending are repeated this often. */
const mostRounds = 3
const mostSetups = 10
const mostLinesPerMinute = 600
const firstPauseMs = 1_000
const longestPauseMs = 5 * 60_000

export class ManagedPlugin {
  config: PluginConfig
  /** How events name it. */
  readonly label: string
  private readonly sandbox: Sandbox
  private readonly calls: ServerCall
  private readonly ports: PluginPorts
  private readonly breaker: Breaker = createBreaker()
  private loading: Promise<Unit | null> | null = null
  private disabledFor: string | null = null
  private lastFailure = 'It kept failing'
  private setups = 0
  private nextSetup = 0
  private lines = { minute: 0, count: 0 }
  private isClosed = false
  private hasEndedThread = false

  constructor(config: PluginConfig, sandbox: Sandbox, calls: ServerCall, ports: PluginPorts) {
    this.config = config
    this.sandbox = sandbox
    this.calls = calls
    this.ports = ports
    this.label = `${config.plugin.name ?? `plugin-id-${config.plugin.id}`} (${config.id})`
  }

  /** Why it is not used. Null: it is. */
  get problem(): string | null {
    if (this.disabledFor !== null) return this.disabledFor
    return this.breaker.isClosed(this.ports.clock()) ? null : this.lastFailure
  }

  /** False: it was loaded before, and has no such function. */
  mayHave(method: string): boolean {
    const known = this.config.plugin.capabilities
    return !known || hasMethod(known, method)
  }

  /** The same plugin, in another place of the order. */
  withOrder(config: PluginConfig): this {
    this.config = config
    return this
  }

  /** Null while it cannot be used. Loads and sets it up if necessary. */
  async capabilities(): Promise<Capabilities | null> {
    return (await this.unit())?.capabilities ?? null
  }

  async call(method: string, args: readonly (string | null)[]): Promise<readonly CallResult[]> {
    if (!this.mayHave(method)) return args.map(() => ({ kind: 'absent' }))
    const results = new Array<CallResult>(args.length).fill({ kind: 'deferred' })
    let open = [...args.keys()]
    let isOneByOne = false
    for (let round = 0; open.length > 0; ) {
      if (!this.breaker.isClosed(this.ports.clock())) break
      const unit = await this.unit()
      if (!unit) break
      if (!hasMethod(unit.capabilities, method)) {
        for (const i of open) results[i] = { kind: 'absent' }
        break
      }
      const outcomes = await unit.run(
        method,
        open.map((i) => args[i]!),
        isOneByOne,
      )
      if (unit.isLost) this.loading = null
      const left: number[] = []
      let isOff = false
      for (const [n, i] of open.entries()) {
        const outcome = outcomes[n] ?? { kind: 'not-run' }
        if (outcome.kind === 'not-run') {
          left.push(i)
          continue
        }
        results[i] = outcome
        if (outcome.kind === 'limit' && outcome.endedThread) this.hasEndedThread = true
        if (outcome.kind === 'value') this.breaker.note('success', this.ports.clock())
        else {
          this.lastFailure = `${method} ${outcome.kind === 'limit' ? `was stopped: it ${outcome.text}` : failed(outcome.text)}`
          this.log('SYSTEM', 'ERROR', this.lastFailure)
          isOff = this.breaker.note(outcome.kind === 'limit' ? 'limit' : 'failure', this.ports.clock()) || isOff
        }
      }
      if (isOff) {
        const message = `The plugin is switched off for ${breakerMinutes} minutes, because it kept failing. Events are processed without it.`
        this.log('SYSTEM', 'ERROR', message)
      }
      // Without progress, others of the same thread ended it: that has an end when their breakers open.
      round = left.length === open.length ? round + 1 : 0
      if (round === mostRounds) {
        for (const i of left) results[i] = { kind: 'error', text: 'Its thread exited several times', isRetryable: true }
        this.log('SYSTEM', 'ERROR', `${method} did not run: its thread exited several times`)
        break
      }
      open = left
      isOneByOne = true
    }
    return results
  }

  /** `teardownPlugin`, and the end of its context. */
  async close(): Promise<void> {
    this.isClosed = true
    const unit = await this.loading
    if (!unit || unit.isLost) return
    if (unit.capabilities.methods.includes('teardownPlugin')) {
      const [outcome] = await unit.run('teardownPlugin', [null])
      if (outcome?.kind === 'error' || outcome?.kind === 'limit') this.log('SYSTEM', 'WARN', `teardownPlugin ${failed(outcome.text)}`)
    }
    await unit.unload()
  }

  log(source: LogSource, level: LogLevel, message: string): void {
    const minute = Math.floor(this.ports.clock().getTime() / 60_000)
    if (minute !== this.lines.minute) this.lines = { minute, count: 0 }
    this.lines.count++
    if (this.lines.count > mostLinesPerMinute) return
    const isLast = this.lines.count === mostLinesPerMinute
    const { projectId, plugin, id } = this.config
    this.ports.log({
      projectId,
      pluginId: plugin.id,
      configId: id,
      ...(isLast
        ? { source: 'SYSTEM', level: 'WARN', message: `Further lines of this minute are dropped: at most ${mostLinesPerMinute} are logged` }
        : { source, level, message }),
    })
  }

  private async unit(): Promise<Unit | null> {
    const current = await this.loading
    if (current && !current.isLost) return current
    if (this.isClosed || this.disabledFor !== null || this.ports.clock().getTime() < this.nextSetup) return null
    if (current || !this.loading) this.loading = this.load()
    return this.loading
  }

  /** Told to the plugin in place of a fault of the server. */
  private faulty(fault: unknown): Error {
    this.ports.report?.(fault)
    return new Error(faultText)
  }

  private async load(): Promise<Unit | null> {
    const { config } = this
    const events = {
      call: (name: string, json: string) =>
        this.calls(config, name, json).catch((error: unknown) => {
          throw isFault(error) ? this.faulty(error) : error
        }),
      log: (level: LogLevel, text: string) => this.log('CONSOLE', level, text),
    }
    const options = { isSetUp: true, isAlone: this.hasEndedThread }
    let hasThread = true
    const attempt = (): Promise<LoadResult> =>
      this.sandbox.load(codeOf(config), events, options).catch((error: unknown) => {
        hasThread = false
        if (isFault(error)) return { kind: 'failed', text: this.faulty(error).message, isRetryable: true }
        return { kind: 'failed', text: error instanceof Error ? error.message : String(error), isRetryable: false }
      })
    let loaded = await attempt()
    // A plugin that shared the thread can have ended it.
    for (let i = 1; i < mostRounds && loaded.kind === 'failed' && loaded.isRetryable && !loaded.text.startsWith('setupPlugin'); i++)
      loaded = await attempt()
    if (loaded.kind === 'loaded') {
      this.setups = 0
      return loaded.unit
    }
    this.loading = null
    this.setups++
    if (loaded.isRetryable && this.setups < mostSetups) {
      const pause = Math.min(longestPauseMs, firstPauseMs * 2 ** this.setups)
      this.nextSetup = this.ports.clock().getTime() + pause
      this.log('SYSTEM', 'WARN', `${oneLine(loaded.text)}. The next attempt is in ${pause / 1000} s`)
    } else {
      this.disabledFor = oneLine(loaded.text)
      this.log('SYSTEM', 'ERROR', `The plugin is disabled: ${this.disabledFor}`)
      if (hasThread && !this.isClosed) this.ports.disabled?.(config, this.disabledFor)
    }
    return null
  }
}

const oneLine = (text: string) => excerpt(text.replace(/\s+/g, ' ').trim(), 1_000)
const failed = (text: string) => `failed: ${oneLine(text)}`

function hasMethod({ methods, scheduled_tasks, jobs }: Capabilities, method: string): boolean {
  return method.startsWith('job:')
    ? jobs.includes(method.slice('job:'.length))
    : methods.includes(method) || scheduled_tasks.includes(method)
}

/** What the context of a plugin gets. */
export function codeOf({ plugin, config, attachments }: PluginConfig) {
  return {
    files: plugin.files,
    main: plugin.main ?? mainOf(plugin.files['plugin.json']),
    settings: JSON.stringify({
      config,
      attachments: Object.fromEntries(
        Object.entries(attachments).map(([key, { contents, ...rest }]) => [
          key,
          { ...rest, contents: Buffer.from(contents).toString('base64') },
        ]),
      ),
    }),
  }
}

function mainOf(manifest: string | undefined): string | null {
  if (manifest === undefined) return null
  try {
    const { main } = JSON.parse(manifest) as { main?: unknown }
    return typeof main === 'string' && main !== '' ? main : null
  } catch {
    return null
  }
}
