import { QueryError } from './errors.ts'
import { isSpanned, type Span } from './span.ts'

// Rules that the generated SQL checks for each row: the statement contains a marked message, and it is recognized in the engine's error.

const mark = 'waymark refuses'

/** With the field of the request that contains the position. */
const positionText = (span: Span): string => (isSpanned(span) ? `${span.start}-${span.end}@${span.origin?.attr ?? ''}` : '')

const markOf = (rule: 'size' | 'lengths' | 'says', name: string | null, span: Span, ...more: readonly number[]): string =>
  `${[mark, rule, name?.replaceAll('|', ' ') ?? '', positionText(span), ...more].join('|')}|`

/** Prefix of the error when a value would exceed its limit; the bytes follow. */
export const tooMuchMark = (name: string | null, most: number, span: Span): string => markOf('size', name, span, most)

/** Arrays whose lengths differ; two lengths follow, as in `3|2`. */
export const unequalMark = (name: string, span: Span): string => markOf('lengths', name, span)

/** Any other error of a call; its message follows. */
export const saidMark = (name: string, span: Span): string => markOf('says', name, span)

const marked = new RegExp(`${mark}\\|(size|lengths|says)\\|([^|]{0,200})\\|(?:(\\d{1,12})-(\\d{1,12})@(\\w{0,200}))?\\|(.*)`, 's')

/** Whether a printed expression may reject a row. */
export const mayRefuse = (sql: string): boolean => sql.includes(`${mark}|`)

export function refusedIn(message: string, cause: unknown): QueryError | null {
  const found = marked.exec(message)
  if (!found) return null
  const [, rule, name = '', start, end, attr, rest = ''] = found
  const span = start && end ? { start: Number(start), end: Number(end) } : null
  const options = attr ? { cause, attr } : { cause }
  if (rule === 'says') return new QueryError('engine-refused', { message: rest }, span, options)
  const [first, second] = rest.split('|').map((text) => Number.parseFloat(text))
  if (rule === 'lengths') return new QueryError('unequal-lengths', { name, lengths: [first ?? 0, second ?? 0] }, span, options)
  const bytes = second === undefined || Number.isNaN(second) ? null : Math.ceil(second)
  return new QueryError('makes-too-much', { name: name || null, bytes, most: first ?? 0 }, span, options)
}
