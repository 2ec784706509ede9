import { useState } from 'preact/hooks'
import { get } from '../lib/api.ts'
import { momentText } from '../lib/format.ts'
import { useProject } from '../lib/session.ts'
import { useLoaded } from '../lib/use-loaded.ts'
import { Pager } from './lists.tsx'
import { ErrorBox, Working } from './parts.tsx'

const pageSize = 10

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
  const [offset, setOffset] = useState(0)
  const { value, error, reload, cancel } = useLoaded(
    (signal) =>
      get<{ results: readonly Entry[]; total_count: number }>(
        `${path}activity/?limit=${pageSize}&page=${Math.floor(offset / pageSize) + 1}`,
        signal,
      ),
    [path, offset],
  )
  if (error) return <ErrorBox error={error} retry={reload} />
  if (!value) return <Working what="Reading the history" cancel={cancel} />
  if (value.results.length === 0) return <p class="note">Nobody has changed it. What events change is not listed.</p>
  return (
    <>
      <ul class="lines">
        {value.results.map(({ id, user, activity, detail, created_at }) => (
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
      <Pager offset={offset} size={pageSize} shown={value.results.length} count={value.total_count} onChange={setOffset} />
    </>
  )
}
