import { useState } from 'preact/hooks'
import type { ActivityEntryAnswer } from '../../doors/answers/activity.ts'
import { Ago } from './ago.tsx'
import { ListState, useList } from './list-table.tsx'

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
  const list = useList<ActivityEntryAnswer>(`${path}activity/?limit=10`)
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
              <span class="note">
                <Ago of={created_at} />
              </span>
            </li>
          ))}
        </ul>
      )}
    </ListState>
  )
}
