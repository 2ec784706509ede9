import { arrayJoins } from './array-joins.ts'
import type { Pass } from './context.ts'
import { distinctProperties } from './distinct-properties.ts'
import { eventNames } from './event-names.ts'
import { fills } from './fills.ts'
import { groupTotals } from './group-totals.ts'
import { lateJoins } from './late-joins.ts'
import { lateLimits } from './late-limits.ts'
import { lazyJoins } from './lazy-joins.ts'
import { merges } from './merges.ts'
import { personNumbers } from './person-numbers.ts'
import { plannerBounds } from './planner-bounds.ts'
import { propertyKeys } from './property-keys.ts'
import { propertyReads } from './property-reads.ts'
import { rowConditions } from './row-conditions.ts'
import { shownProperties } from './shown-properties.ts'
import { slots } from './slots.ts'
import { tenantGuard } from './tenant-guard.ts'
import { unusedReads } from './unused-reads.ts'
import { views } from './views.ts'

/** The passes in order. `holds` is true after a pass, and stays true. */
export const passes: readonly { readonly name: string; readonly run: Pass; readonly holds: string }[] = [
  { name: 'views', run: views, holds: 'every table that the statement reads is in the tree, those behind views too' },
  { name: 'group totals', run: groupTotals, holds: 'no grouping has totals' },
  { name: 'fills', run: fills, holds: 'no order is filled' },
  { name: 'distinct properties', run: distinctProperties, holds: 'DISTINCT is about values that are held as they are shown' },
  { name: 'shown properties', run: shownProperties, holds: 'an answer has no column that only the engine can read' },
  { name: 'property keys', run: propertyKeys, holds: 'values of one text are one group' },
  { name: 'property reads', run: propertyReads, holds: 'what a column of a table can hold is read there' },
  { name: 'event names', run: eventNames, holds: 'names are compared with constants by number, where the store has numbers' },
  { name: 'person numbers', run: personNumbers, holds: 'persons are counted by number' },
  { name: 'unused reads', run: unusedReads, holds: 'scans answer only what is asked of them' },
  { name: 'late limits', run: lateLimits, holds: 'rows are numbered after whatever leaves rows out' },
  { name: 'late joins', run: lateJoins, holds: 'first rows are found without what is only shown of their events and persons' },
  { name: 'lazy joins', run: lazyJoins, holds: 'scans read only fields of their own table, and views are derived tables' },
  { name: 'array joins', run: arrayJoins, holds: 'rows are multiplied in FROM only, unless the engine does it anywhere' },
  { name: 'planner bounds', run: plannerBounds, holds: 'the planner of the engine is done in a bounded time' },
  { name: 'slots', run: slots, holds: 'every read is a column or a path in a document' },
  { name: 'merges', run: merges, holds: "persons' numbers are those of the survivors" },
  { name: 'row conditions', run: rowConditions, holds: 'a set in WHERE is looked up without telling false from NULL' },
  { name: 'tenant guard', run: tenantGuard, holds: 'every scan names the project' },
]
