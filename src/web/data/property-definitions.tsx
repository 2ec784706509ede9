import { useState } from 'preact/hooks'
import type { GroupTypeAnswer } from '../../doors/answers/groups.ts'
import type { PropertyDefinitionAnswer, PropertyDetailAnswer } from '../../doors/answers/property-definitions.ts'
import { get, patch, post } from '../lib/api.ts'
import { agoText, momentText, numberText, shareText } from '../lib/format.ts'
import { linkTo, type Place } from '../lib/router.ts'
import { useProject } from '../lib/session.ts'
import { parameters, useAddress } from '../lib/use-address.ts'
import { useLoaded } from '../lib/use-loaded.ts'
import { shownValue } from '../people/types.ts'
import { useOrganization } from '../settings/organization-of.ts'
import { ForMembers } from '../ui/for-members.tsx'
import { ChoiceField, ConfirmButton, textOf } from '../ui/forms.tsx'
import { ListTable, Search, UnfoldButton, UnfoldingRow, useList } from '../ui/list-table.tsx'
import { Empty, ErrorBox, Select, Working } from '../ui/parts.tsx'
import { PropertyName } from './event-name.tsx'
import { Marks, type Notes, NotesForm } from './notes.tsx'

const valueKinds = [
  ['numeric', 'numbers'],
  ['numeric_text', 'texts that read as numbers'],
  ['text', 'texts'],
  ['boolean', 'true or false'],
  ['time', 'times'],
  ['other', 'lists and objects'],
] as const

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
function sentText({ counts, count }: PropertyDefinitionAnswer): string {
  const sent = valueKinds.filter(([kind]) => counts[kind] > 0)
  if (sent.length === 0) return '–'
  if (sent.length === 1) return sent[0]![1]
  return sent.map(([kind, label]) => `${shareText(counts[kind] / count)} ${label}`).join(', ')
}

/** The properties that have been seen or declared. */
export function PropertyDefinitions({ place }: { place: Place }) {
  const { api, timezone, link } = useProject()
  const { of, set } = useAddress(place)
  const [open, setOpen] = useState<string | null>(null)
  const [search, whose] = [of('search'), of('whose') || 'event']
  const [type, group] = whose.split(' ')
  const list = useList<PropertyDefinitionAnswer>(
    api(`property_definitions/?${parameters({ type, group_type_index: group, search, ordering: '-count', limit: 50 })}`),
  )
  const { value: groupTypes } = useLoaded((signal) => get<readonly GroupTypeAnswer[]>(api('groups_types/'), signal), [])
  const options = kinds.flatMap((one) => {
    const index = one.value.startsWith('group ') ? Number(one.value.slice(6)) : null
    const known = groupTypes?.find(({ group_type_index }) => group_type_index === index)
    return index === null ? [one] : known ? [{ value: one.value, label: `Of groups: ${known.group_type}` }] : []
  })
  const saved = () => {
    setOpen(null)
    list.reload()
  }
  return (
    <>
      <div class="filters">
        <Search label="Search properties" placeholder="Name" value={search} onChange={(text) => set({ search: text })} />
        <Select
          label="Whose properties"
          value={whose}
          options={options}
          onChange={(next) => set({ whose: next === 'event' ? '' : next })}
        />
      </div>
      <p class="note">
        Each value keeps the type that it was sent with, and is converted where a query needs another one. A declared type holds for all
        values: what does not match it is empty.
      </p>
      <ListTable
        list={list}
        what="properties"
        head={['Property', 'Sent', 'Declared', <th class="number">Values</th>, 'Last seen', null]}
        empty={
          search === '' ? (
            <Empty title="No property yet">
              <p>
                Properties come with events. <a href={linkTo(link('live'))}>How to send the first one</a>
              </p>
            </Empty>
          ) : (
            <Empty title="No property like this">
              <p>Search for something shorter, or look among those of others.</p>
            </Empty>
          )
        }
        row={(one) => (
          <UnfoldingRow key={one.id} columns={6} detail={open === one.id && <PropertyForm property={one} onSaved={saved} />}>
            <td class="wrap">
              <strong>
                <PropertyName of={one.name} isWhole />
              </strong>{' '}
              <Marks of={one} />
              {one.description !== '' && <div class="note">{one.description}</div>}
            </td>
            <td>{sentText(one)}</td>
            <td>{one.property_type ? <span class="state good">{labelOf(one.property_type)}</span> : '–'}</td>
            <td class="number">{numberText(one.count)}</td>
            <td class="when" title={momentText(one.last_seen_at, timezone)}>
              {one.last_seen_at ? agoText(one.last_seen_at) : '–'}
            </td>
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

function PropertyForm({ property, onSaved }: { property: PropertyDefinitionAnswer; onSaved: () => void }) {
  const { api } = useProject()
  const { isAdmin } = useOrganization()
  const path = api(`property_definitions/${property.id}/`)
  const { value: detail, error, reload, cancel } = useLoaded((signal) => get<PropertyDetailAnswer>(path, signal), [path])
  const save = (notes: Notes, form: HTMLFormElement) => {
    const type = textOf(form, 'property_type')
    return patch(path, { ...notes, ...(type !== '' && type !== property.property_type && { property_type: type }) }).then(onSaved)
  }
  const none = property.property_type ? [] : [{ value: '', label: 'Not declared: each value is what it is' }]
  return (
    <div class="record">
      <NotesForm of={property} save={save}>
        <ChoiceField
          name="property_type"
          label="Type"
          value={property.property_type}
          options={[...none, ...types]}
          hint="Queries read every value as this type from then on."
        />
      </NotesForm>
      <section aria-label="Most frequent values">
        <h3>Most frequent values</h3>
        {error && <ErrorBox error={error} retry={reload} />}
        {!detail && !error && <Working what="Reading values" cancel={cancel} />}
        {detail?.top_values?.length === 0 && <p class="note">None was seen.</p>}
        <ul class="lines">
          {detail?.top_values?.map(({ value, count }, i) => (
            <li key={i}>
              <span class="wrap">{shownValue(value)}</span>
              <span class="number">{numberText(count)}</span>
            </li>
          ))}
        </ul>
      </section>
      {isAdmin && (
        <ConfirmButton
          label="Delete all values…"
          title={`Delete all values of ${property.name}`}
          submit="Delete the values"
          typed={property.name}
          action={() => post(`${path}delete_values/`, {}).then(onSaved)}
        >
          <p>
            The property is taken out of everything that is stored, with its type and description. This cannot be undone. Events that arrive
            later may bring it again.
          </p>
        </ConfirmButton>
      )}
    </div>
  )
}
