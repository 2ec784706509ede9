import { patch, post } from '../lib/api.ts'
import { momentText } from '../lib/format.ts'
import { linkTo, type Place } from '../lib/router.ts'
import { useProject } from '../lib/session.ts'
import { parameters, useAddress } from '../lib/use-address.ts'
import { ChoiceField, ConfirmButton, DialogButton, Form, TextField, TimeField, textOf, timeOf } from '../ui/forms.tsx'
import { ListTable, Search, useList } from '../ui/list-table.tsx'
import { Empty } from '../ui/parts.tsx'

interface Annotation {
  readonly id: number
  readonly content: string | null
  readonly date_marker: string | null
  readonly scope: string
  readonly dashboard_id: number | null
  readonly dashboard_name: string | null
  readonly insight_short_id: string | null
  readonly insight_name: string | null
  readonly insight_derived_name: string | null
  readonly created_by: { readonly first_name: string; readonly email: string } | null
}

const scopes = [
  { value: 'project', label: 'This project' },
  { value: 'organization', label: 'All projects of the organization' },
]

/** Notes on the time axis of charts. */
export function Annotations({ place }: { place: Place }) {
  const { api, link, timezone } = useProject()
  const { of, set } = useAddress(place)
  const search = of('search')
  const list = useList<Annotation>(api(`annotations/?${parameters({ search, limit: 50 })}`))
  const placeOf = (one: Annotation) =>
    one.scope === 'dashboard_item' && one.insight_short_id ? (
      <a href={linkTo(link(`insights/${one.insight_short_id}`))}>{one.insight_name || one.insight_derived_name || 'an insight'}</a>
    ) : one.scope === 'dashboard' && one.dashboard_id ? (
      <a href={linkTo(link(`dashboards/${one.dashboard_id}`))}>{one.dashboard_name || 'a dashboard'}</a>
    ) : one.scope === 'organization' ? (
      'all projects of the organization'
    ) : (
      'this project'
    )
  const form = (annotation: Annotation | null) => (close: () => void) => (
    <AnnotationForm
      annotation={annotation}
      onSaved={() => {
        close()
        list.reload()
      }}
    />
  )
  return (
    <>
      <div class="filters">
        <Search label="Search annotations" placeholder="Text" value={search} onChange={(text) => set({ search: text })} />
        <DialogButton label="New annotation" isPrimary>
          {form(null)}
        </DialogButton>
      </div>
      <ListTable
        list={list}
        what="annotations"
        head={['Time', 'Note', 'Shown in', 'By', null]}
        empty={
          search === '' ? (
            <Empty title="No annotation yet">
              <p>Write down what happened on a day, a release or a campaign, to explain a chart to those who look at it later.</p>
            </Empty>
          ) : (
            <Empty title="No annotation like this">
              <p>Search for something shorter.</p>
            </Empty>
          )
        }
        row={(one) => (
          <tr key={one.id}>
            <td class="when">{momentText(one.date_marker, timezone)}</td>
            <td class="wrap">{one.content}</td>
            <td>{placeOf(one)}</td>
            <td>{one.created_by ? one.created_by.first_name || one.created_by.email : '–'}</td>
            <td class="tools">
              <DialogButton label="Edit" of={one.content ?? 'the annotation'} look="cell" title="Edit the annotation">
                {form(one)}
              </DialogButton>
              <ConfirmButton
                label="Delete"
                of={one.content ?? 'the annotation'}
                look="cell"
                title="Delete the annotation"
                action={() => patch(api(`annotations/${one.id}/`), { deleted: true }).then(list.reload)}
              >
                <p class="wrap">{one.content}</p>
              </ConfirmButton>
            </td>
          </tr>
        )}
      />
    </>
  )
}

function AnnotationForm({ annotation, onSaved }: { annotation: Annotation | null; onSaved: () => void }) {
  const { api } = useProject()
  const send = async (form: HTMLFormElement) => {
    const body = { content: textOf(form, 'content'), date_marker: timeOf(form, 'date_marker') }
    await (annotation === null
      ? post(api('annotations/'), { ...body, scope: textOf(form, 'scope') })
      : patch(api(`annotations/${annotation.id}/`), body))
    onSaved()
  }
  return (
    <Form submit="Save" send={send}>
      <TextField name="content" label="Note" value={annotation?.content} rows={3} required autofocus maxLength={8192} />
      <TimeField name="date_marker" label="Time" value={annotation?.date_marker ?? new Date().toISOString()} required />
      {annotation === null && <ChoiceField name="scope" label="Shown in" value="project" options={scopes} />}
    </Form>
  )
}
