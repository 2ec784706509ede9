import { type ErrorCode, type ErrorData, errorTable } from '../errors/codes.ts'
import { type Position, WaymarkError } from '../errors/errors.ts'

// The body of every failure has four keys: type, code, detail, attr. What is known beyond them of a mistake in a statement stands in `extra`.

export interface Extra {
  readonly position?: Position
  readonly suggestions?: readonly string[]
  readonly expected?: string
  /** Further mistakes in the same statement. */
  readonly others?: readonly { readonly detail: string; readonly position?: Position }[]
}

const extraOf = ({ position, suggestions, expected, others }: WaymarkError): Extra | null => {
  const extra: Extra = {
    ...(position ? { position } : {}),
    ...(suggestions.length > 0 ? { suggestions } : {}),
    ...(expected === null ? {} : { expected }),
    ...(others.length > 0
      ? { others: others.map((other) => ({ detail: other.detail, ...(other.position ? { position: other.position } : {}) })) }
      : {}),
  }
  return Object.keys(extra).length > 0 ? extra : null
}

export class HttpError extends Error {
  override readonly name = 'HttpError'
  constructor(
    readonly status: number,
    readonly type: string,
    readonly code: string,
    detail: string,
    readonly attr: string | null = null,
    readonly headers: Readonly<Record<string, string>> = {},
    readonly extra: Extra | null = null,
  ) {
    super(detail)
  }
}

const bearer = { 'www-authenticate': 'Bearer' }
const denied = (detail: string) => new HttpError(403, 'authentication_error', 'permission_denied', detail)

export const failures = {
  notAuthenticated: () =>
    new HttpError(401, 'authentication_error', 'not_authenticated', 'Authentication credentials were not provided.', null, bearer),
  badKey: (where: string) =>
    new HttpError(
      401,
      'authentication_error',
      'authentication_failed',
      `Personal API key found in request ${where} is invalid.`,
      null,
      bearer,
    ),
  badLogin: () => new HttpError(400, 'validation_error', 'invalid_credentials', 'Invalid email or password.'),
  denied: (detail = 'You do not have permission to perform this action.') => denied(detail),
  noKeys: () => denied('This action does not support Personal API Key access'),
  missingScope: (scope: string) => denied(`API key missing required scope '${scope}'`),
  otherProject: (id: number | string) => denied(`API key does not have access to the requested project: ID ${id}.`),
  otherOrganization: (id: string) => denied(`API key does not have access to the requested organization: ID ${id}.`),
  projectKeyOutside: () => denied('API keys with scoped projects are only supported on project-based endpoints.'),
  organizationKeyOutside: () => denied('API keys with scoped organizations are only supported on organization-based endpoints.'),
  oldLogin: () => denied('This action requires you to be recently authenticated.'),
  foreignSite: () => denied('Requests from other sites cannot use a login session.'),
  notFound: (detail = 'Not found.') => new HttpError(404, 'invalid_request', 'not_found', detail),
  wrongMethod: (method: string, allowed: readonly string[]) =>
    new HttpError(405, 'invalid_request', 'method_not_allowed', `Method "${method}" not allowed.`, null, { allow: allowed.join(', ') }),
  notAcceptable: () => new HttpError(406, 'invalid_request', 'not_acceptable', 'Could not satisfy the request Accept header.'),
  conflict: (detail: string) => new HttpError(409, 'server_error', 'conflict', detail),
  tooLarge: () => new HttpError(413, 'client_error', 'request_too_large', 'Request too large.'),
  tooSlow: ({ bytesPerSecond, measuredMs, longestMs }: { bytesPerSecond: number; measuredMs: number; longestMs: number }) =>
    new HttpError(
      408,
      'client_error',
      'request_timeout',
      `The body came too slowly: it must bring ${Math.round((bytesPerSecond * measuredMs) / 1000)} bytes every ${measuredMs / 1000} seconds and be whole within ${longestMs / 1000}.`,
      null,
      { connection: 'close' },
    ),
  busy: (bytes: number) =>
    new HttpError(
      503,
      'server_error',
      'server_error',
      `The server holds as many bytes of requests as it may (${bytes}). Try again shortly.`,
      null,
      { 'retry-after': '1', connection: 'close' },
    ),
  wrongMedia: (type: string) =>
    new HttpError(415, 'invalid_request', 'unsupported_media_type', `Unsupported media type "${type}" in request.`),
  parse: (detail: string) => new HttpError(400, 'invalid_request', 'parse_error', detail),
  invalid: (detail: string, attr: string) => new HttpError(400, 'validation_error', 'invalid_input', detail, attr),
  required: (attr: string) => new HttpError(400, 'validation_error', 'required', 'This field is required.', attr),
  throttled: (seconds: number, headers: Readonly<Record<string, string>>) =>
    new HttpError(
      429,
      'throttled_error',
      'throttled',
      `Request was throttled. Expected available in ${seconds} second${seconds === 1 ? '' : 's'}.`,
      null,
      {
        ...headers,
        'retry-after': String(seconds),
      },
    ),
  tooManyQueries: (most: number) =>
    new HttpError(429, 'throttled_error', 'throttled', `Too many queries at once: a project answers ${most} at a time to keys.`),
  tooManyOfUser: (most: number) =>
    new HttpError(
      429,
      'throttled_error',
      'throttled',
      `Too many queries at once: ${most} of yours wait or run already. Ask again when one of them has ended, or cancel one.`,
    ),
  busyWithQueries: (most: number) =>
    new HttpError(503, 'server_error', 'error', `The server is busy: ${most} queries wait or run already. Ask again shortly.`, null, {
      'retry-after': '1',
    }),
  unready: (detail: string) => new HttpError(503, 'server_error', 'error', detail),
  internal: () => new HttpError(500, 'server_error', 'error', 'A server error occurred.'),
} as const

const typeOf = (status: number): string => {
  if (status === 400) return 'validation_error'
  if (status === 401 || status === 403) return 'authentication_error'
  if (status === 404 || status === 405) return 'invalid_request'
  return 'server_error'
}

/** Codes on the wire, where they are not those of the status. What an engine would say of a statement belongs to no field there. */
const wireCodes: { readonly [C in ErrorCode]?: string } = {
  'wrong-type': 'illegal_type_of_argument',
  'not-grouped': 'not_an_aggregate',
}
const wireCode = ({ code, data }: WaymarkError): string | undefined =>
  code === 'engine-refused' && (data as ErrorData['engine-refused']).isAboutTypes ? wireCodes['wrong-type'] : wireCodes[code]
const statusCodes: Readonly<Record<number, string>> = { 400: 'invalid_input', 403: 'permission_denied', 404: 'not_found', 409: 'conflict' }

/** Of the operator's files, which are nobody else's business. */
const filesFail: ReadonlySet<ErrorCode> = new Set(['store-broken', 'log-damaged', 'unusable-directory', 'directory-locked', 'newer-format'])

/** What is told to callers when the files of a project fail; null for every other error. */
export const filesFailure = ({ code }: WaymarkError): HttpError | null =>
  filesFail.has(code) ? failures.unready(`The project cannot be opened (${code}). The log of the server says why.`) : null

const ofWaymark = (error: WaymarkError): HttpError => {
  const ofFiles = filesFailure(error)
  if (ofFiles) return ofFiles
  const status = errorTable[error.code].status
  const retry: Record<string, string> = error.isRetryable ? { 'retry-after': '1' } : {}
  const code = error.code === 'invalid-value' ? (error.data as { rule: string }).rule : (wireCode(error) ?? statusCodes[status] ?? 'error')
  if (wireCode(error) === undefined || error.attr === null)
    return new HttpError(status, typeOf(status), code, error.detail, error.attr, retry, extraOf(error))
  return new HttpError(status, typeOf(status), code, `${error.attr}: ${error.detail}`, null, retry, extraOf(error))
}

/** What the caller is told; null when the fault is ours and only the log may know more. */
export const knownFailure = (error: unknown): HttpError | null => {
  if (error instanceof HttpError) return error
  return error instanceof WaymarkError ? ofWaymark(error) : null
}

export const failureBody = ({ type, code, message, attr, extra }: HttpError) => ({
  type,
  code,
  detail: message,
  attr,
  ...(extra ? { extra } : {}),
})
