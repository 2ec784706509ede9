import { useState } from 'preact/hooks'
import { get, type Page } from '../lib/api.ts'
import { linkTo } from '../lib/router.ts'
import { useProject } from '../lib/session.ts'
import { useLoaded } from '../lib/use-loaded.ts'
import { Dialog, ErrorBox, Field, Working } from '../ui/parts.tsx'
import type { TileInsight } from './model.ts'
import { insightName } from './tile.tsx'

/** Chooses a saved insight. */
export function AddInsight({
  known,
  onAdd,
  onClose,
}: {
  known: ReadonlySet<number>
  onAdd: (id: number) => Promise<void>
  onClose: () => void
}) {
  const { api, link } = useProject()
  const [search, setSearch] = useState('')
  const [failure, setFailure] = useState<Error | null>(null)
  const { value, error, reload } = useLoaded(
    (signal) =>
      get<Page<TileInsight>>(
        api(`insights/?basic=true&saved=true&limit=50&order=-last_modified_at${search ? `&search=${encodeURIComponent(search)}` : ''}`),
        signal,
      ),
    [search],
  )
  return (
    <Dialog title="Add an insight" onClose={onClose}>
      <input
        type="search"
        aria-label="Search saved insights"
        placeholder="Search"
        autofocus
        value={search}
        onInput={(event) => setSearch(event.currentTarget.value)}
      />
      {(error ?? failure) && <ErrorBox error={(error ?? failure)!} retry={reload} />}
      {!value && !error && <Working what="Reading insights" />}
      {value?.results.length === 0 && (
        <p class="note">
          {search ? 'None has these words. ' : 'None is saved yet. '}
          <a href={linkTo(link('insights'))}>Build one</a>
        </p>
      )}
      <ul class="people">
        {(value?.results ?? []).map((one) => (
          <li key={one.id}>
            <button type="button" class="plain cell" disabled={known.has(one.id)} onClick={() => void onAdd(one.id).catch(setFailure)}>
              {insightName(one)}
            </button>
            {known.has(one.id) && <span class="note"> is on it</span>}
          </li>
        ))}
      </ul>
    </Dialog>
  )
}

export function EditText({ body, onSave, onClose }: { body: string; onSave: (body: string) => Promise<void>; onClose: () => void }) {
  const [error, setError] = useState<Error | null>(null)
  const save = async (event: SubmitEvent) => {
    event.preventDefault()
    await onSave(String(new FormData(event.currentTarget as HTMLFormElement).get('body'))).then(onClose, setError)
  }
  return (
    <Dialog title="Text" onClose={onClose}>
      <form onSubmit={(event) => void save(event)}>
        <Field label="Text" hint="Markdown: # heading, - list, **bold**, `code`, [link](https://…)">
          {(id) => <textarea id={id} name="body" rows={8} required autofocus maxLength={100_000} defaultValue={body} />}
        </Field>
        {error && <ErrorBox error={error} />}
        <button type="submit" class="primary">
          Save
        </button>
      </form>
    </Dialog>
  )
}

export function RenameDialog({ name, onSave, onClose }: { name: string; onSave: (name: string) => Promise<void>; onClose: () => void }) {
  const [error, setError] = useState<Error | null>(null)
  const save = async (event: SubmitEvent) => {
    event.preventDefault()
    await onSave(String(new FormData(event.currentTarget as HTMLFormElement).get('name')).trim()).then(onClose, setError)
  }
  return (
    <Dialog title={name === '' ? 'New dashboard' : 'Rename'} onClose={onClose}>
      <form onSubmit={(event) => void save(event)}>
        <Field label="Name" error={error?.message ?? null}>
          {(id) => <input id={id} name="name" required maxLength={400} autofocus defaultValue={name} />}
        </Field>
        <button type="submit" class="primary">
          {name === '' ? 'Create' : 'Save'}
        </button>
      </form>
    </Dialog>
  )
}
