import { useState } from 'preact/hooks'
import type { DashboardAnswer } from '../../doors/answers/dashboards.ts'
import { patch, post } from '../lib/api.ts'
import { linkTo, type Place } from '../lib/router.ts'
import { useProject } from '../lib/session.ts'
import { offerUndo } from '../lib/undo.ts'
import { parameters, useAddress } from '../lib/use-address.ts'
import { Ago } from '../ui/ago.tsx'
import { useAction } from '../ui/forms.tsx'
import { ListTable, Search, useList } from '../ui/list-table.tsx'
import { Menu } from '../ui/menu.tsx'
import { Empty, PageHead } from '../ui/parts.tsx'
import { TagFilter, TagLinks } from '../ui/tags.tsx'
import { NewDashboard } from './templates/new-dashboard.tsx'

export function DashboardList({ place }: { place: Place }) {
  const { api, link, mayChange } = useProject()
  const { of, set } = useAddress(place)
  const [search, tag] = [of('search'), of('tag')]
  const [isNew, setNew] = useState(false)
  const list = useList<DashboardAnswer>(api(`dashboards/?${parameters({ search, tags: tag, limit: 50 })}`))
  const { act, failure } = useAction()
  const change = (work: () => Promise<unknown>) => act(() => work().then(list.reload))
  const remove = async (one: DashboardAnswer) => {
    const set = (deleted: boolean) => patch(api(`dashboards/${one.id}/`), { deleted }).then(list.reload)
    await set(true)
    offerUndo({ text: `${one.name || 'The dashboard'} is deleted. Its insights stay.`, undo: () => set(false) })
  }
  return (
    <>
      <PageHead title="Dashboards">
        {mayChange && (
          <button type="button" class="primary" onClick={() => setNew(true)}>
            New dashboard
          </button>
        )}
      </PageHead>
      <div class="filters">
        <Search label="Search dashboards" value={search} onChange={(text) => set({ search: text })} />
        {tag !== '' && <TagFilter tag={tag} onRemove={() => set({ tag: '' })} />}
      </div>
      {failure}
      <ListTable
        list={list}
        what="dashboards"
        head={[{ title: 'Name', by: ({ name }) => name }, { title: 'Changed', by: ({ last_modified_at }) => last_modified_at }, null]}
        empty={
          search === '' && tag === '' ? (
            <Empty title="No dashboard yet">
              <p>A dashboard shows several insights on one page. Create one, and add insights to it.</p>
            </Empty>
          ) : (
            <Empty title="No dashboard fits">
              <p>Search for something shorter{tag !== '' && ', or remove the tag'}.</p>
            </Empty>
          )
        }
        row={(one) => (
          <tr key={one.id}>
            <td class="wrap">
              <a href={linkTo(link(`dashboards/${one.id}`))}>{one.name || 'Dashboard without a name'}</a>{' '}
              {one.pinned && <span class="state">pinned</span>} <TagLinks tags={one.tags} onChoose={(name) => set({ tag: name })} />
              {one.description && <div class="note">{one.description}</div>}
            </td>
            <td class="when">
              <Ago of={one.last_modified_at} />
            </td>
            <td class="tools">
              {mayChange && (
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
                  <button type="button" class="plain" onClick={() => act(() => remove(one))}>
                    Delete
                  </button>
                </Menu>
              )}
            </td>
          </tr>
        )}
      />
      {isNew && <NewDashboard onClose={() => setNew(false)} />}
    </>
  )
}
