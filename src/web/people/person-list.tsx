import { Filters } from '../insights/filters.tsx'
import { type Filter, listIn } from '../insights/query.ts'
import { get, type Page } from '../lib/api.ts'
import { momentText } from '../lib/format.ts'
import { usePropertyNames } from '../lib/names.ts'
import { linkTo, type Place } from '../lib/router.ts'
import { useProject } from '../lib/session.ts'
import { parameters, useAddress } from '../lib/use-address.ts'
import { useLoaded } from '../lib/use-loaded.ts'
import { Pager, Scroll, Search } from '../ui/lists.tsx'
import { Empty, ErrorBox, Suggesting, Working } from '../ui/parts.tsx'
import { type Person, shownValue } from './types.ts'

const pageSize = 50

function listOf<T>(text: string): readonly T[] {
  try {
    return listIn<T>({ list: JSON.parse(text || '[]') }, 'list')
  } catch {
    return []
  }
}

export function PersonList({ place }: { place: Place }) {
  const { api, link, timezone } = useProject()
  const { of, number, set } = useAddress(place)
  const names = usePropertyNames('person')
  const [search, properties, offset] = [of('search'), of('properties'), number('offset')]
  const columns = listOf<string>(of('columns')).map(String)
  const { value, error, isLoading, reload, cancel } = useLoaded(
    (signal) => get<Page<Person>>(api(`persons/?${parameters({ search, properties, limit: pageSize, offset })}`), signal),
    [search, properties, offset],
  )
  const isFiltered = search !== '' || properties !== ''
  const setColumns = (next: readonly string[]) => set({ columns: next.length > 0 ? JSON.stringify(next) : '' })
  return (
    <>
      <div class="filters">
        <Search
          label="Search people"
          placeholder="Distinct id, e-mail address or name"
          value={search}
          onChange={(text) => set({ search: text, offset: 0 })}
        />
        <Suggesting
          label="Show a property as a column"
          placeholder="Add a column"
          value=""
          suggestions={names.filter((name) => !columns.includes(name))}
          onChange={(name) => name !== '' && !columns.includes(name) && setColumns([...columns, name])}
        />
      </div>
      <Filters
        whose="person"
        filters={listOf<Filter>(properties)}
        onChange={(filters) => set({ properties: filters.length > 0 ? JSON.stringify(filters) : '', offset: 0 })}
      />
      {error && <ErrorBox error={error} retry={reload} />}
      {isLoading && !value && <Working what="Reading people" cancel={cancel} />}
      {!error && value && value.results.length === 0 && (
        <Empty title={isFiltered ? 'Nobody like this' : 'Nobody yet'}>
          <p>
            {isFiltered ? 'Search for something shorter, or remove a filter.' : 'A person is created by the first event of a distinct id.'}
          </p>
        </Empty>
      )}
      {!error && value && value.results.length > 0 && (
        <>
          <Scroll label="People">
            <table class="rows" aria-busy={isLoading}>
              <thead>
                <tr>
                  <th>Person</th>
                  <th>Distinct ids</th>
                  {columns.map((name) => (
                    <th key={name}>
                      {name}{' '}
                      <button
                        type="button"
                        class="plain link"
                        aria-label={`Remove the column ${name}`}
                        onClick={() => setColumns(columns.filter((one) => one !== name))}
                      >
                        ✕
                      </button>
                    </th>
                  ))}
                  <th>First seen</th>
                </tr>
              </thead>
              <tbody>
                {value.results.map((one) => (
                  <tr key={one.uuid}>
                    <td class="clip">
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
