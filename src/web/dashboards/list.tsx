import { useState } from 'preact/hooks'
import { get, type Page, patch, post } from '../lib/api.ts'
import { agoText, numberText } from '../lib/format.ts'
import { go, linkTo } from '../lib/router.ts'
import { useProject } from '../lib/session.ts'
import { useLoaded } from '../lib/use-loaded.ts'
import { Dialog, Empty, ErrorBox, PageHead, Working } from '../ui/parts.tsx'
import { RenameDialog } from './add-tile.tsx'
import { Menu } from './menu.tsx'
import type { DashboardRow } from './model.ts'

const pageSize = 50

export function DashboardList() {
  const { api, link } = useProject()
  const [search, setSearch] = useState('')
  const [offset, setOffset] = useState(0)
  const [isNew, setNew] = useState(false)
  const [removed, setRemoved] = useState<DashboardRow | null>(null)
  const [failure, setFailure] = useState<Error | null>(null)
  const { value, error, reload } = useLoaded(
    (signal) =>
      get<Page<DashboardRow>>(
        api(`dashboards/?${new URLSearchParams({ search, limit: String(pageSize), offset: String(offset) })}`),
        signal,
      ),
    [search, offset],
  )
  const change = (work: Promise<unknown>) => {
    setFailure(null)
    work.then(reload, setFailure)
  }
  const create = async (name: string) => {
    const made = await post<DashboardRow>(api('dashboards/'), { name })
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
        <input
          type="search"
          aria-label="Search dashboards"
          placeholder="Search"
          value={search}
          onInput={(event) => {
            setSearch(event.currentTarget.value)
            setOffset(0)
          }}
        />
      </div>
      {(error ?? failure) && <ErrorBox error={(error ?? failure)!} retry={reload} />}
      {!value && !error && <Working what="Reading dashboards" />}
      {value && value.results.length === 0 && (
        <Empty title={search ? 'No dashboard has these words' : 'No dashboard yet'}>
          {!search && <p>A dashboard shows several insights on one page. Create one, and add insights to it.</p>}
        </Empty>
      )}
      {value && value.results.length > 0 && (
        <table class="rows dashboards">
          <thead>
            <tr>
              <th>Name</th>
              <th>Changed</th>
              <th>
                <span class="hidden">Actions</span>
              </th>
            </tr>
          </thead>
          <tbody>
            {value.results.map((one) => (
              <tr key={one.id}>
                <td>
                  <a href={linkTo(link(`dashboards/${one.id}`))}>{one.name || 'Dashboard without a name'}</a>
                  {one.pinned && <span class="pin">pinned</span>}
                  {one.description && <div class="note">{one.description}</div>}
                </td>
                <td>{one.last_modified_at ? agoText(one.last_modified_at) : '–'}</td>
                <td class="number">
                  <Menu label={`More for ${one.name}`} text="⋯">
                    <button
                      type="button"
                      class="plain"
                      onClick={() => change(patch(api(`dashboards/${one.id}/`), { pinned: !one.pinned }))}
                    >
                      {one.pinned ? 'Unpin' : 'Pin'}
                    </button>
                    <button
                      type="button"
                      class="plain"
                      onClick={() => change(post(api('dashboards/'), { name: `${one.name} (copy)`, use_dashboard: one.id }))}
                    >
                      Duplicate
                    </button>
                    <button type="button" class="plain" onClick={() => setRemoved(one)}>
                      Delete
                    </button>
                  </Menu>
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      {value && (offset > 0 || value.next) && (
        <div class="actions">
          <button type="button" disabled={offset === 0} onClick={() => setOffset(Math.max(0, offset - pageSize))}>
            Before
          </button>
          <span class="note">
            {offset + 1} to {offset + value.results.length} of {numberText(value.count ?? 0)}
          </span>
          <button type="button" disabled={!value.next} onClick={() => setOffset(offset + pageSize)}>
            Next
          </button>
        </div>
      )}
      {isNew && <RenameDialog name="" onSave={create} onClose={() => setNew(false)} />}
      {removed && (
        <Confirm
          title={`Delete ${removed.name}?`}
          onConfirm={() => change(patch(api(`dashboards/${removed.id}/`), { deleted: true }))}
          onClose={() => setRemoved(null)}
        />
      )}
    </>
  )
}

export function Confirm({ title, onConfirm, onClose }: { title: string; onConfirm: () => void; onClose: () => void }) {
  return (
    <Dialog title={title} onClose={onClose}>
      <p>Its insights stay. Its public link ends.</p>
      <div class="actions">
        <button
          type="button"
          class="primary"
          onClick={() => {
            onClose()
            onConfirm()
          }}
        >
          Delete
        </button>
        <button type="button" onClick={onClose}>
          Keep
        </button>
      </div>
    </Dialog>
  )
}
