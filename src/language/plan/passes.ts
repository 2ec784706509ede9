import { arrayJoins } from './array-joins.ts'
import { attachedProperties } from './attached-properties.ts'
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
  { name: 'views', run: views, holds: 'every table that the statement reads is in the tree, including those behind views' },
  { name: 'group totals', run: groupTotals, holds: 'no grouping has totals' },
  { name: 'fills', run: fills, holds: 'no order is filled' },
  { name: 'distinct properties', run: distinctProperties, holds: 'DISTINCT compares values as they are shown' },
  { name: 'shown properties', run: shownProperties, holds: 'an answer has no column that only the engine can read' },
  { name: 'property keys', run: propertyKeys, holds: 'values with the same text form one group' },
  { name: 'property reads', run: propertyReads, holds: 'properties that a column of a table holds are read from it' },
  { name: 'event names', run: eventNames, holds: 'event names are compared by number, where the store has numbers' },
  { name: 'person numbers', run: personNumbers, holds: 'persons are counted by number' },
  { name: 'unused reads', run: unusedReads, holds: 'scans read only fields that are used' },
  { name: 'attached properties', run: attachedProperties, holds: 'no property is a column of an attached table' },
  { name: 'late limits', run: lateLimits, holds: 'rows are numbered after all filters' },
  { name: 'late joins', run: lateJoins, holds: 'the first rows are found before fields that are only shown are read' },
  { name: 'lazy joins', run: lazyJoins, holds: 'scans read only fields of their own table, and views are derived tables' },
  { name: 'array joins', run: arrayJoins, holds: 'rows are multiplied in FROM only, unless the engine does it anywhere' },
  { name: 'planner bounds', run: plannerBounds, holds: 'the planning time of the engine is bounded' },
  { name: 'slots', run: slots, holds: 'every read is a column or a path in a document' },
  { name: 'merges', run: merges, holds: "persons' numbers are those of the survivors" },
  { name: 'row conditions', run: rowConditions, holds: 'membership in a set in WHERE treats NULL as false' },
  { name: 'tenant guard', run: tenantGuard, holds: 'every scan names the project' },
]
