import type { Condition, Waymark } from '../../../engine.ts'
import { WaymarkError } from '../../../errors/errors.ts'
import type { QueryOptions } from '../../../project.ts'
import type { HostUser } from '../../../service/accounts/organizations/host-users.ts'
import { createLoginAttempts, mailedLinkAllowances } from '../access/login-attempts.ts'
import { defaultRateLimits, type RateLimits } from '../access/rate-limits.ts'
import type { App, Log, Readiness } from '../app.ts'
import { fillDemo } from '../commands/demo-project.ts'
import { takeCommands } from '../commands/embedded-commands.ts'
import { failureBody, failureOf, failures } from '../errors.ts'
import { type ConcurrencyLimits, createConcurrency, defaultConcurrency } from '../queries/concurrency.ts'
import { RequestBodies, type RequestBodyLimits } from '../requests/request-bodies.ts'
import { createSites, type SiteOptions } from '../site.ts'
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

/** With a larger lag the server is not ready. */
const largestLag = 1_000_000

/** Anyone can read this; the log has the details and the names of files. */
const reasonOf = ({ project, what, error }: Condition['failures'][number]): string =>
  `project ${project} ${what}${error instanceof WaymarkError ? `: ${error.code}` : ''}`

/** An engine that ends this often within a minute is not only unlucky with a query. */
const manyEnds = 3

const readinessOf = (condition: Condition): Readiness => {
  const { isOpen, isWritable, freeBytes, minFreeBytes, projects, lag, failures, aside, recentEnds } = condition
  const reasonsAside = aside.map(({ project, records }) => `project ${project} has set aside record ${records.slice(0, 5).join(', ')}`)
  const checks = {
    open: { isOk: isOpen },
    write: { isOk: isWritable },
    disk_free_bytes: { isOk: freeBytes === null || freeBytes > minFreeBytes, ...(freeBytes === null ? {} : { detail: freeBytes }) },
    lag_records: { isOk: lag < largestLag, detail: lag },
    projects_open: { isOk: true, detail: projects },
    projects_failed: { isOk: failures.length === 0, detail: failures.length, reasons: failures.map(reasonOf) },
    records_set_aside: {
      isOk: aside.length === 0,
      detail: aside.reduce((sum, { records }) => sum + records.length, 0),
      reasons: reasonsAside,
    },
    engine_ends: { isOk: recentEnds < manyEnds, detail: recentEnds },
  }
  return { isReady: Object.values(checks).every((check) => check.isOk), checks }
}

/** A file of the package is missing or cannot be read: requests are told, and the application goes on. */
const notLoaded = (log: Log | undefined) => (error: unknown) => {
  const text = error instanceof Error ? (error.stack ?? error.message) : String(error)
  log?.({ level: 'error', message: 'the HTTP API could not be loaded', error: text })
  const failure = failureOf(failures.internal())
  return async () => Response.json(failureBody(failure), { status: failure.status })
}

export interface Handler<R = Request> {
  (request: Request, address?: string | null, cut?: () => void, original?: R): Promise<Response>
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
  const mounted = async (request: Request, address?: string | null, cut?: () => void, original: Request = request): Promise<Response> => {
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

type AppOptions = Required<Pick<HandlerOptions, 'limits' | 'rows' | 'allowsDownloads' | 'concurrency'>> & Pick<HandlerOptions, 'intake'>

/** What the routes work on, of an open directory. */
export function appOf(waymark: Waymark, { limits, rows, allowsDownloads, concurrency, intake }: AppOptions): App {
  return {
    accounts: waymark.accounts,
    exports: waymark.exports,
    plugins: waymark.plugins,
    clock: waymark.clock,
    limits,
    asking: waymark.asking,
    saved: waymark.saved,
    sharing: waymark.sharing,
    notifications: waymark.notifications,
    backups: async () => (await waymark.scheduledBackups?.status()) ?? null,
    concurrency: createConcurrency(concurrency),
    requestBodies: new RequestBodies(intake),
    attempts: createLoginAttempts(waymark.clock),
    mailedLinks: createLoginAttempts(waymark.clock, mailedLinkAllowances),
    project: (id) => waymark.project(id),
    fillWithDemo: (record, by) => fillDemo(waymark, record, by),
    groupTypes: async (record) => {
      // A store that has no events need not be opened for this.
      if (!record.ingested_event) return []
      const types = await (await waymark.project(record.id)).groupTypes()
      return types.map(({ index, name }) => ({ group_type: name, group_type_index: index }))
    },
    rows,
    allowsDownloads,
    readiness: async () => readinessOf(await waymark.condition()),
  }
}

/** `mountedAt`: the mount path of this request, where it is not an option. */
export interface UnmountedHandler<R> extends Handler<R> {
  (request: Request, address?: string | null, cut?: () => void, original?: R, mountedAt?: string): Promise<Response>
}

/** The same, for requests whose path begins below the mount path. */
export const createUnmounted = <R>(
  waymark: Waymark,
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
