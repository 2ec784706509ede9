import { type ErrorCode, type ErrorData, errorTable } from './codes.ts'
import type { Span } from './span.ts'

type Data = { [C in ErrorCode]: ErrorData[C] }[ErrorCode]

interface ErrorOptions {
  readonly span?: Span | null
  readonly cause?: unknown
  readonly others?: readonly WaymarkError[]
  /** Where the code's data name none. */
  readonly attr?: string
}

/**
 * A mistake that the caller can mend: `code` and `data` say which, `detail` says it in words, `attr` names the field of a request,
 * `span` the place in a statement.
 */
export class WaymarkError<C extends ErrorCode = ErrorCode> extends Error {
  override readonly name: string = 'WaymarkError'
  readonly code: C
  readonly data: ErrorData[C]
  readonly span: Span | null
  readonly suggestion: string | null
  /** Further problems of the same statement, in order of place. */
  readonly others: readonly WaymarkError[]
  /** The field of the request that is to blame, in the form `series__0__event`, or null. */
  readonly attr: string | null

  constructor(code: C, data: ErrorData[C], options: ErrorOptions = {}) {
    const row = errorTable[code] as { text(data: Data): string; suggestion?(data: Data): string | null }
    const suggestion = row.suggestion?.(data) ?? null
    const text = row.text(data)
    super(suggestion ? `${text}${/[.?!]$/.test(text) ? '' : '.'} ${suggestion}` : text, { cause: options.cause })
    this.code = code
    this.data = data
    this.span = options.span ?? null
    this.suggestion = suggestion
    this.others = options.others ?? []
    this.attr = options.attr ?? ('attr' in data ? (data.attr as string | null) : null)
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

/** A statement or query that cannot be answered as it is written. */
export class QueryError<C extends ErrorCode = ErrorCode> extends WaymarkError<C> {
  override readonly name = 'QueryError'

  constructor(code: C, data: ErrorData[C], span: Span | null = null, options: Omit<ErrorOptions, 'span'> = {}) {
    super(code, data, { ...options, span })
  }
}

/** Something that one of the engines cannot do. */
export class UnsupportedError<C extends ErrorCode = ErrorCode> extends QueryError<C> {}

/** What a function's row refuses knows no place: it gets that of the call. */
export function placed<T>(span: Span, work: () => T): T {
  try {
    return work()
  } catch (error) {
    if (!(error instanceof QueryError) || error.span) throw error
    const Kind = error instanceof UnsupportedError ? UnsupportedError : QueryError
    throw new Kind(error.code, error.data, span, { cause: error.cause, others: error.others })
  }
}

/** Our bug. Shown without detail to callers over HTTP; `cause` and `sql` are for the log. */
export class InternalError extends Error {
  override readonly name = 'InternalError'
  readonly sql: string | null

  constructor(message: string, options: { cause?: unknown; sql?: string | null } = {}) {
    super(message, { cause: options.cause })
    this.sql = options.sql ?? null
  }
}
