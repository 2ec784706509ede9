import { useState } from 'preact/hooks'
import type { DashboardAnswer, WholeDashboardAnswer } from '../../doors/answers/dashboards.ts'
import { patch, post } from '../lib/api.ts'
import { agoText } from '../lib/format.ts'
import { go, linkTo, type Place } from '../lib/router.ts'
import { useProject } from '../lib/session.ts'
import { parameters, useAddress } from '../lib/use-address.ts'
import { useAction } from '../ui/forms.tsx'
import { ListTable, Search, useList } from '../ui/list-table.tsx'
import { Empty, PageHead } from '../ui/parts.tsx'
import { DeleteDialog, RenameDialog } from './add-tile.tsx'
import { Menu } from './menu.tsx'

export function DashboardList({ place }: { place: Place }) {
  const { api, link } = useProject()
  const { of, set } = useAddress(place)
  const search = of('search')
  const [isNew, setNew] = useState(false)
  const [removed, setRemoved] = useState<DashboardAnswer | null>(null)
  const list = useList<DashboardAnswer>(api(`dashboards/?${parameters({ search, limit: 50 })}`))
  const { act, failure } = useAction()
  const change = (work: () => Promise<unknown>) => act(() => work().then(list.reload))
  const create = async (name: string) => {
    const made = await post<WholeDashboardAnswer>(api('dashboards/'), { name })
    go(linkTo(link(`dashboards/${made.id}`)))
  }
  return (
    <>
      <PageHead title="Dashboards">
        <button type="button" class="primary" onClick={() => setNew(true)}>
          New dashboard
        </button>
      </PageHead>
      <div class="filters">
        <Search label="Search dashboards" value={search} onChange={(text) => set({ search: text })} />
      </div>
      {failure}
      <ListTable
        list={list}
        what="dashboards"
        head={['Name', 'Changed', null]}
        empty={
          search === '' ? (
            <Empty title="No dashboard yet">
              <p>A dashboard shows several insights on one page. Create one, and add insights to it.</p>
            </Empty>
          ) : (
            <Empty title="No dashboard has these words">
              <p>Search for something shorter.</p>
            </Empty>
          )
        }
        row={(one) => (
          <tr key={one.id}>
            <td class="wrap">
              <a href={linkTo(link(`dashboards/${one.id}`))}>{one.name || 'Dashboard without a name'}</a>{' '}
              {one.pinned && <span class="state">pinned</span>}
              {one.description && <div class="note">{one.description}</div>}
            </td>
            <td class="when">{one.last_modified_at ? agoText(one.last_modified_at) : '–'}</td>
            <td class="tools">
              <Menu label={`More for ${one.name}`}>
                <button
                  type="button"
                  class="plain"
                  onClick={() => change(() => patch(api(`dashboards/${one.id}/`), { pinned: !one.pinned }))}
                >
                  {one.pinned ? 'Unpin' : 'Pin'}
                </button>
                <button
                  type="button"
                  class="plain"
                  onClick={() => change(() => post(api('dashboards/'), { name: `${one.name} (copy)`, use_dashboard: one.id }))}
                >
                  Duplicate
                </button>
                <button type="button" class="plain" onClick={() => setRemoved(one)}>
                  Delete
                </button>
              </Menu>
            </td>
          </tr>
        )}
      />
      {isNew && <RenameDialog name="" onSave={create} onClose={() => setNew(false)} />}
      {removed && (
        <DeleteDialog
          title={removed.name}
          onDelete={() => patch(api(`dashboards/${removed.id}/`), { deleted: true }).then(list.reload)}
          onClose={() => setRemoved(null)}
        />
      )}
    </>
  )
}
