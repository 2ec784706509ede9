import type { Option } from '../ui/parts.tsx'

const options = (of: Readonly<Record<string, string>>): readonly Option[] => Object.entries(of).map(([value, label]) => ({ value, label }))

export const dateRanges = options({
  '-24h': 'Last 24 hours',
  dStart: 'Today',
  '-7d': 'Last 7 days',
  '-14d': 'Last 14 days',
  '-30d': 'Last 30 days',
  '-90d': 'Last 90 days',
  '-180d': 'Last 180 days',
  mStart: 'This month',
  yStart: 'This year',
  all: 'All time',
})
export const intervals = options({ hour: 'by hour', day: 'by day', week: 'by week', month: 'by month' })
export const maths = options({
  total: 'Total count',
  dau: 'Unique people',
  weekly_active: 'Weekly active people',
  monthly_active: 'Monthly active people',
  unique_session: 'Unique sessions',
  first_time_for_user: 'First time of a person',
  sum: 'Sum of a property',
  avg: 'Average of a property',
  min: 'Minimum of a property',
  max: 'Maximum of a property',
  median: 'Median of a property',
  p90: '90th percentile of a property',
  p95: '95th percentile of a property',
  p99: '99th percentile of a property',
})
export const takesProperty = (math: string | undefined): boolean => /^(sum|avg|min|max|median|p\d\d)$/.test(math ?? '')

export const operators = options({
  exact: 'is',
  is_not: 'is not',
  icontains: 'contains',
  not_icontains: 'does not contain',
  regex: 'matches',
  not_regex: 'does not match',
  gt: '>',
  gte: '≥',
  lt: '<',
  lte: '≤',
  is_set: 'is set',
  is_not_set: 'is not set',
})
export const isWithoutValue = (operator: string): boolean => operator === 'is_set' || operator === 'is_not_set'
export const takesMany = (operator: string): boolean => operator === 'exact' || operator === 'is_not'

export const displays = options({
  ActionsLineGraph: 'Lines',
  ActionsAreaGraph: 'Areas',
  ActionsBar: 'Bars, stacked',
  ActionsUnstackedBar: 'Bars, side by side',
  ActionsLineGraphCumulative: 'Running total',
  BoldNumber: 'Number',
  ActionsBarValue: 'Totals as bars',
  ActionsPie: 'Pie',
  ActionsTable: 'Table',
  WorldMap: 'Countries',
  CalendarHeatmap: 'Hours of the week',
})
export const funnelShapes = options({ steps: 'Steps', time_to_convert: 'Time to convert', trends: 'Conversion over time' })
export const funnelOrders = options({ ordered: 'In this order', strict: 'In this order, nothing between', unordered: 'In any order' })
export const windowUnits = options({ minute: 'minutes', hour: 'hours', day: 'days', week: 'weeks', month: 'months' })
export const periods = options({ Hour: 'hours', Day: 'days', Week: 'weeks', Month: 'months' })
export const retentionTypes = options({
  retention_recurring: 'each time it happens',
  retention_first_time: 'the first time in the range',
  retention_first_ever_occurrence: 'the first time ever',
})
export const pathTypes = options({ $pageview: 'Page views', $screen: 'Screens', custom_event: 'Custom events' })
export const breakdownTypes = options({ event: 'of the event', person: 'of the person', session: 'of the session' })
