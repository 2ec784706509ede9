import { QueryError } from './errors.ts'
import { isSpanned, type Span } from './span.ts'

// What an engine says when a row breaks a rule of ours: we wrote it into the statement, and read it in the engine's error.

const mark = 'waymark refuses'

const markOf = (rule: string, name: string | null, span: Span, ...more: readonly number[]): string =>
  `${[mark, rule, name?.replaceAll('|', ' ') ?? '', isSpanned(span) ? `${span.start}-${span.end}` : '', ...more].join('|')}|`

/** What would be more than the bound, as the beginning of the error's text; the bytes come behind it. */
export const tooMuchMark = (name: string | null, most: number, span: Span): string => markOf('size', name, span, most)

/** Arrays side by side that differ in length; two lengths come behind it, as in `3|2`. */
export const unequalMark = (name: string, span: Span): string => markOf('lengths', name, span)

const marked = new RegExp(`${mark}\\|(size|lengths)\\|([^|]{0,200})\\|(?:(\\d{1,12})-(\\d{1,12}))?\\|([-+.\\de|]{0,60})`)

/** Whether a printed expression may refuse a row. */
export const mayRefuse = (sql: string): boolean => sql.includes(`${mark}|`)

export function refusedIn(message: string, cause: unknown): QueryError | null {
  const found = marked.exec(message)
  if (!found) return null
  const [, rule, name = '', start, end, numbers = ''] = found
  const span = start && end ? { start: Number(start), end: Number(end) } : null
  const [first, second] = numbers.split('|').map((text) => (text ? Number(text) : null))
  if (rule === 'lengths') return new QueryError('unequal-lengths', { name, lengths: [first ?? 0, second ?? 0] }, span, { cause })
  const bytes = second == null ? null : Math.ceil(second)
  return new QueryError('makes-too-much', { name: name || null, bytes, most: first ?? 0 }, span, { cause })
}
