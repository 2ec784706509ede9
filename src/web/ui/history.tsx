import { useState } from 'preact/hooks'
import { momentText } from '../lib/format.ts'
import { useProject } from '../lib/session.ts'
import { ListState, useList } from './list-table.tsx'

interface Entry {
  readonly id: string
  readonly user: { readonly first_name: string; readonly email: string } | null
  readonly activity: string
  readonly detail: { readonly changes: readonly { readonly field?: string; readonly after?: unknown }[] | null }
  readonly created_at: string
}

const changeText = ({ field, after }: { field?: string; after?: unknown }): string =>
  `${field ?? ''}${Array.isArray(after) || typeof after === 'string' ? `: ${String(after)}` : ''}`

/** Who changed a record and how. `path`: of the record, with a slash at the end. Read when it is opened. */
export function History({ path }: { path: string }) {
  const [isOpen, setOpen] = useState(false)
  return (
    <details onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>History of changes</summary>
      {isOpen && <Entries path={path} />}
    </details>
  )
}

function Entries({ path }: { path: string }) {
  const { timezone } = useProject()
  const list = useList<Entry>(`${path}activity/?limit=10`)
  return (
    <ListState list={list} what="changes" empty="Nobody has changed it. What events change is not listed.">
      {(entries) => (
        <ul class="lines">
          {entries.map(({ id, user, activity, detail, created_at }) => (
            <li key={id}>
              <span>
                {user ? user.first_name || user.email : 'The system'} {activity}
                {(detail.changes ?? []).map((change, i) => (
                  <div class="note" key={i}>
                    {changeText(change)}
                  </div>
                ))}
              </span>
              <span class="note">{momentText(created_at, timezone)}</span>
            </li>
          ))}
        </ul>
      )}
    </ListState>
  )
}
