import type { GroupAnswer, GroupTypeAnswer, RelatedAnswer } from '../../doors/answers/groups.ts'
import { ApiError, get, post } from '../lib/api.ts'
import { momentText, sqlText } from '../lib/format.ts'
import { linkTo, type Place } from '../lib/router.ts'
import { useProject } from '../lib/session.ts'
import { encodedPath, parameters, useAddress } from '../lib/use-address.ts'
import { useLoaded } from '../lib/use-loaded.ts'
import { ListTable, Search, useList } from '../ui/list-table.tsx'
import { Empty, ErrorBox, NotHere, PageHead, Working } from '../ui/parts.tsx'
import { PropertyEditor } from './property-editor.tsx'
import { Timeline } from './timeline.tsx'
import { pluralOf, shownValue, singularOf } from './types.ts'

const mostColumns = 4

const nameOf = ({ group_key, group_properties: { name } }: GroupAnswer): string =>
  typeof name === 'string' && name !== '' ? name : group_key

export function GroupList({ place, type }: { place: Place; type: GroupTypeAnswer }) {
  const { api, link, timezone } = useProject()
  const { of, set } = useAddress(place)
  const search = of('search')
  const index = type.group_type_index
  const list = useList<GroupAnswer>(api(`groups/?${parameters({ group_type_index: index, search, limit: 50 })}`))
  // The properties that most of the groups have.
  const counts = new Map<string, number>()
  for (const { group_properties } of list.rows ?? [])
    for (const name of Object.keys(group_properties)) if (name !== 'name') counts.set(name, (counts.get(name) ?? 0) + 1)
  const columns = [...counts]
    .sort(([a, n], [b, m]) => m - n || a.localeCompare(b))
    .slice(0, mostColumns)
    .map(([name]) => name)
  return (
    <>
      <div class="filters">
        <Search label={`Search ${pluralOf(type)}`} placeholder="Key or name" value={search} onChange={(text) => set({ search: text })} />
      </div>
      <ListTable
        list={list}
        what={pluralOf(type)}
        head={[
          { title: singularOf(type), by: nameOf },
          { title: 'Key', by: ({ group_key }) => group_key },
          ...columns.map((name) => ({
            title: name,
            by: ({ group_properties: { [name]: value } }: GroupAnswer) =>
              typeof value === 'number' ? value : value == null ? null : shownValue(value),
          })),
          { title: 'First seen', by: ({ created_at }) => created_at },
        ]}
        empty={
          search === '' ? (
            <Empty title="No group of this type yet">
              <p>
                A group appears with its first <code>$groupidentify</code> event.
              </p>
            </Empty>
          ) : (
            <Empty title="No group like this">
              <p>Search for something shorter.</p>
            </Empty>
          )
        }
        row={(one) => (
          <tr key={one.group_key}>
            <td class="clip">
              <a href={linkTo(link(`people/groups/${index}/${encodedPath([one.group_key])}`))}>{nameOf(one)}</a>
            </td>
            <td class="clip">{one.group_key}</td>
            {columns.map((name) => (
              <td key={name} class={typeof one.group_properties[name] === 'number' ? 'number' : 'clip'}>
                {shownValue(one.group_properties[name])}
              </td>
            ))}
            <td class="when">{momentText(one.created_at, timezone)}</td>
          </tr>
        )}
      />
    </>
  )
}

export function GroupPage({ place, type, groupKey }: { place: Place; type: GroupTypeAnswer; groupKey: string }) {
  const { api, link, timezone } = useProject()
  const index = type.group_type_index
  const which = parameters({ group_type_index: index, group_key: groupKey })
  const { value: group, error, reload } = useLoaded((signal) => get<GroupAnswer>(api(`groups/find/?${which}`), signal), [which])
  const back = <a href={linkTo(link(`people/groups/${index}`))}>{pluralOf(type)}</a>
  if (error instanceof ApiError && error.status === 404)
    return (
      <NotHere title="There is no group with this key">
        <p>{back}</p>
      </NotHere>
    )
  if (error) return <ErrorBox error={error} retry={reload} />
  if (!group) return <Working what="Reading the group" />
  const change = async (route: string, body: unknown) => {
    await post(api(`groups/${route}/?${which}`), body)
    reload()
  }
  return (
    <>
      <PageHead title={nameOf(group)} />
      <p class="note wrap">
        {back} · key <code>{group.group_key}</code> · first seen {momentText(group.created_at, timezone)}
      </p>
      <div class="record">
        <div>
          <PropertyEditor
            properties={group.group_properties}
            set={(key, value) => change('update_property', { key, value })}
            unset={(key) => change('delete_property', { $unset: key })}
          />
          <RelatedPeople index={index} groupKey={groupKey} />
        </div>
        <Timeline
          place={place}
          whose={{ properties: JSON.stringify([{ type: 'hogql', key: `$group_${index} = ${sqlText(groupKey)}` }]) }}
          withIds
        />
      </div>
    </>
  )
}

function RelatedPeople({ index, groupKey }: { index: number; groupKey: string }) {
  const { api, link } = useProject()
  const { value, error, reload, cancel } = useLoaded(
    (signal) => get<readonly RelatedAnswer[]>(api(`groups/related/?${parameters({ group_type_index: index, id: groupKey })}`), signal),
    [index, groupKey],
  )
  const people = (value ?? []).filter(({ type }) => type === 'person')
  return (
    <section aria-label="People">
      <h2>People of the last 90 days</h2>
      {error && <ErrorBox error={error} retry={reload} />}
      {!value && !error && <Working what="Reading people" cancel={cancel} />}
      {value && people.length === 0 && <p class="note">None.</p>}
      <ul class="lines">
        {people.map(({ id, properties, distinct_ids }) => (
          <li key={id}>
            <a href={linkTo(link(`people/${id}`))}>{shownValue(properties.email ?? properties.name ?? distinct_ids[0] ?? id)}</a>
          </li>
        ))}
      </ul>
    </section>
  )
}
