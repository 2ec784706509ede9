import type { AnnotationAnswer } from '../../doors/answers/annotations.ts'
import { patch, post } from '../lib/api.ts'
import { useProject } from '../lib/session.ts'
import { ChoiceField, Form, TextField, TimeField, textOf, timeOf } from '../ui/forms.tsx'
import type { ChartPlace } from './annotation.ts'
import { annotationsChanged } from './read-annotations.ts'

const everywhere = [
  { value: 'project', label: 'This project' },
  { value: 'organization', label: 'All projects of the organization' },
]

/** A new annotation, or one that is changed. `at`: the time that a new one is about. */
export function AnnotationForm({
  annotation,
  at,
  place = {},
  onSaved,
}: {
  annotation: AnnotationAnswer | null
  at?: string
  place?: ChartPlace
  onSaved: () => void
}) {
  const { api } = useProject()
  const { insight, dashboard } = place
  const scopes = [
    ...everywhere,
    ...(insight === undefined ? [] : [{ value: 'dashboard_item', label: 'This insight' }]),
    ...(dashboard === undefined ? [] : [{ value: 'dashboard', label: 'This dashboard' }]),
  ]
  const shownIn = (scope: string) => ({
    scope,
    ...(scope === 'dashboard_item' && { dashboard_item: insight }),
    ...(scope === 'dashboard' && { dashboard_id: dashboard }),
  })
  const send = async (form: HTMLFormElement) => {
    const body = { content: textOf(form, 'content'), date_marker: timeOf(form, 'date_marker') }
    await (annotation === null
      ? post(api('annotations/'), { ...body, ...shownIn(textOf(form, 'scope')) })
      : patch(api(`annotations/${annotation.id}/`), body))
    annotationsChanged()
    onSaved()
  }
  return (
    <Form submit="Save" send={send}>
      <TextField name="content" label="Note" value={annotation?.content} rows={3} required autofocus maxLength={8192} />
      <TimeField name="date_marker" label="Time" value={annotation?.date_marker ?? at ?? new Date().toISOString()} required />
      {annotation === null && <ChoiceField name="scope" label="Shown in" value="project" options={scopes} />}
    </Form>
  )
}
