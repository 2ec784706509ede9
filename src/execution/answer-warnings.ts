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
  Boolean: { code: 'not-booleans', asked: 'a boolean', is: 'numbers, neither true nor false' },
} as const

/** What is known of the properties that were read as numbers or times, from the counts that are kept of them. */
export function warningsOf(
  uses: readonly PropertyUse[],
  { propertyKeys, groupTypes }: Pick<StoreFacts, 'propertyKeys' | 'groupTypes'>,
): readonly AnswerWarning[] {
  const different = new Map(uses.map((use) => [JSON.stringify(use), use]))
  return [...different.values()].flatMap((use): AnswerWarning[] => {
    const { scope: kept, name: property } = use
    const scope = shownScope(kept, groupTypes)
    const counts = propertyKeys.get(propertyKey(kept, property))?.counts
    if (!counts) return []
    const count = use.as === 'Order' ? counts.Numeric : countUnread(counts, use.as)
    if (count === 0) return []
    const found = `Of the ${countAll(counts)} values that were sent of the ${scope} property ${JSON.stringify(property)}, ${count} are`
    if (use.as === 'Order') {
      const message = `${found} numbers, and '${use.function}' has them in the order of their texts: '100' before '9'. Read them with toFloat before they go into a list.`
      return [{ code: 'ordered-as-texts', property, scope, function: use.function, count, message }]
    }
    const { code, asked, is } = words[use.as]
    const message = `${found} ${is}: where ${asked} is asked for they count as null.`
    return [{ code, property, scope, type: use.as, count, message }]
  })
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
