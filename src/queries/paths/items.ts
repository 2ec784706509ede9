import { call, equals, field, isIn, literal, not, or } from '../../language/ast/build.ts'
import type { Expr } from '../../language/ast/nodes.ts'
import { cleanedPath } from '../filters/path-cleaning.ts'
import type { QueryContext } from '../kind.ts'
import { eventExprOf, patterned } from '../origin.ts'
import { allOf } from '../series/series-condition.ts'
import type { PathsFilter } from './schema.ts'

// An event's place in a path: the page, the screen, the name of the event or a value of its own.

const [pageview, screen, customEvent, expression] = ['$pageview', '$screen', 'custom_event', 'hogql'] as const
const keywords: ReadonlySet<string> = new Set([customEvent, expression])

/** The conditions on the kind of event, without those on its item. */
export function isIncluded({ includeEventTypes, excludeEvents }: PathsFilter): Expr {
  const types = includeEventTypes ?? []
  const names = [...new Set(types.filter((type) => !keywords.has(type)))]
  const included = [
    ...names.map((name) => equals(field('event'), literal(name))),
    ...(types.includes(customEvent) ? [not(call('startsWith', field('event'), literal('$')))] : []),
  ]
  const excluded = excludeEvents?.length ? not(isIn(field('event'), excludeEvents.map(literal))) : literal(true)
  return allOf(included.length === 0 ? literal(true) : or(...included), excluded)
}

/** The text of an event in a path; '' if it has none. */
export function itemOf(filter: PathsFilter, env: QueryContext): Expr {
  const takes = (type: string) => !filter.includeEventTypes?.length || filter.includeEventTypes.includes(type)
  const own =
    takes(expression) && filter.pathsHogQLExpression?.trim()
      ? textOf(eventExprOf(filter.pathsHogQLExpression, 'pathsFilter__pathsHogQLExpression', env))
      : field('event')
  const onScreen = takes(screen) ? when(screen, textOf(field('properties', '$screen_name')), own) : own
  const item = takes(pageview) ? when(pageview, pageOf(textOf(field('properties', '$current_url'))), onScreen) : onScreen
  return grouped(cleaned(item, filter, env), filter)
}

const textOf = (value: Expr): Expr => call('ifNull', call('toString', value), literal(''))
const when = (event: string, item: Expr, otherwise: Expr): Expr => call('if', equals(field('event'), literal(event)), item, otherwise)

/** One page has one text, with or without a slash at its end. */
const pageOf = (url: Expr): Expr => call('replaceRegexpOne', url, literal('(.)/$'), literal('\\1'))
export const pointOf = (point: string | null | undefined): string | null => (point ? point.replace(/(.)\/$/s, '$1') : null)

function cleaned(item: Expr, { pathReplacements, localPathCleaningFilters }: PathsFilter, env: QueryContext): Expr {
  const byProject = pathReplacements ? cleanedPath(item, env) : item
  return (localPathCleaningFilters ?? [])
    .map(({ regex, alias, order }, i) => ({ regex, alias, i, order: order ?? i }))
    .filter(({ regex }) => regex)
    .sort((a, b) => a.order - b.order || a.i - b.i)
    .reduce<Expr>((path, { regex, alias, i }) => {
      const replaced = call('replaceRegexpAll', path, literal(regex!), literal(alias ?? ''))
      return patterned(replaced, regex!, `pathsFilter__localPathCleaningFilters__${i}__regex`, env)
    }, byProject)
}

/**
 * Of the groupings that match, the one that has done so after the fewest characters of the item: `/3*` before `/3?q=1`, whatever their order. Of equal ones the
 * first in the list.
 */
function grouped(item: Expr, { pathGroupings }: PathsFilter): Expr {
  const groupings = pathGroupings ?? []
  if (groupings.length === 0) return item
  const patterns = groupings.map((text) => literal(shortest(text)))
  if (groupings.length === 1) return call('if', call('match', item, patterns[0]!), literal(groupings[0]!), item)
  const ends = list(
    ...patterns.map((pattern) => call('if', call('match', item, pattern), call('length', call('extract', item, pattern)), literal(never))),
  )
  const first = call('indexOf', ends, call('arrayMin', ends))
  const matches = or(...patterns.map((pattern) => call('match', item, pattern)))
  return call('if', matches, call('arrayElement', list(...groupings.map(literal)), first), item)
}

/** Longer than any item. */
const never = 2 ** 31 - 1
const list = (...items: readonly Expr[]): Expr => call('array', ...items)

/** From the start of an item to the first place where the grouping matches. An asterisk stands for any characters. */
const shortest = (text: string): string => `(?s)^.*?${text.replace(/[\\^$.|?+()[\]{}]/g, '\\$&').replaceAll('*', '.*?')}`
