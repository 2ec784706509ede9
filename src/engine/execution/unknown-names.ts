import { propertyKey, type StoreFacts, shownScope } from '../../language/catalog/store-facts.ts'
import type { TypedExpr, TypedQuery } from '../../language/resolver/typed.ts'
import { eachSource, walk } from '../../language/resolver/typed-walk.ts'
import type { PropertyName } from '../../language/types/property-info.ts'
import { isObject } from '../../lib/is-object.ts'
import { nearestSpellings } from '../../lib/text/spelling.ts'
import type { AskedQuery } from '../../queries/asked-query.ts'
import type { AnswerWarning } from '../../queries/query-types.ts'
import type { Compiled } from './compile.ts'

// Unknown names in a query. They are compared with the names in the facts of the store, so no event is read.

/** Comparing a name with all known ones takes time. */
const maxCompared = 10
/** Searching the text of the request takes time too: limits of the names, and of the characters searched in total. */
const maxLookedFor = 100
const maxSearched = 20_000_000

type Steps = Generator<void, readonly AnswerWarning[]>

const didYouMean = (suggestions: readonly string[]): string => (suggestions.length > 0 ? ` Did you mean: ${suggestions.join(', ')}?` : '')

/** The first names that the request contains. Names that a query kind adds are not the caller's to fix. */
type Written = <T>(found: readonly T[], nameOf: (one: T) => string) => readonly T[]
function writtenIn(request: AskedQuery): Written {
  let text: string | null = null
  let looks = maxLookedFor
  return (found, nameOf) => {
    const written: (typeof found)[number][] = []
    for (const one of found) {
      if (text === null) {
        text = JSON.stringify(request)
        looks = Math.min(looks, maxSearched / text.length)
      }
      if (written.length >= maxCompared || looks-- < 1) break
      if (text.includes(JSON.stringify(nameOf(one)).slice(1, -1))) written.push(one)
    }
    return written
  }
}

/** Properties that were never received, if a similar name was. */
function* unknownProperties(queries: readonly TypedQuery[], facts: StoreFacts, written: Written): Steps {
  const { propertyKeys, fullScopes, groupTypes } = facts
  const read = new Map<string, PropertyName>()
  for (const query of queries) {
    eachSource(query, (source) => {
      for (const { json, type } of source.kind === 'scan' ? source.reads : [])
        for (const of of (json && type.kind === 'scalar' && type.property?.of) || []) read.set(propertyKey(of.scope, of.name), of)
    })
    yield
  }
  const unknown = [...read].filter(([key, { scope }]) => !propertyKeys.has(key) && !fullScopes.has(scope)).map(([, property]) => property)
  return written(unknown, ({ name }) => name).flatMap(({ scope: kept, name: property }): AnswerWarning[] => {
    const scope = shownScope(kept, groupTypes)
    const known = [...propertyKeys.values()].filter((key) => key.scope === kept).map((key) => key.name)
    const suggestions = nearestSpellings(property, known)
    const message = `No ${scope} has ever had the property ${JSON.stringify(property)}.${didYouMean(suggestions)}`
    return suggestions.length > 0 ? [{ code: 'unknown-property', property, scope, suggestions, message }] : []
  })
}

/** Maximum number of stored names; others are stored under one. */
const maxEventNames = 200_000

/** Names that the event's name is compared with. */
function eventNamesIn(query: TypedQuery): readonly string[] {
  const columns = new Set<string>()
  const columnKey = (source: string, name: string) => `${source}\n${name}`
  eachSource(query, (source) => {
    if (source.kind === 'scan' && source.table === 'events')
      for (const { field, via, name } of source.reads) if (field === 'event' && via.length === 0) columns.add(columnKey(source.alias, name))
  })
  if (columns.size === 0) return []
  const isName = (expr: TypedExpr | undefined) => expr?.kind === 'column' && columns.has(columnKey(expr.source, expr.name))
  const found = new Set<string>()
  const add = (expr: TypedExpr | undefined) => {
    if (expr?.kind === 'constant' && typeof expr.value === 'string' && expr.value !== '') found.add(expr.value)
  }
  walk(query, {
    expr: (expr) => {
      if (expr.kind === 'in' && 'items' in expr.set && isName(expr.expr)) expr.set.items.forEach(add)
      if (expr.kind === 'call' && (expr.name === 'equals' || expr.name === 'notEquals')) {
        const [a, b] = expr.args
        if (isName(a)) add(b)
        else if (isName(b)) add(a)
      }
    },
  })
  return [...found]
}

function* unknownEvents(queries: readonly TypedQuery[], folded: readonly string[], { eventIds }: StoreFacts, written: Written): Steps {
  if (eventIds.size >= maxEventNames) return []
  const unknown = new Set(folded.filter((name) => name !== '' && !eventIds.has(name)))
  for (const query of queries) {
    for (const name of eventNamesIn(query)) if (!eventIds.has(name)) unknown.add(name)
    yield
  }
  return written([...unknown], (name) => name).map((event) => {
    const suggestions = nearestSpellings(event, eventIds.keys())
    return {
      code: 'unknown-event',
      event,
      suggestions,
      message: `No event named ${JSON.stringify(event)} has ever been received.${didYouMean(suggestions)}`,
    }
  })
}

/** Actions in the nodes of a query. As in PostHog, a removed action matches nothing. */
function unknownActions(request: unknown, { actions }: Pick<StoreFacts, 'actions'>): AnswerWarning[] {
  const found = new Set<number>()
  const look = (value: unknown) => {
    if (Array.isArray(value)) value.forEach(look)
    else if (isObject(value)) {
      const { kind, id } = value
      if (kind === 'ActionsNode' && typeof id === 'number' && !actions.has(id)) found.add(id)
      Object.values(value).forEach(look)
    }
  }
  look(request)
  return [...found].map((action) => ({
    code: 'unknown-action',
    action,
    message: `There is no action ${action}: series that use it are left out, and steps that use it match no event.`,
  }))
}

/** Yields between the statements. `folded`: event names that were searched in the lists, without a statement. */
export function* unknownNames(request: AskedQuery, asked: readonly Compiled[], folded: readonly string[], facts: StoreFacts): Steps {
  const written = writtenIn(request)
  return [
    ...(yield* unknownProperties(
      asked.map(({ planned }) => planned),
      facts,
      written,
    )),
    ...(yield* unknownEvents(
      asked.map(({ resolved }) => resolved),
      folded,
      facts,
      written,
    )),
    ...unknownActions(request, facts),
  ]
}
