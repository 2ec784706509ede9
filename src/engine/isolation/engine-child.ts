import { type ChildProcess, fork } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { setTimeout } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { InternalError, WaymarkError } from '../../errors/errors.ts'
import { isFault } from '../../errors/faults.ts'
import { type Deferred, deferred } from '../../lib/flow/deferred.ts'
import {
  type AnswerOf,
  type ArgsOf,
  type CallOptions,
  Channel,
  Gone,
  type Message,
  type Methods,
  type NameOf,
  type Notifications,
  type Port,
} from './channel.ts'
import { HeadStart } from './head-start.ts'
import type { DoorNotifications, DoorSide, EngineCalls, EngineChannel, StartArgs } from './protocol.ts'
import { SpareProcess } from './spare-process.ts'

// The door's view of the engine's process: starts it, watches it, and restarts it when it ends.

/** Attempts to start an engine that has never started. After these, the problem counts as permanent. */
const mostAttempts = 3
/** Pauses between attempts if the engine ends before it has started. */
const pausesMs = [0, 0, 100, 250, 500, 1_000, 2_000, 5_000]
/** After this many consecutive engines that ended within `soonMs` of their start, the next start is delayed too. */
const soonMs = 5_000
const manyTimes = 20
const momentMs = 100
const recentMs = 60_000
const lookMs = 500
/** The engine is killed if its thread does not respond for this long. */
const silentMs = 10_000
/** A stopped query must end within this time, or the engine is killed. */
const graceMs = 5_000
/** Queries that had run this long when the engine ended are suspects. Others are retried, but not without limit; short ones more often. */
const suspectMs = 1_000
const mostLosses = 3
const mostLossesOfShort = 8

/** A query that the engine works on. */
export interface Work {
  /** When its first statement started; null while it waits. */
  begunAt: number | null
  /** How often the engine ended during this query. */
  losses: number
  /** How often this query was among the suspects. */
  suspicions: number
  /** The error that ends the query; null if it may be retried. */
  fate: WaymarkError | null
  readonly isShort: boolean
}
export const newWork = (query: unknown): Work => ({
  begunAt: null,
  losses: 0,
  suspicions: 0,
  fate: null,
  isShort: HeadStart.isShort(query),
})

interface Options {
  readonly start: StartArgs
  readonly methods: Methods<DoorSide>
  readonly notifications: Notifications<DoorSide>
  /** Maximum memory of the process, in bytes. */
  readonly mostBytes: number
  /** Called when a new engine has started, which has no project open. */
  onStart(channel: EngineChannel): void
  onEnd(): void
  report(error: unknown): void
}

/** The program is beside this file, with the same extension: TypeScript when run from the sources. */
const program = () => {
  const extension = /\.(ts|mjs)$/.exec(import.meta.url)?.[0] ?? '.js'
  const file = fileURLToPath(new URL(`./engine-process${extension}`, import.meta.url))
  return { file, execArgv: extension === '.ts' ? ['--import', 'tsx'] : [] }
}

const mebibyte = 1024 ** 2
/** Of young objects, in each of two halves: batches live longer than it takes to fill what a process has by default, and are then copied, and collected as old ones. */
const youngBytes = (mostBytes: number): number => Math.min(64 * mebibyte, Math.max(16 * mebibyte, (mostBytes - 2_048 * mebibyte) / 32))

const launch = (mostBytes: number): ChildProcess => {
  const { file, execArgv } = program()
  const young = `--max-semi-space-size=${Math.floor(youngBytes(mostBytes) / mebibyte)}`
  return fork(file, [], { execArgv: [...execArgv, young], serialization: 'advanced', stdio: ['ignore', 'ignore', 'inherit', 'ipc'] })
}

const portOf = (child: ChildProcess): Port => ({
  send: (message) => void (child.connected && child.send(message as never)),
  receive: (take) => void child.on('message', (message) => take(message as unknown as Message)),
  hold: (isHeld) => void (isHeld ? child.channel?.ref() : child.channel?.unref()),
})

/** Null if the operating system does not provide it. */
async function residentBytes(pid: number): Promise<number | null> {
  const text = await readFile(`/proc/${pid}/statm`, 'utf8').catch(() => null)
  return text === null ? null : Number(text.split(' ')[1]) * 4096
}

export class EngineChild {
  private readonly options: Options
  private child: ChildProcess | null = null
  private up: Deferred<EngineChannel> = deferred()
  private current: EngineChannel | null = null
  private isEnding = false
  private ends: number[] = []
  /** Why no engine will be started any more. */
  private failure: unknown = null
  private hasEverStarted = false
  /** Why the next engine could not start yet; null while it starts or runs. */
  private outage: WaymarkError | InternalError | null = null
  private readonly works = new Set<Work>()
  private readonly headStart = new HeadStart()
  private readonly spare = new SpareProcess(() => launch(this.options.mostBytes))
  /** This process is killing the engine, for a known reason. */
  private isEnded = false
  private readonly watching = new AbortController()
  private running: Promise<void>

  constructor(options: Options) {
    this.options = options
    this.running = this.keepRunning()
    this.running.catch(() => undefined)
    void this.watch()
  }

  get isUp(): boolean {
    return this.current !== null
  }

  /** How often it has ended within the last minute. */
  get recentEnds(): number {
    this.ends = this.ends.filter((at) => performance.now() - at < recentMs)
    return this.ends.length
  }

  get pid(): number | null {
    return this.child?.pid ?? null
  }

  /** Its memory; null: it is not running, or the system does not say. */
  async bytes(): Promise<number | null> {
    const { pid } = this
    return pid === null ? null : residentBytes(pid)
  }

  /** Numbers of queries that wait for an execution slot, and that have one. */
  get load() {
    const running = [...this.works].filter(({ begunAt }) => begunAt !== null).length
    return { waiting: this.works.size - running, running }
  }

  /** The running engine, or the next one. */
  async channel(signal?: AbortSignal): Promise<EngineChannel> {
    if (this.current) return this.current
    if (this.isEnding) throw new WaymarkError('closed', {})
    if (this.failure) throw this.failure
    if (this.outage) throw this.outage
    if (!signal) return this.up.promise
    signal.throwIfAborted()
    const { promise, reject } = deferred<never>()
    const stop = () => reject(signal.reason)
    signal.addEventListener('abort', stop, { once: true })
    try {
      return await Promise.race([this.up.promise, promise])
    } finally {
      signal.removeEventListener('abort', stop)
    }
  }

  /** Resolves when a query may be sent: after an engine has ended, short queries go first. */
  async mayAsk({ isShort }: Work): Promise<void> {
    if (!isShort) await this.headStart.waited()
  }

  /** The query has ended and is not retried. */
  isOver(work: Work): void {
    this.headStart.done(work)
  }

  /** Sends a query to the engine. The query is to blame if it continues for long after its time limit, or after it was stopped. */
  async work<N extends NameOf<EngineCalls>>(
    channel: EngineChannel,
    work: Work,
    seconds: number,
    name: N,
    args: ArgsOf<EngineCalls, N>,
    options: CallOptions,
  ): Promise<AnswerOf<EngineCalls, N>> {
    this.works.add(work)
    const since = performance.now()
    const over = new AbortController()
    const endAfter = async (ms: number): Promise<void> => {
      await setTimeout(ms, undefined, { signal: over.signal, ref: false }).catch(() => undefined)
      if (over.signal.aborted || this.current !== channel) return
      const ran = Math.round((performance.now() - (work.begunAt ?? since)) / 1000)
      const waited = Math.round(((work.begunAt ?? since) - since) / 1000)
      this.endFor(work, new WaymarkError('query-timeout', { seconds, waited, ran }), 'a query could not be stopped')
    }
    const stopped = () => void endAfter(graceMs)
    options.signal?.addEventListener('abort', stopped, { once: true })
    if (Number.isFinite(seconds)) void endAfter(seconds * 1000 + graceMs)
    try {
      return await channel.call(name, args, options)
    } finally {
      this.works.delete(work)
      over.abort()
      options.signal?.removeEventListener('abort', stopped)
    }
  }

  private suspects(longerThanMs: number): readonly Work[] {
    const now = performance.now()
    return [...this.works].filter(({ begunAt }) => begunAt !== null && now - begunAt >= longerThanMs)
  }

  /** The engine has ended while queries ran: decides which of them are retried. */
  private judge(): void {
    const suspects = this.suspects(suspectMs)
    for (const work of this.works) {
      work.losses++
      if (work.fate !== null || this.isEnded) continue
      if (suspects.includes(work)) work.suspicions++
      const isToBlame =
        (suspects.length === 1 && suspects[0] === work) ||
        work.suspicions > 1 ||
        work.losses >= (work.isShort ? mostLossesOfShort : mostLosses)
      if (isToBlame) work.fate = new WaymarkError('engine-ended', { isChange: false })
      else if (work.isShort) this.headStart.lost(work)
    }
    this.isEnded = false
  }

  async close(): Promise<void> {
    const channel = this.current
    this.isEnding = true
    this.spare.drop()
    this.watching.abort()
    try {
      await channel?.call('end', {})
    } finally {
      this.child?.ref()
      if (this.child?.connected) this.child.disconnect()
      await this.running.catch(() => undefined)
    }
  }

  /** Sends a notification if the engine is up. The next engine gets the current state when it starts. */
  notify<N extends NameOf<DoorNotifications>>(name: N, value: DoorNotifications[N]): void {
    this.current?.notify(name, value)
  }

  /** Kills the process. What it had not written is in the log. */
  kill(): void {
    this.child?.kill('SIGKILL')
  }

  private async keepRunning(): Promise<void> {
    for (let [unstarted, short] = [0, 0]; !this.isEnding; ) {
      const since = performance.now()
      const child = this.spare.take() ?? launch(this.options.mostBytes)
      child.unref() // a program that is done need not close: its engine ends with it
      this.child = child
      const ended = new Promise<string>((resolve) => {
        child.once('exit', (code, signal) => resolve(signal ? `was killed by ${signal}` : `exited with code ${code}`))
        child.on('error', (error) => child.pid === undefined && resolve(`could not be started: ${error.message}`)) // otherwise a message could not be sent
      })
      const channel: EngineChannel = new Channel(portOf(child), this.options.methods, this.options.notifications)
      const started = channel.call('start', this.options.start).then(
        () => this.hasStarted(channel),
        (error: unknown) => this.couldNotStart(error, child),
      )
      const reason = await ended
      const hasStarted = this.current !== null
      if (!this.isEnding) this.ends.push(performance.now())
      if (hasStarted) {
        this.current = null
        this.up = deferred()
        this.options.onEnd()
      }
      this.judge()
      channel.end(`The engine process ${reason}`)
      await started
      if (this.isEnding || this.failure) return
      if (!this.hasEverStarted && unstarted + 1 >= mostAttempts) {
        this.failure = new InternalError(`The engine process cannot be started: it ${reason}`)
        this.up.reject(this.failure)
        return
      }
      this.options.report(new Error(`The engine process ${reason} and is being restarted. No acknowledged event is lost.`))
      unstarted = hasStarted ? 0 : unstarted + 1
      short = performance.now() - since < soonMs ? short + 1 : 0
      const pauseMs = hasStarted ? (short > manyTimes ? momentMs : 0) : pausesMs[Math.min(unstarted, pausesMs.length - 1)]
      await setTimeout(pauseMs, undefined, { signal: this.watching.signal }).catch(() => undefined)
    }
  }

  private hasStarted(channel: EngineChannel): void {
    this.current = channel
    if (this.hasEverStarted) this.spare.make()
    this.hasEverStarted = true
    this.outage = null
    this.headStart.begin()
    this.options.onStart(channel)
    this.up.resolve(channel)
  }

  /** If the first engine cannot start, the directory or the settings are wrong: that is permanent. A later failure is temporary. */
  private couldNotStart(error: unknown, child: ChildProcess): void {
    if (error instanceof Gone) return
    if (this.hasEverStarted) {
      const reason = error instanceof Error ? error.message : String(error)
      this.outage = isFault(error)
        ? new InternalError(reason, { cause: error })
        : new WaymarkError('engine-unreachable', { engine: 'The engine', reason }, { cause: error })
      this.up.reject(this.outage) // callers would wait for the whole outage
      this.up = deferred()
      this.options.report(error)
    } else {
      this.failure = error
      this.up.reject(error)
    }
    child.kill('SIGKILL')
  }

  private endFor(work: Work | undefined, error: WaymarkError, reason: string): void {
    if (work) work.fate = error
    this.isEnded = true
    this.options.report(new Error(`Killing the engine process: ${reason}.`))
    this.kill()
  }

  /** Watches the engine from this process: a busy engine cannot watch itself. */
  private async watch(): Promise<void> {
    const { signal } = this.watching
    // Counted in looks: an engine cannot answer while the whole machine stands still.
    let unanswered = 0
    let pinged: EngineChannel | null = null
    while (!signal.aborted) {
      await setTimeout(lookMs, undefined, { signal, ref: false }).catch(() => undefined)
      const { current: channel, child } = this
      if (!channel || !child?.pid) {
        pinged = null
        continue
      }
      if (pinged !== channel) {
        pinged = channel
        unanswered = 0
        const ping = async (): Promise<void> => {
          while (this.current === channel && !signal.aborted) {
            await channel.call('ping', {})
            unanswered = 0
            await setTimeout(lookMs, undefined, { signal, ref: false })
          }
        }
        ping().catch(() => undefined)
      }
      unanswered++
      const [youngest] = [...this.suspects(200)].sort((a, b) => b.begunAt! - a.begunAt!)
      const bytes = await residentBytes(child.pid)
      if (bytes !== null && bytes > this.options.mostBytes && this.current === channel)
        this.endFor(youngest, new WaymarkError('query-memory', { message: '' }), `it uses ${Math.round(bytes / 1024 ** 2)} MiB of memory`)
      else if (unanswered * lookMs > silentMs && this.current === channel)
        this.endFor(youngest, new WaymarkError('engine-ended', { isChange: false }), 'it does not answer')
    }
  }
}
