import { useEffect, useState } from 'preact/hooks'
import { ApiError, get, post, remove } from '../lib/api.ts'
import { momentText } from '../lib/format.ts'
import { go, linkTo } from '../lib/router.ts'
import { useProject } from '../lib/session.ts'
import { useAction } from '../lib/use-action.ts'
import { encodedPath, parameters } from '../lib/use-address.ts'
import { useLoaded } from '../lib/use-loaded.ts'
import { History } from '../ui/history.tsx'
import { Confirm } from '../ui/lists.tsx'
import { Dialog, Empty, ErrorBox, PageHead, Working } from '../ui/parts.tsx'
import { PropertyEditor } from './property-editor.tsx'
import { Timeline } from './timeline.tsx'
import { type Group, type GroupType, type Person, singularOf } from './types.ts'

const NotThere = ({ children }: { children: string }) => {
  const { link } = useProject()
  return (
    <Empty title="There is no such person">
      <p>{children}</p>
      <p>
        <a href={linkTo(link('people'))}>All people</a>
      </p>
    </Empty>
  )
}
const isMissing = (error: Error | null) => error instanceof ApiError && error.status === 404

/** From a distinct id to the person that has it now. */
export function ByDistinctId({ distinctId }: { distinctId: string }) {
  const { api, link } = useProject()
  const { value, error, reload } = useLoaded(
    (signal) => get<{ results: readonly Person[] }>(api(`persons/?${parameters({ distinct_id: distinctId, limit: 1 })}`), signal),
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

type Asked = 'delete' | 'split'

export function PersonPage({ uuid }: { uuid: string }) {
  const { api, link, timezone } = useProject()
  const path = api(`persons/${encodeURIComponent(uuid)}/`)
  const { value: person, error, reload } = useLoaded((signal) => get<Person>(path, signal), [path])
  const [asked, setAsked] = useState<Asked | null>(null)
  const [round, setRound] = useState(0)
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
        {person.distinct_ids.length > 1 && (
          <button type="button" onClick={() => setAsked('split')}>
            Split
          </button>
        )}
        <button type="button" onClick={() => setAsked('delete')}>
          Delete
        </button>
      </PageHead>
      <p class="note">
        <a href={linkTo(link('people'))}>People</a> · first seen {momentText(person.created_at, timezone)} ·{' '}
        {person.is_identified ? 'identified' : 'anonymous'}
      </p>
      <div class="record">
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
        <Timeline of={{ person_id: person.uuid }} key={`${person.uuid} ${round}`} />
      </div>
      {asked === 'delete' && <DeletePerson person={person} onClose={() => setAsked(null)} onDone={() => go(linkTo(link('people')))} />}
      {asked === 'split' && (
        <SplitPerson
          person={person}
          split={(body) => change('split', body)}
          onClose={() => setAsked(null)}
          onDone={() => setRound(round + 1)}
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
  const { value, error } = useLoaded(
    (signal) =>
      get<{ results: readonly { id: number; name: string; is_static: boolean }[] }>(api(`persons/cohorts/?person_id=${uuid}`), signal),
    [uuid],
  )
  return (
    <section aria-label="Cohorts">
      <h2>Cohorts</h2>
      {error && <ErrorBox error={error} />}
      {value?.results.length === 0 && <p class="note">In none.</p>}
      <ul class="lines">
        {value?.results.map(({ id, name, is_static }) => (
          <li key={id}>
            <a href={linkTo(link(`cohorts/${id}`))}>{name}</a>
            <span class="badge">{is_static ? 'list' : 'dynamic'}</span>
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
        get<readonly GroupType[]>(api('groups_types/'), signal),
        get<readonly (Group & { type: string; properties: { name?: unknown } })[]>(api(`groups/related/?id=${uuid}`), signal),
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
        {groups.map(({ group_type_index, group_key, properties }) => {
          const type = types.find((one) => one.group_type_index === group_type_index)
          return (
            <li key={`${group_type_index} ${group_key}`}>
              <a href={linkTo(link(`people/groups/${group_type_index}/${encodedPath([group_key])}`))}>
                {typeof properties.name === 'string' ? properties.name : group_key}
              </a>
              <span class="badge">{type ? singularOf(type) : group_type_index}</span>
            </li>
          )
        })}
      </ul>
    </section>
  )
}

function DeletePerson({ person, onClose, onDone }: { person: Person; onClose: () => void; onDone: () => void }) {
  const { api } = useProject()
  const [withEvents, setWithEvents] = useState(false)
  return (
    <Confirm
      title="Delete the person"
      action={withEvents ? 'Delete with all events' : 'Delete the person'}
      onClose={onClose}
      onConfirm={() => remove(api(`persons/${person.uuid}/${withEvents ? '?delete_events=true' : ''}`)).then(onDone)}
    >
      <p class="wrap">
        <strong>{person.name}</strong>, its properties, its distinct ids and its places in cohorts are deleted. This cannot be undone.
      </p>
      <fieldset>
        <legend>Its events</legend>
        {(
          [
            [false, 'Keep them. They count as one person without a profile.'],
            [true, 'Delete them too. Numbers of the past change.'],
          ] as const
        ).map(([value, text]) => (
          <label class="choice" key={text}>
            <input type="radio" name="events" checked={withEvents === value} onChange={() => setWithEvents(value)} /> {text}
          </label>
        ))}
      </fieldset>
    </Confirm>
  )
}

function SplitPerson({
  person,
  split,
  onClose,
  onDone,
}: {
  person: Person
  split: (body: unknown) => Promise<void>
  onClose: () => void
  onDone: () => void
}) {
  const [leaving, setLeaving] = useState<readonly string[]>([])
  const { error, isBusy, run } = useAction()
  const isAll = leaving.length === person.distinct_ids.length
  const submit = async (event: SubmitEvent) => {
    event.preventDefault()
    if (!(await run(() => split({ distinct_ids_to_split: leaving })))) return
    onClose()
    onDone()
  }
  return (
    <Dialog title="Split the person" onClose={onClose}>
      <form onSubmit={(event) => void submit(event)}>
        <p>
          Each distinct id that leaves becomes a person of its own, without properties, and takes its events with it. A later{' '}
          <code>$identify</code> can merge them again.
        </p>
        <fieldset>
          <legend>Ids that leave</legend>
          {person.distinct_ids.map((id) => (
            <label class="choice wrap" key={id}>
              <input
                type="checkbox"
                checked={leaving.includes(id)}
                onChange={() => setLeaving(leaving.includes(id) ? leaving.filter((one) => one !== id) : [...leaving, id])}
              />{' '}
              {id}
            </label>
          ))}
        </fieldset>
        {isAll && <p class="hint">One of them has to stay.</p>}
        {error && <ErrorBox error={error} />}
        <button type="submit" class="primary" disabled={isBusy || leaving.length === 0 || isAll}>
          Split
        </button>
      </form>
    </Dialog>
  )
}
