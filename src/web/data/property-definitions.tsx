import { Fragment } from 'preact'
import { useState } from 'preact/hooks'
import { get, type Page, patch } from '../lib/api.ts'
import { agoText, momentText, numberText } from '../lib/format.ts'
import type { Place } from '../lib/router.ts'
import { useProject } from '../lib/session.ts'
import { parameters, useAddress } from '../lib/use-address.ts'
import { useLoaded } from '../lib/use-loaded.ts'
import { shownValue } from '../people/types.ts'
import { Pager, Scroll, Search } from '../ui/lists.tsx'
import { Empty, ErrorBox, Field, Select, Working } from '../ui/parts.tsx'
import { Marks, type Notes, NotesForm } from './notes.tsx'

const pageSize = 50

const valueKinds = [
  ['numeric', 'numbers'],
  ['numeric_text', 'texts that read as numbers'],
  ['text', 'texts'],
  ['boolean', 'true or false'],
  ['time', 'times'],
  ['other', 'lists and objects'],
] as const

interface PropertyDefinition extends Notes {
  readonly id: string
  readonly name: string
  readonly type: 'event' | 'person' | 'group'
  readonly group_type_index: number | null
  readonly property_type: string | null
  readonly count: number
  readonly counts: Readonly<Record<(typeof valueKinds)[number][0], number>>
  readonly last_seen_at: string | null
}
interface Detail extends PropertyDefinition {
  readonly top_values: readonly { readonly value: unknown; readonly count: number }[] | null
}

const kinds = [
  { value: 'event', label: 'Of events' },
  { value: 'person', label: 'Of people' },
  ...[0, 1, 2, 3, 4].map((index) => ({ value: `group ${index}`, label: `Of groups of type ${index}` })),
]
/** What can be declared. */
const types = [
  { value: 'Numeric', label: 'Number' },
  { value: 'String', label: 'Text' },
  { value: 'Boolean', label: 'True or false' },
  { value: 'DateTime', label: 'Time' },
]
const labelOf = (type: string): string => types.find(({ value }) => value === type)?.label ?? type

/** What was sent: one kind, or the shares of several. */
function sentText({ counts, count }: PropertyDefinition): string {
  const sent = valueKinds.filter(([kind]) => counts[kind] > 0)
  if (sent.length === 0) return '–'
  if (sent.length === 1) return sent[0]![1]
  return sent.map(([kind, label]) => `${numberText(Math.round((1000 * counts[kind]) / count) / 10)}% ${label}`).join(', ')
}

/** The properties that have been seen or declared. */
export function PropertyDefinitions({ place }: { place: Place }) {
  const { api, timezone } = useProject()
  const { of, number, set } = useAddress(place)
  const [open, setOpen] = useState<string | null>(null)
  const [search, whose, offset] = [of('search'), of('whose') || 'event', number('offset')]
  const [type, group] = whose.split(' ')
  const { value, error, isLoading, reload, cancel } = useLoaded(
    (signal) =>
      get<Page<PropertyDefinition>>(
        api(`property_definitions/?${parameters({ type, group_type_index: group, search, limit: pageSize, offset })}`),
        signal,
      ),
    [search, whose, offset],
  )
  const { value: groupTypes } = useLoaded(
    (signal) => get<readonly { group_type: string; group_type_index: number }[]>(api('groups_types/'), signal),
    [],
  )
  const options = kinds.flatMap((one) => {
    const index = one.value.startsWith('group ') ? Number(one.value.slice(6)) : null
    const known = groupTypes?.find(({ group_type_index }) => group_type_index === index)
    return index === null ? [one] : known ? [{ value: one.value, label: `Of groups: ${known.group_type}` }] : []
  })
  const saved = () => {
    setOpen(null)
    reload()
  }
  return (
    <>
      <div class="filters">
        <Search label="Search properties" placeholder="Name" value={search} onChange={(text) => set({ search: text, offset: 0 })} />
        <Select
          label="Whose properties"
          value={whose}
          options={options}
          onChange={(next) => set({ whose: next === 'event' ? '' : next, offset: 0 })}
        />
      </div>
      <p class="note">
        Each value keeps the type that it was sent with, and is converted where a query needs another one. A declared type holds for all
        values: what does not match it is empty.
      </p>
      {error && <ErrorBox error={error} retry={reload} />}
      {isLoading && !value && <Working what="Reading properties" cancel={cancel} />}
      {!error && value && value.results.length === 0 && <Empty title={search === '' ? 'No property yet' : 'No property like this'} />}
      {!error && value && value.results.length > 0 && (
        <>
          <Scroll label="Properties">
            <table class="rows" aria-busy={isLoading}>
              <thead>
                <tr>
                  <th>Property</th>
                  <th>Sent</th>
                  <th>Declared</th>
                  <th class="number">Values</th>
                  <th>Last seen</th>
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
                        {one.name} <Marks of={one} />
                        {one.description !== '' && <div class="note">{one.description}</div>}
                      </td>
                      <td>{sentText(one)}</td>
                      <td>{one.property_type ? <span class="badge good">{labelOf(one.property_type)}</span> : '–'}</td>
                      <td class="number">{numberText(one.count)}</td>
                      <td title={momentText(one.last_seen_at, timezone)}>{one.last_seen_at ? agoText(one.last_seen_at) : '–'}</td>
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
                        <td colSpan={6}>
                          <PropertyForm property={one} onSaved={saved} />
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

function PropertyForm({ property, onSaved }: { property: PropertyDefinition; onSaved: () => void }) {
  const { api } = useProject()
  const path = api(`property_definitions/${property.id}/`)
  const [type, setType] = useState(property.property_type ?? '')
  const { value: detail, cancel } = useLoaded((signal) => get<Detail>(path, signal), [path])
  const save = (notes: Notes) =>
    patch(path, { ...notes, ...(type !== '' && type !== property.property_type && { property_type: type }) }).then(onSaved)
  const none = property.property_type ? [] : [{ value: '', label: 'Not declared: each value is what it is' }]
  return (
    <div class="record">
      <NotesForm of={property} save={save}>
        <Field label="Type" hint="Queries read every value as this type from then on.">
          {(id) => (
            <select id={id} value={type} onChange={(event) => setType(event.currentTarget.value)}>
              {[...none, ...types].map((one) => (
                <option key={one.value} value={one.value}>
                  {one.label}
                </option>
              ))}
            </select>
          )}
        </Field>
      </NotesForm>
      <section aria-label="Most frequent values">
        <h3>Most frequent values</h3>
        {!detail && <Working what="Reading values" cancel={cancel} />}
        <ul class="lines">
          {detail?.top_values?.map(({ value, count }, i) => (
            <li key={i}>
              <span class="wrap">{shownValue(value)}</span>
              <span class="number">{numberText(count)}</span>
            </li>
          ))}
        </ul>
      </section>
    </div>
  )
}
