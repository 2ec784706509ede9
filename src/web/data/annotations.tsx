import type { AnnotationAnswer } from '../../doors/answers/annotations.ts'
import { AnnotationForm } from '../annotations/annotation-form.tsx'
import { annotationsChanged } from '../annotations/read-annotations.ts'
import { patch } from '../lib/api.ts'
import { momentText } from '../lib/format.ts'
import { linkTo, type Place } from '../lib/router.ts'
import { useProject } from '../lib/session.ts'
import { parameters, useAddress } from '../lib/use-address.ts'
import { DialogButton, RemoveButton } from '../ui/forms.tsx'
import { ListTable, Search, useList } from '../ui/list-table.tsx'
import { Empty } from '../ui/parts.tsx'

/** Notes on the time axis of charts. */
export function Annotations({ place }: { place: Place }) {
  const { api, link, timezone, mayChange } = useProject()
  const { of, set } = useAddress(place)
  const search = of('search')
  const list = useList<AnnotationAnswer>(api(`annotations/?${parameters({ search, limit: 50 })}`))
  const placeOf = (one: AnnotationAnswer) =>
    one.scope === 'dashboard_item' && one.insight_short_id ? (
      <a href={linkTo(link(`insights/${one.insight_short_id}`))}>{one.insight_name || one.insight_derived_name || 'an insight'}</a>
    ) : one.scope === 'dashboard' && one.dashboard_id ? (
      <a href={linkTo(link(`dashboards/${one.dashboard_id}`))}>{one.dashboard_name || 'a dashboard'}</a>
    ) : one.scope === 'organization' ? (
      'all projects of the organization'
    ) : (
      'this project'
    )
  const setDeleted = async ({ id }: AnnotationAnswer, deleted: boolean) => {
    await patch(api(`annotations/${id}/`), { deleted })
    annotationsChanged()
    list.reload()
  }
  const form = (annotation: AnnotationAnswer | null) => (close: () => void) => (
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
        {mayChange && (
          <DialogButton label="New annotation" isPrimary>
            {form(null)}
          </DialogButton>
        )}
      </div>
      <ListTable
        list={list}
        what="annotations"
        head={[
          { title: 'Time', by: ({ date_marker }) => date_marker },
          { title: 'Note', by: ({ content }) => content },
          'Shown in',
          { title: 'By', by: ({ created_by }) => created_by?.first_name || created_by?.email },
          null,
        ]}
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
              {mayChange && (
                <>
                  <DialogButton label="Edit" of={one.content ?? 'the annotation'} look="cell" title="Edit the annotation">
                    {form(one)}
                  </DialogButton>
                  <RemoveButton
                    label="Delete"
                    of={one.content ?? 'the annotation'}
                    look="cell"
                    text={`The annotation ${one.content ?? ''} is deleted.`}
                    remove={() => setDeleted(one, true)}
                    undo={() => setDeleted(one, false)}
                  />
                </>
              )}
            </td>
          </tr>
        )}
      />
    </>
  )
}
