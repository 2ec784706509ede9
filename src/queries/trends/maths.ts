import type { Reduction } from '../../core/folds/series/reduce.ts'
import { call, field, literal } from '../../language/ast/build.ts'
import { folded, type QueryContext, type QueryRun } from '../kind.ts'
import { eventExprOf } from '../origin.ts'
import type { Refusal } from '../refusals.ts'
import type { Breakdown } from '../series/breakdown.ts'
import { type Counted, mathFacts } from '../series/maths.ts'
import { isPlainUnique, planActiveTotal, planRolling, rollingTimes, totalTimes, windowsOf } from './active-users.ts'
import {
  type Aggregation,
  aggregate,
  numberOf,
  planAggregate,
  planCountPerActor,
  planFirstSightings,
  planSessionDuration,
  sessionDuration,
  uniqueActors,
} from './aggregate-math.ts'
import { planFirstTime } from './first-time.ts'
import type { Group, UnitPlan } from './groups.ts'
import type { Bins } from './histogram.ts'
import { type Counting, listedUnit, measuring, numbersOf, plainValue } from './listed.ts'
import { foldExpression } from './listed-expression.ts'
import type { PlanContext } from './plan-context.ts'
import { isCumulative, type TrendsQuery } from './schema.ts'
import { actorOf, isSessionDuration, pathOf, type Unit } from './unit.ts'

// How each road counts what a math is made of: one row for each, with a cell per road.

/** A unit over the lists of the core. */
export interface ListedSeries {
  readonly unit: Unit
  readonly query: TrendsQuery
  readonly env: QueryContext
  readonly breakdown: Breakdown
  readonly bins: readonly (Bins | null)[]
  readonly label: string
}

interface MathRow {
  /** The number of some events as one aggregate; null: it takes more than one. */
  readonly aggregate: ((context: PlanContext) => Aggregation) | null
  readonly statement: (context: PlanContext) => UnitPlan
  readonly lists: (series: ListedSeries, statement: () => UnitPlan) => QueryRun<readonly Group[] | Refusal>
}

const counting =
  (by: Counting['by'], count: Counting['count']): MathRow['lists'] =>
  ({ unit, query, env, breakdown, bins, label }) =>
    folded(label, listedUnit(unit, query, breakdown, bins, env, { by, count }))

/** One aggregate, unless a plan of its own is faster or needed. */
const aggregated = (
  one: (context: PlanContext) => Aggregation,
  special: (context: PlanContext) => UnitPlan | null = () => null,
): Pick<MathRow, 'aggregate' | 'statement'> => ({
  aggregate: one,
  statement: (context) => special(context) ?? planAggregate(context, one(context)),
})

const always = literal(true)
const reductionOf = ({ node }: Pick<Unit, 'node'>): Reduction => mathFacts(node.math).of!
const uniques = (context: PlanContext): Aggregation => ({ value: uniqueActors(context), condition: actorOf(context.unit).condition })

const rows: Readonly<Record<Counted | 'session lengths', MathRow>> = {
  events: {
    ...aggregated(() => ({ value: call('count'), condition: always })),
    lists: counting('person', plainValue({ kind: 'events' })),
  },
  actors: {
    ...aggregated(uniques, (context) => (isCumulative(context.query) ? planFirstSightings(context) : null)),
    lists: counting('actor', (unit, columns, query, env) =>
      plainValue({ kind: isCumulative(query) ? 'sightings' : 'persons' })(unit, columns, query, env),
    ),
  },
  'recent actors': {
    ...aggregated(uniques, (context) =>
      !context.unit.edges ? planActiveTotal(context) : isPlainUnique(context.unit) ? null : planRolling(context),
    ),
    lists: counting('actor', (unit, columns, query, env) => {
      // As a single number, the window ends with the range, whatever its start.
      if (!unit.edges) return { times: totalTimes(unit), value: () => ({ kind: 'persons' }) }
      if (isPlainUnique(unit)) return plainValue({ kind: 'persons' })(unit, columns, query, env)
      const { begins, ends } = windowsOf(unit)
      return {
        times: rollingTimes(begins, ends, unit.range),
        value: () => ({ kind: 'windows', begins: Float64Array.from(begins), ends: Float64Array.from(ends) }),
      }
    }),
  },
  sessions: {
    ...aggregated(() => ({ value: call('uniqExact', field('$session_id')), condition: always })),
    lists: counting('session', plainValue({ kind: 'persons' })),
  },
  'first events': {
    aggregate: null,
    statement: planFirstTime,
    lists: counting('actor', ({ range }) => ({
      times: { from: Number.NEGATIVE_INFINITY, to: range.to },
      value: () => ({ kind: 'first times', from: range.firstEvent }),
    })),
  },
  numbers: {
    ...aggregated(({ unit, env }) => ({ value: aggregate(mathFacts(unit.node.math).of!, numberOf(unit, env)), condition: always })),
    lists: counting('person', (unit, columns, _, env) => numbersOf(unit, columns.numbers(numberOf(unit, env)), reductionOf(unit))),
  },
  'session lengths': {
    aggregate: null,
    statement: planSessionDuration,
    lists: counting('session', (unit, columns) =>
      numbersOf(unit, columns.numbers(sessionDuration(unit)), reductionOf(unit), 'numbers of persons'),
    ),
  },
  'events per actor': {
    aggregate: null,
    statement: planCountPerActor,
    lists: counting('actor', (unit, columns, query, env) =>
      plainValue({ kind: 'events per person', reduction: reductionOf(unit) })(unit, columns, query, env),
    ),
  },
  expression: {
    ...aggregated(({ unit, env }) => ({ value: expressionOf(unit, env), condition: always })),
    lists: ({ unit, query, env, breakdown, bins, label }, statement) => {
      // What the engine refuses, it refuses as a statement.
      const check = () => statement().query
      return foldExpression(expressionOf(unit, env), check, label, (measure) =>
        listedUnit(unit, query, breakdown, bins, env, measuring(measure)),
      )
    },
  },
}

const expressionOf = (unit: Unit, env: QueryContext) => eventExprOf(unit.node.math_hogql ?? 'count()', `${pathOf(unit)}__math_hogql`, env)

/** The row of a unit's math. */
export const mathOf = (unit: Pick<Unit, 'node'>): MathRow =>
  rows[isSessionDuration(unit) ? 'session lengths' : mathFacts(unit.node.math).counts]
