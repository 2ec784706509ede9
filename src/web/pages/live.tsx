import type { FunctionComponent } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { EventName } from '../data/event-name.tsx'
import { EventNameField } from '../insights/event-field.tsx'
import { Filters } from '../insights/filters.tsx'
import type { Filter } from '../insights/query.ts'
import type { Answer } from '../lib/api.ts'
import { agoText, momentText, sqlText } from '../lib/format.ts'
import { useEventNames } from '../lib/names.ts'
import type { PageProps } from '../lib/page.ts'
import { linkTo } from '../lib/router.ts'
import { type CurrentProject, useProject } from '../lib/session.ts'
import { filtersOf, useAddress } from '../lib/use-address.ts'
import { usePosition } from '../lib/use-position.ts'
import { FirstEvent } from '../live/first-event.tsx'
import { Properties } from '../people/properties.tsx'
import { Scroll, UnfoldButton, UnfoldingRow } from '../ui/list-table.tsx'
import { Origin } from '../ui/origin.tsx'
import { DraftField, Empty, ErrorBox, PageHead, Working } from '../ui/parts.tsx'

// Events as they come in: the newest first, asked for again while the page is open.

const everyMs = 2000
const most = 100

interface LiveEvent {
  readonly uuid: string
  readonly event: string
  readonly timestamp: string
  readonly distinctId: string
  readonly properties: Readonly<Record<string, unknown>>
}
interface Wanted {
  readonly event: string
  readonly person: string
  readonly properties: readonly Filter[]
}

async function newest(project: CurrentProject, wanted: Wanted, signal: AbortSignal): Promise<readonly LiveEvent[]> {
  const { event, person, properties } = wanted
  const answer: Answer = await project.ask(
    {
      kind: 'EventsQuery',
      select: ['uuid', 'event', 'timestamp', 'distinct_id', 'properties'],
      orderBy: ['timestamp DESC'],
      after: '-30d',
      limit: most,
      ...(event !== '' && { event }),
      ...(person !== '' && { where: [`distinct_id = ${sqlText(person)}`] }),
      ...(properties.length > 0 && { properties }),
    },
    signal,
    'force_blocking',
  )
  return (answer.results as readonly (readonly unknown[])[]).map(([uuid, name, timestamp, distinctId, properties]) => ({
    uuid: String(uuid),
    event: String(name),
    timestamp: String(timestamp),
    distinctId: String(distinctId),
    properties: typeof properties === 'string' ? JSON.parse(properties) : (properties as Record<string, unknown>),
  }))
}

/** Asks again and again. The events are those of the last answer; `isOf` tells whether it was to the filters that are chosen now. */
function useNewest(wanted: Wanted, isPaused: boolean) {
  const project = useProject()
  const question = JSON.stringify(wanted)
  const [found, setFound] = useState<{ readonly question: string; readonly events: readonly LiveEvent[] } | null>(null)
  const [error, setError] = useState<Error | null>(null)
  const [round, setRound] = useState(0)
  useEffect(() => {
    const control = new AbortController()
    let timer: ReturnType<typeof setTimeout> | undefined
    const look = async () => {
      try {
        const events = await newest(project, wanted, control.signal)
        setFound({ question, events })
        setError(null)
      } catch (failure) {
        if (control.signal.aborted) return
        setError(failure as Error)
      }
      if (!control.signal.aborted && !isPaused) timer = setTimeout(look, everyMs)
    }
    if (!isPaused || found?.question !== question) void look()
    return () => {
      control.abort()
      clearTimeout(timer)
    }
  }, [question, isPaused, round])
  return { events: found?.events ?? null, isOf: found?.question === question, error, retry: () => setRound(round + 1) }
}

export function Live({ place }: PageProps) {
  const { link } = useProject()
  const names = useEventNames()
  const { of, set } = useAddress(place)
  const wanted: Wanted = { event: of('event'), person: of('person'), properties: filtersOf<Filter>(of('properties')) }
  const [isPaused, setPaused] = useState(false)
  const [open, setOpen] = useState<string | null>(null)
  const { events, isOf, error, retry } = useNewest(wanted, isPaused)

  const position = usePosition(!isPaused, () => false)

  const isFiltered = wanted.event !== '' || wanted.person !== '' || wanted.properties.length > 0
  const isEmpty = isOf && events?.length === 0
  if (isEmpty && !isFiltered && names.length === 0)
    return (
      <>
        <PageHead title="Live" />
        {error && <ErrorBox error={error} retry={retry} />}
        <FirstEvent />
      </>
    )
  return (
    <>
      <PageHead title="Live">
        {isPaused && <span class="note">Paused: newer events are not shown.</span>}
        <button type="button" aria-pressed={isPaused} onClick={() => setPaused(!isPaused)}>
          {isPaused ? 'Resume' : 'Pause'}
        </button>
      </PageHead>
      <div class="filters">
        <EventNameField label="Event" all="Any event" value={wanted.event} onChange={(event) => set({ event })} />
        <DraftField
          label="Distinct id"
          placeholder="Anyone (distinct id)"
          value={wanted.person}
          onChange={(text) => set({ person: text.trim() })}
        />
        <Filters
          filters={wanted.properties}
          onChange={(filters) => set({ properties: filters.length > 0 ? JSON.stringify(filters) : '' })}
        />
      </div>
      {events !== null && <NowLater position={position} />}
      {error && <ErrorBox error={error} retry={retry} />}
      {events === null && !error && <Working what="Reading events" />}
      {isEmpty && (
        <Empty title={isFiltered ? 'No event like this in the last 30 days' : 'No event in the last 30 days'}>
          <p>
            {isFiltered ? (
              'It is shown here as soon as one arrives. Or change the filters above.'
            ) : (
              <>
                New ones are shown here as soon as they arrive. Older ones are in <a href={linkTo(link('insights'))}>insights</a> and{' '}
                <a href={linkTo(link('data/events'))}>data</a>.
              </>
            )}
          </p>
        </Empty>
      )}
      {events !== null && events.length > 0 && <EventTable events={events} isBusy={!isOf && !error} open={open} onOpen={setOpen} />}
    </>
  )
}

/** The events come first; what is above them, with its charts, a moment later. */
const laterMs = 300
function NowLater({ position }: { position: number | null }) {
  const [Now, setNow] = useState<FunctionComponent<{ position: number | null }> | null>(null)
  useEffect(() => {
    const load = () => import('../live/now.tsx').then((module) => setNow(() => module.Now))
    const timer = setTimeout(() => void load().catch(() => undefined), laterMs)
    return () => clearTimeout(timer)
  }, [])
  return Now && <Now position={position} />
}

function EventTable({
  events,
  isBusy,
  open,
  onOpen,
}: {
  events: readonly LiveEvent[]
  isBusy: boolean
  open: string | null
  onOpen: (uuid: string | null) => void
}) {
  const { timezone, link } = useProject()
  return (
    <>
      <Scroll label="Events">
        <table class="rows" aria-busy={isBusy}>
          <thead>
            <tr>
              <th>Event</th>
              <th>Person</th>
              <th class="wide-only">Page or screen</th>
              <th>Time</th>
            </tr>
          </thead>
          <tbody>
            {events.map((one) => (
              <UnfoldingRow key={one.uuid} columns={4} detail={open === one.uuid && <Properties of={one.properties} />}>
                <td>
                  <UnfoldButton isOpen={open === one.uuid} onToggle={() => onOpen(open === one.uuid ? null : one.uuid)}>
                    <EventName of={one.event} />
                  </UnfoldButton>
                </td>
                <td class="clip">
                  <Origin of={one.properties} />
                  <a href={linkTo(link('people/by-id'), { distinct_id: one.distinctId })}>{one.distinctId}</a>
                </td>
                <td class="clip wide-only">
                  {String(one.properties.$pathname ?? one.properties.$screen_name ?? one.properties.$current_url ?? '')}
                </td>
                <td class="when" title={momentText(one.timestamp, timezone)}>
                  {agoText(one.timestamp)}
                </td>
              </UnfoldingRow>
            ))}
          </tbody>
        </table>
      </Scroll>
      {events.length === most && <p class="note">The newest {most} of the last 30 days.</p>}
    </>
  )
}
