import { call, equals, literal } from '../../language/ast/build.ts'
import type { Expr } from '../../language/ast/nodes.ts'
import type { QueryContext } from '../kind.ts'

/** A path, cleaned by the project's rules. */
export const cleanedPath = (path: Expr, env: QueryContext): Expr =>
  env.project.pathCleaningFilters.reduce<Expr>(
    (cleaned, { regex, alias }) => call('replaceRegexpAll', cleaned, literal(regex), literal(alias)),
    path,
  )

/** A URL without trailing slashes, question marks and hashes, so that the same page has the same text. */
export function normalizedUrl(url: Expr): Expr {
  const trimmed = call('replaceRegexpOne', url, literal('[/?#]+$'), literal(''))
  return call('if', equals(trimmed, literal('')), literal('/'), trimmed)
}

/** The same of a text that is known. */
export function normalizedUrlText(url: string): string {
  let end = url.length
  while (end > 0 && '/?#'.includes(url[end - 1]!)) end--
  return url.slice(0, end) || '/'
}
