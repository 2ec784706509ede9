import { useState } from 'preact/hooks'
import type { PersonAnswer } from '../../doors/answers/persons.ts'
import { post } from '../lib/api.ts'
import { numberText } from '../lib/format.ts'
import { useProject } from '../lib/session.ts'
import { parameters } from '../lib/use-address.ts'
import { useLoaded } from '../lib/use-loaded.ts'
import { Confirm } from '../ui/forms.tsx'
import { ListState, Scroll, Search, useList } from '../ui/list-table.tsx'
import { Dialog } from '../ui/parts.tsx'
import { shownValue, sorted } from './types.ts'

/** Makes another person part of this one: who, then what that means, then it is done. */
export function MergeDialog({ person, onMerged, onClose }: { person: PersonAnswer; onMerged: () => void; onClose: () => void }) {
  const [other, setOther] = useState<PersonAnswer | null>(null)
  return other === null ? (
    <ChooseOther person={person} onChoose={setOther} onClose={onClose} />
  ) : (
    <ConfirmMerge person={person} other={other} onMerged={onMerged} onClose={onClose} />
  )
}

function ChooseOther({
  person,
  onChoose,
  onClose,
}: {
  person: PersonAnswer
  onChoose: (other: PersonAnswer) => void
  onClose: () => void
}) {
  const { api } = useProject()
  const [search, setSearch] = useState('')
  const list = useList<PersonAnswer>(api(`persons/?${parameters({ search, limit: 20 })}`))
  return (
    <Dialog title={`Merge another person into ${person.name}`} onClose={onClose}>
      <Search
        label="Search the other person"
        placeholder="Distinct id, e-mail address or name"
        autofocus
        value={search}
        onChange={setSearch}
      />
      <ListState
        list={list}
        what="people"
        empty={search === '' ? 'There is nobody else.' : 'Nobody like this. Search for something shorter.'}
      >
        {(people) => (
          <ul class="people">
            {people.map((one) => (
              <li key={one.uuid}>
                <button type="button" class="plain cell" disabled={one.uuid === person.uuid} onClick={() => onChoose(one)}>
                  {one.name}
                </button>{' '}
                <span class="note">
                  {one.uuid === person.uuid ? 'this person' : one.distinct_ids.slice(0, 3).join(', ')}
                  {one.uuid !== person.uuid && one.distinct_ids.length > 3 && ` and ${one.distinct_ids.length - 3} more`}
                </span>
              </li>
            ))}
          </ul>
        )}
      </ListState>
    </Dialog>
  )
}

/** Events of each of the two. */
function useCounts(person: PersonAnswer, other: PersonAnswer) {
  const { ask } = useProject()
  const { value } = useLoaded(
    async (signal) => {
      const query = 'select person_id, count() from events where person_id in ({a}, {b}) group by person_id'
      const { results } = await ask({ kind: 'HogQLQuery', query, values: { a: person.uuid, b: other.uuid } }, signal, 'force_blocking')
      const counts = new Map((results as readonly (readonly [string, number])[]).map(([id, count]) => [id, count]))
      return [person, other].map(({ uuid }) => counts.get(uuid) ?? 0)
    },
    [person.uuid, other.uuid],
  )
  return value
}

function ConfirmMerge({
  person,
  other,
  onMerged,
  onClose,
}: {
  person: PersonAnswer
  other: PersonAnswer
  onMerged: () => void
  onClose: () => void
}) {
  const { api } = useProject()
  const counts = useCounts(person, other)
  const added = sorted(other.properties).filter(([key]) => !Object.hasOwn(person.properties, key))
  const lost = sorted(other.properties).filter(
    ([key, value]) => Object.hasOwn(person.properties, key) && shownValue(person.properties[key]) !== shownValue(value),
  )
  const merge = () => post(api(`persons/${person.uuid}/merge/`), { ids: [other.uuid] }).then(onMerged)
  const rows = [
    ['Distinct ids', person.distinct_ids.length, other.distinct_ids.length],
    ['Events', counts?.[0], counts?.[1]],
  ] as const
  const shown = (count: number | undefined) => (count === undefined ? '…' : numberText(count))
  return (
    <Confirm title="Merge two persons" submit="Merge them" action={merge} onClose={onClose}>
      <p class="wrap">
        <strong>{other.name}</strong> becomes part of <strong>{person.name}</strong>. This cannot be undone: ids can be split off later, but
        without their properties.
      </p>
      <Scroll label="What each has">
        <table class="rows">
          <thead>
            <tr>
              <th />
              <th class="number wrap">{person.name}</th>
              <th class="number wrap">{other.name}</th>
              <th class="number">Merged</th>
            </tr>
          </thead>
          <tbody>
            {rows.map(([title, a, b]) => (
              <tr key={title}>
                <th scope="row">{title}</th>
                <td class="number">{shown(a)}</td>
                <td class="number">{shown(b)}</td>
                <td class="number">{shown(a === undefined || b === undefined ? undefined : a + b)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </Scroll>
      <section aria-label="Properties that are lost">
        <h3>Where both have a value, that of {person.name} wins</h3>
        {lost.length === 0 ? (
          <p class="note">No property has two values.</p>
        ) : (
          <ul class="lines ids" tabIndex={0} aria-label="Properties that are lost">
            {lost.map(([key, value]) => (
              <li key={key}>
                <span class="wrap">{key}</span>
                <span class="wrap">
                  {shownValue(person.properties[key])} <del>{shownValue(value)}</del>
                </span>
              </li>
            ))}
          </ul>
        )}
      </section>
      <section aria-label="Properties that are added">
        <h3>{person.name} gets</h3>
        {added.length === 0 ? (
          <p class="note">No new property.</p>
        ) : (
          <ul class="lines ids" tabIndex={0} aria-label="Properties that are added">
            {added.map(([key, value]) => (
              <li key={key}>
                <span class="wrap">{key}</span>
                <span class="wrap">{shownValue(value)}</span>
              </li>
            ))}
          </ul>
        )}
      </section>
      <p class="note">The other page does not exist afterwards. Events show one timeline, also those from before.</p>
    </Confirm>
  )
}
