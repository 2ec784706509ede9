import { DateRange } from '../dates/date-range.tsx'
import { endFor, type Range } from '../dates/ranges.ts'
import type { Query } from '../lib/api.ts'
import { useProject } from '../lib/session.ts'
import { At } from '../ui/field-errors.tsx'
import { Icon } from '../ui/icon.tsx'
import { Select } from '../ui/parts.tsx'
import { QuickSelect, Segments } from '../ui/segments.tsx'
import { ChartOptions } from './chart-options.tsx'
import { comparisons, displays, funnelShapes, intervals, isSpread, isTotal, retentionShapes } from './choices.ts'
import { daysOfRange, nextInterval } from './intervals.ts'
import { objectIn, textIn, withField, within } from './query.ts'

interface Props {
  readonly query: Query
  onChange(query: Query): void
}

const quickIntervals = [
  { value: 'hour', label: 'Hour' },
  { value: 'day', label: 'Day' },
  { value: 'week', label: 'Week' },
  { value: 'month', label: 'Month' },
]
const quickDisplays = [
  { value: 'ActionsLineGraph', label: 'As lines', show: <Icon name="insights" /> },
  { value: 'ActionsBar', label: 'As bars', show: <Icon name="bars" /> },
  { value: 'BoldNumber', label: 'As a number', show: <Icon name="hash" /> },
  { value: 'ActionsTable', label: 'As a table', show: <Icon name="list" /> },
]

/** Above the chart: which time, in which pieces, compared with what, drawn how. */
export function Toolbar({ query, onChange }: Props) {
  const display = textIn(objectIn(query, 'trendsFilter'), 'display') || 'ActionsLineGraph'
  const isTrend = query.kind === 'TrendsQuery'
  const shape = textIn(objectIn(query, 'funnelsFilter'), 'funnelVizType') || 'steps'
  const hasInterval =
    (isTrend && !isTotal(display)) ||
    query.kind === 'StickinessQuery' ||
    query.kind === 'LifecycleQuery' ||
    (query.kind === 'FunnelsQuery' && shape === 'trends')
  const hasComparison =
    (isTrend && !['WorldMap', 'SlopeGraph'].includes(display)) ||
    ['StickinessQuery', 'FunnelsQuery', 'RetentionQuery', 'PathsQuery'].includes(query.kind)
  return (
    <div class="toolbar" role="toolbar" aria-label="How it is shown">
      <At of={['dateRange', 'dateRange.date_from', 'dateRange.date_to']}>
        <Dates query={query} onChange={onChange} />
      </At>
      {hasInterval && (
        <QuickSelect
          label="Interval"
          at="interval"
          value={textIn(query, 'interval') || 'day'}
          quick={quickIntervals}
          options={intervals}
          onChange={(interval) => onChange(withInterval(query, interval))}
        />
      )}
      {query.kind === 'FunnelsQuery' && (
        <At of="funnelsFilter.funnelVizType">
          <Segments
            label="Shape of the funnel"
            value={shape}
            options={funnelShapes}
            onChange={(next) => onChange(within(query, 'funnelsFilter', 'funnelVizType', next))}
          />
        </At>
      )}
      {query.kind === 'RetentionQuery' && (
        <At of="retentionFilter.display">
          <Segments
            label="Shape of the retention"
            value={textIn(objectIn(query, 'retentionFilter'), 'display') === 'ActionsLineGraph' ? 'ActionsLineGraph' : ''}
            options={retentionShapes}
            onChange={(next) => onChange(within(query, 'retentionFilter', 'display', next || undefined))}
          />
        </At>
      )}
      {hasComparison && (
        <At of="compareFilter">
          <Comparison query={query} onChange={onChange} />
        </At>
      )}
      {isTrend && (
        <div class="toolbar-end">
          <QuickSelect
            label="Chart"
            at="trendsFilter.display"
            value={display}
            quick={quickDisplays}
            options={displays}
            onChange={(next) => onChange(withDisplay(query, next))}
          />
          <ChartOptions query={query} onChange={onChange} />
        </div>
      )}
    </div>
  )
}

/** Its numbers are drawn by intervals, or can be. */
const hasIntervals = ({ kind }: Query): boolean => ['TrendsQuery', 'StickinessQuery', 'LifecycleQuery', 'FunnelsQuery'].includes(kind)

const countryCode = { breakdown: '$geoip_country_code', breakdown_type: 'event' }

/** A map needs countries; heat maps and box plots take neither a breakdown nor formulas. */
function withDisplay(query: Query, display: string): Query {
  const shown = within(query, 'trendsFilter', 'display', display)
  if (display === 'WorldMap')
    return { ...withField(shown, 'compareFilter', undefined), breakdownFilter: query.breakdownFilter ?? countryCode }
  if (!isSpread(display)) return shown
  const plain = withField(shown, 'breakdownFilter', undefined)
  return ['formula', 'formulas', 'formulaNodes'].reduce((before, name) => within(before, 'trendsFilter', name, undefined), plain)
}

function Dates({ query, onChange }: Props) {
  const { timezone, week_start_day } = useProject()
  const range = objectIn(query, 'dateRange')
  const [from, to] = [textIn(range, 'date_from'), textIn(range, 'date_to')]
  const set = (next: Range) => {
    const before = textIn(query, 'interval') || 'day'
    const days = (of: Range) => daysOfRange(of.from, of.to, timezone, week_start_day === 1 ? 1 : 0)
    const interval = hasIntervals(query) ? nextInterval(before, days({ from, to }), days(next)) : before
    const end = endFor(hasIntervals(query) ? interval : 'day', next.to)
    const asked = { ...query, dateRange: { date_from: next.from, ...(end && { date_to: end }) } }
    onChange(interval === before ? asked : { ...asked, interval })
  }
  return <DateRange label="Dates" value={{ from, to }} onChange={set} />
}

/** A last day stays whole when hours are asked. */
function withInterval(query: Query, interval: string): Query {
  const range = objectIn(query, 'dateRange')
  const to = textIn(range, 'date_to')
  const end = endFor(interval, to)
  return { ...query, interval, ...(end !== to && { dateRange: { ...range, date_to: end } }) }
}

function Comparison({ query, onChange }: Props) {
  const filter = objectIn(query, 'compareFilter')
  const value = filter.compare === true ? textIn(filter, 'compare_to') || 'previous' : ''
  const set = (to: string) =>
    onChange(withField(query, 'compareFilter', to === '' ? undefined : { compare: true, ...(to !== 'previous' && { compare_to: to }) }))
  return (
    <span class={value === '' ? '' : 'segments removable'}>
      <Select label="Comparison with another time" value={value} options={comparisons} onChange={set} />
      {value !== '' && (
        <button type="button" aria-label="Remove the comparison" title="Remove the comparison" onClick={() => set('')}>
          ✕
        </button>
      )}
    </span>
  )
}
