import type { Table } from 'apache-arrow'
import { and, call, field, from, literal, select } from '../../language/ast/build.ts'
import type { Expr, Select } from '../../language/ast/nodes.ts'
import { columnValues } from '../answers/rows.ts'
import { along, type QueryContext, type QueryKind, type QueryRun } from '../kind.ts'
import { scaledUp } from '../series/sampling.ts'
import type { Period, ShownRanges } from '../time/comparison.ts'
import { listedOverview, type OverviewNumbers } from './listed-overview.ts'
import { bounced, countedEvents, inPeriods, isPage, personOf, planWeb, rangesOf, samplingRate, sessionsOf, type WebPlan } from './plan.ts'
import { overviewSchema } from './schema.ts'

/** One number of a site, and its change since the comparison period. */
export interface WebOverviewItem {
  readonly key: string
  readonly kind: 'unit' | 'duration_s' | 'percentage'
  readonly value: number | null
  readonly previous: number | null
  /** Null without a comparison, or when there is nothing to compare with. */
  readonly changeFromPreviousPct: number | null
  readonly isIncreaseBad: boolean | null
}

export interface WebOverviewAnswer extends ShownRanges {
  readonly results: readonly WebOverviewItem[]
  readonly samplingRate: { readonly numerator: number }
  readonly dateFrom: string
  readonly dateTo: string
}

interface Measure {
  readonly key: string
  readonly kind: WebOverviewItem['kind']
  readonly isIncreaseBad?: true
  /** Of the columns of a period, which are missing without one. */
  readonly of: (column: (name: string) => number | null) => number | null
}

const column = (key: string, name: string, kind: Measure['kind'] = 'unit'): Measure => ({ key, kind, of: (value) => value(name) })
const share = (part: number | null, whole: number | null): number | null => (part === null || !whole ? null : (100 * part) / whole)

const visitors = column('visitors', 'visitors')
const ofVisits: readonly Measure[] = [
  visitors,
  column('views', 'views'),
  column('sessions', 'sessions'),
  column('session duration', 'duration', 'duration_s'),
  { key: 'bounce rate', kind: 'percentage', isIncreaseBad: true, of: (value) => share(value('bounces'), 1) },
]
const ofConversions: readonly Measure[] = [
  visitors,
  column('total conversions', 'conversions'),
  column('unique conversions', 'converted'),
  { key: 'conversion rate', kind: 'percentage', of: (value) => share(value('converted'), value('visitors')) },
]
const counts = new Set(['visitors', 'views', 'sessions', 'conversions', 'converted'])

export const webOverview: QueryKind<'WebOverviewQuery', typeof overviewSchema, WebOverviewAnswer> = {
  kind: 'WebOverviewQuery',
  isCached: true,
  schema: overviewSchema,
  *run(query, env) {
    const plan = yield* planWeb(query, env, () => isPage)
    const found = yield* foundNumbers(plan, env)
    const numbersIn = (period: Period) => (name: string) => {
      const value = plan[period] ? found(period, name) : null
      return value !== null && counts.has(name) ? scaledUp(value, plan.sample) : value
    }
    const ranges = rangesOf(plan)
    return {
      results: (plan.goal ? ofConversions : ofVisits).map((measure) => itemOf(measure, numbersIn('current'), numbersIn('previous'))),
      samplingRate: samplingRate(plan),
      dateFrom: ranges.resolved_date_range.date_from,
      dateTo: ranges.resolved_date_range.date_to,
      ...ranges,
    }
  },
}

const foundNumbers = (plan: WebPlan, env: QueryContext): QueryRun<OverviewNumbers> =>
  along<OverviewNumbers>({
    label: 'web overview',
    lists: () => listedOverview(plan, env),
    statement: () => ({ query: overviewOf(plan, env), read: numbersOf }),
  })

const numbersOf =
  (table: Table): OverviewNumbers =>
  (period, name) => {
    const [value] = columnValues(table.getChild(period === 'current' ? name : `previous_${name}`)!, 'UTC')
    return value == null ? null : Number(value)
  }

function itemOf({ key, kind, isIncreaseBad, of }: Measure, ...[now, before]: Parameters<Measure['of']>[0][]): WebOverviewItem {
  const [value, previous] = [of(now!), of(before!)]
  const change = value === null || !previous ? null : Math.round((100 * (value - previous)) / previous)
  return { key, kind, isIncreaseBad: isIncreaseBad ?? null, value, previous, changeFromPreviousPct: change }
}

function overviewOf(plan: WebPlan, env: QueryContext): Select {
  const counted = countedEvents(plan)
  const { goal } = plan
  const isGoal = goal && and(counted, goal)
  const also: Record<string, Expr> = {
    counted: call('countIf', counted),
    person: personOf(counted),
    ...(isGoal && { goals: call('countIf', isGoal) }),
  }
  const fields = isGoal ? ['$start_timestamp'] : ['$start_timestamp', '$session_duration', '$is_bounce']
  const converted = call('if', call('greater', field('goals'), literal(0)), field('person'), literal(null))
  return select({
    columns: [
      ...inPeriods(plan, 'visitors', 'visitors', field('person')),
      ...(isGoal
        ? [...inPeriods(plan, 'conversions', 'sum', field('goals')), ...inPeriods(plan, 'converted', 'visitors', converted)]
        : [
            ...inPeriods(plan, 'views', 'sum', field('counted')),
            ...inPeriods(plan, 'sessions', 'count'),
            ...inPeriods(plan, 'duration', 'avg', field('$session_duration')),
            ...inPeriods(plan, 'bounces', 'avg', bounced),
          ]),
    ],
    from: from(sessionsOf(plan, fields, env, also), 'web_sessions'),
    where: call('greater', field('counted'), literal(0)),
  })
}
