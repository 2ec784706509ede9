// One row per code: its data, its text, what to suggest, and the HTTP status. The wording lives only here.

/** Measures of a statement before and during planning. */
export type Budgeted = keyof typeof exceeded

import { excerpt } from '../lib/text/excerpt.ts'
import { likelyName } from '../lib/text/likely-name.ts'
import { type RequestErrorData, requestErrors } from './request-errors.ts'
import type { CodeRow } from './row.ts'

/** The data of each code. A code left out of `errorTable` does not compile. */
export interface ErrorData extends RequestErrorData {
  // statements
  'syntax-error': { message: string; expected?: string; candidates?: readonly string[] }
  'reserved-alias': { name: string }
  'illegal-identifier': { name: string; character: string }
  'too-deep': { limit: number }
  'too-large': { budget: Budgeted; limit: number }
  'unknown-field': { name: string; table?: string; candidates?: readonly string[]; isQuoted?: boolean; hint?: string }
  'unknown-table': { name: string; candidates?: readonly string[] }
  'attached-unreadable': { name: string; reason: string }
  'attached-ambiguous': { name: string; key: string; value: string }
  'ambiguous-field': { name: string; tables: readonly string[] }
  'table-as-column': { name: string }
  'unknown-function': { name: string; candidates?: readonly string[] }
  'wrong-arity': {
    name: string
    kind: 'Function' | 'Aggregation' | 'Table function'
    min: number
    max: number | null
    found: number
    use?: string
  }
  'wrong-parameters': { name: string; kind: 'Function' | 'Aggregation'; min: number; max: number | null; found: number; use?: string }
  'missing-parameters': { name: string; kind: 'Function' | 'Aggregation'; use?: string }
  'nested-aggregate': { outer: string; inner: string }
  'not-grouped': { name: string }
  'zero-index': { example: string }
  'wrong-type': { message: string; expected?: string; candidates?: readonly string[] }
  /** `isArgument`: the position is that of the argument, which is `shown` as it was written. */
  'type-mismatch': { name: string; needs: string; found: string; shown: string | null; use: string | null; isArgument?: true }
  'unknown-placeholder': { name: string; candidates?: readonly string[] }
  'unknown-variable': { name: string; candidates?: readonly string[] }
  'unknown-cohort': { name: string }
  'unsupported-syntax': { what: string; engine?: string }
  'invalid-query': { message: string }
  // engines
  'unsupported-function': { name: string; engine: string; reason: string }
  /** `outOfRange`: a result is out of range; the functions that can be the cause, if the engine's message tells. `isRaised`: by the statement itself, with `throwIf`. */
  'engine-refused': { message: string; isAboutTypes?: boolean; isRaised?: boolean; outOfRange?: readonly string[] }
  'unequal-lengths': { name: string; lengths: readonly [number, number] }
  'makes-too-much': { name: string | null; bytes: number | null; most: number }
  'query-timeout': { seconds: number; waited: number; ran: number }
  'query-memory': { message: string }
  'answer-too-large': { bytes: number }
  'engine-ended': { isChange: boolean }
  'engine-unreachable': { engine: string; reason: string }
  'postgres-unreachable': { reason: string }
  'query-cancelled': Record<string, never>
  // requests and the library
  'validation-failed': {
    message: string
    attr: string | null
    allowed?: readonly string[]
    candidates?: readonly string[]
    /** For a schema violation of a query: its path in the body of an HTTP request. */
    place?: readonly string[]
  }
  'unknown-query-kind': { kind: string; known: readonly string[] }
  'query-kind-elsewhere': { kind: string; known: readonly string[] }
  'not-for-viewers': { what: string; known?: readonly string[] }
  'not-found': { what: string; id: string }
  // accounts. `rule` is the code that HTTP clients see
  'invalid-value': { message: string; rule: string; attr: string | null; allowed?: readonly string[]; candidates?: readonly string[] }
  'not-allowed': { message: string }
  /** `organizations`: those that ask for it. */
  'second-factor-required': { organizations: readonly string[]; isKey: boolean }
  'code-required': Record<string, never>
  'no-record': { message: string }
  'conflicting-request': { message: string }
  'limit-reached': { message: string }
  'accounts-full': { characters: number; most: number }
  /** `id`: the first characters of the key's hash. */
  'unknown-secret-key': { id: string }
  'damaged-secret': Record<string, never>
  'private-address': { host: string; address: string }
  // opening a directory
  'directory-locked': { dataDir: string; pid: number; since: string }
  'directory-opening': { dataDir: string }
  'owner-ended': Record<string, never>
  'newer-format': { file: string; found: number; supported: number }
  'unusable-directory': { dataDir: string; reason: string }
  'store-broken': { file: string; lostTo: number | null }
  'unclean-close': { reason: string }
  busy: { what: string }
  moving: { to: string | null }
  closed: Record<string, never>
  stopping: Record<string, never>
  'cannot-listen': { host: string; port: number; reason: string }
  'wrong-usage': { message: string }
  'command-failed': { message: string }
  // taking events
  'bad-event': { message: string; index: number | null; attr: string | null }
  'batch-too-large': { events: number; limit: number }
  'import-over': Record<string, never>
  'queue-full': { bytes: number; limit: number }
  'disk-full': { free: number; floor: number }
  'no-space': Record<string, never>
  'log-failed': { reason: string }
  'log-not-compressed': { file: string; reason: string }
  'log-damaged': { file: string; offset: number; fromSeq: number; toSeq: number | null; isGone?: boolean }
}

export type ErrorCode = keyof ErrorData

const byteUnits = [
  [1e9, 'GB'],
  [1e6, 'MB'],
  [1e3, 'KB'],
] as const
/** The name of WITH FILL in `makes-too-much`. */
export const filledSeries = 'WITH FILL'
/** A step is one 64-bit integer. */
const bytesOfStep = 8

function byteText(bytes: number): string {
  const unit = byteUnits.find(([size]) => bytes >= size)
  return unit ? `${Number((bytes / unit[0]).toPrecision(3))} ${unit[1]}` : `${bytes} bytes`
}
const useOf = ({ use }: { use?: string | null }) => (use ? `Use ${use}.` : null)
const plural = (n: number, word: string) => `${n} ${word}${n === 1 ? '' : 's'}`
const didYouMean = (candidates: readonly string[] | undefined) => (candidates?.length ? `Did you mean: ${candidates.join(', ')}?` : null)
const oneOfAllowed = ({ allowed }: { allowed?: readonly string[] }) => (allowed ? `One of ${allowed.join(', ')}` : null)
const knownKinds = ({ kind, known }: { kind: string; known: readonly string[] }) => {
  const likely = likelyName(kind, known)
  return `${likely === undefined ? '' : `Did you mean ${likely}? `}Known kinds: ${known.join(', ')}.`
}
/** The format of PostHog's validation errors. */
const requestMisfit = (path: readonly string[], problem: string) => `1 validation error for QueryRequest\n${path.join('.')}\n  ${problem}`
const expects = (noun: string, d: { name: string; kind: string; min: number; max: number | null; found: number }) => {
  const start = `${d.kind} '${d.name}' expects`
  if (d.min === d.max) return `${start} ${plural(d.min, noun)}, found ${d.found}`
  if (d.found < d.min) return `${start} at least ${plural(d.min, noun)}, found ${d.found}`
  return `${start} at most ${plural(d.max ?? 0, noun)}, found ${d.found}`
}

/** `1 argument`, `2 to 3 arguments`, `at least 1 argument`. */
const countOf = (noun: string, { min, max }: { min: number; max: number | null }) => {
  if (min === max) return plural(min, noun)
  return max === null ? `at least ${plural(min, noun)}` : `${min} to ${plural(max, noun)}`
}
/** MySQL and BigQuery accept texts in this form. */
const quotedHint = (name: string) => `Double quotes mark an identifier; write a string in single quotes: '${name.replaceAll("'", "''")}'`

/** PostHog's code for type mismatches. */
const aboutTypes = 'illegal_type_of_argument'
const openPartial = "open with `--recovery partial` (in the library `recovery: 'partial'`)"
const count = (limit: number) => limit.toLocaleString('en-US')
const exceeded = {
  text: (limit: number) => `The statement exceeds ${count(limit)} characters. Split it, or pass long lists in \`values\` as {name}.`,
  tokens: (limit: number) => `The statement exceeds ${count(limit)} tokens. Split it, or pass long lists in \`values\` as {name}.`,
  tree: (limit: number) =>
    `The syntax tree of the statement exceeds ${count(limit)} nodes. Use a placeholder, or the subject of a CASE, in fewer places.`,
  expressions: (limit: number) =>
    `The statement exceeds ${count(limit)} expressions once names, \`*\` and views are resolved. Read fewer columns, or compute a value once in a subquery.`,
  columns: (limit: number) => `A SELECT exceeds ${count(limit)} columns once each \`*\` is resolved. Name the columns that you need.`,
  types: (limit: number) => `A type in the statement has more than ${count(limit)} parts. Nest fewer tuples and arrays.`,
  sql: (limit: number) =>
    `The generated SQL exceeds ${count(limit)} characters. An alias is expanded at every use: compute it once in a subquery.`,
  sources: (limit: number) =>
    `The statement reads more than ${count(limit)} tables once subqueries and WITH are expanded. Read a table once, or use AS MATERIALIZED.`,
  selects: (limit: number) =>
    `The generated SQL exceeds ${count(limit)} SELECTs. A subquery alias is expanded at every use: put it in FROM once instead.`,
  joins: (limit: number) =>
    `Ordering the joins of the statement would compare more than ${count(limit)} pairs of tables. Join some of them in a WITH … AS MATERIALIZED subquery.`,
  groupings: (limit: number) =>
    `The statement nests more than ${count(limit)} levels of GROUP BY subqueries. Write the inner ones as WITH … AS MATERIALIZED.`,
  levels: (limit: number) =>
    `The statement nests more than ${count(limit)} levels of subqueries with windows or GROUP BY. Write the inner ones as WITH … AS MATERIALIZED.`,
  correlated: (limit: number) =>
    `The statement exceeds ${count(limit)} correlated subqueries. Join a grouped subquery instead, or split the statement.`,
  conditions: (limit: number) =>
    `The conditions of the statement give the engine more than ${count(limit)} pairs to compare. Use IN with a list instead of many AND and OR.`,
  aggregates: (limit: number) =>
    `A SELECT exceeds ${count(limit)} aggregates with a condition or DISTINCT. Group by the condition, or split the statement.`,
  windows: (limit: number) => `A SELECT opens more than ${count(limit)} different windows. Split the statement, or use fewer windows.`,
  nesting: (limit: number) =>
    `The statement has too many nested expressions (expressions times depth exceed ${count(limit)}). Compute inner values in a subquery.`,
  patterns: (limit: number) =>
    `The regular expressions of the statement may take more than ${count(limit)} KiB of memory. Use fewer or smaller repetitions and classes, or like and position.`,
} as const satisfies Readonly<Record<string, (limit: number) => string>>

export const errorTable: { readonly [C in ErrorCode]: CodeRow<ErrorData[C]> } = {
  ...requestErrors,
  'syntax-error': {
    text: (d) => d.message,
    suggestion: (d) => didYouMean(d.candidates),
    expected: (d) => d.expected ?? null,
    status: 400,
  },
  'reserved-alias': { text: (d) => `"${d.name}" cannot be an alias or identifier, as it's a reserved keyword`, status: 400 },
  'illegal-identifier': {
    text: (d) => `The identifier "${d.name}" is not permitted as it contains the "${d.character}" character`,
    status: 400,
  },
  'too-deep': { text: (d) => `The statement is nested more than ${d.limit} levels deep`, status: 400 },
  'too-large': { text: (d) => exceeded[d.budget](d.limit), status: 400 },
  'unknown-field': {
    text: (d) => `Unable to resolve field: ${excerpt(d.name)}`,
    suggestion: (d) =>
      [didYouMean(d.candidates), d.isQuoted ? `${quotedHint(d.name)}.` : null, d.hint ?? null].filter((text) => text !== null).join(' ') ||
      null,
    status: 400,
  },
  'attached-unreadable': {
    text: (d) => `The attached table \`${excerpt(d.name)}\` cannot be read: ${d.reason}`,
    suggestion: () => 'The operator of the server has attached it, and can repair its file or connection.',
    status: 400,
  },
  'attached-ambiguous': {
    text: (d) =>
      `The columns of \`${excerpt(d.name)}\` cannot be properties, because ${excerpt(d.key)} is not unique: several rows have ${excerpt(d.value)}.`,
    suggestion: () => 'Attach a table with one row for each of its keys, or join it in a statement.',
    status: 400,
  },
  'unknown-table': { text: (d) => `Unknown table \`${excerpt(d.name)}\``, suggestion: (d) => didYouMean(d.candidates), status: 400 },
  'ambiguous-field': { text: (d) => `Ambiguous field: ${excerpt(d.name)} is in ${d.tables.join(' and ')}`, status: 400 },
  'table-as-column': { text: (d) => `Can't select a table when a column is expected: ${d.name}`, status: 400 },
  'unknown-function': {
    text: (d) => `Unsupported function call '${excerpt(d.name)}(...)'`,
    suggestion: (d) => (d.candidates?.length ? `Perhaps you meant '${d.candidates[0]}(...)'?` : null),
    status: 400,
  },
  'wrong-arity': {
    text: (d) =>
      d.kind === 'Table function'
        ? `Table function '${d.name}' requires at ${d.found < d.min ? `least ${plural(d.min, 'argument')}` : `most ${plural(d.max ?? 0, 'argument')}`}`
        : expects('argument', d),
    suggestion: useOf,
    expected: (d) => countOf('argument', d),
    status: 400,
  },
  'wrong-parameters': { text: (d) => expects('parameter', d), suggestion: useOf, expected: (d) => countOf('parameter', d), status: 400 },
  'missing-parameters': {
    text: (d) => `${d.kind} '${d.name}' requires parameters in addition to arguments`,
    suggestion: useOf,
    status: 400,
  },
  'nested-aggregate': {
    text: (d) => `Aggregation '${d.inner}' cannot be nested inside another aggregation '${d.outer}'.`,
    status: 400,
  },
  'not-grouped': {
    text: (d) => `'${excerpt(d.name)}' is neither grouped by nor inside an aggregate`,
    suggestion: (d) => `Add it to GROUP BY, or take any(${d.name})`,
    status: 400,
    wire: 'not_an_aggregate',
    isOfStatement: true,
  },
  'zero-index': { text: (d) => `SQL indexes start from one, not from zero. E.g: ${d.example}`, status: 400 },
  'type-mismatch': {
    text: (d) => `'${d.name}' needs ${d.needs}, but ${d.shown === null ? 'an argument' : `'${d.shown}'`} is ${d.found}`,
    suggestion: useOf,
    expected: (d) => d.needs,
    status: 400,
    wire: aboutTypes,
    isOfStatement: true,
  },
  'wrong-type': {
    text: (d) => d.message,
    suggestion: (d) => didYouMean(d.candidates),
    expected: (d) => d.expected ?? null,
    status: 400,
    wire: aboutTypes,
    isOfStatement: true,
  },
  'unknown-placeholder': {
    text: (d) => `Placeholder {${excerpt(d.name)}} has no value`,
    suggestion: (d) => didYouMean(d.candidates),
    status: 400,
  },
  'unknown-variable': {
    text: (d) => `Variable ${excerpt(d.name)} is missing from query.`,
    suggestion: (d) => didYouMean(d.candidates),
    status: 400,
  },
  'unknown-cohort': { text: (d) => `Could not find cohort: ${excerpt(d.name)}`, status: 400 },
  'unsupported-syntax': { text: (d) => `Not supported ${d.engine ? `on ${d.engine}` : 'yet'}: ${d.what}`, status: 400 },
  'invalid-query': { text: (d) => d.message, status: 400 },
  'unsupported-function': { text: (d) => `'${d.name}' is not available on ${d.engine}: ${d.reason}`, status: 400 },
  'engine-refused': {
    text: (d) => d.message,
    status: 400,
    wire: (d) => (d.isAboutTypes ? aboutTypes : undefined),
    wireNote: `\`${aboutTypes}\` for a type mismatch`,
    isOfStatement: true,
  },
  'unequal-lengths': {
    text: ({ name, lengths: [a, b] }) => `'${name}' needs arrays of the same length, but got one of ${plural(a, 'item')} and one of ${b}`,
    suggestion: () => 'Make them equally long with arrayResize(array, length).',
    expected: () => 'arrays of the same length',
    status: 400,
    isOfStatement: true,
  },
  'makes-too-much': {
    text: ({ name, bytes, most }) => {
      if (name === filledSeries)
        return `WITH FILL would produce ${bytes === null ? 'more rows' : `${(bytes / bytesOfStep).toLocaleString('en-US')} rows`} for one series; the limit is ${Math.floor(most / bytesOfStep).toLocaleString('en-US')}.`
      return `${name === null ? 'The statement' : `'${name}'`} would produce ${bytes === null ? 'more' : byteText(bytes)} for one row; the limit is ${byteText(most)} per row.`
    },
    suggestion: ({ name }) =>
      name === filledSeries
        ? 'Use a larger STEP, a shorter range from FROM to TO, or give the server more memory (--memory): the series of several groups are filled at the same time.'
        : 'The engine computes thousands of rows at a time, and their values must fit in memory: produce less per row, or give the server more memory (--memory).',
    status: 400,
  },
  'query-timeout': {
    text: (d) => `The query took longer than ${d.seconds} seconds and was stopped: waited ${d.waited} s, ran ${d.ran} s`,
    suggestion: (d) =>
      d.waited > d.ran
        ? 'It waited in the queue for most of that time: retry later, or run fewer queries at a time.'
        : 'Use a shorter date range or fewer breakdown values.',
    status: 504,
  },
  'query-memory': {
    text: () => 'The query exceeded its memory limit and was stopped. Use a shorter date range or fewer columns.',
    status: 504,
  },
  'answer-too-large': {
    text: (d) => `The answer is larger than ${Math.floor(d.bytes / 1024 ** 2)} MiB, the limit for JSON`,
    suggestion: () =>
      'Select fewer rows or columns, or send `Accept: text/csv` or `Accept: application/vnd.apache.arrow.stream`: those are streamed without a size limit.',
    status: 400,
  },
  'engine-ended': {
    text: () => 'The engine process exited while handling this request and was restarted. No acknowledged event is lost.',
    suggestion: ({ isChange }) =>
      isChange
        ? 'Check whether the change was made before you retry.'
        : 'If this query caused it, use a shorter date range or fewer columns.',
    status: 503,
  },
  'engine-unreachable': {
    text: (d) => `${d.engine} cannot be reached: ${d.reason}`,
    suggestion: () => 'Events are still acknowledged. Queries include them once it is reachable again.',
    status: 503,
    isRetryable: true,
  },
  'postgres-unreachable': {
    text: (d) => `PostgreSQL cannot be reached: ${d.reason}.`,
    suggestion: () => 'Nothing is acknowledged or changed until it is reachable again.',
    status: 503,
    isRetryable: true,
  },
  'query-cancelled': { text: () => 'The query was cancelled.', status: 400 },
  'validation-failed': {
    text: (d) => d.message,
    expected: oneOfAllowed,
    status: 400,
    type: (d) => (d.place ? 'invalid_request' : undefined),
    wire: (d) => (d.place ? 'parse_error' : undefined),
    wireText: (d) => (d.place ? requestMisfit(d.place, d.message) : d.message),
    wireNote: '`parse_error`, of type `invalid_request`, for a query that does not match its schema',
  },
  'unknown-query-kind': {
    text: (d) => `Unsupported query kind: ${excerpt(d.kind)}`,
    suggestion: knownKinds,
    expected: ({ known }) => oneOfAllowed({ allowed: known }),
    status: 400,
    type: 'invalid_request',
    wire: 'parse_error',
    wireText: ({ kind, known }) => {
      const likely = likelyName(kind, known)
      const tags = known.map((one) => `'${one}'`).join(', ')
      return requestMisfit(
        ['query'],
        `Input tag '${excerpt(kind)}' found using 'kind' does not match any of the expected tags: ${tags}${likely === undefined ? '' : `. Did you mean '${likely}'?`}`,
      )
    },
  },
  'query-kind-elsewhere': {
    text: (d) => `Unsupported query kind: ${excerpt(d.kind)}`,
    suggestion: ({ known }) => `Known kinds: ${known.join(', ')}.`,
    expected: ({ known }) => oneOfAllowed({ allowed: known }),
    status: 400,
    isTerse: true,
  },
  'not-for-viewers': {
    text: (d) => `A viewer cannot read ${excerpt(d.what)}.`,
    suggestion: ({ known }) =>
      known
        ? `Viewers ask ${known.join(', ')}.`
        : 'It reads events and sessions, and of persons their id and the properties that are listed for it.',
    status: 400,
  },
  'not-found': { text: (d) => `There is no ${d.what} ${excerpt(d.id)}`, status: 404 },
  'invalid-value': {
    text: (d) => d.message,
    suggestion: (d) => didYouMean(d.candidates) ?? (d.allowed ? `Choose one of ${d.allowed.join(', ')}.` : null),
    expected: oneOfAllowed,
    status: 400,
    wire: (d) => d.rule,
    wireNote: 'names the rule that was broken',
    isTerse: true,
  },
  'not-allowed': { text: (d) => d.message, status: 403 },
  'second-factor-required': {
    text: ({ organizations, isKey }) =>
      `${organizations.join(', ')} ${organizations.length === 1 ? 'requires' : 'require'} a second factor, and ${isKey ? 'the owner of this key has' : 'you have'} none.`,
    suggestion: ({ isKey }) => (isKey ? 'Its owner can set one up after signing in.' : 'Set one up: sign in, and the page leads there.'),
    status: 403,
    wire: 'two_factor_setup_required',
  },
  'code-required': {
    text: () => 'This account has a second factor.',
    suggestion: () =>
      'Send a code of the authenticator app, or a recovery code, to `POST /api/login/token/`, with the cookie of this answer.',
    status: 401,
    wire: '2fa_required',
  },
  'no-record': { text: (d) => d.message, status: 404 },
  'unknown-secret-key': {
    text: (d) => `A stored secret was encrypted with the key ${d.id}, which this server does not have.`,
    suggestion: () => 'Add the key to secret.key or WAYMARK_SECRET_KEY, below the newest one, or set the secrets of the export again.',
    status: 409,
  },
  'private-address': {
    text: ({ host, address }) =>
      `${host === address ? address : `${host} has the address ${address}, which`} is in a private network, and this server connects only to public addresses.`,
    suggestion: () => 'Use the public address of the destination, or ask the operator of the server.',
    status: 400,
  },
  'damaged-secret': {
    text: () => 'A stored secret cannot be decrypted: its stored value is damaged.',
    suggestion: () => 'Set the secrets of the export again.',
    status: 409,
  },
  'conflicting-request': { text: (d) => d.message, status: 409 },
  'limit-reached': { text: (d) => d.message, status: 400, wire: 'limit_reached' },
  'accounts-full': {
    text: (d) =>
      `The account data of this server has ${count(d.characters)} characters, and the limit is ${count(d.most)}, so nothing can be added.  ` +
      'Remove what is not needed, or ask the operator: `waymark doctor --largest` lists the largest rows.',
    status: 507,
    wire: 'accounts_full',
  },
  'directory-locked': {
    text: (d) =>
      `${d.dataDir} is in use by process ${d.pid} since ${d.since}. One process owns a data directory at a time; others work through it with \`open({ connect: true })\` or \`waymark serve --connect\`.`,
    status: 409,
  },
  'directory-opening': {
    text: (d) => `No process has opened ${d.dataDir} within a minute, or it is still being opened. Try again.`,
    status: 503,
    wire: 'directory_opening',
  },
  'owner-ended': {
    text: () =>
      'The process that had the data directory open has ended before it answered. The call may have been carried out: look before you repeat it.',
    status: 503,
    wire: 'owner_ended',
  },
  'newer-format': {
    text: (d) =>
      `${d.file} has format ${d.found}, but this version of Waymark reads formats up to ${d.supported}. Use the version of Waymark that wrote it, or a newer one.`,
    status: 409,
  },
  'unusable-directory': { text: (d) => `${d.dataDir} cannot be used: ${d.reason}`, status: 409 },
  'store-broken': {
    text: (d) =>
      `${d.file} cannot be opened, and the log no longer has ${d.lostTo === null ? 'any record' : `the records up to ${d.lostTo}`} to rebuild it from. ` +
      `Restore the project's folder from a backup, or ${openPartial} to rebuild what the log still has.`,
    status: 503,
  },
  'cannot-listen': { text: (d) => `Cannot listen on ${d.host}:${d.port}: ${d.reason}.`, status: 409 },
  'wrong-usage': { text: (d) => d.message, status: 400 },
  'command-failed': { text: (d) => d.message, status: 400 },
  'unclean-close': {
    text: (d) =>
      `The directory was closed, but its checkpoint failed: ${d.reason.replace(/\.$/, '')}. ` +
      `No acknowledged event is lost: the next open replays the log.`,
    status: 503,
  },
  moving: {
    text: (d) =>
      d.to === null
        ? 'The data of this server is being moved to a cluster. Try again shortly.'
        : 'The data of this server was moved to a cluster, whose servers take requests now.',
    status: 503,
    wire: 'moving',
    isRetryable: true,
  },
  busy: { text: (d) => `Too many ${d.what} at once. Try again shortly.`, status: 503, isRetryable: true },
  closed: { text: () => 'This Waymark instance has been closed.', status: 503 },
  stopping: { text: () => 'The server is stopping.', status: 503 },
  'bad-event': { text: (d) => d.message, status: 400 },
  'batch-too-large': {
    text: (d) => `The batch exceeds ${d.limit} bytes in the log at event ${d.events}. Send smaller batches.`,
    status: 413,
  },
  'import-over': {
    text: () => 'The import has ended, or there is none with this id. Begin another one.',
    status: 409,
    wire: 'import_over',
  },
  'queue-full': {
    text: (d) => `${d.bytes} bytes of events are waiting to be written (limit ${d.limit}). Try again shortly.`,
    status: 503,
    isRetryable: true,
  },
  'disk-full': {
    text: (d) =>
      `${d.free < d.floor ? `Only ${d.free} bytes are free on the disk, below the minimum of ${d.floor}` : 'The disk is full'}. No events are accepted until there is space.`,
    status: 503,
    isRetryable: true,
  },
  'no-space': {
    text: () => 'The disk is full, so nothing was changed. Free some space and retry.',
    status: 503,
    isRetryable: true,
  },
  'log-failed': { text: (d) => `Writing the log failed: ${d.reason}`, status: 503, isRetryable: true },
  'log-not-compressed': {
    text: (d) => `${d.file} could not be compressed: ${d.reason} It stays as it is, and takes more space. Events are accepted as before.`,
    status: 503,
  },
  'log-damaged': {
    text: (d) =>
      `${d.file} ${d.isGone ? 'is missing' : `is damaged at byte ${d.offset}`}: records ${d.fromSeq} to ${d.toSeq ?? 'the end'} of the log cannot be read, and the store still needs them. ` +
      `Restore it from a backup, or ${openPartial} to continue without them.`,
    status: 503,
  },
}
