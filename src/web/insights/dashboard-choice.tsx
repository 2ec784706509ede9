import { useState } from 'preact/hooks'
import type { DashboardAnswer } from '../../doors/answers/dashboards.ts'
import { useProject } from '../lib/session.ts'
import { parameters } from '../lib/use-address.ts'
import { Search, useList } from '../ui/list-table.tsx'
import { ErrorBox } from '../ui/parts.tsx'

const pageSize = 50
const nameOf = ({ id, name }: DashboardAnswer): string => name || `Dashboard ${id}`

/** A checkbox for each dashboard; none if there are none. Those that are chosen stay while others are searched. */
export function DashboardChoice({ chosen }: { chosen: readonly number[] }) {
  const { api } = useProject()
  const [search, setSearch] = useState('')
  const list = useList<DashboardAnswer>(api(`dashboards/?${parameters({ search, limit: pageSize })}`))
  const [picked, setPicked] = useState<ReadonlyMap<number, DashboardAnswer | null>>(new Map(chosen.map((id) => [id, null])))
  if (list.error && !list.isErrorOfMore) return <ErrorBox error={list.error} retry={list.retry} />
  if (list.rows === null && search === '')
    return (
      <fieldset class="choices" aria-busy="true">
        <legend>On dashboards</legend>
      </fieldset>
    )
  const found = list.rows ?? []
  if (found.length === 0 && search === '') return null
  const others = [...picked.values()].filter((one): one is DashboardAnswer => one !== null && !found.some(({ id }) => id === one.id))
  const choose = (one: DashboardAnswer, isPicked: boolean) => {
    const next = new Map(picked)
    if (isPicked) next.set(one.id, one)
    else next.delete(one.id)
    setPicked(next)
  }
  return (
    <fieldset class="choices">
      <legend>On dashboards</legend>
      {(list.hasMore || search !== '') && <Search label="Search dashboards" value={search} onChange={setSearch} />}
      {[...others, ...found].map((one) => (
        <label class="check" key={one.id}>
          <input
            type="checkbox"
            name={`dashboard ${one.id}`}
            checked={picked.has(one.id)}
            onChange={(event) => choose(one, event.currentTarget.checked)}
          />
          {nameOf(one)}
        </label>
      ))}
      {found.length === 0 && <p class="note">No results. Search for something shorter.</p>}
      {list.hasMore && <p class="note">The first {found.length}. Search for others by their name.</p>}
    </fieldset>
  )
}

/** Those that the form shows as chosen, and those that it does not show. */
export function dashboardsIn(form: HTMLFormElement, before: readonly number[]): readonly number[] {
  const boxes = [...form.querySelectorAll<HTMLInputElement>('input[name^="dashboard "]')].map((box) => ({
    id: Number(box.name.split(' ')[1]),
    isChosen: box.checked,
  }))
  const hidden = before.filter((id) => !boxes.some((box) => box.id === id))
  return [...hidden, ...boxes.filter(({ isChosen }) => isChosen).map(({ id }) => id)]
}
