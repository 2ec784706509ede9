import { AsyncLocalStorage } from 'node:async_hooks'
import type { LocalWaymark } from '../../engine.ts'
import type { HostUser } from '../../service/accounts/organizations/host-users.ts'
import type { Log } from '../http/app.ts'
import { setAttempt } from '../http/requests/attempt.ts'
import { createLocal, type HandlerOptions, type UnmountedHandler } from '../http/server/create-handler.ts'

// One handler for all processes of a directory whose options are the same: their limits count together.

/** The options that are data; who asks for them, and where lines go, comes with each request. */
type PlainOptions = { readonly [Name in 'publicUrl' | 'trustedProxies' | 'at' | 'sendsCompressed' | 'intake']?: HandlerOptions[Name] } & {
  readonly [Name in 'limits' | 'rows' | 'allowsDownloads' | 'concurrency']?: ReturnType<NonNullable<HandlerOptions[Name]>>
}

/** As JSON: equal options make one handler. */
export function plainOptions<R>(options: HandlerOptions<R>): string {
  const { publicUrl, trustedProxies, at, sendsCompressed, intake, limits, rows, allowsDownloads, concurrency } = options
  const plain: PlainOptions = {
    ...{ publicUrl, trustedProxies, at, sendsCompressed, intake },
    ...{ limits: limits?.(), rows: rows?.(), allowsDownloads: allowsDownloads?.(), concurrency: concurrency?.() },
  }
  return JSON.stringify(plain, (_, value) => (value === Number.POSITIVE_INFINITY ? unbounded : value))
}

/** JSON has no infinity. */
const unbounded = 'unbounded'
const readOptions = (options: string): PlainOptions =>
  JSON.parse(options, (_, value) => (value === unbounded ? Number.POSITIVE_INFINITY : value)) as PlainOptions

export interface About {
  readonly address: string | null
  readonly mountedAt: string | undefined
  readonly attempt: string | null
  readonly authenticate: () => Promise<HostUser | null | undefined>
  readonly log: Log
  readonly cut?: (() => void) | undefined
}
export interface SharedHandler {
  handle(request: Request, about: About): Promise<Response>
  drain(withinMs?: number): Promise<void>
}
export interface SharedHandlers {
  of(options: string): SharedHandler
}

/** More would be options that change with each request. */
const mostHandlers = 20

const known = new WeakMap<LocalWaymark, SharedHandlers>()

export function sharedHandlers(waymark: LocalWaymark): SharedHandlers {
  const found = known.get(waymark)
  if (found) return found
  const made = new Map<string, SharedHandler>()
  const handlers: SharedHandlers = {
    of(options) {
      const handler = made.get(options) ?? handlerOf(waymark, readOptions(options))
      made.delete(options)
      made.set(options, handler)
      if (made.size > mostHandlers) made.delete(made.keys().next().value!)
      return handler
    },
  }
  known.set(waymark, handlers)
  return handlers
}

function handlerOf(waymark: LocalWaymark, { limits, rows, allowsDownloads, concurrency, ...options }: PlainOptions): SharedHandler {
  const logs = new AsyncLocalStorage<Log>()
  const handler: UnmountedHandler<About> = createLocal<About>(waymark, {
    ...options,
    ...(limits && { limits: () => limits }),
    ...(rows && { rows: () => rows }),
    ...(allowsDownloads !== undefined && { allowsDownloads: () => allowsDownloads }),
    ...(concurrency && { concurrency: () => concurrency }),
    authenticate: (about) => about.authenticate(),
    log: (line) => logs.getStore()?.(line),
    takesCommands: false,
  })
  return {
    handle(request, about) {
      if (about.attempt !== null) setAttempt(request, about.attempt)
      return logs.run(about.log, () => handler(request, about.address, about.cut, about, about.mountedAt))
    },
    drain: handler.drain,
  }
}
