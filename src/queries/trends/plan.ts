import { call, literal } from '../../language/ast/build.ts'
import type { QueryContext } from '../kind.ts'
import { type Breakdown, partValue } from '../series/breakdown.ts'
import { bucketNumber } from '../time/bucket-number.ts'
import { groupText } from './breakdown.ts'
import { readGroups } from './groups.ts'
import type { Bins } from './histogram.ts'
import type { PlanContext } from './plan-context.ts'
import type { TrendsQuery } from './schema.ts'
import { eventsOf, filtersOf, type Unit } from './unit.ts'

export function contextOf(
  unit: Unit,
  query: TrendsQuery,
  env: QueryContext,
  breakdown: Breakdown,
  bins: readonly (Bins | null)[],
): PlanContext {
  // A cohort is a group too: without events of its members it has no row.
  const parts =
    unit.cohort === null
      ? breakdown.parts.map((part, i) => groupText(part, bins[i] ?? null, breakdown, env))
      : [literal(String(unit.cohort))]
  const size = unit.edges ? unit.edges.length - 1 : 1
  const isStored = unit.cohort === null && breakdown.parts.length > 0 && breakdown.parts.every((part) => part.binCount === null)
  return {
    unit,
    query,
    env,
    parts,
    stored: isStored
      ? {
          values: breakdown.parts.map((part) => partValue(part, env)),
          texts: (values) => breakdown.parts.map((part, i) => groupText(part, null, breakdown, env, values[i])),
        }
      : null,
    mostParts: parts.every((part) => part.kind === 'literal') ? 1 : Number.POSITIVE_INFINITY,
    events: eventsOf(unit, query, env),
    filters: filtersOf(unit, query, env),
    having:
      !unit.edges && parts.length > 0 && parts.every((part) => part.kind === 'literal') ? call('greater', call('count'), literal(0)) : null,
    size,
    bucketOf: (at) => unit.edges && bucketNumber(at, unit.edges),
    readGroups: (table) => readGroups(table, parts.length, size),
  }
}
