import { countAll, countUnread } from '../catalog/property-counts.ts'
import { propertyKey, type StoreFacts } from '../catalog/store-facts.ts'
import { nearestSpellings } from '../lib/spelling.ts'
import type { PropertyUse } from '../plan/property-uses.ts'
import { eachSource } from '../plan/rewrite.ts'
import type { QueryKind } from '../queries/kind.ts'
import type { AnswerWarning } from '../queries/query-types.ts'
import type { TypedQuery } from '../resolver/typed.ts'
import type { PropertyName } from '../types/property-info.ts'
import type { Compiled } from './compile.ts'

const words = {
  Numeric: { code: 'not-numbers', asked: 'a number', is: 'neither a number nor a text that is one' },
  DateTime: { code: 'not-times', asked: 'a time', is: 'no time in the form 2024-01-31T10:00:00Z' },
} as const

/** Whose property it is, in words of the caller: groups are called by the name of their type. */
function shownScope(scope: string, groupTypes: StoreFacts['groupTypes']): string {
  const index = /^group_(\d)$/.exec(scope)?.[1]
  return groupTypes.find((type) => String(type.index) === index)?.name ?? scope
}

/** What is known of the properties that were read as numbers or times, from the counts that are kept of them. */
export function warningsOf(
  uses: readonly PropertyUse[],
  { propertyKeys, groupTypes }: Pick<StoreFacts, 'propertyKeys' | 'groupTypes'>,
): readonly AnswerWarning[] {
  const found = new Map<string, AnswerWarning>()
  for (const { scope: kept, name, as } of uses) {
    const scope = shownScope(kept, groupTypes)
    const counts = propertyKeys.get(propertyKey(kept, name))?.counts
    const count = counts ? countUnread(counts, as) : 0
    if (!counts || count === 0) continue
    const { code, asked, is } = words[as]
    const message = `Of the ${countAll(counts)} values that were sent of the ${scope} property ${JSON.stringify(name)}, ${count} are ${is}: where ${asked} is asked for they count as null.`
    found.set(`${as} ${propertyKey(kept, name)}`, { code, property: name, scope, type: as, count, message })
  }
  return [...found.values()]
}

/** Comparing a name with all that are known takes a while. */
const mostCompared = 10

/** Properties that a statement reads and that nobody ever sent, where one that was sent is called nearly the same. */
export function misspelledIn(query: TypedQuery, { propertyKeys, fullScopes, groupTypes }: StoreFacts): readonly AnswerWarning[] {
  const read = new Map<string, PropertyName>()
  eachSource(query, (source) => {
    for (const { json, type } of source.kind === 'scan' ? source.reads : [])
      for (const of of (json && type.kind === 'scalar' && type.property?.of) || []) read.set(propertyKey(of.scope, of.name), of)
  })
  const unknown = [...read].filter(([key, { scope }]) => !propertyKeys.has(key) && !fullScopes.has(scope)).slice(0, mostCompared)
  return unknown.flatMap(([, { scope: kept, name: property }]): AnswerWarning[] => {
    const scope = shownScope(kept, groupTypes)
    const known = [...propertyKeys.values()].filter((key) => key.scope === kept).map((key) => key.name)
    const suggestions = nearestSpellings(property, known)
    const message = `No ${scope} was ever sent with the property ${JSON.stringify(property)}. Did you mean: ${suggestions.join(', ')}?`
    return suggestions.length > 0 ? [{ code: 'unknown-property', property, scope, suggestions, message }] : []
  })
}

/** All of an answer, from what was asked for it. */
export const warningsAbout = (
  kind: QueryKind<unknown, object>,
  asked: readonly Compiled[],
  facts: StoreFacts,
): readonly AnswerWarning[] => [
  ...warningsOf(
    asked.flatMap(({ uses }) => uses),
    facts,
  ),
  ...(kind.isStatement ? asked.flatMap(({ planned }) => misspelledIn(planned, facts)) : []),
]
