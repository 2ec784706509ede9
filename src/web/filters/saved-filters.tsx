import { useState } from 'preact/hooks'
import type { SavedFilterAnswer } from '../../doors/answers/insights.ts'
import { filtersInWords } from '../insights/in-words.ts'
import type { Filter } from '../insights/query.ts'
import { post, remove } from '../lib/api.ts'
import { useCohorts } from '../lib/names.ts'
import { useProject } from '../lib/session.ts'
import { offerUndo } from '../lib/undo.ts'
import { Form, TextField, textOf, useAction } from '../ui/forms.tsx'
import { ListTable, useList } from '../ui/list-table.tsx'
import { Dialog } from '../ui/parts.tsx'
import { UndoBar } from '../ui/undo-bar.tsx'
import { joined, listOfAll } from './filter-lists.ts'

interface Props {
  /** The `properties` that the place has now. */
  readonly properties: unknown
  /** It takes a list only, all of which holds. */
  readonly isList?: boolean
  /** It takes filters of properties of persons only. */
  readonly isOfPersons?: boolean
  readonly onUse: (properties: unknown) => void
}

const pageSize = 100

/** Of a place that has a list, all of which holds. */
export const savedForList = (filters: readonly Filter[], onChange: (filters: readonly Filter[]) => void, isOfPersons = false) => (
  <SavedFilters properties={filters} isList isOfPersons={isOfPersons} onUse={(properties) => onChange(listOfAll(properties) ?? filters)} />
)

/** Filters that have a name in the project: use a copy of them here, or save those that are here. */
export function SavedFilters(props: Props) {
  const [isOpen, setOpen] = useState(false)
  return (
    <>
      <button type="button" class="plain add" onClick={() => setOpen(true)}>
        Saved filters…
      </button>
      {isOpen && (
        <Dialog title="Saved filters" isWide onClose={() => setOpen(false)}>
          <Saved {...props} onClose={() => setOpen(false)} />
        </Dialog>
      )}
    </>
  )
}

function Saved({ properties, isList = false, isOfPersons = false, onUse, onClose }: Props & { onClose: () => void }) {
  const { api, mayChange } = useProject()
  const path = api('saved_filters/')
  const list = useList<SavedFilterAnswer>(`${path}?limit=${pageSize}`)
  const { act, failure } = useAction()
  const words = useFiltersInWords()
  const present = words(properties)
  const use = (next: unknown) => {
    onUse(next)
    onClose()
  }
  const removeOne = async (one: SavedFilterAnswer) => {
    await remove(`${path}${one.id}/`)
    list.reload()
    offerUndo({
      text: `The saved filters ${one.name} are deleted. What uses a copy of them keeps it.`,
      undo: () => post<SavedFilterAnswer>(path, { name: one.name, properties: one.properties }).then(list.reload),
    })
  }
  return (
    <>
      <p class="note">They are used as a copy: a later change of saved filters changes nothing that uses them.</p>
      {failure}
      <ListTable
        list={list}
        what="saved filters"
        head={[{ title: 'Name', by: ({ name }) => name }, 'Filters', null]}
        empty="None yet. Add filters to a question, then save them here under a name."
        row={(one) => {
          const both = joined(properties, one.properties)
          const fits = (next: unknown) => {
            const list = listOfAll(next)
            return next !== null && (!isList || list !== null) && (!isOfPersons || list?.every(({ type }) => type === 'person') === true)
          }
          return (
            <tr key={one.id}>
              <td class="wrap">{one.name}</td>
              <td class="wrap">{words(one.properties)}</td>
              <td class="tools">
                {!fits(one.properties) && (
                  <span class="note">
                    {isOfPersons ? 'Not only of persons: for questions about events.' : 'Has groups, which this list cannot have.'}
                  </span>
                )}
                {fits(one.properties) && (present === '' || fits(both)) && (
                  <button type="button" aria-label={`${present === '' ? 'Use' : 'Add'} ${one.name}`} onClick={() => use(both)}>
                    {present === '' ? 'Use' : 'Add'}
                  </button>
                )}{' '}
                {fits(one.properties) && present !== '' && (
                  <button type="button" aria-label={`Use instead: ${one.name}`} onClick={() => use(one.properties)}>
                    Use instead
                  </button>
                )}{' '}
                {mayChange && (
                  <button type="button" class="danger-text" aria-label={`Delete ${one.name}`} onClick={() => act(() => removeOne(one))}>
                    Delete
                  </button>
                )}
              </td>
            </tr>
          )
        }}
      />
      <UndoBar />
      {mayChange && present !== '' && (
        <Form
          submit="Save"
          done="Saved."
          send={async (form) => {
            await post<SavedFilterAnswer>(path, { name: textOf(form, 'name'), properties })
            list.reload()
          }}
        >
          <h3>Save the present filters</h3>
          <p class="note">{present}</p>
          <TextField name="name" label="Name" maxLength={100} required />
        </Form>
      )}
    </>
  )
}

function useFiltersInWords(): (properties: unknown) => string {
  const cohorts = useCohorts()
  return (properties) => filtersInWords(properties, (id) => cohorts.find((one) => one.id === Number(id))?.name ?? `cohort ${String(id)}`)
}
