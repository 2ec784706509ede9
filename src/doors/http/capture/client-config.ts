// What client libraries request besides sending events: feature flags, remote configuration, site apps, surveys, extras of the browser library. Waymark
// has no surveys, recordings and experiments; the answers say so in the format that each client expects, so that none logs an error, and in a header for people.

import type { Json } from '../../../service/accounts/store.ts'
import type { FlagAnswer } from '../../../service/flags/open-flags.ts'
import type { SiteApp, SiteApps } from '../../../service/plugins/site-apps.ts'
import { newestAnswer, olderAnswer } from '../flag-values.ts'
import { notKept } from '../not-kept.ts'
import { clientSettings } from './client-settings.ts'

export interface ConfigRequest {
  readonly method: string
  readonly path: string
  readonly query: URLSearchParams
  /** The project, if the client sent it. */
  readonly token: string
  /** Those that projects have enabled. Without it, none are listed or served. */
  readonly siteApps?: SiteApps | undefined
  /** The values that are asked for. Without it, there are none. */
  readonly flags?: (() => Promise<FlagAnswer>) | undefined
  /** Whether the project with a key has flags: browsers ask for no values where there are none. */
  readonly hasFlags?: ((token: string) => Promise<boolean>) | undefined
  /** Of the project with a key. Without it, the defaults count. */
  readonly settingsOf?: ((token: string) => Promise<Readonly<Record<string, Json>>>) | undefined
}

interface RouteAnswer {
  readonly status?: number
  readonly type?: string
  readonly body: unknown
  readonly headers?: Readonly<Record<string, string>>
}

interface Route {
  readonly path: RegExp
  /** The feature that the answer says is empty. */
  readonly notKept?: string
  readonly answer: (request: ConfigRequest, match: RegExpExecArray) => RouteAnswer | Promise<RouteAnswer>
}

const appsOf = async ({ siteApps }: Pick<ConfigRequest, 'siteApps'>, token: string): Promise<readonly SiteApp[]> =>
  (await siteApps?.list(token)) ?? []

type Configured = Pick<ConfigRequest, 'siteApps' | 'settingsOf' | 'hasFlags'>

const remoteConfig = async (request: Configured, token: string) => ({
  token,
  supportedCompression: ['gzip', 'gzip-js'],
  hasFeatureFlags: (await request.hasFlags?.(token)) ?? false,
  ...clientSettings((await request.settingsOf?.(token)) ?? {}),
  analytics: { endpoint: '/i/v0/e/' },
  elementsChainAsString: true,
  defaultIdentifiedOnly: true,
  siteApps: await appsOf(request, token),
  isAuthenticated: false,
  toolbarParams: {},
  config: { enable_collect_everything: true },
})

/** A script that gives the configuration to the browser library. */
export const configScript = async (request: Configured, token: string): Promise<string> =>
  `(function(){window._POSTHOG_REMOTE_CONFIG=window._POSTHOG_REMOTE_CONFIG||{};window._POSTHOG_REMOTE_CONFIG[${JSON.stringify(token)}]={config:${JSON.stringify(await remoteConfig(request, token))},siteApps:[]}})();`

const noFlags: FlagAnswer = { values: [], hasErrors: false }
const flagsFor = async ({ flags }: ConfigRequest): Promise<FlagAnswer> => (await flags?.()) ?? noFlags

const missing = { type: 'invalid_request', code: 'not_found', detail: 'Not found.', attr: null }

const year = 31_536_000

export const decoded = (text: string): string => {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

async function siteScript({ siteApps }: ConfigRequest, [, id, token, hash]: RegExpExecArray): Promise<RouteAnswer> {
  const script = await siteApps?.script(decoded(token!), Number(id), hash!)
  if (!script) return { status: 404, body: missing }
  const caching = script.isCurrent ? `public, max-age=${year}, immutable` : 'no-cache'
  return { type: 'application/javascript; charset=utf-8', body: script.text, headers: { 'cache-control': caching } }
}

const routes: readonly Route[] = [
  {
    path: /^\/array\/([^/]+)\/config\.js$/,
    answer: async (request, [, token]) => ({
      type: 'application/javascript',
      body: await configScript(request, token!),
    }),
  },
  { path: /^\/array\/([^/]+)\/config$/, answer: async (request, [, token]) => ({ body: await remoteConfig(request, token!) }) },
  { path: /^\/site_app\/(\d{1,9})\/([^/]+)\/([^/]+)$/, answer: siteScript },
  {
    path: /^\/flags$/,
    answer: async (request) => {
      const values = await flagsFor(request)
      const body = request.query.get('v') === '1' ? olderAnswer('3', values) : newestAnswer(values, new Date())
      return { body: request.query.get('config') === 'true' ? { ...(await remoteConfig(request, request.token)), ...body } : body }
    },
  },
  {
    path: /^\/decide$/,
    answer: async (request) => {
      const version = request.query.get('v') ?? '1'
      const values = await flagsFor(request)
      const body = /^[123]$/.test(version) ? olderAnswer(version, values) : newestAnswer(values, new Date())
      return { body: { ...(await remoteConfig(request, request.token)), ...body } }
    },
  },
  { path: /^\/s$/, notKept: 'session_recordings', answer: () => ({ body: { status: 1 } }) },
  { path: /^\/api\/surveys$/, notKept: 'surveys', answer: () => ({ body: { surveys: [] } }) },
  {
    path: /^\/api\/early_access_features$/,
    notKept: 'early_access_features',
    answer: () => ({ body: { earlyAccessFeatures: [], stages: [] } }),
  },
  { path: /^\/api\/web_experiments$/, notKept: 'experiments', answer: () => ({ body: { experiments: [] } }) },
  { path: /^\/static\/.+$/, answer: () => ({ status: 404, body: missing }) },
]

interface ExpectedAnswer {
  readonly status: number
  readonly type: string
  readonly body: string
  readonly headers: Readonly<Record<string, string>>
}

/** Null for any other path. `path` has no trailing slash. */
export async function clientConfigAnswer(request: ConfigRequest): Promise<ExpectedAnswer | null> {
  for (const route of routes) {
    const match = route.path.exec(request.path)
    if (!match) continue
    const { status = 200, type = 'application/json', body, headers = {} } = await route.answer(request, match)
    return {
      status,
      type,
      body: typeof body === 'string' ? body : JSON.stringify(body),
      headers: { ...headers, ...(route.notKept ? notKept(route.notKept) : {}) },
    }
  }
  return null
}
