import type { Table } from 'apache-arrow'
import { call, field, from, literal, or, select } from '../../language/ast/build.ts'
import type { Expr, Select } from '../../language/ast/nodes.ts'
import { columnValues } from '../answers/rows.ts'
import { actionCondition } from '../filters/property-filters.ts'
import type { Action, QueryContext, QueryKind } from '../kind.ts'
import { scaledUp } from '../series/sampling.ts'
import { allOf } from '../series/series-condition.ts'
import type { Period, ShownRanges } from '../time/comparison.ts'
import { contextOf, countedEvents, inPeriods, isPage, personOf, planWeb, rangesOf, samplingRate, sessionsOf, type WebPlan } from './plan.ts'
import { goalOrders, goalsSchema, mostGoals, type WebGoalsQuery } from './schema.ts'

type Pair = readonly [now: number | null, before: number | null]

export interface WebGoalsAnswer extends ShownRanges {
  readonly columns: readonly string[]
  /** The name of an action; who did it, how often, and the share of the visitors who did, each now and in the comparison period. */
  readonly results: readonly (readonly [name: string, converting: Pair, total: Pair, rate: Pair])[]
  readonly hasMore: boolean
  readonly limit: number
  readonly offset: number
  readonly samplingRate: { readonly numerator: number }
}

const usualGoals = 5
const columns = ['action_name', 'converting_users', 'total_conversions', 'conversion_rate'].map((name) => `context.columns.${name}`)

export const webGoals: QueryKind<'WebGoalsQuery', typeof goalsSchema, WebGoalsAnswer> = {
  kind: 'WebGoalsQuery',
  isCached: true,
  schema: goalsSchema,
  *run(query, env) {
    const limit = Math.min(query.limit ?? usualGoals, mostGoals)
    const offset = query.offset ?? 0
    const actions = env.actions?.() ?? []
    const goals = actions.slice(offset, offset + limit)
    const conditionsIn = (context: QueryContext) => goals.map((action) => actionCondition(action, context))
    const plan = yield* planWeb(query, env, goals.length === 0 ? null : (context) => or(isPage, ...conditionsIn(context)))
    const results =
      goals.length === 0
        ? []
        : read(
            (yield { kind: 'statement', label: 'web goals', query: goalsOf(conditionsIn(contextOf(plan, env)), plan, env) }) as Table,
            goals,
            plan,
          )
    return {
      columns,
      results: ordered(results, query),
      hasMore: actions.length > offset + limit,
      limit,
      offset,
      samplingRate: samplingRate(plan),
      ...rangesOf(plan),
    }
  },
}

/** One row, with columns for each goal. */
function goalsOf(conditions: readonly Expr[], plan: WebPlan, env: QueryContext): Select {
  const counted = countedEvents(plan, or(isPage, ...conditions))
  const done = conditions.map((condition, i): [string, Expr] => [
    `goal_${i}`,
    call('countIf', allOf(plan.inPeriods, plan.filters, condition)),
  ])
  const sessions = sessionsOf(plan, ['$start_timestamp'], env, {
    counted: call('countIf', counted),
    person: personOf(counted),
    ...Object.fromEntries(done),
  })
  return select({
    columns: [
      ...inPeriods(plan, 'visitors', 'visitors', field('person')),
      ...done.flatMap(([name]) => [
        ...inPeriods(plan, `total_${name}`, 'sum', field(name)),
        ...inPeriods(
          plan,
          `unique_${name}`,
          'visitors',
          call('if', call('greater', field(name), literal(0)), field('person'), literal(null)),
        ),
      ]),
    ],
    from: from(sessions, 'web_sessions'),
    where: call('greater', field('counted'), literal(0)),
  })
}

type Row = WebGoalsAnswer['results'][number]

function read(table: Table, actions: readonly Action[], plan: WebPlan): Row[] {
  const pairOf = (name: string): Pair => {
    const of = (period: Period): number | null => {
      if (!plan[period]) return null
      const [value] = columnValues(table.getChild(period === 'current' ? name : `previous_${name}`)!, 'UTC')
      return Number(value ?? 0)
    }
    return [of('current'), of('previous')]
  }
  const scaled = ([now, before]: Pair): Pair => [
    now === null ? null : scaledUp(now, plan.sample),
    before === null ? null : scaledUp(before, plan.sample),
  ]
  const visitors = pairOf('visitors')
  return actions.map(({ name }, i): Row => {
    const [unique, total] = [pairOf(`unique_goal_${i}`), pairOf(`total_goal_${i}`)]
    const rate = (period: 0 | 1) => (unique[period] === null ? null : visitors[period] ? unique[period]! / visitors[period]! : 0)
    return [name, scaled(unique), scaled(total), [rate(0), rate(1)]]
  })
}

function ordered(rows: readonly Row[], { orderBy }: WebGoalsQuery): readonly Row[] {
  if (!orderBy) return rows
  const column = (goalOrders.indexOf(orderBy[0]) + 1) as 1 | 2 | 3
  const sign = orderBy[1] === 'DESC' ? -1 : 1
  return [...rows].sort((a, b) => sign * (a[column][0]! - b[column][0]! || (a[column][1] ?? 0) - (b[column][1] ?? 0)))
}
