import type { MathsOf } from '../../queries/series/maths.ts'
import { measured } from '../../service/pictures/readable.ts'
import type { Option } from '../lib/option.ts'
import type { ValueKind } from '../lib/value-kind.ts'

const options = (of: Readonly<Record<string, string>>, group?: string): readonly Option[] =>
  Object.entries(of).map(([value, label]) => ({ value, label, ...(group !== undefined && { group }) }))

export const intervals = options({
  minute: 'by minute',
  hour: 'by hour',
  day: 'by day',
  week: 'by week',
  month: 'by month',
  quarter: 'by quarter',
  year: 'by year',
})
export const comparisons = options({
  '': 'No comparison',
  previous: 'Compared with the period before',
  '-1d': 'Compared with a day earlier',
  '-7d': 'Compared with a week earlier',
  '-1m': 'Compared with a month earlier',
  '-1y': 'Compared with a year earlier',
})

type ShortName<Name> = Name extends `${infer Short}_count_per_actor` ? Short : never
const numbers = Object.fromEntries(Object.entries(measured).map(([math, words]) => [math, `${words} of`])) satisfies Partial<
  Record<MathsOf<'numbers'>, string>
>
const { sum: _, ...counts } = measured satisfies Record<MathsOf<'numbers'> | ShortName<MathsOf<'events per actor'>>, string>
export const maths: readonly Option[] = [
  ...options({ total: 'Total count', dau: 'Unique people', unique_session: 'Unique sessions' }, 'Count'),
  ...options(
    {
      weekly_active: 'Weekly active people',
      monthly_active: 'Monthly active people',
      first_time_for_user: 'First time',
      first_matching_event_for_user: 'First match of a person',
    },
    'People over time',
  ),
  ...options(numbers, 'Property value'),
  ...options(
    Object.fromEntries(Object.entries(counts).map(([name, label]) => [`${name}_count_per_actor`, `${label} per person`])),
    'Events of each person',
  ),
  ...options({ hogql: 'SQL expression' }, 'Anything else'),
]
/** What a stickiness can count. */
export const actorMaths: readonly Option[] = options({ dau: 'People', hogql: 'SQL expression' })
export const takesProperty = (math: string | undefined): boolean => Object.hasOwn(numbers, math ?? '')

const texts = {
  icontains: 'contains',
  not_icontains: 'does not contain',
  regex: 'matches',
  not_regex: 'does not match',
}
const equality = { exact: 'is', is_not: 'is not' }
const order = { gt: '>', gte: '≥', lt: '<', lte: '≤', between: 'between', not_between: 'not between' }
const times = { is_date_exact: 'is on', is_date_before: 'before', is_date_after: 'after' }
const presence = { is_set: 'is set', is_not_set: 'is not set' }

const operatorsByKind: Readonly<Record<ValueKind, readonly Option[]>> = {
  text: options({ ...equality, ...texts, ...presence }),
  number: options({ ...equality, ...order, ...presence }),
  boolean: options({ ...equality, ...presence }),
  time: options({ ...times, ...equality, ...presence }),
}
const allOperators = options({ ...equality, ...texts, ...order, ...times, ...presence })
/** Those that fit the values of a property. */
export const operatorsOf = (kind: ValueKind | null): readonly Option[] => (kind === null ? allOperators : operatorsByKind[kind])
/** Those with one value, or many. */
export const operators = options({ ...equality, ...texts, gt: '>', gte: '≥', lt: '<', lte: '≤', ...presence })
export const operatorText = (operator: string): string => allOperators.find(({ value }) => value === operator)?.label ?? operator

export const isWithoutValue = (operator: string): boolean => operator === 'is_set' || operator === 'is_not_set'
export const takesMany = (operator: string): boolean => operator === 'exact' || operator === 'is_not'
export const takesTwo = (operator: string): boolean => operator === 'between' || operator === 'not_between'
export const takesNumber = (operator: string): boolean => Object.hasOwn(order, operator)
export const takesTime = (operator: string): boolean => Object.hasOwn(times, operator)

export const displays: readonly Option[] = [
  ...options(
    {
      ActionsLineGraph: 'Lines',
      ActionsAreaGraph: 'Areas',
      ActionsBar: 'Bars, stacked',
      ActionsUnstackedBar: 'Bars, side by side',
      ActionsLineGraphCumulative: 'Running total',
      SlopeGraph: 'Slope from the first to the last',
    },
    'Over time',
  ),
  ...options(
    {
      BoldNumber: 'Number',
      ActionsBarValue: 'Totals as bars',
      ActionsPie: 'Pie',
      ActionsTable: 'Table',
      WorldMap: 'World map',
    },
    'Totals',
  ),
  ...options({ CalendarHeatmap: 'Hours of the week', BoxPlot: 'Box plot of a property' }, 'Spread'),
]
/** One number for each row instead of one for each interval. */
export const isTotal = (display: string): boolean =>
  ['BoldNumber', 'ActionsBarValue', 'ActionsPie', 'ActionsTable', 'WorldMap', 'CalendarHeatmap'].includes(display)
/** It shows how numbers are spread, and takes neither a breakdown nor formulas. */
export const isSpread = (display: string): boolean => display === 'CalendarHeatmap' || display === 'BoxPlot'
export const numberFormats = options({
  numeric: 'Plain',
  percentage: 'Percent',
  percentage_scaled: 'Percent of 1',
  duration: 'Duration in s',
  duration_ms: 'Duration in ms',
  short: 'Short',
})
export const smoothings = options({ 1: 'No smoothing', 3: 'Average of 3', 7: 'Average of 7', 14: 'Average of 14', 30: 'Average of 30' })

export const funnelShapes = options({ steps: 'Steps', time_to_convert: 'Time to convert', trends: 'Conversion over time' })
export const funnelOrders = options({ ordered: 'In this order', strict: 'Strict order, nothing between', unordered: 'In any order' })
export const attributions = options({
  first_touch: 'the first step',
  last_touch: 'the last step',
  all_events: 'all steps',
})
export const windowUnits = options({
  second: 'seconds',
  minute: 'minutes',
  hour: 'hours',
  day: 'days',
  week: 'weeks',
  month: 'months',
})
export const periods = options({ Hour: 'hours', Day: 'days', Week: 'weeks', Month: 'months' })
export const retentionShapes = options({ '': 'Table', ActionsLineGraph: 'Curves and table' })
export const retentionTypes = options({
  retention_recurring: 'each time it happens',
  retention_first_time: 'the first time in the range',
  retention_first_ever_occurrence: 'the first time ever',
})
export const references = options({ total: 'of those who began', previous: 'of the interval before' })
export const pathTypes = options({ $pageview: 'Page views', $screen: 'Screens', custom_event: 'Custom events' })
export const stickinessSums = options({ non_cumulative: 'exactly', cumulative: 'at least' })
export const statuses = options({ new: 'New', returning: 'Returning', resurrecting: 'Resurrecting', dormant: 'Dormant' })
export const junctions = options({ AND: 'all of', OR: 'any of' })
