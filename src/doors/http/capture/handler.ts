import { WaymarkError } from '../../../errors/errors.ts'
import type { Sender } from '../../../events/ingestion/cookieless/visitor.ts'
import type { EventSource } from '../../../events/ingestion/decoding/event-source.ts'
import type { BatchFacts, IngestAnswer } from '../../../events/ingestion/intake.ts'
import { withoutTrailingSlashes } from '../../../lib/text/without-trailing-slashes.ts'
import type { Json } from '../../../service/accounts/store.ts'
import type { FlagAnswer } from '../../../service/flags/open-flags.ts'
import type { SiteApps } from '../../../service/plugins/site-apps.ts'
import { failureBody, failureOf } from '../errors.ts'
import { attemptOf } from '../requests/attempt.ts'
import type { Body, RequestBodies } from '../requests/request-bodies.ts'
import type { CaptureRequest } from './body.ts'
import { clientConfigAnswer, configScript, decoded } from './client-config.ts'
import { type Capture, forwardedFor, readCapture } from './events.ts'
import { type FlagsRequest, mustBeKnown, mustBeWhole, readFlagsRequest } from './flags-request.ts'
import { otlpPath, readOtlp } from './otlp.ts'
import { type EventResults, ingestEach, limitEach, readPerEventBatch, summaryOf } from './per-event.ts'
import { CaptureRefusal, type RefusalReason, unknownProject } from './refusal.ts'
import type { Scripts } from './scripts.ts'
import { readSegment, segmentPaths } from './segment.ts'

// The routes of client libraries. They are separate from the API for people: no permission rows, no schemas, the same parser for every path.

export interface CaptureTarget {
  ingestEvents(events: EventSource, facts: BatchFacts): Promise<IngestAnswer>
}

export interface Refused {
  readonly reason: RefusalReason
  readonly path: string
  /** The request's, if it was parsed. */
  readonly token: string | null
}

export interface Quota {
  readonly refused: { readonly detail: string; readonly retryAfterSeconds: number } | null
  count(events: number): Promise<void>
}

export interface CaptureServices {
  /** The project with this key; null if there is none. */
  projectOf(token: string): Promise<CaptureTarget | null>
  clock(): Date
  /** The address of the caller, from the connection or a trusted proxy; null: unknown. */
  callerOf(request: Request, address: string | null): string | null
  readonly intake: RequestBodies
  /** Refuses an import beyond the approved limits; null if it may continue. */
  importLimit?(token: string, events: number): Promise<{ detail: string; retryAfterSeconds: number } | null>
  /** Stores a batch of an import; null if the import is not running. */
  imported?(
    token: string,
    importId: string,
    work: () => Promise<IngestAnswer | null>,
  ): Promise<{ readonly answer: IngestAnswer | null } | null>
  /** What is left of the project's events of today, and how to count those that are taken; null: they are not counted. */
  quota?(token: string, events: number, isHistorical: boolean): Promise<Quota | null>
  /** Called with every refusal, for metrics and log. */
  onRefused?(refused: Refused): void
  /** Scripts that plugins add to the pages of a project. */
  readonly siteApps?: SiteApps
  /** Scripts that pages load. */
  readonly scripts: Scripts
  /** Whether a project has this key; does not open it. */
  knows(token: string): Promise<boolean>
  /** Settings of the project with a key. */
  settingsOf?(token: string): Promise<Readonly<Record<string, Json>>>
  /** The values of flags for who is asked for. */
  flags?(token: string, asked: FlagsRequest | null): Promise<FlagAnswer>
  hasFlags?(token: string): Promise<boolean>
}

const megabyte = 1024 * 1024
/** The maximum size of a body by path, in bytes. */
export const bodyLimits: Readonly<Record<string, number>> = {
  '/batch': 20 * megabyte,
  '/i/v1/analytics/events': 20 * megabyte,
  '/capture': 2 * megabyte,
  '/e': 2 * megabyte,
  '/i/v0/e': 2 * megabyte,
  '/track': 2 * megabyte,
  '/engage': 2 * megabyte,
  ...Object.fromEntries(segmentPaths.map((path) => [path, (/(batch|import)$/.test(path) ? 20 : 2) * megabyte])),
  [otlpPath]: 4 * megabyte,
}

/** How the events of a path are read, and what says that they were taken. */
interface Reading {
  read(request: CaptureRequest, now: Date, address: string | null): Promise<Capture>
  readonly taken: object
}
const readings: Readonly<Record<string, Reading>> = {
  '/engage': { read: (request, now, address) => readCapture(request, now, { isEngage: true, address }), taken: { status: 1 } },
  ...Object.fromEntries(
    segmentPaths.map((path): [string, Reading] => [
      path,
      { read: (request, _, address) => readSegment(request, path, address), taken: { success: true } },
    ]),
  ),
  [otlpPath]: { read: (request, _, address) => readOtlp(request, address), taken: { partialSuccess: {} } },
}
const usualReading: Reading = {
  read: (request, now, address) => readCapture(request, now, { isEngage: false, address }),
  taken: { status: 1 },
}
/** The limit after decompression, on every path. */
export const unpackedLimit = 20 * megabyte
/** Paths for flags, with the distinct id in the body. */
const askingPaths: ReadonlySet<string> = new Set(['/decide', '/flags'])
const askingLimit = 2 * megabyte
const perEventPath = '/i/v1/analytics/events'

/** The pattern of a client library's path, with names instead of the caller's values. */
export function captureRoute({ pathname }: URL): string {
  const path = withoutTrailingSlashes(pathname)
  if (bodyLimits[path] !== undefined || askingPaths.has(path)) return path
  const ofProject = /^\/array\/[^/]+\/(config|config\.js|array\.js)$/.exec(path)
  if (ofProject) return `/array/:token/${ofProject[1]}`
  return path.startsWith('/site_app/') ? '/site_app/:id/:token/:hash' : 'client library'
}

/** Null if the path is not one of client libraries. `address`: of the connection. */
export async function handleCapture(
  request: Request,
  services: CaptureServices,
  address: string | null = null,
  url = new URL(request.url),
): Promise<Response | null> {
  const path = withoutTrailingSlashes(url.pathname)
  const limit = bodyLimits[path]
  if (limit === undefined) {
    return answerExpected(request, services, url, path)
  }
  if (request.method === 'OPTIONS') return preflight(request)
  if (request.method !== 'GET' && request.method !== 'POST')
    return toResponse(
      json(
        request,
        405,
        { type: 'invalid_request', code: 'method_not_allowed', detail: `Method "${request.method}" not allowed.`, attr: null },
        { allow: 'GET, POST, OPTIONS' },
      ),
    )
  return toResponse(await takeEvents(request, services, address, url))
}

/** Whether the body of a request has events. */
export const sendsEvents = ({ method }: Request, { pathname }: URL): boolean =>
  method === 'POST' && bodyLimits[withoutTrailingSlashes(pathname)] !== undefined

/** An answer before its headers are complete. */
export interface CaptureAnswer {
  readonly status: number
  readonly body: string | null
  readonly headers: Readonly<Record<string, string>>
}
const toResponse = ({ body, ...about }: CaptureAnswer): Response => new Response(body, about)

/** On the paths of `bodyLimits` only. */
export async function takeEvents(request: Request, services: CaptureServices, address: string | null, url: URL): Promise<CaptureAnswer> {
  const path = withoutTrailingSlashes(url.pathname)
  const limit = bodyLimits[path]!
  let body: Body | null = null
  try {
    body = await services.intake.read(request, limit, tooLarge(limit))
    const capture = captureOf(request, url, body, unpackedLimit)
    if (path === perEventPath) return await takeEach(request, capture, services, address)
    return await takeAll(request, capture, services, { address, path })
  } catch (error) {
    return refusal(request, path, services, error)
  } finally {
    body?.release()
  }
}

const captureOf = (request: Request, { searchParams }: URL, body: Body, limit: number): CaptureRequest => ({
  method: request.method,
  query: searchParams,
  headers: request.headers,
  body: body.bytes,
  limit,
  hold: (bytes) => body.hold(bytes),
})

/** Routes besides capture. */
async function answerExpected(request: Request, services: CaptureServices, url: URL, path: string): Promise<Response | null> {
  const script = await scriptAnswer(request, services, url, path)
  if (script) return script
  const query = url.searchParams
  let token = query.get('token') ?? ''
  let body: Body | null = null
  let asker: FlagsRequest | null = null
  try {
    if (request.method === 'POST' && askingPaths.has(path)) {
      body = await services.intake.read(request, askingLimit, tooLarge(askingLimit))
      asker = await readFlagsRequest(captureOf(request, url, body, askingLimit))
      const isProject = async (key: string) => (await services.projectOf(key)) !== null
      if (path === '/decide') await mustBeWhole(asker, isProject)
      else await mustBeKnown(asker, isProject)
      token = asker.token
    }
  } catch (error) {
    return toResponse(refusal(request, path, services, error))
  } finally {
    body?.release()
  }
  const config = await clientConfigAnswer({
    method: request.method,
    path,
    query,
    token,
    siteApps: services.siteApps,
    settingsOf: services.settingsOf,
    hasFlags: services.hasFlags,
    flags: () => services.flags?.(token, asker) ?? Promise.resolve({ values: [], hasErrors: false }),
  })
  if (!config) return null
  if (request.method === 'OPTIONS') return preflight(request)
  return new Response(config.body, { status: config.status, headers: { ...cors(request), ...config.headers, 'content-type': config.type } })
}

const scriptPath = /^\/static\/(?:(\d[\w.-]{0,40})\/)?([a-z][a-z0-9-]{0,60}\.js)$/
const embedPath = /^\/embed\/(waymark\.(?:js|css))$/
const libraryPath = /^\/array\/([^/]+)\/array\.js$/

/** Scripts for the pages of other sites. Null: the path is not one of them. */
async function scriptAnswer(request: Request, services: CaptureServices, { searchParams }: URL, path: string): Promise<Response | null> {
  if (request.method !== 'GET' && request.method !== 'HEAD') return null
  const [, version, name] = scriptPath.exec(path) ?? []
  if (name !== undefined) return services.scripts.file(request, name, version ?? searchParams.get('v'))
  const [, embedded] = embedPath.exec(path) ?? []
  if (embedded !== undefined) return services.scripts.embedded(request, embedded)
  const [, key] = libraryPath.exec(path) ?? []
  if (key === undefined) return null
  const token = decoded(key)
  if (await services.knows(token)) return services.scripts.library(request, await configScript(services, token))
  services.onRefused?.({ reason: 'unknown-project', path: '/array/:token/array.js', token })
  return toResponse(json(request, 404, unknownProject(token).body))
}

async function takeAll(
  request: Request,
  capture: CaptureRequest,
  services: CaptureServices,
  { path, address }: { readonly address: string | null; readonly path: string },
): Promise<CaptureAnswer> {
  const { read, taken } = readings[path] ?? usualReading
  const { token, events, ...said } = await read(capture, services.clock(), address)
  const facts = { ...said, attempt: attemptOf(request), sender: new RequestSender(request, services, address) }
  const project = await services.projectOf(token)
  if (!project) throw unknownProject(token)
  const limited = facts.isHistorical ? await services.importLimit?.(token, events.count) : null
  if (limited) return throttled(request, limited)
  const quota = await services.quota?.(token, events.count, facts.isHistorical === true)
  if (quota?.refused) return overQuota(request, path, services, token, quota.refused)
  await project.ingestEvents(events, facts)
  await quota?.count(events.count)
  return capture.query.get('beacon') === '1' ? { status: 204, body: null, headers: cors(request) } : json(request, 200, taken)
}

async function takeEach(
  request: Request,
  capture: CaptureRequest,
  services: CaptureServices,
  address: string | null,
): Promise<CaptureAnswer> {
  const { token, items, ...said } = await readPerEventBatch(capture)
  const project = await services.projectOf(token)
  if (!project) throw unknownProject(token)
  const results: EventResults = {}
  const limited = said.isHistorical ? await services.importLimit?.(token, items.count) : null
  if (limited) {
    await limitEach(items, results, limited.detail)
    return json(request, 200, { results }, { 'retry-after': String(limited.retryAfterSeconds) })
  }
  const quota = await services.quota?.(token, items.count, said.isHistorical === true)
  if (quota?.refused) {
    services.onRefused?.({ reason: 'over-quota', path: perEventPath, token })
    await limitEach(items, results, quota.refused.detail)
    return json(request, 200, { results, quota_limited: ['events'] }, { 'retry-after': String(quota.refused.retryAfterSeconds) })
  }
  const countsDuplicates = capture.query.get('summary') === '1'
  const about = {
    ...said,
    // Who imports a file did not do what is in it.
    ...(said.importId === undefined && { ip: address }),
    countsDuplicates,
    attempt: attemptOf(request),
    sender: new RequestSender(request, services, address),
  }
  const ingest = () => ingestEach(items, results, (events, facts) => project.ingestEvents(events, { ...about, ...facts }))
  const { importId } = said
  const taken = importId === undefined || !services.imported ? { answer: await ingest() } : await services.imported(token, importId, ingest)
  if (!taken) throw new CaptureRefusal('import-over', 'The import has ended, or there is none with this id. Begin another one.')
  const { answer } = taken
  await quota?.count(items.count)
  return json(request, 200, { results, ...(countsDuplicates && answer !== null && { summary: summaryOf(answer, Object.values(results)) }) })
}

/**
 * For visitors without cookies, and only looked up for them. An address that only the caller names is no proof, and better than one address for all
 * visitors behind a proxy.
 */
class RequestSender implements Sender {
  private known: string | null | undefined
  private readonly request: Request
  private readonly services: Pick<CaptureServices, 'callerOf'>
  private readonly connected: string | null

  constructor(request: Request, services: Pick<CaptureServices, 'callerOf'>, connected: string | null) {
    this.request = request
    this.services = services
    this.connected = connected
  }

  get address(): string | null {
    if (this.known === undefined) this.known = this.services.callerOf(this.request, this.connected)
    return this.known
  }

  get claimedAddress(): string | null {
    return this.address === null ? (forwardedFor(this.request.headers) ?? this.connected) : null
  }

  get isUnconfirmed(): boolean {
    const { address, request, connected } = this
    return request.headers.has('x-forwarded-for') && (address === null || address === connected)
  }

  get userAgent(): string | null {
    return this.request.headers.get('user-agent')
  }
}

const tooLarge = (limit: number) => () => new CaptureRefusal('too-large', `The body exceeds ${limit} bytes, the limit of this path.`)

function refusal(request: Request, path: string, services: CaptureServices, error: unknown): CaptureAnswer {
  if (error instanceof CaptureRefusal) {
    services.onRefused?.({ reason: error.reason, path, token: error.token })
    return json(request, error.status, error.body)
  }
  if (!(error instanceof WaymarkError)) throw error
  if (error.status === 413) return json(request, error.status, new CaptureRefusal('too-large', error.detail).body)
  const failure = failureOf(error)
  const { status, headers } = failure
  // Clients know few codes: they check the status, and show the text.
  const isOfEvents = error.code === 'bad-event' || status === 503
  const code = status === 503 ? 'server_error' : 'invalid_payload'
  return json(request, status, isOfEvents ? { ...failureBody(failure), code, attr: null } : failureBody(failure), headers)
}

const throttled = (request: Request, limited: { detail: string; retryAfterSeconds: number }) =>
  json(
    request,
    429,
    { type: 'throttled_error', code: 'throttled', detail: limited.detail, attr: null },
    { 'retry-after': String(limited.retryAfterSeconds) },
  )

/** Browsers read `quota_limited` and pause; servers read the status, and wait as the header says. */
function overQuota(
  request: Request,
  path: string,
  services: CaptureServices,
  token: string,
  { detail, retryAfterSeconds }: NonNullable<Quota['refused']>,
): CaptureAnswer {
  const refused = new CaptureRefusal('over-quota', detail, token)
  services.onRefused?.({ reason: refused.reason, path, token })
  return json(request, refused.status, { ...refused.body, quota_limited: ['events'] }, { 'retry-after': String(retryAfterSeconds) })
}

const json = (request: Request, status: number, body: object, headers: Readonly<Record<string, string>> = {}): CaptureAnswer => ({
  status,
  body: JSON.stringify(body),
  headers: { ...cors(request), 'content-type': 'application/json', ...headers },
})

/** Any page may send events, with cookies if it wants: the allowed origin is the one that the request names. */
function cors(request: Request): Record<string, string> {
  const origin = request.headers.get('origin')
  return origin === null ? {} : { 'access-control-allow-origin': origin, 'access-control-allow-credentials': 'true', vary: 'Origin' }
}

const preflight = (request: Request) =>
  new Response(null, {
    headers: {
      ...cors(request),
      'access-control-allow-methods': 'GET, POST, OPTIONS',
      'access-control-allow-headers': request.headers.get('access-control-request-headers') ?? 'content-type',
      'access-control-max-age': '86400',
    },
  })
