import { Fragment } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import type { Answer } from '../lib/api.ts'
import { agoText, momentText, sqlText } from '../lib/format.ts'
import { useEventNames } from '../lib/names.ts'
import type { PageProps } from '../lib/page.ts'
import { linkTo } from '../lib/router.ts'
import { type CurrentProject, useProject } from '../lib/session.ts'
import { Properties } from '../people/properties.tsx'
import { CopyButton, Empty, ErrorBox, PageHead, Suggesting, Working } from '../ui/parts.tsx'

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

async function newest(project: CurrentProject, event: string, person: string, signal: AbortSignal): Promise<readonly LiveEvent[]> {
  const answer: Answer = await project.ask(
    {
      kind: 'EventsQuery',
      select: ['uuid', 'event', 'timestamp', 'distinct_id', 'properties'],
      orderBy: ['timestamp DESC'],
      after: '-30d',
      limit: most,
      ...(event !== '' && { event }),
      ...(person !== '' && { where: [`distinct_id = ${sqlText(person)}`] }),
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

export function Live({ place }: PageProps) {
  const project = useProject()
  const names = useEventNames()
  const [event, setEvent] = useState(place.search.get('event') ?? '')
  const [person, setPerson] = useState(place.search.get('person') ?? '')
  const [events, setEvents] = useState<readonly LiveEvent[] | null>(null)
  const [error, setError] = useState<Error | null>(null)
  const [isPaused, setPaused] = useState(false)
  const [open, setOpen] = useState<string | null>(null)
  const round = useRef(0)

  useEffect(() => {
    const control = new AbortController()
    let timer: ReturnType<typeof setTimeout> | undefined
    const look = async () => {
      try {
        const found = await newest(project, event, person, control.signal)
        round.current++
        setEvents(found)
        setError(null)
      } catch (failure) {
        if (control.signal.aborted) return
        setError(failure as Error)
      }
      if (!control.signal.aborted && !isPaused) timer = setTimeout(look, everyMs)
    }
    if (!isPaused) void look()
    return () => {
      control.abort()
      clearTimeout(timer)
    }
  }, [event, person, isPaused])

  const isFiltered = event !== '' || person !== ''
  return (
    <>
      <PageHead title="Live">
        <button type="button" aria-pressed={isPaused} onClick={() => setPaused(!isPaused)}>
          {isPaused ? 'Go on' : 'Pause'}
        </button>
      </PageHead>
      {error && <ErrorBox error={error} />}
      {events === null && !error && <Working what="Reading events" />}
      {events !== null && (events.length > 0 || isFiltered) && (
        <>
          <div class="filters">
            <Suggesting label="Event" placeholder="Any event" value={event} suggestions={names} onChange={setEvent} />
            <input
              aria-label="Distinct id"
              placeholder="Anyone (distinct id)"
              value={person}
              onChange={(change) => setPerson(change.currentTarget.value.trim())}
            />
          </div>
          {events.length === 0 && <Empty title="No event like this in the last 30 days" />}
          {events.length > 0 && <EventTable events={events} open={open} onOpen={setOpen} />}
        </>
      )}
      {events !== null && events.length === 0 && !isFiltered && <FirstEvent />}
    </>
  )
}

function EventTable({
  events,
  open,
  onOpen,
}: {
  events: readonly LiveEvent[]
  open: string | null
  onOpen: (uuid: string | null) => void
}) {
  const { timezone, link } = useProject()
  return (
    <div class="scroll" tabIndex={0} role="region" aria-label="Events">
      <table class="rows">
        <thead>
          <tr>
            <th>Event</th>
            <th>Person</th>
            <th>Page or screen</th>
            <th>Time</th>
          </tr>
        </thead>
        <tbody>
          {events.map((one) => (
            <Fragment key={one.uuid}>
              <tr>
                <td>
                  <button
                    type="button"
                    class="plain cell"
                    aria-expanded={open === one.uuid}
                    onClick={() => onOpen(open === one.uuid ? null : one.uuid)}
                  >
                    {one.event}
                  </button>
                </td>
                <td class="clip">
                  <a href={linkTo(link('people/by-id'), { distinct_id: one.distinctId })}>{one.distinctId}</a>
                </td>
                <td class="clip">{String(one.properties.$pathname ?? one.properties.$screen_name ?? one.properties.$current_url ?? '')}</td>
                <td title={momentText(one.timestamp, timezone)}>{agoText(one.timestamp)}</td>
              </tr>
              {open === one.uuid && (
                <tr class="detail">
                  <td colSpan={4}>
                    <Properties of={one.properties} />
                  </td>
                </tr>
              )}
            </Fragment>
          ))}
        </tbody>
      </table>
      {events.length === most && <p class="note">The newest {most} of the last 30 days.</p>}
    </div>
  )
}

function FirstEvent() {
  const { api_token } = useProject()
  const origin = new URL('.', document.baseURI).href.replace(/\/$/, '')
  const body = JSON.stringify({ api_key: api_token, event: 'hello', distinct_id: 'me' })
  const curl = `curl ${origin}/capture/ -H 'content-type: application/json' -d '${body}'`
  const browser = `npm install posthog-js

import posthog from 'posthog-js'
posthog.init('${api_token}', { api_host: '${origin}' })`
  const node = `npm install posthog-node

import { PostHog } from 'posthog-node'
const client = new PostHog('${api_token}', { host: '${origin}' })
client.capture({ distinctId: 'me', event: 'hello' })`
  return (
    <Empty title="Waiting for the first event">
      <p>Send one in any of these ways. This page shows it as soon as it has arrived.</p>
      {(
        [
          ['From a terminal', curl],
          ['From a web page', browser],
          ['From a server with Node', node],
        ] as const
      ).map(([title, code]) => (
        <section key={title} class="snippet">
          <header>
            <h3>{title}</h3>
            <CopyButton text={code} />
          </header>
          <pre tabIndex={0}>
            <code>{code}</code>
          </pre>
        </section>
      ))}
      <p>
        Events that exist already: <code>waymark import FILE</code> reads exports, JSON lines, CSV and Parquet.
      </p>
    </Empty>
  )
}
