import type { SeriesValue } from '../../core/folds/series/accumulators.ts'
import { type Series, type SeriesPart, seriesData, seriesFold } from '../../core/folds/series/fold.ts'
import { numberOrder } from '../../core/folds/series/number-order.ts'
import type { Reduction } from '../../core/folds/series/reduce.ts'
import { oneLevel } from '../../core/folds/series/spread.ts'
import type { Listed } from '../../core/lists/project-lists.ts'
import { field } from '../../language/ast/build.ts'
import type { Expr } from '../../language/ast/nodes.ts'
import { type ListedFold, listFold, type QueryContext } from '../kind.ts'
import { type AskedColumn, AskedColumns, askedBits, bitsOf, combinationTexts, groupActors, placed } from '../lists/listed-columns.ts'
import { refuse } from '../refusals.ts'
import { inSample } from '../scope.ts'
import type { Breakdown } from '../series/breakdown.ts'
import { mathFacts } from '../series/maths.ts'
import { allOf, nodeMatch } from '../series/series-condition.ts'
import { groupText } from './breakdown.ts'
import type { Measure } from './expression-measures.ts'
import type { Group } from './groups.ts'
import type { Bins } from './histogram.ts'
import { binColumn } from './listed-bins.ts'
import type { TrendsQuery } from './schema.ts'
import { actorOf, cohortFilter, eventsOf, filtersOf, isFirstTime, pathOf, type Times, type Unit } from './unit.ts'

// Series over the lists of the core.

/** A number, and the times that it counts. */
export interface CountedValue {
  readonly times: Times
  readonly value: (listed: Listed) => SeriesValue
}

/** What a fold counts of a unit. */
export interface Counting {
  /** Whose events are one list: a person's, those of an actor of the math, those of a session. */
  readonly by: 'person' | 'actor' | 'session'
  readonly count: (unit: Unit, columns: AskedColumns, query: TrendsQuery, env: QueryContext) => CountedValue
  /** Of the events that count, besides those of the unit. */
  readonly condition?: Expr
}

const timesOf = ({ range }: Unit): Times => ({ from: range.firstEvent, to: range.to })

export const plainValue =
  (value: SeriesValue): Counting['count'] =>
  (unit) => ({ times: timesOf(unit), value: () => value })

export const numbersOf = (
  unit: Unit,
  number: AskedColumn,
  reduction: Reduction,
  kind: 'numbers' | 'numbers of persons' = 'numbers',
): CountedValue => ({
  times: timesOf(unit),
  value: (listed) =>
    typeof reduction === 'string' || kind === 'numbers of persons'
      ? { kind, number: placed(number, listed), reduction }
      : {
          kind: 'quantiles',
          number: placed(number, listed),
          order: numberOrder(listed.columns[number.index]!),
          spread: typeof reduction === 'number' ? oneLevel(reduction) : reduction,
        },
})

/** A part of an expression. */
export const measuring = ({ condition, value }: Measure): Counting => ({
  by: 'person',
  condition,
  count: (unit, columns, query, env) =>
    typeof value === 'string'
      ? plainValue({ kind: value })(unit, columns, query, env)
      : numbersOf(unit, columns.numbers(value.number), value.reduction),
})

/** The groups of a unit over the lists. */
export function listedUnit(
  unit: Unit,
  query: TrendsQuery,
  breakdown: Breakdown,
  bins: readonly (Bins | null)[],
  env: QueryContext,
  { by, count, condition }: Counting,
): ListedFold<readonly Group[]> {
  const group = by === 'actor' ? actorOf(unit).group : null
  const columns = new AskedColumns({ hasPersons: group === null && by !== 'session' })
  const actors =
    by === 'session'
      ? { column: columns.codes(field('$session_id')).index, except: null }
      : group === null
        ? null
        : groupActors(group, columns)
  const counted = count(unit, columns, query, env)
  const splits =
    unit.cohort === null
      ? breakdown.parts.map((part, i) =>
          part.binCount === null ? columns.codes(groupText(part, null, breakdown, env)) : binColumn(part, bins[i] ?? null, columns, env),
        )
      : []
  const conditions = conditionsOf(unit, query, env)
  const counting = condition ? conditions.map((one) => ({ ...one, condition: allOf(one.condition, condition) })) : conditions
  const bits = askedBits(counting, columns, env)
  const edges = unit.edges && Float64Array.from(unit.edges)
  const cohort = unit.cohort === null ? null : [String(unit.cohort)]
  return {
    names: bits.names,
    columns: columns.asks,
    actors,
    fold: listFold<Series, SeriesPart, readonly Group[]>({
      fold: seriesFold,
      params: (listed) => ({
        matching: { ...counted.times, scope: null, bits: bitsOf(bits, listed), further: null, takesAll: false },
        edges,
        splits: splits.map((split) => placed(split, listed)),
        value: counted.value(listed),
      }),
      *take(part, { columns: read }, series) {
        if (!part) return refuse('many-values')
        const texts = splits.map(({ index }) => read[index]!.texts)
        const found = yield* seriesData(part, series)
        const groups = found.map(({ combination, data }) => ({ parts: cohort ?? combinationTexts(combination, texts), data }))
        // A value that occurs only between the windows has no line.
        return series.value.kind === 'windows' && splits.length > 0 ? groups.filter(({ data }) => data.some((n) => n > 0)) : groups
      },
    }),
  }
}

export function conditionsOf(
  unit: Unit,
  query: TrendsQuery,
  env: QueryContext,
): readonly { readonly condition: Expr; readonly bits: number }[] {
  const sample = inSample(query.samplingFactor)
  if (!isFirstTime(unit)) return [{ condition: allOf(eventsOf(unit, query, env), sample), bits: 1 }]
  // Bit 0: among these events the first is searched; bit 1: the first one must be such an event.
  const searched = allOf(nodeMatch(unit.node, env, pathOf(unit)), cohortFilter(unit), sample)
  const filters = filtersOf(unit, query, env)
  const first = mathFacts(unit.node.math).ignoresFilters ? searched : allOf(searched, filters)
  return [
    { condition: first, bits: 1 },
    { condition: allOf(searched, filters), bits: 2 },
  ]
}
