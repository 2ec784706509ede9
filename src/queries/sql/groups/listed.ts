import type { Table } from 'apache-arrow'
import { alias, from, select, table } from '../../../language/ast/build.ts'
import { columnName } from '../../../language/ast/column-name.ts'
import { identities } from '../../../language/ast/identity.ts'
import type { Query } from '../../../language/ast/nodes.ts'
import { PlanningBudget } from '../../../language/ast/planning-budget.ts'
import { resolve } from '../../../language/resolver/resolve.ts'
import { type OutputColumn, outputColumns } from '../../../language/resolver/typed.ts'
import { isProperty } from '../../../language/types/property-values.ts'
import { isNullable, isText, type SqlType, shownTypeName } from '../../../language/types/types.ts'
import type { Micros } from '../../../lib/time/zone.ts'
import { foldedAll, type QueryContext, type QueryRun } from '../../kind.ts'
import { Refusal, refuse } from '../../refusals.ts'
import { Counting, type Found } from './counting.ts'
import type { GroupedEvents } from './grouped.ts'
import { groupRows, type RowColumns } from './rows.ts'
import { type Bound, instantOf, type Range, textOfMicros, textOfTime, timeOfText, unitsIn, valuesAt } from './times.ts'

// A statement that groups events, by the lists of the core: they count, and the statement itself goes over the rows of the groups. Its functions, its order and its limit are those of the
// engine, and so are the types of its columns, which must be those of the statement over events.

/** The table of the answer. `statement`: with its limit. */
export function* groupsFromLists(statement: Query, grouped: GroupedEvents, env: QueryContext): QueryRun<Table | Refusal> {
  const areNullable = keyTypes(grouped, env)
  if (areNullable instanceof Refusal) return areNullable
  const overGroups = (rows: RowColumns): Query => ({ ...grouped.overGroups, from: from(groupRows(rows, areNullable)) })
  if (namesAndTypes(statement, env) !== namesAndTypes(overGroups(noRows(grouped)), env))
    return refuse('statement-without-fold', 'the types of its columns')
  const range = yield* rangeOf(grouped.bounds, env)
  if (range instanceof Refusal) return range
  const edges = grouped.intervals && (yield* edgesOf(grouped.intervals, range, env))
  if (edges instanceof Refusal) return edges
  const counting = new Counting(grouped, range, edges, env)
  const found = yield* foldedAll<Found>('statement', { ...counting.folds(), check: statement, isRare: true })
  if (found instanceof Refusal) return found
  const rows = counting.rows(found)
  if (rows instanceof Refusal) return rows
  return (yield { kind: 'statement', query: overGroups(rows), label: 'groups' }) as Table
}

const noRows = ({ keys, measures, intervals }: GroupedEvents): RowColumns => ({
  rows: 0,
  keys: keys.map(() => []),
  measures: measures.map(({ value }) => ({ isNumber: value.kind === 'numbers', values: [] })),
  times: intervals && [],
})

const columnsOf = (query: Query, env: QueryContext): readonly OutputColumn[] =>
  outputColumns(resolve(query, env, columnName, { budget: new PlanningBudget(env.checkpoint), idOf: identities() }))

const namesAndTypes = (query: Query, env: QueryContext): string =>
  JSON.stringify(columnsOf(query, env).map(({ name, type }) => [name, shownTypeName(type, env.project.timezone)]))

/** For each key, whether it may be null. */
function keyTypes({ keys, usedWithin }: GroupedEvents, env: QueryContext): readonly boolean[] | Refusal {
  if (keys.length === 0) return []
  const columns = keys.map((key, i) => alias(key, `@${i}`))
  const types = columnsOf(select({ columns, from: table('events') }), env).map(({ type }) => type)
  // A property without numbers is a text, as long as no other value beside it decides how it is read.
  const isOfTexts = (type: SqlType, i: number) =>
    isText(type) || (isProperty(type) && type.property.numbers === 'none' && !usedWithin.has(i))
  return types.every(isOfTexts) ? types.map(isNullable) : refuse('statement-without-fold', 'groups of other values than texts')
}

/** The times that all bounds allow. The engine computes what is not written as a text. */
function* rangeOf(bounds: readonly Bound[], env: QueryContext): QueryRun<Range | Refusal> {
  const times = bounds.map((bound) => instantOf(bound, env))
  const asked = bounds.flatMap(({ at }, i) => (times[i] === null ? [{ at, i }] : []))
  if (asked.length > 0) {
    const columns = asked.map(({ at, i }) => alias(textOfTime(at), `bound_${i}`))
    const found = (yield { kind: 'statement', query: select({ columns }), label: 'times' }) as Table
    for (const { i } of asked) {
      const value: unknown = found.getChild(`bound_${i}`)?.get(0)
      times[i] = typeof value === 'string' ? timeOfText(value) : null
    }
  }
  let [from, to]: [Micros | null, Micros | null] = [null, null]
  for (const [i, { side, isIncluded }] of bounds.entries()) {
    const time = times[i]!
    if (time === null || !Number.isSafeInteger(time)) return refuse('statement-without-fold', 'a time that is none')
    if (side === 'from') from = Math.max(from ?? Number.NEGATIVE_INFINITY, isIncluded ? time : time + 1)
    else to = Math.min(to ?? Number.POSITIVE_INFINITY, isIncluded ? time : time - 1)
  }
  return { from, to }
}

/** The beginnings of the intervals, and the end of the last one. */
function* edgesOf(
  intervals: NonNullable<GroupedEvents['intervals']>,
  range: Range,
  env: QueryContext,
): QueryRun<readonly Micros[] | Refusal> {
  const units = unitsIn(intervals, range, env)
  if (!units) return refuse('statement-without-fold', 'so many intervals')
  if (intervals.isDaily) return units
  const begins = units.slice(0, -1)
  const found = (yield { kind: 'statement', query: valuesAt(intervals, begins), label: 'intervals' }) as Table
  const [at, value] = [found.getChild('at')!, found.getChild('value')!]
  const values = new Map(Array.from({ length: found.numRows }, (_, row) => [String(at.get(row)), String(value.get(row))]))
  const valueAt = (time: Micros) => values.get(textOfMicros(time))
  const edges = begins.filter((begin, i) => i === 0 || valueAt(begin) !== valueAt(begins[i - 1]!))
  if (new Set(edges.map(valueAt)).size < edges.length) return refuse('statement-without-fold', 'intervals that come again')
  return [...edges, units.at(-1)!]
}
