import type { AnsweredInsightAnswer, SavedInsightAnswer } from '../../doors/answers/insights.ts'
import { patch, post, type Query } from '../lib/api.ts'
import { go, linkTo } from '../lib/router.ts'
import { useProject } from '../lib/session.ts'
import { Confirm, FormDialog, TextField, textOf } from '../ui/forms.tsx'
import { DashboardChoice, dashboardsIn } from './dashboard-choice.tsx'
import { kinds, unwrapped } from './query.ts'

// An insight that is kept: its name, the dashboards it is on, and its end.

export const shownName = ({ name, derived_name, query }: SavedInsightAnswer): string =>
  name || derived_name || kinds.find(({ kind }) => kind === unwrapped(query).kind)?.title || 'Insight'

export function SaveDialog({ query, name, onClose }: { query: Query; name: string; onClose: () => void }) {
  const { api, link } = useProject()
  const save = async (form: HTMLFormElement) => {
    const made = await post<AnsweredInsightAnswer>(api('insights/'), {
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
      <DashboardChoice chosen={[]} />
    </FormDialog>
  )
}

export function DetailsDialog({ saved, onSaved, onClose }: { saved: SavedInsightAnswer; onSaved: () => void; onClose: () => void }) {
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
      <DashboardChoice chosen={saved.dashboards} />
    </FormDialog>
  )
}

export function DeleteDialog({ saved, onClose }: { saved: SavedInsightAnswer; onClose: () => void }) {
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
