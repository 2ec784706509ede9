import { ApiError, get, type Page, post } from '../lib/api.ts'
import { momentText, sqlText } from '../lib/format.ts'
import { linkTo, type Place } from '../lib/router.ts'
import { useProject } from '../lib/session.ts'
import { encodedPath, parameters, useAddress } from '../lib/use-address.ts'
import { useLoaded } from '../lib/use-loaded.ts'
import { Pager, Scroll, Search } from '../ui/lists.tsx'
import { Empty, ErrorBox, PageHead, Working } from '../ui/parts.tsx'
import { PropertyEditor } from './property-editor.tsx'
import { Timeline } from './timeline.tsx'
import { type Group, type GroupType, type Properties, pluralOf, shownValue, singularOf } from './types.ts'

const pageSize = 50
const mostColumns = 4

const nameOf = ({ group_key, group_properties: { name } }: Group): string => (typeof name === 'string' && name !== '' ? name : group_key)

export function GroupList({ place, type }: { place: Place; type: GroupType }) {
  const { api, link, timezone } = useProject()
  const { of, number, set } = useAddress(place)
  const [search, offset] = [of('search'), number('offset')]
  const index = type.group_type_index
  const { value, error, isLoading, reload, cancel } = useLoaded(
    (signal) => get<Page<Group>>(api(`groups/?${parameters({ group_type_index: index, search, limit: pageSize, offset })}`), signal),
    [index, search, offset],
  )
  // The properties that most groups of this page have.
  const counts = new Map<string, number>()
  for (const { group_properties } of value?.results ?? [])
    for (const name of Object.keys(group_properties)) if (name !== 'name') counts.set(name, (counts.get(name) ?? 0) + 1)
  const columns = [...counts]
    .sort(([a, n], [b, m]) => m - n || a.localeCompare(b))
    .slice(0, mostColumns)
    .map(([name]) => name)
  return (
    <>
      <div class="filters">
        <Search
          label={`Search ${pluralOf(type)}`}
          placeholder="Key or name"
          value={search}
          onChange={(text) => set({ search: text, offset: 0 })}
        />
      </div>
      {error && <ErrorBox error={error} retry={reload} />}
      {isLoading && !value && <Working what="Reading groups" cancel={cancel} />}
      {!error && value && value.results.length === 0 && (
        <Empty title={search === '' ? 'No group of this type yet' : 'No group like this'} />
      )}
      {!error && value && value.results.length > 0 && (
        <>
          <Scroll label={pluralOf(type)}>
            <table class="rows" aria-busy={isLoading}>
              <thead>
                <tr>
                  <th>{singularOf(type)}</th>
                  <th>Key</th>
                  {columns.map((name) => (
                    <th key={name}>{name}</th>
                  ))}
                  <th>First seen</th>
                </tr>
              </thead>
              <tbody>
                {value.results.map((one) => (
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

interface Related {
  readonly type: 'person' | 'group'
  readonly id: string
  readonly group_type_index: number | null
  readonly distinct_ids: readonly string[]
  readonly properties: Properties
}

export function GroupPage({ type, groupKey }: { type: GroupType; groupKey: string }) {
  const { api, link, timezone } = useProject()
  const index = type.group_type_index
  const which = parameters({ group_type_index: index, group_key: groupKey })
  const { value: group, error, reload } = useLoaded((signal) => get<Group>(api(`groups/find/?${which}`), signal), [which])
  const back = <a href={linkTo(link(`people/groups/${index}`))}>{pluralOf(type)}</a>
  if (error instanceof ApiError && error.status === 404)
    return (
      <Empty title="There is no group with this key">
        <p>{back}</p>
      </Empty>
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
        <Timeline of={{ properties: JSON.stringify([{ type: 'hogql', key: `$group_${index} = ${sqlText(groupKey)}` }]) }} withIds />
      </div>
    </>
  )
}

function RelatedPeople({ index, groupKey }: { index: number; groupKey: string }) {
  const { api, link } = useProject()
  const { value, error } = useLoaded(
    (signal) => get<readonly Related[]>(api(`groups/related/?${parameters({ group_type_index: index, id: groupKey })}`), signal),
    [index, groupKey],
  )
  const people = (value ?? []).filter(({ type }) => type === 'person')
  return (
    <section aria-label="People">
      <h2>People of the last 90 days</h2>
      {error && <ErrorBox error={error} />}
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
