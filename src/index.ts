export { type ErrorCode, type ErrorData, errorTable } from './errors/codes.ts'
export { InternalError, QueryError, UnsupportedError, WaymarkError } from './errors/errors.ts'
export type { Span } from './errors/span.ts'
