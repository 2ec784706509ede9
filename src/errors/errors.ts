import { excerpt } from '../lib/text/excerpt.ts'
import { placeAt } from './code-frame.ts'
import { type ErrorCode, type ErrorData, errorTable } from './codes.ts'
import { isSpanned, type Span } from './span.ts'

/** User text in a message: truncated, because it can be as long as a request. */
const longestText = 4_000

type Data = { [C in ErrorCode]: ErrorData[C] }[ErrorCode]

interface ErrorOptions {
  readonly span?: Span | null
  /** The text that contains `span`. */
  readonly source?: string | null
  readonly cause?: unknown
  readonly others?: readonly WaymarkError[]
  /** Used if the data of the code have none. */
  readonly attr?: string
}

/** A position in a statement. `line` and `column` begin at 1, `offset` at 0; both count UTF-16 units. */
export interface Position {
  readonly line: number
  readonly column: number
  readonly offset: number
  readonly length: number
}

/**
 * An error that the caller can fix: `code` and `data` identify it, `detail` describes it, `attr` names the field of a request,
 * `position` the position in a statement.
 */
export class WaymarkError<C extends ErrorCode = ErrorCode> extends Error {
  override readonly name: string = 'WaymarkError'
  readonly code: C
  readonly data: ErrorData[C]
  readonly span: Span | null
  /** The text that contains `span`: a statement, or the expression of a field. */
  readonly source: string | null
  /** How to fix it. */
  readonly suggestion: string | null
  /** Further errors of the same statement, in order of position. */
  readonly others: readonly WaymarkError[]
  /** The field of the request that caused it, in the form `series__0__event`, or null. */
  readonly attr: string | null

  /** After `instanceof` the code has the type of known codes; without this it would be `any`. */
  declare static readonly [Symbol.hasInstance]: (value: unknown) => value is WaymarkError

  constructor(code: C, data: ErrorData[C], options: ErrorOptions = {}) {
    const row = errorTable[code] as { text(data: Data): string; suggestion?(data: Data): string | null }
    const suggestion = row.suggestion?.(data) ?? null
    const text = excerpt(row.text(data), longestText)
    super(suggestion ? `${text}${/[.?!]$/.test(text) ? '' : '.'} ${suggestion}` : text, { cause: options.cause })
    this.code = code
    this.data = data
    this.span = options.span ?? null
    this.source = options.source ?? null
    this.suggestion = suggestion
    this.others = options.others ?? []
    this.attr = options.attr ?? ('attr' in data ? (data.attr as string | null) : null)
  }

  get position(): Position | null {
    const { source, span } = this
    if (source === null || span === null || !isSpanned(span)) return null
    return { ...placeAt(source, span.start), offset: span.start, length: span.end - span.start }
  }

  /** Likely names, best first. */
  get suggestions(): readonly string[] {
    return (this.data as { candidates?: readonly string[] }).candidates ?? []
  }

  /** What was expected. */
  get expected(): string | null {
    const row = errorTable[this.code] as { expected?(data: Data): string | null }
    return row.expected?.(this.data) ?? null
  }

  get detail(): string {
    return this.message
  }

  get status(): number {
    return errorTable[this.code].status
  }

  get isRetryable(): boolean {
    return errorTable[this.code].isRetryable === true
  }
}

/** An invalid statement or query. */
export class QueryError<C extends ErrorCode = ErrorCode> extends WaymarkError<C> {
  override readonly name = 'QueryError'

  declare static readonly [Symbol.hasInstance]: (value: unknown) => value is QueryError

  constructor(code: C, data: ErrorData[C], span: Span | null = null, options: Omit<ErrorOptions, 'span'> = {}) {
    super(code, data, { ...options, span })
  }

  /** The same error with more details. */
  with(more: Omit<ErrorOptions, 'cause'> & { readonly data?: ErrorData[C] }): QueryError<C> {
    const { code, data, span, source, cause, others, attr } = this
    const options = { span, source, cause, others, ...(attr === null ? {} : { attr }), ...more }
    const Kind = this.constructor as typeof QueryError<C>
    return new Kind(code, more.data ?? data, options.span, options)
  }
}

/** A limitation of an engine. */
export class UnsupportedError<C extends ErrorCode = ErrorCode> extends QueryError<C> {
  declare static readonly [Symbol.hasInstance]: (value: unknown) => value is UnsupportedError
}

/** An error from a function's row has no position, so it gets the position of the call. */
export function placed<T>(span: Span, work: () => T): T {
  try {
    return work()
  } catch (error) {
    throw error instanceof QueryError && !error.span ? error.with({ span }) : error
  }
}

/** A bug in Waymark. Shown without details to callers over HTTP; `cause` and `sql` are for the log. */
export class InternalError extends Error {
  override readonly name = 'InternalError'
  readonly sql: string | null

  constructor(message: string, options: { cause?: unknown; sql?: string | null } = {}) {
    super(message, { cause: options.cause })
    this.sql = options.sql ?? null
  }
}
