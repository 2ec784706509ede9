import { useEffect, useState } from 'preact/hooks'
import type { ViewAnswer } from '../../doors/answers/saved-queries.ts'
import { get, type Page, patch, post, remove } from '../lib/api.ts'
import { agoText } from '../lib/format.ts'
import { refusalInWords } from '../lib/refusal-words.ts'
import { linkTo } from '../lib/router.ts'
import { useProject } from '../lib/session.ts'
import { offerUndo, onRemoval } from '../lib/undo.ts'
import { useLoaded } from '../lib/use-loaded.ts'
import { Refused } from '../ui/forms.tsx'
import { Dialog, ErrorBox, Field, Working } from '../ui/parts.tsx'

// Saved statements: other statements read them as tables.

const path = 'warehouse_saved_queries/'

export function ViewsPanel({ version, onChanged }: { version: number; onChanged: (removed: ViewAnswer | null) => void }) {
  const { api, link, mayChange } = useProject()
  const [search, setSearch] = useState('')
  const [failure, setFailure] = useState<Error | null>(null)
  const [renamed, setRenamed] = useState<ViewAnswer | null>(null)
  const { value, error, reload } = useLoaded((signal) => get<Page<ViewAnswer>>(api(`${path}?limit=500`), signal), [version])
  // Who opened the statement may have left it when its removal is undone.
  useEffect(() => onRemoval(reload), [reload])
  if (error) return <ErrorBox error={error} retry={reload} />
  if (!value) return <Working what="Reading saved queries" />
  const shown = value.results.filter(({ name }) => name.toLowerCase().includes(search.trim().toLowerCase()))
  const destroy = async (view: ViewAnswer) => {
    setFailure(null)
    await remove(api(`${path}${view.id}/`)).then(() => {
      onChanged(view)
      offerUndo({
        text: `${view.name} is deleted. Statements that read it fail.`,
        undo: () => post<ViewAnswer>(api(path), { name: view.name, query: view.query }).then(() => onChanged(null)),
      })
    }, setFailure)
  }
  return (
    <>
      {value.results.length > 8 && (
        <input
          type="search"
          aria-label="Search saved queries"
          placeholder="Search"
          value={search}
          onInput={(event) => setSearch(event.currentTarget.value)}
        />
      )}
      {failure && <Refused error={failure} />}
      {value.results.length === 0 && <p class="note">None yet. Save a statement under a name: others can read it as a table.</p>}
      <ul class="views">
        {shown.map((view) => (
          <li key={view.id}>
            <a href={linkTo(link('sql'), { view: view.id })}>{view.name}</a>
            <small> {agoText(view.updated_at)}</small>
            {mayChange && (
              <div class="actions">
                <button type="button" class="plain link" aria-label={`Rename ${view.name}`} onClick={() => setRenamed(view)}>
                  Rename
                </button>
                <button type="button" class="plain link" aria-label={`Delete ${view.name}`} onClick={() => void destroy(view)}>
                  Delete
                </button>
              </div>
            )}
          </li>
        ))}
      </ul>
      {renamed && (
        <NameDialog
          title={`Rename ${renamed.name}`}
          name={renamed.name}
          send={async (name) => void (await patch(api(`${path}${renamed.id}/`), { name }))}
          onDone={() => onChanged(null)}
          onClose={() => setRenamed(null)}
        />
      )}
    </>
  )
}

/** Asks for the name of a view. */
function NameDialog({
  title,
  name,
  send,
  onDone,
  onClose,
}: {
  title: string
  name: string
  send: (name: string) => Promise<void>
  onDone?: () => void
  onClose: () => void
}) {
  const [error, setError] = useState<Error | null>(null)
  const save = async (event: SubmitEvent) => {
    event.preventDefault()
    const given = String(new FormData(event.currentTarget as HTMLFormElement).get('name')).trim()
    await send(given).then(() => {
      onClose()
      onDone?.()
    }, setError)
  }
  return (
    <Dialog title={title} onClose={onClose}>
      <form onSubmit={(event) => void save(event)}>
        <Field label="Name" hint="Letters, digits and _, as statements write it" error={error && refusalInWords(error)}>
          {(id) => <input id={id} name="name" required maxLength={128} pattern="[A-Za-z_][A-Za-z0-9_]*" autofocus defaultValue={name} />}
        </Field>
        <button type="submit" class="primary">
          Save
        </button>
      </form>
    </Dialog>
  )
}

export function SaveView({ statement, onSaved, onClose }: { statement: string; onSaved: (view: ViewAnswer) => void; onClose: () => void }) {
  const { api } = useProject()
  return (
    <NameDialog
      title="Save the statement"
      name=""
      send={async (name) => {
        const view = await post<ViewAnswer>(api(path), { name, query: { kind: 'HogQLQuery', query: statement } })
        onSaved(view)
      }}
      onClose={onClose}
    />
  )
}
export const updateView = (api: (path: string) => string, id: string, statement: string) =>
  patch<ViewAnswer>(api(`${path}${id}/`), { query: { kind: 'HogQLQuery', query: statement } })
export const findView = (api: (path: string) => string, id: string, signal: AbortSignal) =>
  get<ViewAnswer>(api(`${path}${encodeURIComponent(id)}/`), signal)
