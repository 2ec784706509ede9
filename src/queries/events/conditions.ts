import { field, from, inQuery, select } from '../../language/ast/build.ts'
import type { Expr } from '../../language/ast/nodes.ts'
import { type AnyActorSource, type Asking, checkSource, insideSource } from '../actor-source.ts'
import { withoutAlias } from '../columns.ts'
import { actionConditions, nameConditions, personCondition, timeBounds } from '../filters/listed-events.ts'
import { compileFilters } from '../filters/property-filters.ts'
import type { QueryContext } from '../kind.ts'
import { columnOf } from '../origin.ts'
import { queryFilters } from '../series/series-condition.ts'
import type { EventsQuery } from './schema.ts'

/** The conditions in the query's own fields. */
export function* eventConditions(query: EventsQuery, env: QueryContext): Asking<Expr[]> {
  const ofPerson = query.personId == null ? [] : [yield* personCondition(String(query.personId))]
  return [...ofPerson, ...plainConditions(query, env)]
}

const plainConditions = (query: EventsQuery, env: QueryContext): Expr[] => [
  ...timeBounds(query, env),
  ...nameConditions(query),
  ...actionConditions(query, env),
  ...(query.fixedProperties ? [compileFilters(query.fixedProperties, 'event', env, 'fixedProperties')] : []),
  queryFilters(query, env),
]

/** Conditions as texts; they may hold aggregates, and aliases of the columns. */
export const writtenConditions = ({ where }: EventsQuery, env: QueryContext): Expr[] =>
  (where ?? []).flatMap((text, i) => (text.trim() === '' ? [] : [withoutAlias(columnOf(text, `where__${i}`, env))]))

/** Events of the persons, or of the groups, of a point of a chart. */
export function* sourceConditions(
  source: EventsQuery['source'],
  env: QueryContext,
  sources: readonly AnyActorSource[],
): Asking<readonly Expr[]> {
  if (!source) return []
  const { known, point } = checkSource(source, sources)
  const { query, group } = yield* insideSource(env, (inner) => known.actors(point, inner, () => false))
  const actors = select({ columns: [field('source', 'actor')], from: from(query, 'source') })
  return [inQuery(field(group === null ? '@person_no' : `$group_${group}`), actors)]
}
