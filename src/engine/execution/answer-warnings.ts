import { countAll, countUnread } from '../../language/catalog/property-counts.ts'
import { propertyKey, type StoreFacts, shownScope } from '../../language/catalog/store-facts.ts'
import type { PropertyUse } from '../../language/plan/property-uses.ts'
import type { AskedQuery } from '../../queries/asked-query.ts'
import type { AnswerWarning } from '../../queries/query-types.ts'
import { attachedIn, oldCopies } from './attached-tables.ts'
import type { Compiled } from './compile.ts'
import type { Driver } from './driver.ts'
import { planInSlices } from './plan-in-slices.ts'
import type { QueryProject } from './query-context.ts'
import { unknownNames } from './unknown-names.ts'
import { unusedFilters } from './unused-filters.ts'

const words = {
  Numeric: { code: 'not-numbers', asked: 'a number', is: 'neither numbers nor numeric text' },
  DateTime: { code: 'not-times', asked: 'a time', is: 'not times in the form 2024-01-31T10:00:00Z' },
  Boolean: { code: 'not-booleans', asked: 'a boolean', is: 'numbers, not true or false' },
} as const

/** Warnings about properties that were read as numbers or times, from the stored counts. */
function warningsOf(
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
    const found = `Of the ${countAll(counts)} values received for the ${scope} property ${JSON.stringify(property)}, ${count} are`
    if (use.as === 'Order') {
      const message = `${found} numbers, and '${use.function}' sorts them as text: '100' before '9'. Convert them with toFloat before they go into an array.`
      return [{ code: 'ordered-as-texts', property, scope, function: use.function, count, message }]
    }
    const { code, asked, is } = words[use.as]
    const message = `${found} ${is}: read as ${asked}, they are null.`
    return [{ code, property, scope, type: use.as, count, message }]
  })
}

/** All warnings of an answer. */
export const warningsAbout = (
  request: AskedQuery,
  asked: readonly Compiled[],
  facts: StoreFacts,
  project: QueryProject,
  folds: Driver['folds'] = [],
): Promise<readonly AnswerWarning[]> => {
  // They count what is stored, and tell of names.
  if (request.kind === 'ViewerQuery') return Promise.resolve([])
  const folded = folds.flatMap(({ names = [] }) => names)
  const all = [...asked, ...folds.flatMap(({ columns = [] }) => columns)]
  return planInSlices(warningSteps(request, all, folded, facts), project)
}

function* warningSteps(
  request: AskedQuery,
  asked: readonly Compiled[],
  folded: readonly string[],
  facts: StoreFacts,
): Generator<void, readonly AnswerWarning[]> {
  const uses = asked.flatMap((one) => one.uses)
  const names = yield* unknownNames(request, asked, folded, facts)
  return [...warningsOf(uses, facts), ...names, ...unusedFilters(request), ...oldCopies(attachedIn(asked))]
}
