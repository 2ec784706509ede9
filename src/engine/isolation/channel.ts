import { InternalError, WaymarkError } from '../../errors/errors.ts'
import { readError, type WireError, writeError } from './wire-error.ts'

// Calls between two processes or threads, in both directions. A message is a list: its kind, the number of its call, and its contents.

/** Transports messages from one side to the other, in order. */
export interface Port {
  send(message: Message): void
  receive(take: (message: Message) => void): void
  /** Whether an answer is waited for: only then the other side keeps this process alive. */
  hold?(isHeld: boolean): void
}

export type Message =
  | readonly ['call', id: number, name: string, args: unknown]
  | readonly ['abort', id: number, reason: WireError]
  | readonly ['note', id: number, value: unknown]
  | readonly ['answer', id: number, value: unknown]
  | readonly ['failure', id: number, error: WireError]
  | readonly ['notify', name: string, value: unknown]

/** One call, as seen by the side that answers it. */
export interface Called {
  /** Aborts if the caller no longer wants the answer. */
  readonly signal: AbortSignal
  /** Sends an intermediate message to the caller before the answer. */
  note(value: unknown): void
}

export interface CallOptions {
  readonly signal?: AbortSignal | undefined
  note?(value: unknown): void
}

/** One side of a channel: an interface of its calls, each with one argument, and of the notifications that it takes. */
export interface Side {
  readonly calls: object
  readonly takes: object
}
export type NameOf<T> = keyof T & string
export type ArgsOf<C, N extends keyof C> = C[N] extends (args: infer A) => unknown ? A : never
export type AnswerOf<C, N extends keyof C> = C[N] extends (args: never) => infer R ? Awaited<R> : never

/** Calls as they are carried out. */
export type Methods<S extends Side> = {
  readonly [N in keyof S['calls']]: (
    args: ArgsOf<S['calls'], N>,
    called: Called,
  ) => AnswerOf<S['calls'], N> | Promise<AnswerOf<S['calls'], N>>
}
export type Notifications<S extends Side> = { readonly [N in keyof S['takes']]: (value: S['takes'][N]) => void }

type AnyMethod = (args: unknown, called: Called) => unknown

interface Waiting {
  resolve(value: unknown): void
  reject(error: unknown): void
  note?(value: unknown): void
}

/** The other process has ended: it is unknown whether a call was executed. */
export class Gone extends Error {
  override readonly name = 'Gone'
}

/** Functions, symbols and proxies cannot be sent to another process. */
function notSent(cause: unknown): unknown {
  if (!(cause instanceof Error) || !cause.message.includes('could not be cloned')) return cause
  const message = `This value cannot be sent to the engine process: ${cause.message} Use JSON values, dates or BigInts.`
  return new WaymarkError('validation-failed', { message, attr: null }, { cause })
}

export class Channel<Own extends Side, Theirs extends Side> {
  private readonly port: Port
  private readonly waiting = new Map<number, Waiting>()
  private readonly running = new Map<number, AbortController>()
  private calls = 0
  private gone: Gone | null = null

  constructor(port: Port, ownMethods: Methods<Own>, ownNotifications: Notifications<Own>) {
    // A message is of this program's other process, which is typed by the same interfaces.
    const methods = ownMethods as Readonly<Record<string, AnyMethod>>
    const notifications = ownNotifications as Readonly<Record<string, (value: unknown) => void>>
    this.port = port
    port.receive((message) => {
      switch (message[0]) {
        case 'call':
          return void this.carryOut(methods, message[1], message[2], message[3])
        case 'abort':
          return this.running.get(message[1])?.abort(readError(message[2]))
        case 'note':
          return this.waiting.get(message[1])?.note?.(message[2])
        case 'answer':
          return this.settle(message[1])?.resolve(message[2])
        case 'failure':
          return this.settle(message[1])?.reject(readError(message[2]))
        case 'notify':
          return notifications[message[1]]?.(message[2])
      }
    })
  }

  call<N extends NameOf<Theirs['calls']>>(
    name: N,
    args: ArgsOf<Theirs['calls'], N>,
    { signal, note }: CallOptions = {},
  ): Promise<AnswerOf<Theirs['calls'], N>> {
    if (this.gone) return Promise.reject(this.gone)
    if (signal?.aborted) return Promise.reject(signal.reason)
    const id = ++this.calls
    const abort = () => this.send(['abort', id, writeError(signal?.reason)])
    signal?.addEventListener('abort', abort, { once: true })
    const answered = new Promise<AnswerOf<Theirs['calls'], N>>((resolve, reject) => {
      this.waiting.set(id, { resolve: resolve as (value: unknown) => void, reject, ...(note ? { note } : {}) })
    })
    if (this.waiting.size === 1) this.port.hold?.(true)
    try {
      this.send(['call', id, name, args])
    } catch (cause) {
      this.settle(id)?.reject(notSent(cause))
    }
    return answered.finally(() => signal?.removeEventListener('abort', abort))
  }

  /** Sends a notification: a message without an answer. */
  notify<N extends NameOf<Theirs['takes']>>(name: N, value: Theirs['takes'][N]): void {
    this.send(['notify', name, value])
  }

  /** The other side has ended: open calls will never be answered. */
  end(reason: string): void {
    this.gone = new Gone(reason)
    for (const { reject } of this.waiting.values()) reject(this.gone)
    this.waiting.clear()
    for (const running of this.running.values()) running.abort(new WaymarkError('closed', {}))
  }

  private async carryOut(methods: Readonly<Record<string, AnyMethod>>, id: number, name: string, args: unknown): Promise<void> {
    const stop = new AbortController()
    this.running.set(id, stop)
    try {
      const method = methods[name]
      if (!method) throw new InternalError(`There is no method ${name} on this channel`)
      const value = await method(args, { signal: stop.signal, note: (noted) => this.send(['note', id, noted]) })
      this.send(['answer', id, value])
    } catch (error) {
      this.send(['failure', id, writeError(error)])
    } finally {
      this.running.delete(id)
    }
  }

  private settle(id: number): Waiting | undefined {
    const waiting = this.waiting.get(id)
    if (this.waiting.delete(id) && this.waiting.size === 0) this.port.hold?.(false)
    return waiting
  }

  private send(message: Message): void {
    if (!this.gone) this.port.send(message)
  }
}
