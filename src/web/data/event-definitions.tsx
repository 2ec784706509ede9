import { useState } from 'preact/hooks'
import type { EventDefinitionAnswer } from '../../doors/answers/event-definitions.ts'
import { patch } from '../lib/api.ts'
import { agoText, momentText, numberText } from '../lib/format.ts'
import { linkTo, type Place } from '../lib/router.ts'
import { useProject } from '../lib/session.ts'
import { parameters, useAddress } from '../lib/use-address.ts'
import { ForMembers } from '../ui/for-members.tsx'
import { ListTable, Search, UnfoldButton, UnfoldingRow, useList } from '../ui/list-table.tsx'
import { Empty, Select } from '../ui/parts.tsx'
import { EventName } from './event-name.tsx'
import { Marks, type Notes, NotesForm } from './notes.tsx'

const kinds = [
  { value: '', label: 'All events' },
  { value: 'event_custom', label: 'Of the product' },
  { value: 'event_posthog', label: 'Of client libraries ($)' },
]
const orders = [
  { value: '', label: 'Most frequent first' },
  { value: '-last_seen_at', label: 'Last seen first' },
  { value: 'name', label: 'By name' },
]

/** The names of events that have been seen, and what somebody wrote about them. */
export function EventDefinitions({ place }: { place: Place }) {
  const { api, timezone, link } = useProject()
  const { of, set } = useAddress(place)
  const [open, setOpen] = useState<string | null>(null)
  const [search, type, ordering] = [of('search'), of('type'), of('order')]
  const list = useList<EventDefinitionAnswer>(api(`event_definitions/?${parameters({ search, event_type: type, ordering, limit: 50 })}`))
  const save = async (id: string, notes: Notes) => {
    await patch(api(`event_definitions/${id}/`), notes)
    setOpen(null)
    list.reload()
  }
  const isFiltered = search !== '' || type !== ''
  return (
    <>
      <div class="filters">
        <Search label="Search events" placeholder="Name" value={search} onChange={(text) => set({ search: text })} />
        <Select label="Which events" value={type} options={kinds} onChange={(next) => set({ type: next })} />
        <Select label="Order" value={ordering} options={orders} onChange={(next) => set({ order: next })} />
      </div>
      <ListTable
        list={list}
        what="events"
        head={[
          { title: 'Event', by: ({ name }) => name },
          { title: 'Count', by: ({ count }) => count, isNumber: true },
          { title: 'Last seen', by: ({ last_seen_at }) => last_seen_at },
          { title: 'First seen', by: ({ created_at }) => created_at },
          null,
        ]}
        empty={
          isFiltered ? (
            <Empty title="No event like this">
              <p>Search for something shorter, or choose all events.</p>
            </Empty>
          ) : (
            <Empty title="No event yet">
              <p>
                <a href={linkTo(link('live'))}>How to send the first one</a>, or <a href={linkTo(link('import'))}>import a file</a>
              </p>
            </Empty>
          )
        }
        row={(one) => (
          <UnfoldingRow key={one.id} columns={5} detail={open === one.id && <NotesForm of={one} save={(notes) => save(one.id, notes)} />}>
            <td class="wrap">
              <a href={linkTo(link('live'), { event: one.name })}>
                <EventName of={one.name} isWhole />
              </a>{' '}
              <Marks of={one} />
              {one.description !== '' && <div class="note">{one.description}</div>}
            </td>
            <td class="number">{numberText(one.count)}</td>
            <td class="when" title={momentText(one.last_seen_at, timezone)}>
              {one.last_seen_at ? agoText(one.last_seen_at) : '–'}
            </td>
            <td class="when">{momentText(one.created_at, timezone)}</td>
            <td class="number">
              <ForMembers>
                <UnfoldButton isOpen={open === one.id} label={`Edit ${one.name}`} onToggle={() => setOpen(open === one.id ? null : one.id)}>
                  Edit
                </UnfoldButton>
              </ForMembers>
            </td>
          </UnfoldingRow>
        )}
      />
    </>
  )
}
