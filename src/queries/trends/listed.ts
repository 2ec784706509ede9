import { field } from '../../ast/build.ts'
import type { Expr } from '../../ast/nodes.ts'
import type { Listed } from '../../core/project-lists.ts'
import type { SeriesValue } from '../../folds/series/accumulators.ts'
import { type Series, type SeriesPart, seriesData, seriesFold } from '../../folds/series/fold.ts'
import { numberOrder } from '../../folds/series/number-order.ts'
import type { Reduction } from '../../folds/series/reduce.ts'
import { oneLevel } from '../../folds/series/spread.ts'
import { own } from '../../lib/own.ts'
import type { Breakdown } from '../breakdown.ts'
import { type ListedFold, listFold, type QueryContext } from '../kind.ts'
import { type AskedColumn, AskedColumns, askedBits, bitsOf, combinationTexts, groupActors, placed } from '../listed-columns.ts'
import { refuse } from '../refusals.ts'
import { inSample } from '../scope.ts'
import { firstTimeMaths, propertyMaths } from '../series.ts'
import { allOf, nodeMatch } from '../series-condition.ts'
import { isPlainUnique, noTimes, type RollingMath, rollingTimes, totalTimes, windowsOf } from './active-users.ts'
import { countPerActorReduction, isSessionDuration, numberOf, quantiles, sessionDuration } from './aggregate-math.ts'
import { groupText } from './breakdown.ts'
import type { Measure } from './expression-measures.ts'
import { ignoresFiltersWhenLooking } from './first-time.ts'
import type { Group } from './groups.ts'
import type { Bins } from './histogram.ts'
import { binColumn } from './listed-bins.ts'
import { isCumulative, type TrendsQuery } from './schema.ts'
import { actorOf, cohortFilter, eventsOf, filtersOf, pathOf, type Times, type Unit } from './unit.ts'

// Series over the lists of the core.

/** A number, and the times that it counts. */
interface Counted {
  readonly times: Times
  readonly value: (listed: Listed) => SeriesValue
}

/** The groups of a unit over the lists. */
export function listedUnit(
  unit: Unit,
  query: TrendsQuery,
  breakdown: Breakdown,
  bins: readonly (Bins | null)[],
  env: QueryContext,
  measure: Measure | null = null,
): ListedFold<readonly Group[]> {
  const isBySession = unit.node.math === 'unique_session' || isSessionDuration(unit)
  const group = !measure && asksForActors(unit) ? actorOf(unit).group : null
  const columns = new AskedColumns({ hasPersons: group === null && !isBySession })
  const actors = isBySession
    ? { column: columns.codes(field('$session_id')).index, except: null }
    : group === null
      ? null
      : groupActors(group, columns)
  const counted = measure ? measuredBy(measure, unit, columns) : countedBy(unit, query, columns, env)
  const splits =
    unit.cohort === null
      ? breakdown.parts.map((part, i) =>
          part.binCount === null ? columns.codes(groupText(part, null, breakdown, env)) : binColumn(part, bins[i] ?? null, columns, env),
        )
      : []
  const conditions = conditionsOf(unit, query, env)
  const measured = measure ? conditions.map((one) => ({ ...one, condition: allOf(one.condition, measure.condition) })) : conditions
  const bits = askedBits(measured, columns, env)
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
  const first = ignoresFiltersWhenLooking(unit.node.math) ? searched : allOf(searched, filters)
  return [
    { condition: first, bits: 1 },
    { condition: allOf(searched, filters), bits: 2 },
  ]
}

/** Maths of events and of their properties do not ask whose events they are. */
export const asksForActors = ({ node: { math } }: Unit): boolean =>
  math != null && math !== 'total' && !(propertyMaths as readonly string[]).includes(math)

export const isFirstTime = ({ node }: Unit) => (firstTimeMaths as readonly (string | null | undefined)[]).includes(node.math)

function measuredBy({ value }: Measure, { range }: Unit, columns: AskedColumns): Counted {
  const times = { from: range.firstEvent, to: range.to }
  if (typeof value === 'string') return { times, value: () => ({ kind: value }) }
  return { times, value: reduced(columns.numbers(value.number), value.reduction) }
}

const reduced =
  (number: AskedColumn, reduction: Reduction): Counted['value'] =>
  (listed) =>
    typeof reduction === 'string'
      ? { kind: 'numbers', number: placed(number, listed), reduction }
      : {
          kind: 'quantiles',
          number: placed(number, listed),
          order: numberOrder(listed.columns[number.index]!),
          spread: typeof reduction === 'number' ? oneLevel(reduction) : reduction,
        }

function countedBy(unit: Unit, query: TrendsQuery, columns: AskedColumns, env: QueryContext): Counted {
  const { node, range, edges } = unit
  const math = node.math ?? 'total'
  const times = { from: range.firstEvent, to: range.to }
  const plain = (value: SeriesValue): Counted => ({ times, value: () => value })
  if (isFirstTime(unit))
    return {
      times: { from: Number.NEGATIVE_INFINITY, to: range.to },
      value: () => ({ kind: 'first times', from: range.firstEvent }),
    }
  switch (math) {
    case 'total':
      return plain({ kind: 'events' })
    case 'dau':
    case 'unique_group':
      return plain({ kind: isCumulative(query) ? 'sightings' : 'persons' })
    case 'weekly_active':
    case 'monthly_active':
      return rolling(math, unit) ?? plain({ kind: 'persons' })
    case 'unique_session':
      return plain({ kind: 'persons' })
  }
  const perPerson = countPerActorReduction(math)
  if (perPerson) return plain({ kind: 'events per person', reduction: reductionOf(perPerson) })
  if (isSessionDuration(unit)) {
    const number = columns.numbers(sessionDuration(unit))
    return { times, value: (listed) => ({ kind: 'numbers of persons', number: placed(number, listed), reduction: reductionOf(math) }) }
  }
  return { times, value: reduced(columns.numbers(numberOf(unit, env)), reductionOf(math)) }

  /** Null: the buckets are as long as the windows. */
  function rolling(which: RollingMath, of: Unit): Counted | null {
    // As a single number, the window ends with the range, whatever its start.
    if (!edges) return { times: totalTimes(of, which), value: () => ({ kind: 'persons' }) }
    if (isPlainUnique(which, range.interval)) return null
    const { begins, ends } = windowsOf(which, of)
    return {
      times: rollingTimes(begins, ends, range) ?? noTimes,
      value: () => ({ kind: 'windows', begins: Float64Array.from(begins), ends: Float64Array.from(ends) }),
    }
  }
}

const reductionOf = (name: string): Reduction => own(quantiles, name) ?? (name as 'sum' | 'avg' | 'min' | 'max')
