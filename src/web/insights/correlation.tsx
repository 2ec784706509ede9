import { useState } from 'preact/hooks'
import { numberText } from '../../service/pictures/format.ts'
import { readableEvent, readableProperty } from '../../service/pictures/readable.ts'
import type { Query } from '../lib/api.ts'
import { useProject } from '../lib/session.ts'
import { useLoaded } from '../lib/use-loaded.ts'
import { AnswerOf } from '../ui/answer-of.tsx'
import { Icon } from '../ui/icon.tsx'
import { Select } from '../ui/parts.tsx'
import { EventNameField } from './event-field.tsx'
import type { Chosen } from './people-of.ts'
import { objectIn } from './query.ts'
import { Scrolling } from './tables.tsx'

// What those did who converted in a funnel, beside those who did not. Asked for when somebody opens it: it reads all that they did.

/** What the answer says of one thing. */
interface OddsRatio {
  readonly event: { readonly event: string; readonly elements: readonly unknown[] }
  readonly success_count: number
  readonly failure_count: number
  readonly odds_ratio: number
  readonly correlation_type: 'success' | 'failure'
  readonly significance: 'strong' | 'weak' | 'none'
}
interface CorrelationAnswer {
  readonly results: {
    readonly events: readonly OddsRatio[]
    readonly skewed: boolean
    readonly success_total: number
    readonly failure_total: number
  }
  readonly hasMore: boolean
}

type Comparison = 'events' | 'properties' | 'event_with_properties'
const comparisons = [
  { value: 'events', label: 'Events' },
  { value: 'properties', label: 'Properties of people' },
  { value: 'event_with_properties', label: 'Properties of an event' },
] as const satisfies readonly { readonly value: Comparison; readonly label: string }[]

/** What a row of the answer names. */
interface Finding {
  readonly event: string | null
  readonly property: string | null
  readonly value: string
}

const divider = '::'

/** `plan::pro`, `upload::format::png`: keys have no divider in them, and the event was chosen. */
function findingOf(name: string, comparison: Comparison, event: string): Finding {
  if (comparison === 'events') return { event: name, property: null, value: '' }
  const rest = comparison === 'properties' ? name : name.slice(event.length + divider.length)
  const at = rest.indexOf(divider)
  return {
    event: comparison === 'properties' ? null : event,
    property: rest.slice(0, at),
    value: rest.slice(at + divider.length),
  }
}

const textOf = ({ event, property, value }: Finding): string =>
  property === null ? readableEvent(event ?? '') : `${readableProperty(property)}: ${value || '(none)'}`

/** Who of the funnel has it, of those who converted or of the others. */
function actorsOf(source: Query, { event, property, value }: Finding, group: unknown, isConverted: boolean): Query {
  const type = event !== null ? 'event' : typeof group === 'number' ? 'group' : 'person'
  const test = value === '' ? { operator: 'is_not_set' } : { operator: 'exact', value: [value] }
  const filter = property === null ? [] : [{ key: property, type, ...(type === 'group' && { group_type_index: group }), ...test }]
  return {
    kind: 'FunnelCorrelationActorsQuery',
    source,
    funnelCorrelationPersonConverted: isConverted,
    ...(event === null
      ? { funnelCorrelationPropertyValues: filter }
      : { funnelCorrelationPersonEntity: { kind: 'EventsNode', event, properties: filter } }),
  }
}

const excludes = {
  events: 'funnelCorrelationExcludeEventNames',
  properties: 'funnelCorrelationExcludeNames',
  event_with_properties: 'funnelCorrelationEventExcludePropertyNames',
} as const satisfies Record<Comparison, string>

const certain: Readonly<Record<OddsRatio['significance'], string>> = { strong: 'almost certain', weak: 'likely', none: 'may be chance' }

/** An expression has no people to compare. */
export const canCorrelate = (query: Query): boolean => !objectIn(query, 'funnelsFilter').funnelAggregateByHogQL

export function Correlation({ query, onChoose }: { query: Query; onChoose: (chosen: Chosen) => void }) {
  const [isOpen, setOpen] = useState(false)
  return (
    <details onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>Correlation: what goes with converting</summary>
      {isOpen && <Compared query={query} onChoose={onChoose} />}
    </details>
  )
}

function Compared({ query, onChoose }: { query: Query; onChoose: (chosen: Chosen) => void }) {
  const [comparison, setComparison] = useState<Comparison>('events')
  const [event, setEvent] = useState('')
  const [left, setLeft] = useState<readonly string[]>([])
  const set = (next: Comparison) => {
    setComparison(next)
    setLeft([])
  }
  const source: Query = {
    kind: 'FunnelCorrelationQuery',
    source: { kind: 'FunnelsActorsQuery', source: query },
    funnelCorrelationType: comparison,
    ...(comparison === 'properties' && { funnelCorrelationNames: ['$all'] }),
    ...(comparison === 'event_with_properties' && { funnelCorrelationEventNames: [event] }),
    ...(left.length > 0 && { [excludes[comparison]]: left }),
  }
  return (
    <>
      <div class="inline">
        <Select label="What is compared" value={comparison} options={comparisons} onChange={(next) => set(next as Comparison)} />
        {comparison === 'event_with_properties' && (
          <EventNameField label="Event whose properties are compared" placeholder="Choose an event…" value={event} onChange={setEvent} />
        )}
        {left.map((name) => (
          <span class="chip" key={name}>
            without {comparison === 'events' ? readableEvent(name) : readableProperty(name)}
            <button
              type="button"
              class="plain"
              aria-label={`Compare ${name} again`}
              onClick={() => setLeft(left.filter((one) => one !== name))}
            >
              ✕
            </button>
          </span>
        ))}
      </div>
      {comparison === 'event_with_properties' && event === '' ? (
        <p class="hint">Choose an event to compare its properties.</p>
      ) : (
        <Findings
          source={source}
          query={query}
          comparison={comparison}
          event={event}
          onChoose={onChoose}
          onLeave={(name) => setLeft([...left, name])}
        />
      )}
    </>
  )
}

function Findings({
  source,
  query,
  comparison,
  event: chosen,
  onChoose,
  onLeave,
}: {
  source: Query
  query: Query
  comparison: Comparison
  event: string
  onChoose: (chosen: Chosen) => void
  onLeave: (name: string) => void
}) {
  const { ask } = useProject()
  const loaded = useLoaded((signal) => ask(source, signal), [JSON.stringify(source)])
  const group = query.aggregation_group_type_index
  const row = ({ event, success_count, failure_count, odds_ratio, correlation_type, significance }: OddsRatio) => {
    const found = findingOf(event.event, comparison, chosen)
    const name = textOf(found)
    const isSuccess = correlation_type === 'success'
    const odds = isSuccess ? odds_ratio : 1 / odds_ratio
    // One element of a page cannot be asked for by a filter.
    const hasPeople = event.elements.length === 0
    const people = (count: number, isConverted: boolean) =>
      hasPeople && count > 0 ? (
        <button
          type="button"
          class="plain cell"
          onClick={() =>
            onChoose({
              title: `${name}, ${isConverted ? 'converted' : 'dropped off'}`,
              source: actorsOf(source, found, group, isConverted),
            })
          }
        >
          {numberText(count)}
        </button>
      ) : (
        numberText(count)
      )
    return (
      <tr key={`${event.event} ${JSON.stringify(event.elements)}`}>
        <td title={event.event}>{name}</td>
        <td class={isSuccess ? 'good' : 'bad'}>{`${numberText(odds)} times the odds to ${isSuccess ? 'convert' : 'drop off'}`}</td>
        <td class="number">{people(success_count, true)}</td>
        <td class="number">{people(failure_count, false)}</td>
        <td>{certain[significance]}</td>
        <td>
          <button type="button" class="plain icon" aria-label={`Leave out ${name}`} onClick={() => onLeave(found.property ?? event.event)}>
            <Icon name="cross" />
          </button>
        </td>
      </tr>
    )
  }
  return (
    <AnswerOf loaded={loaded}>
      {(answer) => {
        const { results, hasMore } = answer as unknown as CorrelationAnswer
        return (
          <>
            {results.skewed && (
              <p class="warning">
                {`${numberText(results.success_total)} converted and ${numberText(results.failure_total)} did not: with so few of one kind, what goes with converting says little.`}
              </p>
            )}
            {results.events.length === 0 ? (
              <p class="note">Nothing that was done more often by one kind than by the other.</p>
            ) : (
              <Scrolling label="Correlation">
                <table class="rows">
                  <thead>
                    <tr>
                      <th>{comparison === 'events' ? 'Event' : 'Property'}</th>
                      <th>Those with it have</th>
                      <th class="number">Converted</th>
                      <th class="number">Dropped off</th>
                      <th>It is</th>
                      <th aria-label="Leave out" />
                    </tr>
                  </thead>
                  <tbody>{results.events.map(row)}</tbody>
                </table>
              </Scrolling>
            )}
            {hasMore && <p class="note">The ten that go most with converting and with dropping off. Leave some out to see others.</p>}
          </>
        )
      }}
    </AnswerOf>
  )
}
