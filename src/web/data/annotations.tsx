import { useState } from 'preact/hooks'
import { get, type Page, patch, post } from '../lib/api.ts'
import { momentText } from '../lib/format.ts'
import { linkTo, type Place } from '../lib/router.ts'
import { useProject } from '../lib/session.ts'
import { useAction } from '../lib/use-action.ts'
import { parameters, useAddress } from '../lib/use-address.ts'
import { useLoaded } from '../lib/use-loaded.ts'
import { Confirm, Pager, Scroll, Search } from '../ui/lists.tsx'
import { Dialog, Empty, ErrorBox, Field, Working } from '../ui/parts.tsx'

const pageSize = 50

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

/** Notes on the time axis of charts. */
export function Annotations({ place }: { place: Place }) {
  const { api, link, timezone } = useProject()
  const { of, number, set } = useAddress(place)
  const [search, offset] = [of('search'), number('offset')]
  const [edited, setEdited] = useState<Annotation | 'new' | null>(null)
  const [removed, setRemoved] = useState<Annotation | null>(null)
  const { value, error, isLoading, reload, cancel } = useLoaded(
    (signal) => get<Page<Annotation>>(api(`annotations/?${parameters({ search, limit: pageSize, offset })}`), signal),
    [search, offset],
  )
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
  return (
    <>
      <div class="filters">
        <Search label="Search annotations" placeholder="Text" value={search} onChange={(text) => set({ search: text, offset: 0 })} />
        <button type="button" class="primary" onClick={() => setEdited('new')}>
          New annotation
        </button>
      </div>
      {error && <ErrorBox error={error} retry={reload} />}
      {isLoading && !value && <Working what="Reading annotations" cancel={cancel} />}
      {!error && value && value.results.length === 0 && (
        <Empty title={search === '' ? 'No annotation yet' : 'No annotation like this'}>
          {search === '' && (
            <p>Write down what happened on a day, a release or a campaign, to explain a chart to those who look at it later.</p>
          )}
        </Empty>
      )}
      {!error && value && value.results.length > 0 && (
        <>
          <Scroll label="Annotations">
            <table class="rows" aria-busy={isLoading}>
              <thead>
                <tr>
                  <th>Time</th>
                  <th>Note</th>
                  <th>Shown in</th>
                  <th>By</th>
                  <th>
                    <span class="hidden">Changes</span>
                  </th>
                </tr>
              </thead>
              <tbody>
                {value.results.map((one) => (
                  <tr key={one.id}>
                    <td>{momentText(one.date_marker, timezone)}</td>
                    <td class="wrap">{one.content}</td>
                    <td>{placeOf(one)}</td>
                    <td>{one.created_by ? one.created_by.first_name || one.created_by.email : '–'}</td>
                    <td class="number">
                      <button
                        type="button"
                        class="plain cell"
                        aria-label={`Edit ${one.content ?? 'the annotation'}`}
                        onClick={() => setEdited(one)}
                      >
                        Edit
                      </button>{' '}
                      <button
                        type="button"
                        class="plain cell"
                        aria-label={`Delete ${one.content ?? 'the annotation'}`}
                        onClick={() => setRemoved(one)}
                      >
                        Delete
                      </button>
                    </td>
                  </tr>
                ))}
              </tbody>
            </table>
          </Scroll>
          <Pager
            offset={offset}
            size={pageSize}
            shown={value.results.length}
            count={value.count}
            onChange={(next) => set({ offset: next })}
          />
        </>
      )}
      {edited && (
        <AnnotationDialog
          annotation={edited === 'new' ? null : edited}
          onClose={() => setEdited(null)}
          onSaved={() => {
            setEdited(null)
            reload()
          }}
        />
      )}
      {removed && (
        <Confirm
          title="Delete the annotation"
          action="Delete"
          onClose={() => setRemoved(null)}
          onConfirm={() => patch(api(`annotations/${removed.id}/`), { deleted: true }).then(reload)}
        >
          <p class="wrap">{removed.content}</p>
        </Confirm>
      )}
    </>
  )
}

/** The field speaks the clock of the reader's browser, and says so. */
const localText = (moment: string | null): string => {
  const at = moment ? new Date(moment) : new Date()
  return new Date(at.getTime() - at.getTimezoneOffset() * 60_000).toISOString().slice(0, 16)
}

function AnnotationDialog({ annotation, onClose, onSaved }: { annotation: Annotation | null; onClose: () => void; onSaved: () => void }) {
  const { api } = useProject()
  const { error, isBusy, run } = useAction()
  const save = async (event: SubmitEvent) => {
    event.preventDefault()
    const data = new FormData(event.currentTarget as HTMLFormElement)
    const body = { content: String(data.get('content')), date_marker: new Date(String(data.get('time'))).toISOString() }
    const isSaved = await run(() =>
      annotation === null
        ? post(api('annotations/'), { ...body, scope: String(data.get('scope')) })
        : patch(api(`annotations/${annotation.id}/`), body),
    )
    if (isSaved) onSaved()
  }
  return (
    <Dialog title={annotation === null ? 'New annotation' : 'Edit the annotation'} onClose={onClose}>
      <form onSubmit={(event) => void save(event)}>
        <Field label="Note">
          {(id) => (
            <textarea id={id} name="content" required maxLength={8192} rows={3} autofocus defaultValue={annotation?.content ?? ''} />
          )}
        </Field>
        <Field label="Time" hint={`On the clock of this computer (${Intl.DateTimeFormat().resolvedOptions().timeZone}).`}>
          {(id) => <input id={id} type="datetime-local" name="time" required defaultValue={localText(annotation?.date_marker ?? null)} />}
        </Field>
        {annotation === null && (
          <Field label="Shown in">
            {(id) => (
              <select id={id} name="scope">
                <option value="project">This project</option>
                <option value="organization">All projects of the organization</option>
              </select>
            )}
          </Field>
        )}
        {error && <ErrorBox error={error} />}
        <button type="submit" class="primary" disabled={isBusy}>
          Save
        </button>
      </form>
    </Dialog>
  )
}
