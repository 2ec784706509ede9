// What client libraries request besides sending events: feature flags, remote configuration, surveys, extras of the browser library. Waymark has none
// of these; the answers say so in the format that each client expects, so that none logs an error, and in a header for people.

import { own } from '../../lib/own.ts'
import { notKept } from '../not-kept.ts'

export interface ConfigRequest {
  readonly method: string
  readonly path: string
  readonly query: URLSearchParams
  /** The project, if the client sent it. */
  readonly token: string
}

interface Route {
  readonly path: RegExp
  /** Requested by servers, with a personal key that has this scope. */
  readonly scope?: 'feature_flag:read'
  /** The feature that the answer says is empty. */
  readonly notKept?: string
  readonly answer: (request: ConfigRequest, match: RegExpExecArray) => { status?: number; type?: string; body: unknown }
}

const remoteConfig = (token: string) => ({
  token,
  supportedCompression: ['gzip', 'gzip-js'],
  hasFeatureFlags: false,
  captureDeadClicks: false,
  capturePerformance: false,
  autocapture_opt_out: false,
  autocaptureExceptions: false,
  analytics: { endpoint: '/i/v0/e/' },
  elementsChainAsString: true,
  sessionRecording: false,
  surveys: false,
  heatmaps: false,
  defaultIdentifiedOnly: true,
  siteApps: [],
  isAuthenticated: false,
  toolbarParams: {},
  config: { enable_collect_everything: true },
})

const flagsV2 = () => ({ flags: {}, errorsWhileComputingFlags: false, requestId: crypto.randomUUID(), evaluatedAt: Date.now() })

const decideAnswers: Readonly<Record<string, () => object>> = {
  '1': () => ({ featureFlags: [] }),
  '2': () => ({ featureFlags: {} }),
  '3': () => ({ featureFlags: {}, featureFlagPayloads: {}, errorsWhileComputingFlags: false }),
  '4': flagsV2,
}

const missing = { type: 'invalid_request', code: 'not_found', detail: 'Not found.', attr: null }

const routes: readonly Route[] = [
  {
    path: /^\/array\/([^/]+)\/config\.js$/,
    answer: (_, [, token]) => ({
      type: 'application/javascript',
      body: `(function(){window._POSTHOG_REMOTE_CONFIG=window._POSTHOG_REMOTE_CONFIG||{};window._POSTHOG_REMOTE_CONFIG[${JSON.stringify(token)}]={config:${JSON.stringify(remoteConfig(token!))},siteApps:[]}})();`,
    }),
  },
  { path: /^\/array\/([^/]+)\/config$/, answer: (_, [, token]) => ({ body: remoteConfig(token!) }) },
  {
    path: /^(\/flags\/definitions|\/api\/feature_flag\/local_evaluation)$/,
    scope: 'feature_flag:read',
    notKept: 'feature_flags',
    answer: () => ({ body: { flags: [], group_type_mapping: {}, cohorts: {} } }),
  },
  {
    path: /^\/api\/projects\/[^/]+\/feature_flags\/[^/]+\/remote_config$/,
    scope: 'feature_flag:read',
    notKept: 'feature_flags',
    answer: () => ({ body: null }),
  },
  {
    path: /^\/flags$/,
    notKept: 'feature_flags',
    answer: ({ query, token }) => ({ body: query.get('config') === 'true' ? { ...remoteConfig(token), ...flagsV2() } : flagsV2() }),
  },
  {
    path: /^\/decide$/,
    notKept: 'feature_flags',
    answer: ({ query, token }) => ({ body: { ...remoteConfig(token), ...(own(decideAnswers, query.get('v') ?? '1') ?? flagsV2)() } }),
  },
  { path: /^\/s$/, notKept: 'session_recordings', answer: () => ({ body: { status: 1 } }) },
  { path: /^\/api\/surveys$/, notKept: 'surveys', answer: () => ({ body: { surveys: [] } }) },
  {
    path: /^\/api\/early_access_features$/,
    notKept: 'early_access_features',
    answer: () => ({ body: { earlyAccessFeatures: [], stages: [] } }),
  },
  { path: /^\/api\/web_experiments$/, notKept: 'experiments', answer: () => ({ body: { experiments: [] } }) },
  // The browser library also loads this one if there are no surveys, and a 404 would appear in the console of every page.
  {
    path: /^\/static\/(?:[^/]+\/)?surveys\.js$/,
    answer: () => ({
      type: 'application/javascript',
      body: '(window.__PosthogExtensions__=window.__PosthogExtensions__||{}).generateSurveys=function(){};',
    }),
  },
  { path: /^\/static\/.+$/, answer: () => ({ status: 404, body: missing }) },
]

interface ExpectedAnswer {
  readonly status: number
  readonly type: string
  readonly body: string
  readonly scope: Route['scope']
  readonly headers: Readonly<Record<string, string>>
}

/** Null for any other path. `path` has no trailing slash. */
export function clientConfigAnswer(request: ConfigRequest): ExpectedAnswer | null {
  for (const route of routes) {
    const match = route.path.exec(request.path)
    if (!match) continue
    const { status = 200, type = 'application/json', body } = route.answer(request, match)
    return {
      status,
      type,
      body: typeof body === 'string' ? body : JSON.stringify(body),
      scope: route.scope,
      headers: route.notKept ? notKept(route.notKept) : {},
    }
  }
  return null
}
