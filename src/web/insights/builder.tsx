import type { ComponentChildren } from 'preact'
import type { Query } from '../lib/api.ts'
import { dayOf } from '../lib/moments.ts'
import { useEventNames, usePropertyNames } from '../lib/names.ts'
import { useProject } from '../lib/session.ts'
import { Select, Suggesting } from '../ui/parts.tsx'
import {
  breakdownTypes,
  dateRanges,
  displays,
  funnelOrders,
  funnelShapes,
  intervals,
  pathTypes,
  periods,
  retentionTypes,
  windowUnits,
} from './choices.ts'
import { Filters } from './filters.tsx'
import { type Filter, listIn, objectIn, type SeriesNode, withField, within } from './query.ts'
import { Series } from './series.tsx'

interface Props {
  readonly query: Query
  onChange(query: Query): void
}

function Section({ title, children }: { title: string; children: ComponentChildren }) {
  return (
    <fieldset>
      <legend>{title}</legend>
      {children}
    </fieldset>
  )
}

const text = (value: unknown): string => (typeof value === 'string' ? value : value == null ? '' : String(value))

/** A whole number within bounds; what is no number changes nothing. */
function NumberField({
  label,
  value,
  from,
  most,
  onChange,
}: {
  label: string
  value: unknown
  from: number
  most: number
  onChange: (value: number) => void
}) {
  return (
    <input
      type="number"
      aria-label={label}
      class="short"
      min={from}
      max={most}
      value={text(value)}
      onChange={(event) => {
        const number = Math.round(Number(event.currentTarget.value))
        if (Number.isFinite(number)) onChange(Math.max(from, Math.min(most, number)))
      }}
    />
  )
}

function EventField({ label, value, onChange }: { label: string; value: unknown; onChange: (event: string | null) => void }) {
  const names = useEventNames()
  return (
    <Suggesting
      label={label}
      placeholder="All events"
      value={text(value)}
      suggestions={names}
      onChange={(name) => onChange(name.trim() === '' ? null : name.trim())}
    />
  )
}

export function Builder({ query, onChange }: Props) {
  const setSeries = (series: readonly SeriesNode[]) => onChange({ ...query, series })
  const series = listIn<SeriesNode>(query, 'series')
  return (
    <form class="builder" aria-label="Question" onSubmit={(event) => event.preventDefault()}>
      {query.kind === 'TrendsQuery' && (
        <Section title="What is counted">
          <Series series={series} onChange={setSeries} most={26} hasMath marks="letters" addLabel="Add a series" />
          <label class="inline">
            Formula{' '}
            <input
              placeholder="A / B * 100"
              value={text(objectIn(query, 'trendsFilter').formula)}
              onChange={(event) => onChange(within(query, 'trendsFilter', 'formula', event.currentTarget.value.trim() || undefined))}
            />
          </label>
        </Section>
      )}
      {query.kind === 'FunnelsQuery' && <FunnelParts query={query} onChange={onChange} />}
      {query.kind === 'RetentionQuery' && <RetentionParts query={query} onChange={onChange} />}
      {query.kind === 'PathsQuery' && <PathParts query={query} onChange={onChange} />}
      {query.kind === 'StickinessQuery' && (
        <Section title="Active by">
          <Series series={series} onChange={setSeries} most={10} hasMath={false} marks="letters" addLabel="Add a series" />
        </Section>
      )}
      {query.kind === 'LifecycleQuery' && (
        <Section title="Active by">
          <Series series={series} onChange={setSeries} most={1} hasMath={false} marks="letters" addLabel="" />
        </Section>
      )}
      <Section title="Only where">
        <Filters
          key={query.kind}
          filters={listIn<Filter>(query, 'properties')}
          onChange={(filters) => onChange(withField(query, 'properties', filters.length > 0 ? filters : undefined))}
        />
        <label class="inline">
          <input
            type="checkbox"
            checked={query.filterTestAccounts === true}
            onChange={(event) => onChange(withField(query, 'filterTestAccounts', event.currentTarget.checked || undefined))}
          />{' '}
          Without test accounts
        </label>
      </Section>
      {(query.kind === 'TrendsQuery' || query.kind === 'FunnelsQuery') && <Breakdown query={query} onChange={onChange} />}
    </form>
  )
}

function FunnelParts({ query, onChange }: Props) {
  const filter = objectIn(query, 'funnelsFilter')
  const set = (name: string, value: unknown) => onChange(within(query, 'funnelsFilter', name, value))
  return (
    <Section title="Steps">
      <Series
        series={listIn<SeriesNode>(query, 'series')}
        onChange={(series) => onChange({ ...query, series })}
        most={20}
        hasMath={false}
        marks="numbers"
        addLabel="Add a step"
      />
      <div class="inline">
        <Select
          label="Order of the steps"
          value={text(filter.funnelOrderType) || 'ordered'}
          options={funnelOrders}
          onChange={(value) => set('funnelOrderType', value)}
        />
        <span>within</span>
        <NumberField
          label="Time to convert"
          value={filter.funnelWindowInterval ?? 14}
          from={1}
          most={3650}
          onChange={(value) => set('funnelWindowInterval', value)}
        />
        <Select
          label="Unit of the time to convert"
          value={text(filter.funnelWindowIntervalUnit) || 'day'}
          options={windowUnits}
          onChange={(value) => set('funnelWindowIntervalUnit', value)}
        />
      </div>
    </Section>
  )
}

function RetentionParts({ query, onChange }: Props) {
  const filter = objectIn(query, 'retentionFilter')
  const set = (name: string, value: unknown) => onChange(within(query, 'retentionFilter', name, value))
  const entity = (event: string | null) => ({ id: event, name: event ?? 'All events', type: 'events' })
  const period = text(filter.period) || 'Day'
  const total = Number(filter.totalIntervals ?? 11)
  const unit: Record<string, string> = { Hour: 'h', Day: 'd', Week: 'w', Month: 'm' }
  const range = (of: string, count: number) => ({
    ...query,
    dateRange: { date_from: `-${count}${unit[of] ?? 'd'}` },
    retentionFilter: { ...filter, period: of, totalIntervals: count },
  })
  const idOf = (value: unknown) => (typeof value === 'object' && value !== null ? (value as { id?: unknown }).id : null)
  return (
    <Section title="Who comes back">
      <div class="inline">
        <span>People who did</span>
        <EventField label="Event of the start" value={idOf(filter.targetEntity)} onChange={(event) => set('targetEntity', entity(event))} />
        <Select
          label="Which time counts"
          value={text(filter.retentionType) || 'retention_recurring'}
          options={retentionTypes}
          onChange={(value) => set('retentionType', value)}
        />
      </div>
      <div class="inline">
        <span>and later did</span>
        <EventField
          label="Event of the return"
          value={idOf(filter.returningEntity)}
          onChange={(event) => set('returningEntity', entity(event))}
        />
      </div>
      <div class="inline">
        <span>over</span>
        <NumberField label="How many periods" value={total} from={2} most={31} onChange={(count) => onChange(range(period, count))} />
        <Select label="Period" value={period} options={periods} onChange={(of) => onChange(range(of, total))} />
      </div>
    </Section>
  )
}

function PathParts({ query, onChange }: Props) {
  const filter = objectIn(query, 'pathsFilter')
  const set = (name: string, value: unknown) => onChange(within(query, 'pathsFilter', name, value === '' ? undefined : value))
  const types = listIn<string>(filter, 'includeEventTypes')
  return (
    <Section title="Paths through">
      {pathTypes.map(({ value, label }) => (
        <label class="inline" key={value}>
          <input
            type="checkbox"
            checked={types.includes(value)}
            onChange={(event) =>
              set('includeEventTypes', event.currentTarget.checked ? [...types, value] : types.filter((one) => one !== value))
            }
          />{' '}
          {label}
        </label>
      ))}
      <div class="inline">
        <label class="inline">
          from{' '}
          <input
            placeholder="anywhere"
            value={text(filter.startPoint)}
            onChange={(event) => set('startPoint', event.currentTarget.value.trim())}
          />
        </label>
        <label class="inline">
          to{' '}
          <input
            placeholder="anywhere"
            value={text(filter.endPoint)}
            onChange={(event) => set('endPoint', event.currentTarget.value.trim())}
          />
        </label>
        <span>in at most</span>
        <NumberField
          label="Steps of a path"
          value={filter.stepLimit ?? 5}
          from={2}
          most={20}
          onChange={(value) => set('stepLimit', value)}
        />
        <span>steps</span>
      </div>
    </Section>
  )
}

interface Part {
  readonly property: string
  readonly type: string
}
const mostParts = 3

function Breakdown({ query, onChange }: Props) {
  const filter = objectIn(query, 'breakdownFilter')
  const single = typeof filter.breakdown === 'string' ? [{ property: filter.breakdown, type: text(filter.breakdown_type) || 'event' }] : []
  const parts = Array.isArray(filter.breakdowns) ? listIn<Part>(filter, 'breakdowns') : single
  const most = query.kind === 'TrendsQuery' ? mostParts : 1
  const set = (next: readonly Part[]) => {
    const complete = next.filter(({ property }) => property !== '')
    if (complete.length === 0) return onChange(withField(query, 'breakdownFilter', next.length > 0 ? { breakdowns: next } : undefined))
    const [first] = complete
    if (complete.length === 1 && next.length === 1)
      onChange({ ...query, breakdownFilter: { breakdown: first!.property, breakdown_type: first!.type } })
    else onChange({ ...query, breakdownFilter: { breakdowns: next } })
  }
  return (
    <Section title="Broken down by">
      {parts.map((part, i) => (
        <BreakdownRow
          key={i}
          part={part}
          onChange={(changed) => set(parts.map((one, at) => (at === i ? changed : one)))}
          onRemove={() => set(parts.filter((_, at) => at !== i))}
        />
      ))}
      {parts.length < most && <NewBreakdown onAdd={(part) => set([...parts, part])} />}
    </Section>
  )
}

function BreakdownRow({ part, onChange, onRemove }: { part: Part; onChange: (part: Part) => void; onRemove: () => void }) {
  const names = usePropertyNames(part.type === 'person' ? 'person' : 'event')
  return (
    <div class="filter-row">
      <Suggesting
        label="Property of the breakdown"
        value={part.property}
        suggestions={names}
        onChange={(property) => (property === '' ? onRemove() : onChange({ ...part, property }))}
      />
      <Select label="Whose property" value={part.type} options={breakdownTypes} onChange={(type) => onChange({ ...part, type })} />
      <button type="button" class="plain" aria-label={`Remove the breakdown by ${part.property}`} onClick={onRemove}>
        ✕
      </button>
    </div>
  )
}

function NewBreakdown({ onAdd }: { onAdd: (part: Part) => void }) {
  const names = usePropertyNames('event')
  return (
    <Suggesting
      label="Break down by a property"
      placeholder="Property"
      value=""
      suggestions={names}
      onChange={(property) => property !== '' && onAdd({ property, type: 'event' })}
    />
  )
}

/** Above the chart: which time, in which pieces, compared with what, drawn how. */
export function Toolbar({ query, onChange }: Props) {
  const { timezone } = useProject()
  const range = objectIn(query, 'dateRange')
  const isCustom = typeof range.date_to === 'string' || /^\d{4}-/.test(text(range.date_from))
  const value = isCustom ? 'custom' : text(range.date_from) || '-7d'
  const hasInterval =
    ['TrendsQuery', 'StickinessQuery', 'LifecycleQuery'].includes(query.kind) ||
    text(objectIn(query, 'funnelsFilter').funnelVizType) === 'trends'
  const setRange = (from: string) => {
    if (from !== 'custom') return onChange({ ...query, dateRange: { date_from: from } })
    onChange({ ...query, dateRange: { date_from: dayOf(30, timezone), date_to: dayOf(0, timezone) } })
  }
  return (
    <div class="toolbar" role="toolbar" aria-label="How it is shown">
      <Select label="Dates" value={value} options={[...dateRanges, { value: 'custom', label: 'From day to day' }]} onChange={setRange} />
      {isCustom && (
        <>
          <input
            type="date"
            aria-label="First day"
            value={text(range.date_from).slice(0, 10)}
            onChange={(event) =>
              event.currentTarget.value && onChange({ ...query, dateRange: { ...range, date_from: event.currentTarget.value } })
            }
          />
          <input
            type="date"
            aria-label="Last day"
            value={text(range.date_to).slice(0, 10)}
            onChange={(event) =>
              event.currentTarget.value && onChange({ ...query, dateRange: { ...range, date_to: event.currentTarget.value } })
            }
          />
        </>
      )}
      {hasInterval && (
        <Select
          label="Interval"
          value={text(query.interval) || 'day'}
          options={intervals}
          onChange={(interval) => onChange({ ...query, interval })}
        />
      )}
      {query.kind === 'TrendsQuery' && (
        <>
          <Select
            label="Chart"
            value={text(objectIn(query, 'trendsFilter').display) || 'ActionsLineGraph'}
            options={displays}
            onChange={(display) => onChange(within(query, 'trendsFilter', 'display', display))}
          />
          <label class="inline">
            <input
              type="checkbox"
              checked={objectIn(query, 'compareFilter').compare === true}
              onChange={(event) => onChange(withField(query, 'compareFilter', event.currentTarget.checked ? { compare: true } : undefined))}
            />{' '}
            Compare
          </label>
        </>
      )}
      {query.kind === 'FunnelsQuery' && (
        <Select
          label="Shape of the funnel"
          value={text(objectIn(query, 'funnelsFilter').funnelVizType) || 'steps'}
          options={funnelShapes}
          onChange={(shape) => onChange(within(query, 'funnelsFilter', 'funnelVizType', shape))}
        />
      )}
    </div>
  )
}
