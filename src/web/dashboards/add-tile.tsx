import { useState } from 'preact/hooks'
import type { SavedInsightAnswer } from '../../doors/answers/insights.ts'
import { linkTo } from '../lib/router.ts'
import { useProject } from '../lib/session.ts'
import { parameters } from '../lib/use-address.ts'
import { FormDialog, TextField, textOf, useAction } from '../ui/forms.tsx'
import { ListState, Search, useList } from '../ui/list-table.tsx'
import { Dialog } from '../ui/parts.tsx'
import { insightName } from './tile.tsx'

/** Chooses a saved insight. */
export function AddInsight({
  title = 'Add insights',
  known,
  onAdd,
  onClose,
}: {
  title?: string
  known: ReadonlySet<number>
  onAdd: (insight: SavedInsightAnswer) => Promise<void> | void
  onClose: () => void
}) {
  const { api, link } = useProject()
  const [search, setSearch] = useState('')
  const { act, failure } = useAction()
  const list = useList<SavedInsightAnswer>(
    api(`insights/?${parameters({ basic: 'true', saved: 'true', limit: 50, order: '-last_modified_at', search })}`),
  )
  const build = <a href={linkTo(link('insights'))}>Build one</a>
  return (
    <Dialog title={title} onClose={onClose}>
      <Search label="Search saved insights" autofocus value={search} onChange={setSearch} />
      {failure}
      <ListState
        list={list}
        what="insights"
        empty={
          <p class="note">
            {search === '' ? 'None is saved yet.' : 'No results.'} {build}
          </p>
        }
      >
        {(insights) => (
          <ul class="people">
            {insights.map((one) => (
              <li key={one.id}>
                <button type="button" class="plain cell" disabled={known.has(one.id)} onClick={() => act(async () => onAdd(one))}>
                  {insightName(one)}
                </button>
                {known.has(one.id) && <span class="note"> Added</span>}
              </li>
            ))}
          </ul>
        )}
      </ListState>
    </Dialog>
  )
}

export const EditText = ({ body, onSave, onClose }: { body: string; onSave: (body: string) => Promise<void>; onClose: () => void }) => (
  <FormDialog title="Text" submit="Save" onClose={onClose} send={(form) => onSave(textOf(form, 'body'))}>
    <TextField
      name="body"
      label="Text"
      hint="Markdown: # heading, - list, **bold**, `code`, [link](https://…)"
      value={body}
      rows={8}
      required
      autofocus
      maxLength={100_000}
    />
  </FormDialog>
)

export const RenameDialog = ({ name, onSave, onClose }: { name: string; onSave: (name: string) => Promise<void>; onClose: () => void }) => (
  <FormDialog title="Rename" submit="Save" onClose={onClose} send={(form) => onSave(textOf(form, 'name'))}>
    <TextField name="name" label="Name" value={name} required maxLength={400} autofocus />
  </FormDialog>
)
