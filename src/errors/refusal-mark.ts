import { QueryError } from './errors.ts'
import { isSpanned, type Span } from './span.ts'

// What an engine says when a row would have more than it may: we wrote it into the statement, and read it in the engine's error.

const mark = 'waymark makes'

/** What would be more than the bound, as the beginning of the error's text; the bytes come behind it. */
export const refusalMark = (name: string | null, most: number, span: Span): string =>
  `${[mark, name?.replaceAll('|', ' ') ?? '', most, isSpanned(span) ? `${span.start}-${span.end}` : ''].join('|')}|`

const pattern = new RegExp(`${mark}\\|([^|]{0,200})\\|(\\d{1,20})\\|(?:(\\d{1,12})-(\\d{1,12}))?\\|([-+.\\de]{0,30})`)

/** Whether a printed expression may refuse what it makes. */
export const mayRefuse = (sql: string): boolean => sql.includes(`${mark}|`)

export function refusedIn(message: string, cause: unknown): QueryError | null {
  const found = pattern.exec(message)
  if (!found) return null
  const [, name, most, start, end, bytes] = found
  const span = start && end ? { start: Number(start), end: Number(end) } : null
  return new QueryError(
    'makes-too-much',
    { name: name || null, bytes: bytes ? Math.ceil(Number(bytes)) : null, most: Number(most) },
    span,
    { cause },
  )
}
