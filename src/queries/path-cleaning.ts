import { call, equals, literal } from '../ast/build.ts'
import type { Expr } from '../ast/nodes.ts'
import type { QueryContext } from './kind.ts'

/** A path as the project's rules write it. */
export const cleanedPath = (path: Expr, env: QueryContext): Expr =>
  env.project.pathCleaningFilters.reduce<Expr>(
    (cleaned, { regex, alias }) => call('replaceRegexpAll', cleaned, literal(regex), literal(alias)),
    path,
  )

/** A URL without what may stand at its end: the same page is the same text. */
export function normalizedUrl(url: Expr): Expr {
  const trimmed = call('replaceRegexpOne', url, literal('[/?#]+$'), literal(''))
  return call('if', equals(trimmed, literal('')), literal('/'), trimmed)
}
