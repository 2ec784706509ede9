import type { Query } from '../lib/api.ts'
import { dayOf } from '../lib/moments.ts'
import { useProject } from '../lib/session.ts'
import { DayField } from '../ui/day-field.tsx'
import { At } from '../ui/field-errors.tsx'
import { Icon } from '../ui/icon.tsx'
import { NumberField } from '../ui/number-field.tsx'
import { Select } from '../ui/parts.tsx'
import { QuickSelect, Segments } from '../ui/segments.tsx'
import { ChartOptions } from './chart-options.tsx'
import {
  closedRanges,
  comparisons,
  dateRanges,
  displays,
  funnelShapes,
  intervals,
  isSpread,
  isTotal,
  retentionShapes,
  rollingUnits,
} from './choices.ts'
import { daysOfRange, fittingInterval } from './intervals.ts'
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
      <At of="dateRange">
        <DateRange query={query} onChange={onChange} />
      </At>
      {hasInterval && (
        <QuickSelect
          label="Interval"
          at="interval"
          value={textIn(query, 'interval') || 'day'}
          quick={quickIntervals}
          options={intervals}
          onChange={(interval) => onChange({ ...query, interval })}
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

function DateRange({ query, onChange }: Props) {
  const { timezone } = useProject()
  const range = objectIn(query, 'dateRange')
  const [from, to] = [textIn(range, 'date_from'), textIn(range, 'date_to')]
  const rolling = /^-(\d{1,4})([hdwmy])$/.exec(from)
  const isKnown = dateRanges.some(({ value }) => value === from) && (to === '' || closedRanges[from] === to)
  const value = isKnown ? from : rolling && to === '' ? 'rolling' : from === '' && to === '' ? '-7d' : 'custom'
  const set = (date_from: string, date_to?: string) => {
    const asked = { ...query, dateRange: { date_from, ...(date_to && { date_to }) } }
    const interval = textIn(query, 'interval') || 'day'
    const fitting = hasIntervals(query) ? fittingInterval(interval, daysOfRange(date_from, date_to ?? '', timezone)) : interval
    onChange(fitting === interval ? asked : { ...asked, interval: fitting })
  }
  const choose = (next: string) => {
    if (next === 'rolling') return set('-45d')
    if (next !== 'custom') return set(next, closedRanges[next])
    set(dayOf(30, timezone), dayOf(0, timezone))
  }
  const options = [...dateRanges, { value: 'rolling', label: 'Last …' }, { value: 'custom', label: 'From day to day' }]
  return (
    <>
      <Select label="Dates" value={value} options={options} onChange={choose} />
      {value === 'rolling' && (
        <>
          <NumberField
            label="How many"
            value={rolling?.[1] ?? 45}
            from={1}
            most={9999}
            onChange={(count) => set(`-${count}${rolling?.[2] ?? 'd'}`)}
          />
          <Select
            label="Unit"
            value={rolling?.[2] ?? 'd'}
            options={rollingUnits}
            onChange={(unit) => set(`-${rolling?.[1] ?? 45}${unit}`)}
          />
        </>
      )}
      {value === 'custom' && (
        <>
          <At of="dateRange.date_from">
            <DayField label="First day" value={from} onChange={(first) => set(first, to || undefined)} />
          </At>
          <At of="dateRange.date_to">
            <DayField label="Last day" value={to} onChange={(last) => set(from || last, last)} />
          </At>
        </>
      )}
    </>
  )
}

function Comparison({ query, onChange }: Props) {
  const filter = objectIn(query, 'compareFilter')
  const value = filter.compare === true ? textIn(filter, 'compare_to') || 'previous' : ''
  const set = (to: string) =>
    onChange(withField(query, 'compareFilter', to === '' ? undefined : { compare: true, ...(to !== 'previous' && { compare_to: to }) }))
  return <Select label="Comparison with another time" value={value} options={comparisons} onChange={set} />
}
