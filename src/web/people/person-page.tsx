import { useEffect, useState } from 'preact/hooks'
import type { GroupTypeAnswer, RelatedAnswer } from '../../doors/answers/groups.ts'
import type { PersonAnswer, PersonCohortsAnswer } from '../../doors/answers/persons.ts'
import { ApiError, get, type Page, post, remove } from '../lib/api.ts'
import { FieldError } from '../lib/error-fields.ts'
import { momentText } from '../lib/format.ts'
import { go, linkTo, type Place } from '../lib/router.ts'
import { useProject } from '../lib/session.ts'
import { encodedPath, parameters } from '../lib/use-address.ts'
import { useLoaded } from '../lib/use-loaded.ts'
import { At } from '../ui/field-errors.tsx'
import { ForMembers } from '../ui/for-members.tsx'
import { CheckField, ConfirmButton, DialogButton, Form, isChecked, RadioField } from '../ui/forms.tsx'
import { History } from '../ui/history.tsx'
import { ErrorBox, NotHere, PageHead, Working } from '../ui/parts.tsx'
import { MergeDialog } from './merge.tsx'
import { PropertyEditor } from './property-editor.tsx'
import { Timeline } from './timeline.tsx'
import { singularOf } from './types.ts'

const NotThere = ({ children }: { children: string }) => {
  const { link } = useProject()
  return (
    <NotHere title="There is no such person">
      <p>{children}</p>
      <p>
        <a href={linkTo(link('people'))}>All people</a>
      </p>
    </NotHere>
  )
}
const isMissing = (error: Error | null) => error instanceof ApiError && error.status === 404

/** From a distinct id to the person that has it now. */
export const ByDistinctId = ({ distinctId }: { distinctId: string }) =>
  distinctId === '' ? <NotThere>The address has no distinct id.</NotThere> : <OwnerOf distinctId={distinctId} />

function OwnerOf({ distinctId }: { distinctId: string }) {
  const { api, link } = useProject()
  const { value, error, reload } = useLoaded(
    (signal) => get<Page<PersonAnswer>>(api(`persons/?${parameters({ distinct_id: distinctId, limit: 1 })}`), signal),
    [distinctId],
  )
  const [person] = value?.results ?? []
  useEffect(() => {
    if (person) go(linkTo(link(`people/${person.uuid}`)), true)
  }, [person])
  if (error) return <ErrorBox error={error} retry={reload} />
  if (!value || person) return <Working what="Looking for the person" />
  return <NotThere>{`No person has the distinct id ${distinctId}. Its events may have been sent without a person profile.`}</NotThere>
}

export function PersonPage({ place, uuid }: { place: Place; uuid: string }) {
  const { api, link, timezone } = useProject()
  const path = api(`persons/${encodeURIComponent(uuid)}/`)
  const { value: person, error, reload } = useLoaded((signal) => get<PersonAnswer>(path, signal), [path])
  const [round, setRound] = useState(0)
  const [isMerging, setMerging] = useState(false)
  if (isMissing(error)) return <NotThere>It was deleted, or merged into another one.</NotThere>
  if (error) return <ErrorBox error={error} retry={reload} />
  if (!person) return <Working what="Reading the person" />
  const change = async (route: string, body: unknown) => {
    await post(`${path}${route}/`, body)
    reload()
  }
  return (
    <>
      <PageHead title={person.name}>
        <ForMembers>
          <button type="button" onClick={() => setMerging(true)}>
            Merge
          </button>
          {person.distinct_ids.length > 1 && (
            <DialogButton label="Split" title="Split the person">
              {(close) => (
                <SplitForm
                  person={person}
                  split={async (ids) => {
                    await change('split', { distinct_ids_to_split: ids })
                    close()
                    setRound(round + 1)
                  }}
                />
              )}
            </DialogButton>
          )}
          <DeletePerson person={person} />
        </ForMembers>
      </PageHead>
      <p class="note">
        <a href={linkTo(link('people'))}>People</a> · first seen {momentText(person.created_at, timezone)} ·{' '}
        {person.is_identified ? 'identified' : 'anonymous'} ·{' '}
        <a href={`${path.replace(/^\//, '')}everything/`} download={`person-${person.uuid}.jsonl`}>
          Everything as a file
        </a>
      </p>
      <div class="record" key={round}>
        <div>
          <PropertyEditor
            properties={person.properties}
            set={(key, value) => change('update_property', { key, value })}
            unset={(key) => change('delete_property', { $unset: key })}
          />
          <DistinctIds ids={person.distinct_ids} />
          <Cohorts uuid={person.uuid} />
          <Groups uuid={person.uuid} />
          <h2>Changes</h2>
          <History path={api(`persons/${person.uuid}/`)} />
        </div>
        <Timeline place={place} whose={{ person_id: person.uuid }} key={person.uuid} />
      </div>
      {isMerging && (
        <MergeDialog
          person={person}
          onMerged={() => {
            reload()
            setRound(round + 1)
          }}
          onClose={() => setMerging(false)}
        />
      )}
    </>
  )
}

const idsShown = 10

function DistinctIds({ ids }: { ids: readonly string[] }) {
  const [isAll, setAll] = useState(false)
  const shown = isAll ? ids : ids.slice(0, idsShown)
  return (
    <section aria-label="Distinct ids">
      <h2>Distinct ids</h2>
      <ul class="lines">
        {shown.map((id) => (
          <li key={id}>
            <code class="wrap">{id}</code>
          </li>
        ))}
      </ul>
      {shown.length < ids.length && (
        <button type="button" class="plain add" onClick={() => setAll(true)}>
          {ids.length - shown.length} more
        </button>
      )}
    </section>
  )
}

function Cohorts({ uuid }: { uuid: string }) {
  const { api, link } = useProject()
  const { value, error } = useLoaded((signal) => get<PersonCohortsAnswer>(api(`persons/cohorts/?person_id=${uuid}`), signal), [uuid])
  return (
    <section aria-label="Cohorts">
      <h2>Cohorts</h2>
      {error && <ErrorBox error={error} />}
      {value?.results.length === 0 && <p class="note">In none.</p>}
      <ul class="lines">
        {value?.results.map(({ id, name, is_static }) => (
          <li key={id}>
            <a href={linkTo(link(`cohorts/${id}`))}>{name}</a>
            <span class="state">{is_static ? 'list' : 'dynamic'}</span>
          </li>
        ))}
      </ul>
    </section>
  )
}

function Groups({ uuid }: { uuid: string }) {
  const { api, link } = useProject()
  const { value } = useLoaded(
    (signal) =>
      Promise.all([
        get<readonly GroupTypeAnswer[]>(api('groups_types/'), signal),
        get<readonly RelatedAnswer[]>(api(`groups/related/?id=${uuid}`), signal),
      ]),
    [uuid],
  )
  const [types, related] = value ?? [[], []]
  const groups = related.filter(({ type }) => type === 'group')
  if (groups.length === 0) return null
  return (
    <section aria-label="Groups">
      <h2>Groups of the last 90 days</h2>
      <ul class="lines">
        {groups.map(({ group_type_index, id, properties }) => {
          const type = types.find((one) => one.group_type_index === group_type_index)
          return (
            <li key={`${group_type_index} ${id}`}>
              <a href={linkTo(link(`people/groups/${group_type_index}/${encodedPath([id])}`))}>
                {typeof properties.name === 'string' ? properties.name : id}
              </a>
              <span class="state">{type ? singularOf(type) : group_type_index}</span>
            </li>
          )
        })}
      </ul>
    </section>
  )
}

const fates = [
  { value: 'keep', label: 'Keep them. They count as one person without a profile.' },
  { value: 'delete', label: 'Delete them too. Numbers of the past change.' },
]

function DeletePerson({ person }: { person: PersonAnswer }) {
  const { api, link } = useProject()
  const [fate, setFate] = useState('keep')
  const drop = async () => {
    await remove(api(`persons/${person.uuid}/${fate === 'delete' ? '?delete_events=true' : ''}`))
    go(linkTo(link('people')))
  }
  return (
    <ConfirmButton
      label="Delete"
      title="Delete the person"
      submit={fate === 'delete' ? 'Delete with all events' : 'Delete the person'}
      action={drop}
    >
      <p class="wrap">
        <strong>{person.name}</strong>, its properties, its distinct ids and its places in cohorts are deleted. This cannot be undone.
      </p>
      <RadioField name="events" label="Its events" value={fate} options={fates} onChange={setFate} />
    </ConfirmButton>
  )
}

function SplitForm({ person, split }: { person: PersonAnswer; split: (ids: readonly string[]) => Promise<void> }) {
  const send = async (form: HTMLFormElement) => {
    const leaving = person.distinct_ids.filter((_, i) => isChecked(form, `id-${i}`))
    if (leaving.length === 0) throw new FieldError('ids', 'Choose the ids that leave.')
    if (leaving.length === person.distinct_ids.length) throw new FieldError('ids', 'One of the ids has to stay.')
    await split(leaving)
  }
  return (
    <Form submit="Split" send={send}>
      <p>
        Each distinct id that leaves becomes a person of its own, without properties, and takes its events with it. A later{' '}
        <code>$identify</code> can merge them again.
      </p>
      <fieldset class="ids">
        <legend>Ids that leave</legend>
        <At of="ids">
          {person.distinct_ids.map((id, i) => (
            <CheckField key={id} name={`id-${i}`} label={id} />
          ))}
        </At>
      </fieldset>
    </Form>
  )
}
