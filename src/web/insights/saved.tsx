import { get, type Page, patch, post, type Query } from '../lib/api.ts'
import { go, linkTo } from '../lib/router.ts'
import { useProject } from '../lib/session.ts'
import { useLoaded } from '../lib/use-loaded.ts'
import { Confirm, FormDialog, isChecked, TextField, textOf } from '../ui/forms.tsx'
import { kinds, unwrapped } from './query.ts'

// An insight that is kept: its name, the dashboards it is on, and its end.

export interface SavedInsight {
  readonly id: number
  readonly short_id: string
  readonly name: string | null
  readonly derived_name: string | null
  readonly description: string
  readonly query: Query
  readonly dashboards: readonly number[]
  readonly last_modified_at: string
}

export const shownName = ({ name, derived_name, query }: SavedInsight): string =>
  name || derived_name || kinds.find(({ kind }) => kind === unwrapped(query).kind)?.title || 'Insight'

interface Dashboard {
  readonly id: number
  readonly name: string
}

/** A checkbox for each dashboard; none if there are none. */
function Dashboards({ chosen }: { chosen: readonly number[] }) {
  const { api } = useProject()
  const { value } = useLoaded((signal) => get<Page<Dashboard>>(api('dashboards/?limit=100'), signal), [])
  if (!value || value.results.length === 0) return null
  return (
    <fieldset class="choices">
      <legend>On dashboards</legend>
      {value.results.map(({ id, name }) => (
        <label class="inline" key={id}>
          <input type="checkbox" name={`dashboard ${id}`} defaultChecked={chosen.includes(id)} />
          {name || `Dashboard ${id}`}
        </label>
      ))}
    </fieldset>
  )
}
/** Those that the form shows as chosen, and those that it does not show. */
function dashboardsIn(form: HTMLFormElement, before: readonly number[]): readonly number[] {
  const boxes = [...form.querySelectorAll<HTMLInputElement>('input[name^="dashboard "]')].map(({ name }) => name)
  const hidden = before.filter((id) => !boxes.includes(`dashboard ${id}`))
  return [...hidden, ...boxes.filter((name) => isChecked(form, name)).map((name) => Number(name.split(' ')[1]))]
}

export function SaveDialog({ query, name, onClose }: { query: Query; name: string; onClose: () => void }) {
  const { api, link } = useProject()
  const save = async (form: HTMLFormElement) => {
    const made = await post<SavedInsight>(api('insights/'), {
      name: textOf(form, 'name'),
      query: { kind: 'InsightVizNode', source: query },
      saved: true,
      dashboards: dashboardsIn(form, []),
    })
    go(linkTo(link(`insights/${made.short_id}`)))
  }
  return (
    <FormDialog title="Save the insight" submit="Save" send={save} onClose={onClose}>
      <TextField name="name" label="Name" value={name} required maxLength={400} autofocus />
      <Dashboards chosen={[]} />
    </FormDialog>
  )
}

export function DetailsDialog({ saved, onSaved, onClose }: { saved: SavedInsight; onSaved: () => void; onClose: () => void }) {
  const { api } = useProject()
  const save = async (form: HTMLFormElement) => {
    await patch(api(`insights/${saved.id}/`), {
      name: textOf(form, 'name'),
      description: textOf(form, 'description'),
      dashboards: dashboardsIn(form, saved.dashboards),
    })
    onSaved()
  }
  return (
    <FormDialog title="Details of the insight" submit="Save" send={save} onClose={onClose}>
      <TextField name="name" label="Name" value={saved.name ?? ''} maxLength={400} autofocus />
      <TextField name="description" label="Description" value={saved.description} rows={2} />
      <Dashboards chosen={saved.dashboards} />
    </FormDialog>
  )
}

export function DeleteDialog({ saved, onClose }: { saved: SavedInsight; onClose: () => void }) {
  const { api, link } = useProject()
  const remove = async () => {
    await patch(api(`insights/${saved.id}/`), { deleted: true })
    go(linkTo(link('insights')))
  }
  return (
    <Confirm title={`Delete ${shownName(saved)}?`} submit="Delete" action={remove} onClose={onClose}>
      <p>It is taken off {saved.dashboards.length === 1 ? 'its dashboard' : 'all dashboards'}. Its events stay.</p>
    </Confirm>
  )
}
