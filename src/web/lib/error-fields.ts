import { ApiError } from './api.ts'
import { errorInWords, isSilent, misfitOf } from './error-words.ts'

// At which field of a page an error is shown: the one place where the path of an error meets the paths of fields. A field says what it is about, as the API
// calls it: `target_email`, `threshold.configuration.bounds`, `series.0.math`. Several paths mean any of them.

/** What a form itself found, at one of its fields. */
export class FieldError extends Error {
  readonly attr: string
  constructor(attr: string, message: string) {
    super(message)
    this.attr = attr
  }
}

type Path = readonly string[]

const partsOf = (text: string): Path => text.split(/__|\./).filter((part) => part !== '')
/** Without the kind of a query and the objects that only group fields; a path of nothing else stays. */
const spoken = (path: Path): Path => {
  const left = path.filter((part) => !isSilent(part))
  return left.length > 0 ? left : path
}

/** The path that an error names; null: none. */
export function pathOfError(error: Error | null): Path | null {
  if (error instanceof FieldError) return partsOf(error.attr)
  if (!(error instanceof ApiError)) return null
  const path = misfitOf(error.message)?.path ?? (error.attr === null ? [] : partsOf(error.attr))
  return path.length > 0 ? path : null
}

const begins = (path: Path, with_: Path) => with_.length > 0 && with_.every((part, i) => path[i] === part)

/** How many parts of the path of an error a field has: 0 if it is another field. */
export function fitOf(path: Path, field: string): number {
  const parts = partsOf(field)
  if (begins(path, parts)) return spoken(parts).length
  return begins(spoken(path), spoken(parts)) ? spoken(parts).length : 0
}

/** The field that an error is about: of those that fit, the one that says most of its path, then the first. Null: none fits. */
export function fieldOf<K>(error: Error | null, fields: Iterable<readonly [key: K, paths: readonly string[]]>): K | null {
  const path = pathOfError(error)
  if (!path) return null
  let best: K | null = null
  let most = 0
  for (const [key, paths] of fields) {
    const fit = Math.max(0, ...paths.map((one) => fitOf(path, one)))
    if (fit > most) [best, most] = [key, fit]
  }
  return best
}

/** The text at a field. The place is said where the field is only a part of the way there. */
export function textAtField(error: Error, paths: readonly string[]): string {
  const misfit = misfitOf(error.message)
  if (!misfit) return error.message
  const isWhole = paths.some((one) => fitOf(misfit.path, one) >= spoken(misfit.path).length)
  return isWhole ? misfit.problem.trim() : errorInWords(error.message)
}
