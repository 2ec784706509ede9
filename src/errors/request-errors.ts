import type { CodeRow } from './row.ts'

// Errors of a request before it reaches a project: authentication, rate limits, and unreadable bodies.

export interface RequestErrorData {
  'not-authenticated': Record<string, never>
  'wrong-key': { where: string; isProjectKey?: boolean }
  'wrong-scim-token': Record<string, never>
  /** Why it opens nothing. */
  'wrong-viewer-token': { reason: string }
  'wrong-login': Record<string, never>
  'not-acceptable': Record<string, never>
  'wrong-method': { method: string; allowed: readonly string[] }
  'wrong-media': { type: string }
  'unreadable-request': { message: string; attr: string | null }
  'body-too-large': Record<string, never>
  'body-already-read': Record<string, never>
  'authenticate-failed': { message: string }
  'body-too-slow': { bytesPerSecond: number; measuredMs: number; longestMs: number }
  'bodies-too-many': { bytes: number }
  throttled: { seconds: number; headers: Readonly<Record<string, string>> }
  'too-many-queries': { message: string }
  'server-busy': { most: number }
  unready: { message: string }
  internal: Record<string, never>
}

const bearer = () => ({ 'www-authenticate': 'Bearer' })
const seconds = (ms: number) => ms / 1000

export const requestErrors: { readonly [C in keyof RequestErrorData]: CodeRow<RequestErrorData[C]> } = {
  'not-authenticated': {
    text: () => 'Authentication credentials were not provided.',
    status: 401,
    wire: 'not_authenticated',
    headers: bearer,
  },
  'wrong-key': {
    text: (d) => `Personal API key found in request ${d.where} is invalid.`,
    expected: (d) =>
      d.isProjectKey ? "A personal API key (phx_…). The key that was sent is a project's public key, which can only send events." : null,
    status: 401,
    wire: 'authentication_failed',
    headers: bearer,
  },
  'wrong-viewer-token': {
    text: (d) => `The token of the viewer opens nothing: ${d.reason}.`,
    suggestion: () => 'The application makes another one with project.viewerToken() or POST …/viewer_tokens/.',
    status: 401,
    wire: 'authentication_failed',
    headers: bearer,
  },
  'wrong-scim-token': {
    text: () =>
      'The Authorization header must have the token of a domain: `Bearer scim_…`. An administrator makes it in Settings → Domains. A new one replaces the one before.',
    status: 401,
    wire: 'authentication_failed',
    headers: bearer,
  },
  'wrong-login': { text: () => 'Invalid email or password.', status: 400, wire: 'invalid_credentials' },
  'not-acceptable': {
    text: () => 'Could not satisfy the request Accept header.',
    status: 406,
    type: 'invalid_request',
    wire: 'not_acceptable',
  },
  'wrong-method': {
    text: (d) => `Method "${d.method}" not allowed.`,
    status: 405,
    wire: 'method_not_allowed',
    headers: (d) => ({ allow: d.allowed.join(', ') }),
  },
  'wrong-media': {
    text: (d) => `Unsupported media type "${d.type}" in request.`,
    status: 415,
    type: 'invalid_request',
    wire: 'unsupported_media_type',
  },
  'unreadable-request': { text: (d) => d.message, status: 400, type: 'invalid_request', wire: 'parse_error' },
  'body-too-large': { text: () => 'Request too large.', status: 413, type: 'client_error', wire: 'request_too_large' },
  'body-already-read': {
    text: () =>
      'A body parser of the application read the body of this request before the Waymark handler, and the body cannot be restored. Mount the handler before body parsers such as `express.json()` or `multer`.',
    status: 500,
    wire: 'body_already_read',
  },
  'authenticate-failed': { text: (d) => d.message, status: 500, wire: 'authenticate_failed' },
  'body-too-slow': {
    text: (d) =>
      `The request body arrived too slowly: at least ${Math.round(d.bytesPerSecond * seconds(d.measuredMs))} bytes every ${seconds(d.measuredMs)} seconds are required, and the whole body within ${seconds(d.longestMs)} seconds.`,
    status: 408,
    type: 'client_error',
    wire: 'request_timeout',
    headers: () => ({ connection: 'close' }),
  },
  'bodies-too-many': {
    text: (d) => `The server has reached its limit of ${d.bytes} bytes of request bodies in memory. Try again shortly.`,
    status: 503,
    wire: 'server_error',
    isRetryable: true,
    headers: () => ({ connection: 'close' }),
  },
  throttled: {
    text: (d) => `Request was throttled. Expected available in ${d.seconds} second${d.seconds === 1 ? '' : 's'}.`,
    status: 429,
    type: 'throttled_error',
    wire: 'throttled',
    headers: (d) => ({ ...d.headers, 'retry-after': String(d.seconds) }),
  },
  'too-many-queries': { text: (d) => d.message, status: 429, type: 'throttled_error', wire: 'throttled' },
  'server-busy': {
    text: (d) => `The server is busy: ${d.most} queries are already queued or running. Try again shortly.`,
    status: 503,
    isRetryable: true,
  },
  unready: { text: (d) => d.message, status: 503 },
  internal: { text: () => 'A server error occurred.', status: 500 },
}
