import { useState } from 'preact/hooks'
import type { Query } from '../lib/api.ts'
import { type EventChoice, useEventChoices } from '../lib/named-choices.ts'
import { useGroupTypes } from '../lib/names.ts'
import { At } from '../ui/field-errors.tsx'
import { NumberField } from '../ui/number-field.tsx'
import { DraftField, Select } from '../ui/parts.tsx'
import { Picker } from '../ui/picker.tsx'
import {
  attributions,
  funnelOrders,
  pathTypes,
  periods,
  references,
  retentionTypes,
  statuses,
  stickinessSums,
  windowUnits,
} from './choices.ts'
import { EventField, EventNameField } from './event-field.tsx'
import { listIn, objectIn, type SeriesNode, textIn, textsIn, withField, within } from './query.ts'
import { Section } from './section.tsx'
import { Series } from './series.tsx'

// What only one kind of insight has.

interface Props {
  readonly query: Query
  onChange(query: Query): void
}

/** People, or groups of one type. */
function ActorField({ query, onChange, isOfFunnel = false }: Props & { isOfFunnel?: boolean }) {
  const groups = useGroupTypes()
  if (groups.length === 0) return isOfFunnel ? <span>counting people</span> : null
  const value = query.aggregation_group_type_index
  return (
    <At of="aggregation_group_type_index">
      <Select
        label="Who is counted"
        value={value == null ? '' : String(value)}
        options={[
          { value: '', label: 'counting people' },
          ...groups.map(({ group_type, group_type_index, name_plural }) => ({
            value: String(group_type_index),
            label: `counting ${name_plural || `groups: ${group_type}`}`,
          })),
        ]}
        onChange={(index) => onChange(withField(query, 'aggregation_group_type_index', index === '' ? undefined : Number(index)))}
      />
    </At>
  )
}

export function FunnelParts({ query, onChange }: Props) {
  const filter = objectIn(query, 'funnelsFilter')
  const set = (name: string, value: unknown) => onChange(within(query, 'funnelsFilter', name, value))
  const hasBreakdown = query.breakdownFilter != null && filter.funnelVizType !== 'time_to_convert'
  return (
    <>
      <Section title="Steps">
        <Series
          series={listIn<SeriesNode>(query, 'series')}
          onChange={(series) => onChange({ ...query, series })}
          most={20}
          least={2}
          marks="numbers"
          addLabel="Add a step"
        />
        <Exclusions query={query} onChange={onChange} />
      </Section>
      <Section title="How">
        <div class="sentence">
          <At of="funnelsFilter.funnelOrderType">
            <Select
              label="Order of the steps"
              value={textIn(filter, 'funnelOrderType') || 'ordered'}
              options={funnelOrders}
              onChange={(value) => set('funnelOrderType', value)}
            />
          </At>
          <span>within</span>
          <At of="funnelsFilter.funnelWindowInterval">
            <NumberField
              label="Time to convert"
              value={filter.funnelWindowInterval ?? 14}
              from={1}
              most={3650}
              onChange={(value) => set('funnelWindowInterval', value)}
            />
          </At>
          <At of="funnelsFilter.funnelWindowIntervalUnit">
            <Select
              label="Unit of the time to convert"
              value={textIn(filter, 'funnelWindowIntervalUnit') || 'day'}
              options={windowUnits}
              onChange={(value) => set('funnelWindowIntervalUnit', value)}
            />
          </At>
          <ActorField query={query} onChange={onChange} isOfFunnel />
          {hasBreakdown && (
            <>
              <span>split by the value at</span>
              <At of="funnelsFilter.breakdownAttributionType">
                <Select
                  label="Step of the breakdown"
                  value={textIn(filter, 'breakdownAttributionType') || 'first_touch'}
                  options={attributions}
                  onChange={(value) => set('breakdownAttributionType', value)}
                />
              </At>
            </>
          )}
        </div>
      </Section>
    </>
  )
}

interface Exclusion extends SeriesNode {
  readonly funnelFromStep: number
  readonly funnelToStep: number
}

/** Events that end a funnel between two steps. */
function Exclusions({ query, onChange }: Props) {
  const last = listIn<SeriesNode>(query, 'series').length - 1
  const exclusions = listIn<Exclusion>(objectIn(query, 'funnelsFilter'), 'exclusions')
  const set = (next: readonly Exclusion[]) => onChange(within(query, 'funnelsFilter', 'exclusions', next.length > 0 ? next : undefined))
  const steps = (from: number, to: number) =>
    Array.from({ length: Math.max(0, to - from + 1) }, (_, i) => ({ value: String(from + i), label: `step ${from + i + 1}` }))
  return (
    <>
      {exclusions.map((one, i) => (
        <At of={`funnelsFilter.exclusions.${i}`} key={i}>
          <div class="sentence">
            <span>without</span>
            <EventNameField
              label={`Excluded event ${i + 1}`}
              value={one.event ?? ''}
              all=""
              onChange={(event) => set(exclusions.with(i, { ...one, event, name: event }))}
            />
            <Select
              label={`From which step event ${i + 1} is excluded`}
              value={String(one.funnelFromStep)}
              options={steps(0, one.funnelToStep - 1)}
              onChange={(step) => set(exclusions.with(i, { ...one, funnelFromStep: Number(step) }))}
            />
            <span>to</span>
            <Select
              label={`To which step event ${i + 1} is excluded`}
              value={String(one.funnelToStep)}
              options={steps(one.funnelFromStep + 1, last)}
              onChange={(step) => set(exclusions.with(i, { ...one, funnelToStep: Number(step) }))}
            />
            <button
              type="button"
              class="plain"
              aria-label={`Remove the excluded event ${i + 1}`}
              onClick={() => set(exclusions.toSpliced(i, 1))}
            >
              ✕
            </button>
          </div>
        </At>
      ))}
      <EventNameField
        label="Exclude an event"
        placeholder="Exclude an event…"
        value=""
        all=""
        onChange={(event) => set([...exclusions, { kind: 'EventsNode', event, name: event, funnelFromStep: 0, funnelToStep: last }])}
      />
    </>
  )
}

const entityOf = (choice: EventChoice) =>
  choice === null
    ? { id: null, name: 'All events', type: 'events' }
    : 'action' in choice
      ? { id: choice.action, name: choice.name, type: 'actions' }
      : { id: choice.event, name: choice.event, type: 'events' }
const choiceOf = (entity: Readonly<Record<string, unknown>>): EventChoice =>
  entity.type === 'actions'
    ? { action: Number(entity.id), name: textIn(entity, 'name') }
    : entity.id == null
      ? null
      : { event: String(entity.id) }
const units: Readonly<Record<string, string>> = { Hour: 'h', Day: 'd', Week: 'w', Month: 'm' }

export function RetentionParts({ query, onChange }: Props) {
  const filter = objectIn(query, 'retentionFilter')
  const set = (name: string, value: unknown) => onChange(within(query, 'retentionFilter', name, value))
  const entity = (name: string) => objectIn({ kind: '', entity: filter[name] }, 'entity')
  const period = textIn(filter, 'period') || 'Day'
  const total = Number(filter.totalIntervals ?? 11)
  const range = (of: string, count: number) =>
    onChange({
      ...query,
      dateRange: { date_from: `-${count}${units[of] ?? 'd'}` },
      retentionFilter: { ...filter, period: of, totalIntervals: count },
    })
  return (
    <Section title="Who comes back">
      <div class="sentence">
        <span>Who did</span>
        <At of="retentionFilter.targetEntity">
          <span class="with-comma">
            <EventField
              label="Event of the start"
              value={choiceOf(entity('targetEntity'))}
              onChange={(choice) => set('targetEntity', entityOf(choice))}
            />
          </span>
        </At>
        <At of="retentionFilter.retentionType">
          <span class="with-comma">
            <Select
              label="Which time counts"
              value={textIn(filter, 'retentionType') || 'retention_recurring'}
              options={retentionTypes}
              onChange={(value) => set('retentionType', value)}
            />
          </span>
        </At>
        <span>and later</span>
        <At of="retentionFilter.returningEntity">
          <EventField
            label="Event of the return"
            value={choiceOf(entity('returningEntity'))}
            onChange={(choice) => set('returningEntity', entityOf(choice))}
          />
        </At>
        <span>over</span>
        <At of="retentionFilter.totalIntervals">
          <NumberField label="How many periods" value={total} from={2} most={31} onChange={(count) => range(period, count)} />
        </At>
        <At of="retentionFilter.period">
          <span class="with-comma">
            <Select label="Period" value={period} options={periods} onChange={(of) => range(of, total)} />
          </span>
        </At>
        <span>as a share</span>
        <Select
          label="Share of whom"
          value={textIn(filter, 'retentionReference') || 'total'}
          options={references}
          onChange={(value) => set('retentionReference', value === 'total' ? undefined : value)}
        />
        <ActorField query={query} onChange={onChange} />
      </div>
      <label class="inline quiet">
        <input
          type="checkbox"
          checked={filter.cumulative === true}
          onChange={(event) => set('cumulative', event.currentTarget.checked || undefined)}
        />
        On or after
      </label>
    </Section>
  )
}

const isNamed = (name: string) => pathTypes.some(({ value }) => value === name)

export function PathParts({ query, onChange }: Props) {
  const filter = objectIn(query, 'pathsFilter')
  const set = (name: string, value: unknown) => onChange(within(query, 'pathsFilter', name, value === '' ? undefined : value))
  const setList = (name: string, list: readonly string[]) => set(name, list.length > 0 ? list : undefined)
  const types = textsIn(filter, 'includeEventTypes')
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
          />
          {label}
        </label>
      ))}
      <TextList
        label="Event of the paths"
        placeholder="Add an event…"
        values={types.filter((name) => !isNamed(name))}
        hasEvents
        onChange={(list) => set('includeEventTypes', [...types.filter(isNamed), ...list])}
      />
      <div class="sentence">
        <span>from</span>
        <At of="pathsFilter.startPoint">
          <DraftField
            label="Start of the paths"
            placeholder="anywhere"
            value={textIn(filter, 'startPoint')}
            onChange={(text) => set('startPoint', text.trim())}
          />
        </At>
        <span>to</span>
        <At of="pathsFilter.endPoint">
          <span class="with-comma">
            <DraftField
              label="End of the paths"
              placeholder="anywhere"
              value={textIn(filter, 'endPoint')}
              onChange={(text) => set('endPoint', text.trim())}
            />
          </span>
        </At>
        <span>at most</span>
        <At of="pathsFilter.stepLimit">
          <NumberField
            label="Steps of a path"
            value={filter.stepLimit ?? 5}
            from={2}
            most={20}
            onChange={(value) => set('stepLimit', value)}
          />
        </At>
        <span>steps,</span>
        <At of="pathsFilter.edgeLimit">
          <NumberField
            label="How many edges"
            value={filter.edgeLimit ?? 50}
            from={1}
            most={500}
            onChange={(value) => set('edgeLimit', value)}
          />
        </At>
        <span>edges</span>
      </div>
      <At of="pathsFilter.excludeEvents">
        <TextList
          label="Left out"
          placeholder="Leave out an event or page…"
          values={textsIn(filter, 'excludeEvents')}
          hasEvents
          onChange={(list) => setList('excludeEvents', list)}
        />
      </At>
      <At of="pathsFilter.pathGroupings">
        <TextList
          label="Taken together"
          placeholder="Group pages: /products/*"
          values={textsIn(filter, 'pathGroupings')}
          onChange={(list) => setList('pathGroupings', list)}
        />
      </At>
    </Section>
  )
}

function TextList({
  label,
  placeholder,
  values,
  hasEvents = false,
  onChange,
}: {
  label: string
  placeholder: string
  values: readonly string[]
  /** Names of events are offered. */
  hasEvents?: boolean
  onChange: (values: readonly string[]) => void
}) {
  const [typed, setTyped] = useState('')
  const { choices, isReading } = useEventChoices(typed, {})
  const add = (text: string) => {
    if (!values.includes(text)) onChange([...values, text])
  }
  return (
    <div class="inline">
      {values.map((one) => (
        <span class="chip" key={one}>
          {one}
          <button
            type="button"
            class="plain"
            aria-label={`Remove ${one}`}
            onClick={() => onChange(values.filter((other) => other !== one))}
          >
            ✕
          </button>
        </span>
      ))}
      <Picker
        label={label}
        placeholder={placeholder}
        text=""
        choices={hasEvents ? choices : []}
        isReading={hasEvents && isReading}
        isMany
        typed={{ take: add, place: 'last' }}
        onTyping={setTyped}
        onChoose={(choice) => choice !== null && 'event' in choice && add(choice.event)}
      />
    </div>
  )
}

export function StickinessParts({ query, onChange }: Props) {
  const filter = objectIn(query, 'stickinessFilter')
  return (
    <div class="sentence">
      <span>people active on</span>
      <At of="stickinessFilter.computedAs">
        <Select
          label="How the intervals are counted"
          value={textIn(filter, 'computedAs') || 'non_cumulative'}
          options={stickinessSums}
          onChange={(value) => onChange(within(query, 'stickinessFilter', 'computedAs', value))}
        />
      </At>
      <span>that many intervals</span>
      <ActorField query={query} onChange={onChange} />
    </div>
  )
}

export function LifecycleParts({ query, onChange }: Props) {
  const filter = objectIn(query, 'lifecycleFilter')
  const all = statuses.map(({ value }) => value)
  const shown = Array.isArray(filter.toggledLifecycles) ? textsIn(filter, 'toggledLifecycles') : all
  const set = (status: string, isShown: boolean) => {
    const next = all.filter((one) => (one === status ? isShown : shown.includes(one)))
    onChange(within(query, 'lifecycleFilter', 'toggledLifecycles', next.length === all.length ? undefined : next))
  }
  return (
    <div class="inline">
      {statuses.map(({ value, label }) => (
        <label class="inline" key={value}>
          <input
            type="checkbox"
            checked={shown.includes(value)}
            disabled={shown.length === 1 && shown.includes(value)}
            onChange={(event) => set(value, event.currentTarget.checked)}
          />
          {label}
        </label>
      ))}
      <ActorField query={query} onChange={onChange} />
    </div>
  )
}
