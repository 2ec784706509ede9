import { useEffect } from 'preact/hooks'
import type { EventDefinitionAnswer } from '../../doors/answers/event-definitions.ts'
import { castOf, templates } from '../dashboards/templates/templates.ts'
import { Day, Weekly } from '../home/day.tsx'
import '../home/home.css'
import { WhatChanged } from '../home/news.tsx'
import { Recent } from '../home/recent.tsx'
import { SetUp } from '../home/set-up.tsx'
import { Starter } from '../home/starter.tsx'
import { get, type Page } from '../lib/api.ts'
import { dateText, numberText } from '../lib/format.ts'
import { useProperties } from '../lib/names.ts'
import { linkTo } from '../lib/router.ts'
import { useProject, useUser } from '../lib/session.ts'
import { useLoaded } from '../lib/use-loaded.ts'
import { FirstEvent } from '../live/first-event.tsx'
import { online } from '../live/online.ts'
import { ErrorBox, PageHead, Working } from '../ui/parts.tsx'

const [saas] = templates
const mostEvents = 500
/** For the first event. */
const lookEveryMs = 3000

function greeting(timezone: string): string {
  const hour = Number(dateText(new Date(), 'hour', timezone))
  return hour < 5 ? 'Good night' : hour < 12 ? 'Good morning' : hour < 18 ? 'Good afternoon' : 'Good evening'
}

function HereNow() {
  const { ask, link } = useProject()
  const { value } = useLoaded((signal) => ask(online, signal), [])
  const people = (value?.results as readonly (readonly number[])[] | undefined)?.[0]?.[0] ?? 0
  if (people === 0) return null
  return (
    <a class="live-now" href={linkTo(link('live'))}>
      {numberText(people)} {people === 1 ? 'person' : 'people'} here now
    </a>
  )
}

/** What happened since yesterday, what one looked at last, and what is left to set up. */
export function Home() {
  const { api, timezone } = useProject()
  const { first_name: name } = useUser()
  const { value, error, reload } = useLoaded(
    (signal) => get<Page<EventDefinitionAnswer>>(api(`event_definitions/?limit=${mostEvents}`), signal),
    [],
  )
  const events = value?.results
  const hasNoEvents = events?.length === 0
  useEffect(() => {
    if (!hasNoEvents || error) return
    const timer = setTimeout(reload, lookEveryMs)
    return () => clearTimeout(timer)
  }, [value, error])
  const numbers = useProperties('event').filter(({ is_numerical }) => is_numerical)
  return (
    <>
      <PageHead
        title="Home"
        heading={`${greeting(timezone)}${name ? `, ${name}` : ''}`}
        beside={
          <span class="note">
            {dateText(new Date(), 'today', timezone)}, {timezone}
          </span>
        }
      >
        <HereNow />
      </PageHead>
      {error && <ErrorBox error={error} retry={reload} />}
      {!events && !error && <Working what="Reading events" />}
      {hasNoEvents && (
        <div class="home">
          <FirstEvent />
          <aside>
            <SetUp />
          </aside>
        </div>
      )}
      {events && events.length > 0 && (
        <>
          <Day cast={castOf(saas!, events, numbers)} />
          <div class="home">
            <div>
              <Weekly cast={castOf(saas!, events, numbers)} />
              <Recent />
            </div>
            <aside>
              <Starter events={events} />
              <SetUp />
              <WhatChanged events={events} />
            </aside>
          </div>
        </>
      )}
    </>
  )
}
