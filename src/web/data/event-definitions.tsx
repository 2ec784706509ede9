import { Fragment } from 'preact'
import { useState } from 'preact/hooks'
import { get, type Page, patch } from '../lib/api.ts'
import { agoText, momentText, numberText } from '../lib/format.ts'
import { linkTo, type Place } from '../lib/router.ts'
import { useProject } from '../lib/session.ts'
import { parameters, useAddress } from '../lib/use-address.ts'
import { useLoaded } from '../lib/use-loaded.ts'
import { Pager, Scroll, Search } from '../ui/lists.tsx'
import { Empty, ErrorBox, Select, Working } from '../ui/parts.tsx'
import { Marks, type Notes, NotesForm } from './notes.tsx'

const pageSize = 50

interface EventDefinition extends Notes {
  readonly id: string
  readonly name: string
  readonly count: number
  readonly created_at: string | null
  readonly last_seen_at: string | null
}

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
  const { of, number, set } = useAddress(place)
  const [open, setOpen] = useState<string | null>(null)
  const [search, type, ordering, offset] = [of('search'), of('type'), of('order'), number('offset')]
  const { value, error, isLoading, reload, cancel } = useLoaded(
    (signal) =>
      get<Page<EventDefinition>>(
        api(`event_definitions/?${parameters({ search, event_type: type, ordering, limit: pageSize, offset })}`),
        signal,
      ),
    [search, type, ordering, offset],
  )
  const save = async (id: string, notes: Partial<Notes>) => {
    await patch(api(`event_definitions/${id}/`), notes)
    setOpen(null)
    reload()
  }
  return (
    <>
      <div class="filters">
        <Search label="Search events" placeholder="Name" value={search} onChange={(text) => set({ search: text, offset: 0 })} />
        <Select label="Which events" value={type} options={kinds} onChange={(next) => set({ type: next, offset: 0 })} />
        <Select label="Order" value={ordering} options={orders} onChange={(next) => set({ order: next, offset: 0 })} />
      </div>
      {error && <ErrorBox error={error} retry={reload} />}
      {isLoading && !value && <Working what="Reading events" cancel={cancel} />}
      {!error && value && value.results.length === 0 && (
        <Empty title={search === '' && type === '' ? 'No event yet' : 'No event like this'}>
          {search === '' && type === '' && (
            <p>
              <a href={linkTo(link('live'))}>How to send the first one</a>
            </p>
          )}
        </Empty>
      )}
      {!error && value && value.results.length > 0 && (
        <>
          <Scroll label="Events">
            <table class="rows" aria-busy={isLoading}>
              <thead>
                <tr>
                  <th>Event</th>
                  <th class="number">Arrived</th>
                  <th>Last seen</th>
                  <th>First seen</th>
                  <th>
                    <span class="hidden">Changes</span>
                  </th>
                </tr>
              </thead>
              <tbody>
                {value.results.map((one) => (
                  <Fragment key={one.id}>
                    <tr>
                      <td class="wrap">
                        <a href={linkTo(link('live'), { event: one.name })}>{one.name}</a> <Marks of={one} />
                        {one.description !== '' && <div class="note">{one.description}</div>}
                      </td>
                      <td class="number">{numberText(one.count)}</td>
                      <td title={momentText(one.last_seen_at, timezone)}>{one.last_seen_at ? agoText(one.last_seen_at) : '–'}</td>
                      <td>{momentText(one.created_at, timezone)}</td>
                      <td class="number">
                        <button
                          type="button"
                          class="plain cell"
                          aria-expanded={open === one.id}
                          aria-label={`Edit ${one.name}`}
                          onClick={() => setOpen(open === one.id ? null : one.id)}
                        >
                          Edit
                        </button>
                      </td>
                    </tr>
                    {open === one.id && (
                      <tr class="detail">
                        <td colSpan={5}>
                          <NotesForm of={one} save={(notes) => save(one.id, notes)} />
                        </td>
                      </tr>
                    )}
                  </Fragment>
                ))}
              </tbody>
            </table>
          </Scroll>
          <Pager
            offset={offset}
            size={pageSize}
            shown={value.results.length}
            count={value.count}
            onChange={(next) => set({ offset: next })}
          />
        </>
      )}
    </>
  )
}
