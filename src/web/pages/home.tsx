import { castOf, templates } from '../dashboards/templates/templates.ts'
import { Day, Weekly } from '../home/day.tsx'
import '../home/home.css'
import { WhatChanged } from '../home/news.tsx'
import { Recent } from '../home/recent.tsx'
import { SetUp } from '../home/set-up.tsx'
import { Starter } from '../home/starter.tsx'
import { useHasNoEvents, useKnownEvents, useProperties } from '../lib/names.ts'
import { useProject, useUser } from '../lib/session.ts'
import { FirstEvent } from '../live/first-event.tsx'
import { PageHead, Working } from '../ui/parts.tsx'

const [saas] = templates

function greeting(timezone: string): string {
  const hour = Number(new Intl.DateTimeFormat('en', { hour: 'numeric', hourCycle: 'h23', timeZone: timezone }).format(new Date()))
  return hour < 5 ? 'Good night' : hour < 12 ? 'Good morning' : hour < 18 ? 'Good afternoon' : 'Good evening'
}
const dateText = (timezone: string): string =>
  new Intl.DateTimeFormat('en', { weekday: 'long', day: 'numeric', month: 'long', timeZone: timezone }).format(new Date())

/** What happened since yesterday, what one looked at last, and what is left to set up. */
export function Home() {
  const { timezone } = useProject()
  const { first_name: name } = useUser()
  const events = useKnownEvents()
  const hasNoEvents = useHasNoEvents()
  const numbers = useProperties('event').filter(({ is_numerical }) => is_numerical)
  return (
    <>
      <PageHead
        title="Home"
        heading={`${greeting(timezone)}${name ? `, ${name}` : ''}`}
        beside={
          <span class="note">
            {dateText(timezone)}, {timezone}
          </span>
        }
      />
      {events === null && <Working what="Reading events" />}
      {hasNoEvents && (
        <div class="home">
          <FirstEvent />
          <aside>
            <SetUp />
          </aside>
        </div>
      )}
      {events !== null && events.length > 0 && (
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
