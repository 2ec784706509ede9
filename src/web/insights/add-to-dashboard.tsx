import { useState } from 'preact/hooks'
import type { DashboardAnswer } from '../../doors/answers/dashboards.ts'
import { post, type Query } from '../lib/api.ts'
import { boardIn, linkBack } from '../lib/begun-on.ts'
import { current, go } from '../lib/router.ts'
import { useProject } from '../lib/session.ts'
import { parameters } from '../lib/use-address.ts'
import { useAction } from '../ui/forms.tsx'
import { ListState, Search, useList } from '../ui/list-table.tsx'
import { Dialog } from '../ui/parts.tsx'
import { questionInWords } from './in-words.ts'

const longestName = 400

// A tile of a question that is no insight: it is on its dashboard only, until it is saved.

/** A way to put a question on a dashboard, which is then shown: the one that it was begun on as it was left. */
export function useTileOf(query: Query) {
  const { api, link } = useProject()
  return async (dashboard: number): Promise<void> => {
    const derived_name = questionInWords(query).slice(0, longestName)
    await post(api('insights/'), { query: { kind: 'InsightVizNode', source: query }, derived_name, saved: false, dashboards: [dashboard] })
    const board = boardIn(current())
    go(linkBack(link(`dashboards/${dashboard}`), board.dashboard === String(dashboard) ? board : { dashboard: null, as: null }))
  }
}

export function AddToDashboard({ query, onClose }: { query: Query; onClose: () => void }) {
  const { api } = useProject()
  const [search, setSearch] = useState('')
  const { act, failure } = useAction()
  const add = useTileOf(query)
  const list = useList<DashboardAnswer>(api(`dashboards/?${parameters({ search, limit: 50 })}`))
  return (
    <Dialog title="Add to a dashboard" onClose={onClose}>
      <p class="note">As a tile of this dashboard only. It can be saved as an insight later.</p>
      <Search label="Search dashboards" autofocus value={search} onChange={setSearch} />
      {failure}
      <ListState list={list} what="dashboards" empty={search === '' ? 'There is none yet.' : 'No results.'}>
        {(dashboards) => (
          <ul class="people">
            {dashboards.map(({ id, name }) => (
              <li key={id}>
                <button type="button" class="plain cell" onClick={() => act(() => add(id))}>
                  {name || `Dashboard ${id}`}
                </button>
              </li>
            ))}
          </ul>
        )}
      </ListState>
    </Dialog>
  )
}
