import type { ErrorCode, ErrorData } from '../../errors/codes.ts'
import { InternalError, QueryError, UnsupportedError, WaymarkError } from '../../errors/errors.ts'
import { isFault } from '../../errors/faults.ts'
import type { Span } from '../../errors/span.ts'

/** An error in a form that can be sent to another process. */
export type WireError =
  | {
      readonly kind: 'waymark' | 'query' | 'unsupported'
      readonly code: string
      readonly data: unknown
      readonly span: Span | null
      readonly source: string | null
      readonly attr: string | null
      readonly others: readonly WireError[]
      readonly cause: WireError | null
    }
  | {
      readonly kind: 'internal'
      readonly message: string
      readonly isFault: boolean
      readonly sql: string | null
      readonly stack: string
      readonly cause: WireError | null
    }

const kindOf = (error: WaymarkError) =>
  error instanceof UnsupportedError ? 'unsupported' : error instanceof QueryError ? 'query' : 'waymark'

const causeOf = ({ cause }: Error): WireError | null => (cause === undefined ? null : writeError(cause))

/** The data of an error may hold values that cannot be sent, such as a function: then only its texts are lost. */
const plain = (data: unknown): unknown =>
  JSON.parse(JSON.stringify(data, (_, value) => (typeof value === 'bigint' ? String(value) : value)))

export function writeError(error: unknown): WireError {
  if (error instanceof WaymarkError) {
    const { code, data, span, source, attr, others } = error
    return { kind: kindOf(error), code, data: plain(data), span, source, attr, others: others.map(writeError), cause: causeOf(error) }
  }
  const { message, stack = '' } = error instanceof Error ? error : new Error(String(error))
  return {
    kind: 'internal',
    message,
    isFault: isFault(error),
    sql: error instanceof InternalError ? error.sql : null,
    stack,
    cause: error instanceof Error ? causeOf(error) : null,
  }
}

export function readError(wire: WireError): Error {
  const told = wire.cause === null ? undefined : readError(wire.cause)
  const cause = wire.kind === 'internal' && wire.isFault && told === undefined ? new TypeError(wire.message) : told
  if (wire.kind === 'internal') return Object.assign(new InternalError(wire.message, { cause, sql: wire.sql }), { stack: wire.stack })
  const { source, span } = wire
  const code = wire.code as ErrorCode
  const data = wire.data as ErrorData[ErrorCode]
  const options = {
    source,
    cause,
    others: wire.others.map(readError) as WaymarkError[],
    ...(wire.attr === null ? {} : { attr: wire.attr }),
  }
  if (wire.kind === 'waymark') return new WaymarkError(code, data, { ...options, span })
  return wire.kind === 'query' ? new QueryError(code, data, span, options) : new UnsupportedError(code, data, span, options)
}
