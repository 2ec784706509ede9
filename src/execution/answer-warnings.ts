import { countAll, countUnread } from '../catalog/property-counts.ts'
import { propertyKey, type StoreFacts, shownScope } from '../catalog/store-facts.ts'
import type { PropertyUse } from '../plan/property-uses.ts'
import type { AskedQuery } from '../queries/asked-query.ts'
import type { AnswerWarning } from '../queries/query-types.ts'
import type { Compiled } from './compile.ts'
import { unknownNames } from './unknown-names.ts'
import { unusedFilters } from './unused-filters.ts'

const words = {
  Numeric: { code: 'not-numbers', asked: 'a number', is: 'neither a number nor a text that is one' },
  DateTime: { code: 'not-times', asked: 'a time', is: 'no time in the form 2024-01-31T10:00:00Z' },
} as const

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

/** All of an answer, from what was asked for it. */
export const warningsAbout = (request: AskedQuery, asked: readonly Compiled[], facts: StoreFacts): readonly AnswerWarning[] => [
  ...warningsOf(
    asked.flatMap(({ uses }) => uses),
    facts,
  ),
  ...unknownNames(request, asked, facts),
  ...unusedFilters(request),
]
