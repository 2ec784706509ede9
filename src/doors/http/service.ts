import { randomUUID } from 'node:crypto'
import { Hono } from 'hono'
import { jsonText } from '../../lib/text/json-text.ts'
import { firstOfEachMinute } from '../../lib/time/first-of-each-minute.ts'
import { settingsWithDefaults } from '../../service/accounts/projects/project-fields.ts'
import { admit, wantedBy } from './access/access.ts'
import { authenticate, type Caller, type HostCaller, loggedIn } from './access/authenticate.ts'
import { createHostSignIn } from './access/host-sign-in.ts'
import { createImportThrottle } from './access/import-throttle.ts'
import { asOne, type Callers, createThrottle, ofCallers } from './access/rate-limits.ts'
import { isScim, scimCallerOf, scimFailureBody, scimMedia, scimStatusOf } from './access/scim.ts'
import type { App, Log } from './app.ts'
import { type CaptureAnswer, type CaptureServices, captureRoute, handleCapture, sendsEvents, takeEvents } from './capture/handler.ts'
import { codeOf } from './capture/refusal.ts'
import { createScripts } from './capture/scripts.ts'
import { answerWebhook, type WebhookServices, webhookPath } from './capture/webhook.ts'
import { failureBody, failureOf, failures, knownFailure } from './errors.ts'
import { lazyBody } from './requests/body.ts'
import { networkOf } from './requests/client-address.ts'
import { createIdempotency } from './requests/idempotency.ts'
import { ignoredFields, ignoredFieldsHeader } from './requests/ignored-fields.ts'
import { pageOf } from './requests/pages.ts'
import { checkParameters } from './requests/query-parameters.ts'
import { sameCaller } from './requests/same-caller.ts'
import { type ProjectVisit, Reply, type Visit } from './resource.ts'
import { agents } from './resources/agents.ts'
import { resourceMetadataOf } from './resources/consents.ts'
import { type Route, routes } from './routes.ts'
import { createMetrics } from './server/metrics.ts'
import { monitoringRoutes } from './server/monitoring-routes.ts'
import { safeHeaders, withSafeHeaders } from './server/safe-headers.ts'
import type { Site, Sites } from './site.ts'

const openHeaders: Readonly<Record<string, string>> = {
  'access-control-allow-origin': '*',
  'access-control-expose-headers':
    'X-Request-Id, Retry-After, RateLimit, RateLimit-Policy, X-Has-More, X-Row-Limit, X-Warnings, X-Warning-Count, X-Ignored-Fields, X-Ignored-Parameters, X-Waymark-Not-Kept',
}
const preflightHeaders: Readonly<Record<string, string>> = {
  'access-control-allow-methods': 'GET, POST, PATCH, PUT, DELETE, OPTIONS',
  'access-control-allow-headers':
    'Authorization, Content-Type, Idempotency-Key, X-Request-Id, Mcp-Protocol-Version, Mcp-Method, Mcp-Name, Mcp-Session-Id, Last-Event-ID',
  'access-control-max-age': '86400',
}

const headersOf = (all: Reply['headers']): Headers => {
  const headers = new Headers()
  for (const [name, value] of Object.entries(all)) for (const one of typeof value === 'string' ? [value] : value) headers.append(name, one)
  return headers
}

const json = (status: number, body: unknown, headers: Reply['headers'] = {}) =>
  new Response(jsonText(body), { status, headers: headersOf({ 'content-type': 'application/json', ...headers }) })

/** The query string without keys. */
const searchOf = ({ searchParams }: URL) => {
  const others = new URLSearchParams(searchParams)
  others.delete('personal_api_key')
  return others.size > 0 ? `?${others}` : ''
}

/** Newer clients call a project an environment; its routes and its id are the same. */
const underProjects = (request: Request): Request => {
  if (!request.url.includes('/api/environments')) return request
  const url = new URL(request.url)
  url.pathname = url.pathname.replace(/^\/api\/environments(?=\/|$)/, '/api/projects')
  return url.href === request.url ? request : new Request(url, request)
}

/** Older paths of the definitions of flags name the project by its key; without one it is the current one of the caller. */
const underItsProject = async (request: Request, { accounts }: App): Promise<Request> => {
  if (!/\/(flags\/definitions|api\/feature_flag\/local_evaluation)\b/.test(request.url)) return request
  const url = new URL(request.url)
  if (!/^\/(flags\/definitions|api\/feature_flag\/local_evaluation)\/?$/.test(url.pathname)) return request
  const token = url.searchParams.get('token')
  const project = token ? await accounts.projects.byToken(token) : null
  url.searchParams.delete('token')
  // An unknown key is answered as an unknown project.
  url.pathname = `/api/projects/${project === null ? '@current' : (project?.id ?? 0)}/feature_flags/local_evaluation`
  return new Request(url, request)
}

const requestId = (request: Request) => {
  const given = request.headers.get('x-request-id')
  return given !== null && /^[\w.:-]{1,128}$/.test(given) ? given : randomUUID()
}

const keyShown = 8
/** The first characters, enough to recognize a key: it may be a secret of another system. */
const shortened = (key: string) => (key.length > keyShown ? `${key.slice(0, keyShown)}…` : '…')

export interface ServiceOptions {
  readonly siteOf: Sites
  readonly log?: Log
  /** Whom the host application has signed in. */
  readonly authenticate?: ((request: never) => unknown) | undefined
  /** Who calls, where all requests are of one user of this process. */
  readonly caller?: () => Promise<HostCaller>
}

/** The connection of a request. */
export interface Connection {
  readonly address: string | null
  /** Closes it immediately. */
  readonly cut?: (error?: unknown) => void
  /** The request as the host application knows it. */
  readonly original?: unknown
  /** The mount path of this request, if the host application's router tells it. */
  readonly mountedAt?: string
}

/** Answers the requests of a route: signed in, counted, checked, handled once. */
const answering = (app: App, siteOf: ServiceOptions['siteOf']) => {
  const throttle = createThrottle(app.limits, app.clock, app.requestCounts)
  const idempotent = createIdempotency(app.accounts)

  /** Another key of the same user counts as the same caller, and an alias of a project as the same project. */
  const countedAs = async (
    { user, key, limits }: Extract<Caller, { via: 'key' }>,
    { project_id: id }: Record<string, string>,
  ): Promise<Callers> => {
    const project = id === '@current' ? (await app.accounts.users.current(user, limits)).project?.id : Number(id)
    return { ...asOne(key.id), draft: String(user.id), query: `${user.id} ${project}` }
  }

  const sessionOf = (userId: number): Callers => asOne(String(userId))

  /** Behind a proxy that is not trusted all readers have one address: then they count by what they read. */
  const readerOf = ({ client }: Site, { token = '' }: Record<string, string>): Callers => {
    const reader = client === null ? `token ${token.slice(0, 64)}` : networkOf(client).host
    return asOne(reader)
  }

  return async (
    route: Route,
    request: Request,
    {
      params,
      address,
      mountedAt,
      host,
      breakOff,
      again,
      onIgnored,
      onRate,
    }: Pick<Visit, 'breakOff' | 'again'> & {
      params: Record<string, string>
      address: string | null
      mountedAt: string | undefined
      host: () => Promise<HostCaller | null>
      onIgnored: (fields: string | null) => void
      onRate: (headers: Record<string, string>) => void
    },
  ): Promise<Response> => {
    const url = new URL(request.url)
    const site = siteOf(request, url, address, mountedAt)
    const method = request.method === 'HEAD' ? 'GET' : request.method
    const row = route.rows.get(method)
    const body = lazyBody(request, app.requestBodies, row ?? {})
    const wanted = wantedBy(route.resource, row, [...route.rows.values()][0]!, method)
    const arrival = { request, url, site, accounts: app.accounts, body, host }
    const identify = async () => (row?.isFromElsewhere ? null : (wanted.reach === 'open' ? loggedIn : authenticate)(arrival))
    const enter = (caller: Visit['caller']) =>
      admit(
        { app, request, url, site, params, query: url.searchParams, body: undefined, caller, breakOff, again },
        wanted,
        route.resource.tooLow,
      )
    const caller = await identify()
    if (!caller && wanted.reach !== 'open') throw failures.notAuthenticated()
    if (row?.limits.includes('scim')) onRate(await throttle(['scim'], asOne(scimCallerOf(request, site.client))))
    else if (row?.limits.includes('shared')) onRate(await throttle(['shared'], readerOf(site, params)))
    else if (caller !== null && caller.via !== 'key') await throttle(['session'], sessionOf(caller.user.id))
    else if (caller !== null) onRate(await throttle(ofCallers(row?.limits ?? ['api']), await countedAs(caller, params)))
    let admitted = await enter(caller)
    const { project: visited } = admitted as Partial<ProjectVisit>
    if (row?.limits.includes('test') && visited) onRate(await throttle(['test'], asOne(`project ${visited.id}`)))
    if (!row) {
      const { missing } = route.resource
      throw missing === null ? failures.wrongMethod(method, [...route.rows.keys()]) : failures.notFound(missing)
    }
    checkParameters(row, url.searchParams)
    const checked = performance.now()
    const content = method === 'GET' ? undefined : await body()
    // A body may take minutes to arrive, so access is checked again, unless it was there already.
    if (performance.now() - checked > thereMs) admitted = await enter(await identify())
    onIgnored(ignoredFields(row, content))
    const act = async () => {
      const result = await row.handle({ ...admitted, body: content } as never)
      if (result instanceof Reply) return result
      return new Reply(row.status, row.isPaged ? pageOf(result as readonly unknown[], admitted) : result)
    }
    const key = row.isCreating && caller ? request.headers.get('idempotency-key') : null
    // `@current` is what it meant when the request arrived.
    const { organization, project } = admitted as Partial<ProjectVisit>
    const about = [organization?.id ?? null, project?.id ?? null]
    const asked = { method, about, path: url.pathname.replace(/\/$/, '') + searchOf(url), body: content, secrets: row.secrets }
    const reply = key !== null ? await idempotent(`${caller!.user.id}`, key, asked, act) : await act()
    const { body: sent } = reply
    const headers = reply instanceof Reply ? reply.headers : {}
    if (sent instanceof ReadableStream || sent instanceof Uint8Array)
      return new Response(sent as ReadableStream, { status: reply.status, headers: headersOf(headers) })
    return reply.body === undefined || reply.status === 204
      ? new Response(null, { status: reply.status, headers: headersOf(headers) })
      : json(reply.status, reply.body, headers)
  }
}

/** A body that is read in less has not been waited for. */
const thereMs = 1

const captureServices = (
  app: App,
  metrics: ReturnType<typeof createMetrics>,
  { siteOf, log }: Required<Pick<ServiceOptions, 'siteOf' | 'log'>>,
): CaptureServices => {
  const throttleImport = createImportThrottle(app.accounts, app)
  const tellOfUnknownKey = firstOfEachMinute(app.clock)
  return {
    clock: app.clock,
    callerOf: (request, address) => siteOf(request, new URL(request.url), address).client,
    intake: app.requestBodies,
    siteApps: app.plugins.siteApps,
    scripts: createScripts(),
    knows: async (token) => (await app.accounts.projects.byToken(token)) !== undefined,
    settingsOf: async (token) => settingsWithDefaults((await app.accounts.projects.byToken(token))?.settings ?? {}),
    projectOf: async (token) => {
      const record = await app.accounts.projects.byToken(token)
      return record ? app.project(record.id) : null
    },
    importLimit: async (token, events) => {
      const record = await app.accounts.projects.byToken(token)
      return record ? throttleImport(record, events) : null
    },
    imported: async (token, importId, work) => {
      const record = await app.accounts.projects.byToken(token)
      return record ? app.imports.take(record, importId, work) : null
    },
    quota: async (token, events, isHistorical) => {
      const record = await app.accounts.projects.byToken(token)
      if (!record) return null
      // An import that the operator approved has limits of its own.
      if (isHistorical && (await app.accounts.historicalImports.of(record.id)).approved_by !== null) return null
      const refused = await app.accounts.eventQuotas.refusal(record, events)
      return { refused, count: (taken) => app.accounts.eventQuotas.count(record, taken) }
    },
    onRefused: ({ reason, path, token }) => {
      metrics.captureRefused(codeOf(reason))
      if (reason !== 'unknown-project') return
      const notLogged = tellOfUnknownKey()
      if (notLogged === null) return
      log({
        level: 'warn',
        message: 'events with an unknown project key were refused',
        path,
        key: shortened(token ?? ''),
        not_logged: notLogged,
      })
    },
    hasFlags: async (token) => {
      const record = await app.accounts.projects.byToken(token)
      return record !== undefined && (await app.flags.records.active(record)).length > 0
    },
    flags: async (token, asked) => {
      const record = await app.accounts.projects.byToken(token)
      if (!record || !asked || asked.isOfNone || asked.distinctId === '') return { values: [], hasErrors: false }
      return app.flags.values(record, { ...asked.asked, distinctId: asked.distinctId })
    },
  }
}

const webhookServices = (app: App, metrics: ReturnType<typeof createMetrics>): WebhookServices => ({
  receiving: app.plugins.receiving,
  intake: app.requestBodies,
  projectOf: ({ id }) => app.project(id),
  quotas: app.accounts.eventQuotas,
  onRefused: ({ reason }) => metrics.captureRefused(codeOf(reason)),
})

interface Env {
  Bindings: Connection
  Variables: { id: string; route: string; ignored: string | null; rate: Record<string, string> }
}

const takeWebhooks = (hono: Hono<Env>, services: WebhookServices) =>
  hono.all(webhookPath, (c) => {
    c.set('route', webhookPath)
    return answerWebhook(c.req.raw, c.req.param('secret') ?? '', new URL(c.req.raw.url), services)
  })

/** The whole HTTP API over one engine. */
export const createService = (app: App, { siteOf, log = () => {}, authenticate: hook, caller }: ServiceOptions) => {
  const hono = new Hono<Env>({ strict: false })
  const metrics = createMetrics()
  const answer = answering(app, siteOf)
  const capture = captureServices(app, metrics, { siteOf, log })
  const hostCallerOf = caller ?? createHostSignIn(app.accounts, hook)

  const reported = (error: unknown, id: string) => {
    const failure = knownFailure(error) ?? failureOf(failures.internal())
    if (failure.status === 500)
      log({
        level: 'error',
        message: 'a request failed',
        request_id: id,
        error: error instanceof Error ? (error.stack ?? error.message) : String(error),
      })
    return failure
  }
  const failed = (error: unknown, id: string, path: string): Response => {
    const failure = reported(error, id)
    if (isScim(path)) return json(scimStatusOf(failure), scimFailureBody(failure), { ...failure.headers, 'content-type': scimMedia })
    return json(failure.status, failureBody(failure), failure.headers)
  }

  const begin = () => {
    metrics.begin()
    const started = performance.now()
    return (id: string, method: string, route: string, status: number) => {
      const seconds = (performance.now() - started) / 1000
      metrics.end(method, route, status, seconds)
      log({ level: 'info', message: 'request', request_id: id, method, route, status, ms: Math.round(seconds * 1000) })
    }
  }

  /** The most frequent requests are not routed, and get all headers at once. */
  const answerEvents = async (request: Request, url: URL, address: string | null): Promise<Response> => {
    const id = requestId(request)
    const end = begin()
    const { status, body, headers } = await takeEvents(request, capture, address, url).catch((error: unknown): CaptureAnswer => {
      const failure = reported(error, id)
      return {
        status: failure.status,
        body: jsonText(failureBody(failure)),
        headers: { 'content-type': 'application/json', ...failure.headers },
      }
    })
    end(id, request.method, captureRoute(url), status)
    return new Response(body, { status, headers: { ...safeHeaders, ...openHeaders, ...headers, 'x-request-id': id } })
  }

  hono.use(async (c, next) => {
    const id = requestId(c.req.raw)
    c.set('id', id)
    c.set('route', 'none')
    c.set('ignored', null)
    c.set('rate', {})
    const end = begin()
    await next()
    const { headers, status } = withSafeHeaders(c.res)
    for (const [name, value] of Object.entries({ ...openHeaders, ...c.get('rate') })) if (!headers.has(name)) headers.set(name, value)
    headers.set('x-request-id', id)
    if (status === 401 && c.get('route') === agents.path) {
      const url = new URL(c.req.raw.url)
      const metadata = resourceMetadataOf({ site: siteOf(c.req.raw, url, c.env.address, c.env.mountedAt), url })
      headers.set('www-authenticate', `Bearer resource_metadata="${metadata}"`)
    }
    const ignored = c.get('ignored')
    if (ignored !== null) headers.set(ignoredFieldsHeader, ignored)
    end(id, c.req.method, c.get('route'), status)
  })
  hono.use(async (c, next) => {
    const url = new URL(c.req.raw.url)
    const answered = await handleCapture(c.req.raw, capture, c.env.address, url)
    if (!answered) return next()
    c.set('route', captureRoute(url))
    return answered
  })
  takeWebhooks(hono, webhookServices(app, metrics))
  hono.options('*', () => new Response(null, { status: 204, headers: preflightHeaders }))
  for (const route of routes)
    hono.all(route.path, (c) => {
      c.set('route', route.path)
      const breakOff = (error: unknown) => {
        const message = error instanceof Error ? error.message : String(error)
        log({ level: knownFailure(error) ? 'info' : 'warn', message: 'a response was aborted', request_id: c.get('id'), error: message })
        c.env.cut?.(error)
        return c.env.cut !== undefined
      }
      return answer(route, c.req.raw, {
        params: { ...(route.resource.isOfCurrentProject && { project_id: '@current' }), ...c.req.param() },
        address: c.env.address,
        mountedAt: c.env.mountedAt,
        host: () => hostCallerOf(c.env.original),
        breakOff,
        again: (...call) => respond(sameCaller(c.req.raw, ...call), c.env.address, undefined, c.env.original, c.env.mountedAt),
        // Errors have the header too: a missing field may be a misspelled one.
        onIgnored: (fields) => c.set('ignored', fields),
        onRate: (headers) => c.set('rate', headers),
      })
    })
  for (const [path, page] of Object.entries(monitoringRoutes(app, metrics)))
    hono.get(path, (c) => {
      c.set('route', path)
      return page(c.req.raw)
    })
  hono.notFound((c) =>
    failed(failures.notFound(c.req.path.startsWith('/api') ? 'Endpoint not found.' : 'Not found.'), c.get('id'), c.req.path),
  )
  hono.onError((error, c) => failed(error, c.get('id'), c.req.path))
  async function respond(
    given: Request,
    address: string | null = null,
    cut?: (error?: unknown) => void,
    original: unknown = given,
    mountedAt?: string,
  ): Promise<Response> {
    const request = await underItsProject(given, app)
    const url = new URL(request.url)
    if (sendsEvents(request, url)) return answerEvents(request, url, address)
    return hono.fetch(underProjects(request), { address, original, ...(cut && { cut }), ...(mountedAt !== undefined && { mountedAt }) })
  }
  return respond
}
