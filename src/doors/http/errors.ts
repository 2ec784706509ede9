import { type ErrorCode, type ErrorData, errorTable } from '../../errors/codes.ts'
import { type Position, WaymarkError } from '../../errors/errors.ts'
import type { CodeRow } from '../../errors/row.ts'
import { projectKeyPrefix } from '../../service/accounts/secrets/secrets.ts'

// Errors over HTTP. The table of codes has the texts; these are short names for the errors of routes.

export interface Extra {
  readonly position?: Position
  readonly suggestions?: readonly string[]
  readonly expected?: string
  /** Further errors in the same statement. */
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

const denied = (message: string) => new WaymarkError('not-allowed', { message })

export const failures = {
  notAuthenticated: () => new WaymarkError('not-authenticated', {}),
  badKey: (where: string, key: string) => new WaymarkError('wrong-key', { where, isProjectKey: key.startsWith(projectKeyPrefix) }),
  badScimToken: () => new WaymarkError('wrong-scim-token', {}),
  badLogin: () => new WaymarkError('wrong-login', {}),
  codeRequired: () => new WaymarkError('code-required', {}),
  secondFactorRequired: (organizations: readonly string[], isKey: boolean) =>
    new WaymarkError('second-factor-required', { organizations, isKey }),
  denied: (detail = 'You do not have permission to perform this action.') => denied(detail),
  noKeys: () => denied('This action does not support Personal API Key access'),
  missingScope: (scope: string) => denied(`API key missing required scope '${scope}'`),
  otherProject: (id: number | string) => denied(`API key does not have access to the requested project: ID ${id}.`),
  otherOrganization: (id: string) => denied(`API key does not have access to the requested organization: ID ${id}.`),
  projectKeyOutside: () => denied('API keys with scoped projects are only supported on project-based endpoints.'),
  organizationKeyOutside: () => denied('API keys with scoped organizations are only supported on organization-based endpoints.'),
  oldLogin: () => denied('This action requires you to be recently authenticated.'),
  foreignSite: () => denied('Cross-site requests cannot use a login session.'),
  notFound: (message = 'Not found.') => new WaymarkError('no-record', { message }),
  wrongMethod: (method: string, allowed: readonly string[]) => new WaymarkError('wrong-method', { method, allowed }),
  notAcceptable: () => new WaymarkError('not-acceptable', {}),
  conflict: (message: string) => new WaymarkError('conflicting-request', { message }),
  bodyAlreadyRead: () => new WaymarkError('body-already-read', {}),
  tooLarge: () => new WaymarkError('body-too-large', {}),
  tooSlow: (pace: ErrorData['body-too-slow']) => new WaymarkError('body-too-slow', pace),
  busy: (bytes: number) => new WaymarkError('bodies-too-many', { bytes }),
  wrongMedia: (type: string) => new WaymarkError('wrong-media', { type }),
  parse: (message: string, attr: string | null = null) => new WaymarkError('unreadable-request', { message, attr }),
  invalid: (message: string, attr: string) => new WaymarkError('invalid-value', { message, rule: 'invalid_input', attr }),
  required: (attr: string) => new WaymarkError('invalid-value', { message: 'This field is required.', rule: 'required', attr }),
  throttled: (seconds: number, headers: Readonly<Record<string, string>>) => new WaymarkError('throttled', { seconds, headers }),
  tooManyQueries: (most: number) =>
    new WaymarkError('too-many-queries', {
      message: `Too many concurrent queries: API keys can have ${most} of one project queued or running at a time.`,
    }),
  tooManyOfUser: (most: number) =>
    new WaymarkError('too-many-queries', {
      message: `Too many concurrent queries: you already have ${most} queued or running. Retry when one of them has finished, or cancel one.`,
    }),
  tooManyOfOrganization: (most: number) =>
    new WaymarkError('too-many-queries', {
      message: `Too many concurrent queries: your organization already has ${most} queued or running. Retry when one of them has finished, or cancel one.`,
    }),
  busyWithQueries: (most: number) => new WaymarkError('server-busy', { most }),
  unready: (message: string) => new WaymarkError('unready', { message }),
  internal: () => new WaymarkError('internal', {}),
} as const

/** An error over HTTP: the body has the four keys type, code, detail and attr, and `extra` with the details of an error in a statement. */
export interface Failure {
  readonly status: number
  readonly type: string
  readonly code: string
  readonly detail: string
  readonly attr: string | null
  readonly extra: Extra | null
  readonly headers: Readonly<Record<string, string>>
}

const typeOf = (status: number): string => {
  if (status === 400) return 'validation_error'
  if (status === 401 || status === 403) return 'authentication_error'
  if (status === 404 || status === 405) return 'invalid_request'
  return 'server_error'
}
/** The text of the row for these data. */
const saidOf = <D>(value: string | ((data: D) => string | undefined) | undefined, data: D): string | undefined =>
  typeof value === 'function' ? value(data) : value
/** For an error without details in its data. */
export const typeOfRow = ({ type, status }: Pick<CodeRow<never>, 'type' | 'status'>): string =>
  typeof type === 'string' ? type : typeOf(status)
const statusCodes: Readonly<Record<number, string>> = { 400: 'invalid_input', 403: 'permission_denied', 404: 'not_found', 409: 'conflict' }

/** Contains names of files, which clients must not see. */
const filesFail: ReadonlySet<ErrorCode> = new Set(['store-broken', 'log-damaged', 'unusable-directory', 'directory-locked', 'newer-format'])

/** What clients get if the files of a project fail: the reason is in the log. */
const told = (error: WaymarkError): WaymarkError =>
  filesFail.has(error.code) ? failures.unready(`The project cannot be opened (${error.code}). See the server log for the reason.`) : error

export const failureOf = (error: WaymarkError): Failure => {
  const known = told(error)
  const { data, status } = known
  const row = errorTable[known.code] as CodeRow<unknown>
  const retry: Record<string, string> = known.isRetryable ? { 'retry-after': '1' } : {}
  return {
    status,
    type: saidOf(row.type, data) ?? typeOf(status),
    code: saidOf(row.wire, data) ?? statusCodes[status] ?? 'error',
    ...blamed(known, row),
    extra: extraOf(known),
    headers: { ...retry, ...row.headers?.(data) },
  }
}

/** An engine's error about a statement belongs to no field: the text names the field. */
const blamed = (error: WaymarkError, { isOfStatement, wireText, isTerse, text }: CodeRow<unknown>): Pick<Failure, 'detail' | 'attr'> => {
  const { attr, data } = error
  const detail = wireText ? wireText(data) : isTerse ? text(data) : error.detail
  return isOfStatement && attr !== null ? { detail: `${attr}: ${detail}`, attr: null } : { detail, attr }
}

/** The error for the client; null for a bug, whose details go to the log only. */
export const knownFailure = (error: unknown): Failure | null => (error instanceof WaymarkError ? failureOf(error) : null)

export const failureBody = ({ type, code, detail, attr, extra }: Failure) => ({ type, code, detail, attr, ...(extra ? { extra } : {}) })
