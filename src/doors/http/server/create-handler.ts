import type { LocalWaymark } from '../../../engine.ts'
import { followed, localOf } from '../../../following.ts'
import type { HostUser } from '../../../service/accounts/organizations/host-users.ts'
import type { QueryOptions, Waymark } from '../../../waymark.ts'
import { defaultRateLimits, type RateLimits } from '../access/rate-limits.ts'
import type { Log } from '../app.ts'
import { takeCommands } from '../commands/embedded-commands.ts'
import { failureBody, failureOf, failures } from '../errors.ts'
import { type ConcurrencyLimits, defaultConcurrency } from '../queries/concurrency.ts'
import type { RequestBodyLimits } from '../requests/request-bodies.ts'
import { createSites, type SiteOptions } from '../site.ts'
import { appOf } from './app-of.ts'
import { belowMount, mountPath, redirectToMount } from './mount.ts'

/** `R`: the request as `authenticate` gets it. */
export interface HandlerOptions<R = Request> extends SiteOptions {
  /**
   * Whom the application has signed in; null: nobody. Asked at every request of the interface and its API, so a session ends when it says so. An account belongs to
   * the pair of `issuer` and `subject`, and has exactly the membership that is returned.
   */
  readonly authenticate?: (request: R) => HostUser | null | undefined | Promise<HostUser | null | undefined>
  /** Whether commands such as `waymark users link` work while this process has the directory: they reach it on the loopback interface. Default: true. */
  readonly takesCommands?: boolean
  /**
   * Whether scripts and styles are sent compressed, with a `content-encoding`. A framework that removes this header from a `Response`, as route handlers of
   * Next.js do, makes them unreadable. Default: false; of `toNodeHandler`, which writes the answer itself: true.
   */
  readonly sendsCompressed?: boolean
  /** Called once for each request and each internal error, without personal data. */
  readonly log?: Log
  /** Request limits of keys, called each time. Default: 480 requests a minute and 4800 an hour; queries are not limited. */
  readonly limits?: () => RateLimits
  /** Rows of a query's answer: default and maximum. */
  readonly rows?: () => QueryOptions['rows']
  /** Whether queries can be downloaded without a row limit. Default: unless the server is hosted. */
  readonly allowsDownloads?: () => boolean
  /** Limits for the memory of bodies and the speed of senders. */
  readonly intake?: Partial<RequestBodyLimits>
  /** Queries that may wait or run at the same time: of one project with keys (3), of one user (50), in total (500). */
  readonly concurrency?: () => ConcurrencyLimits
}

/** A file of the package is missing or cannot be read: requests are told, and the application goes on. */
const notLoaded = (log: Log | undefined) => (error: unknown) => {
  const text = error instanceof Error ? (error.stack ?? error.message) : String(error)
  log?.({ level: 'error', message: 'the HTTP API could not be loaded', error: text })
  const failure = failureOf(failures.internal())
  return async () => Response.json(failureBody(failure), { status: failure.status })
}

export interface Handler<R = Request> {
  (request: Request, address?: string | null, cut?: (error?: unknown) => void, original?: R): Promise<Response>
  /** Call before `waymark.close()`: waits for async queries up to this time, then cancels them; their statuses say so. */
  drain(withinMs?: number): Promise<void>
}

/**
 * Serves the whole HTTP API on web-standard requests. `address` is that of the connection,
 * `cut` ends the connection: a stream of rows that cannot be finished must not look finished.
 *
 * @example const handler = createHandler(waymark); const response = await handler(request)
 */
export const createHandler = (waymark: Waymark, options: HandlerOptions = {}): Handler => {
  const handle = createUnmounted(waymark, options)
  const prefix = mountPath(options.at ?? '')
  const mounted = async (
    request: Request,
    address?: string | null,
    cut?: (error?: unknown) => void,
    original: Request = request,
  ): Promise<Response> => {
    if (request.bodyUsed) {
      const failure = failureOf(failures.bodyAlreadyRead())
      return Response.json(failureBody(failure), { status: failure.status })
    }
    if (prefix === '') return handle(request, address, cut, original)
    const url = new URL(request.url)
    const path = url.pathname + url.search
    const location = redirectToMount(prefix, request.method, path)
    if (location !== null) return new Response(null, { status: 302, headers: { location, 'cache-control': 'no-cache' } })
    const below = belowMount(prefix, path)
    if (below === null) return handle(request, address, cut, original)
    return handle(new Request(new URL(below, url), request), address, cut, original)
  }
  return Object.assign(mounted, { drain: handle.drain })
}

/** The same request of a caller who accepts no encoding. */
const withoutEncodings = (request: Request): Request => {
  if (request.method !== 'GET' && request.method !== 'HEAD') return request
  const headers = new Headers(request.headers)
  headers.delete('accept-encoding')
  return new Request(request, { headers })
}

/** `mountedAt`: the mount path of this request, where it is not an option. */
export interface UnmountedHandler<R> extends Handler<R> {
  (request: Request, address?: string | null, cut?: (error?: unknown) => void, original?: R, mountedAt?: string): Promise<Response>
}

/** What makes handlers for a directory that may be open in another process. */
export interface HandlerMaker {
  handler<R>(options: HandlerOptions<R>): UnmountedHandler<R>
}

/** The same, for requests whose path begins below the mount path. */
export const createUnmounted = <R>(waymark: Waymark, options: HandlerOptions<R> = {}): UnmountedHandler<R> =>
  followed<HandlerMaker>(waymark)?.handler(options) ?? createLocal(localOf(waymark), options)

/** For a directory that is open in this process. */
export const createLocal = <R>(
  waymark: LocalWaymark,
  {
    log,
    limits = () => defaultRateLimits,
    rows = () => undefined,
    allowsDownloads = () => !waymark.accounts.context.settings().isHosted,
    concurrency = () => defaultConcurrency,
    publicUrl,
    trustedProxies,
    intake,
    at,
    authenticate,
    takesCommands = true,
    sendsCompressed = false,
  }: HandlerOptions<R> = {},
): UnmountedHandler<R> => {
  const app = appOf(waymark, { limits, rows, allowsDownloads, concurrency, intake })
  waymark.saved.answers.limitRows(rows)
  const siteOf = createSites({ publicUrl, trustedProxies, at })
  // Routes, their schemas and pages are loaded by who serves them, not by each application that opens a directory.
  const service = import('../service.ts')
    .then(({ createService }) => createService(app, { siteOf, log, authenticate }))
    .catch(notLoaded(log))
  const handle = async (...[request, ...connection]: Parameters<Handler<R>>) =>
    (await service)(sendsCompressed ? request : withoutEncodings(request), ...connection)
  if (takesCommands) takeCommands(waymark, publicUrl)
  return Object.assign(handle, { drain: (withinMs = 20_000) => app.asking.runs.drain(withinMs) })
}
