import type { AnsweredInsightAnswer, SavedInsightAnswer } from '../../doors/answers/insights.ts'
import type { Change } from '../lib/activity.ts'
import { patch, post, type Query } from '../lib/api.ts'
import { go, linkTo } from '../lib/router.ts'
import { useProject } from '../lib/session.ts'
import { ChangesDialog } from '../ui/changes.tsx'
import { FormDialog, TextField, textOf } from '../ui/forms.tsx'
import { DashboardChoice, dashboardsIn } from './dashboard-choice.tsx'
import { kinds, unwrapped } from './query.ts'

// An insight that is kept: its name, the dashboards it is on, and its changes.

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

export function DashboardsDialog({
  saved,
  onSaved,
  onClose,
}: {
  saved: SavedInsightAnswer
  onSaved: (saved: SavedInsightAnswer) => void
  onClose: () => void
}) {
  const { api } = useProject()
  const save = async (form: HTMLFormElement) => {
    onSaved(await patch<AnsweredInsightAnswer>(api(`insights/${saved.id}/`), { dashboards: dashboardsIn(form, saved.dashboards) }))
  }
  return (
    <FormDialog title="Dashboards of the insight" submit="Save" send={save} onClose={onClose}>
      <DashboardChoice chosen={saved.dashboards} />
    </FormDialog>
  )
}

/** Who changed it, and the questions of before: one of them is looked at first, and kept with “Save changes”. */
export function HistoryDialog({
  saved,
  onChange,
  onClose,
}: {
  saved: SavedInsightAnswer
  onChange: (query: Query) => void
  onClose: () => void
}) {
  const { api } = useProject()
  const before = ({ field, before: query }: Change) =>
    field === 'query' &&
    isQuery(query) && (
      <>
        {' '}
        <button
          type="button"
          class="plain link"
          onClick={() => {
            onChange(unwrapped(query))
            onClose()
          }}
        >
          Show the one before
        </button>
      </>
    )
  return <ChangesDialog path={api(`insights/${saved.id}/`)} more={before} onClose={onClose} />
}
const isQuery = (value: unknown): value is Query =>
  typeof value === 'object' && value !== null && typeof (value as { readonly kind?: unknown }).kind === 'string'
