import type { PersonAnswer } from '../../doors/answers/persons.ts'
import { savedForList } from '../filters/saved-filters.tsx'
import { Filters } from '../insights/filters.tsx'
import { PropertyField } from '../insights/property-field.tsx'
import type { Filter } from '../insights/query.ts'
import { momentText } from '../lib/format.ts'
import { linkTo, type Place } from '../lib/router.ts'
import { useProject } from '../lib/session.ts'
import { filtersOf, listOf, parameters, useAddress } from '../lib/use-address.ts'
import { ListTable, Search, useList } from '../ui/list-table.tsx'
import { Origin } from '../ui/origin.tsx'
import { Empty } from '../ui/parts.tsx'
import { ColumnHead } from './column-head.tsx'
import { shownValue } from './types.ts'

export function PersonList({ place }: { place: Place }) {
  const { api, link, timezone } = useProject()
  const { of, set } = useAddress(place)
  const [search, properties] = [of('search'), of('properties')]
  const columns = listOf(of('columns')).map(String)
  const list = useList<PersonAnswer>(api(`persons/?${parameters({ search, properties, limit: 50 })}`))
  const isFiltered = search !== '' || properties !== ''
  const filters = filtersOf<Filter>(properties)
  const setFilters = (next: readonly Filter[]) => set({ properties: next.length > 0 ? JSON.stringify(next) : '' })
  const setColumns = (next: readonly string[]) => set({ columns: next.length > 0 ? JSON.stringify(next) : '' })
  return (
    <>
      <div class="filters">
        <Search
          label="Search people"
          placeholder="Distinct id, e-mail address or name"
          value={search}
          onChange={(text) => set({ search: text })}
        />
        <PropertyField
          label="Show a property as a column"
          placeholder="Add a column"
          value={null}
          whose={['person']}
          onChoose={(choice) => 'key' in choice && !columns.includes(choice.key) && setColumns([...columns, choice.key])}
        />
      </div>
      <div class="filters">
        <Filters whose="person" filters={filters} onChange={setFilters} />
        {savedForList(filters, setFilters, true)}
      </div>
      <ListTable
        list={list}
        what="people"
        head={[
          { title: 'Person', by: ({ name }) => name },
          'Distinct ids',
          ...columns.map((name) => (
            <ColumnHead key={name} name={name} onRemove={() => setColumns(columns.filter((one) => one !== name))} />
          )),
          { title: 'First seen', by: ({ created_at }) => created_at },
        ]}
        empty={
          isFiltered ? (
            <Empty title="Nobody like this">
              <p>Search for something shorter, or remove a filter.</p>
            </Empty>
          ) : (
            <Empty title="Nobody yet">
              <p>
                A person is created by the first event of a distinct id. <a href={linkTo(link('live'))}>How to send the first one</a>
              </p>
            </Empty>
          )
        }
        row={(one) => (
          <tr key={one.uuid}>
            <td class="clip">
              <Origin of={one.properties} />
              <a href={linkTo(link(`people/${one.uuid}`))}>{one.name}</a>
            </td>
            <td class="clip">
              {one.distinct_ids[0]}
              {one.distinct_ids.length > 1 && <span class="note"> and {one.distinct_ids.length - 1} more</span>}
            </td>
            {columns.map((name) => (
              <td key={name} class="clip">
                {shownValue(one.properties[name])}
              </td>
            ))}
            <td class="when">{momentText(one.created_at, timezone)}</td>
          </tr>
        )}
      />
    </>
  )
}
