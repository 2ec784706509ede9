import { useState } from 'preact/hooks'
import type { EventAnswer } from '../../doors/answers/events.ts'
import { EventName } from '../data/event-name.tsx'
import { EventNameField } from '../insights/event-field.tsx'
import { dateText } from '../lib/format.ts'
import type { Place } from '../lib/router.ts'
import { useProject } from '../lib/session.ts'
import { parameters, useAddress } from '../lib/use-address.ts'
import { ListState, UnfoldButton, useList } from '../ui/list-table.tsx'
import { Properties } from './properties.tsx'

const dayIn = (timezone: string) => (moment: string) => dateText(moment, 'whole', timezone)
const timeIn = (timezone: string) => (moment: string) => dateText(moment, 'time', timezone)

const summaryOf = ({ $pathname, $screen_name, $current_url }: EventAnswer['properties']): string =>
  String($pathname ?? $screen_name ?? $current_url ?? '')

/** What happened, the newest first. `whose`: as parameters of the list of events. The address has the event to which it is limited. */
export function Timeline({ place, whose, withIds = false }: { place: Place; whose: Readonly<Record<string, string>>; withIds?: boolean }) {
  const { api, timezone } = useProject()
  const { of, set } = useAddress(place)
  const event = of('event')
  const [open, setOpen] = useState<ReadonlySet<string>>(new Set())
  const list = useList<EventAnswer>(api(`events/?${parameters({ ...whose, event, limit: 50 })}`))

  const day = dayIn(timezone)
  const time = timeIn(timezone)
  const toggle = (uuid: string) => {
    const changed = new Set(open)
    if (!changed.delete(uuid)) changed.add(uuid)
    setOpen(changed)
  }
  return (
    <section aria-label="Events" aria-busy={list.isLoading}>
      <div class="head-row">
        <h2>Events</h2>
        <EventNameField label="Only this event" all="Any event" value={event} onChange={(name) => set({ event: name })} />
      </div>
      <ListState list={list} what="events" empty={event === '' ? 'No events.' : 'No events of this name.'}>
        {(events) =>
          daysOf(events, day).map(({ title, items }) => (
            <section key={title}>
              <h3 class="day">{title}</h3>
              <ul class="timeline">
                {items.map((one) => (
                  <li key={one.uuid}>
                    <div class="moment">
                      <time dateTime={one.timestamp}>{time(one.timestamp)}</time>
                      <UnfoldButton isOpen={open.has(one.uuid)} onToggle={() => toggle(one.uuid)}>
                        <EventName of={one.event} />
                      </UnfoldButton>
                      <span class="note wrap">
                        {[summaryOf(one.properties), withIds ? one.distinct_id : ''].filter(Boolean).join(' · ')}
                      </span>
                    </div>
                    {open.has(one.uuid) && <Properties of={one.properties} />}
                  </li>
                ))}
              </ul>
            </section>
          ))
        }
      </ListState>
    </section>
  )
}

function daysOf(events: readonly EventAnswer[], day: (moment: string) => string) {
  const days: { title: string; items: EventAnswer[] }[] = []
  for (const one of events) {
    const title = day(one.timestamp)
    if (days.at(-1)?.title !== title) days.push({ title, items: [] })
    days.at(-1)!.items.push(one)
  }
  return days
}
