import { useState } from 'preact/hooks'
import type { CohortAnswer, CohortPersonAnswer } from '../../doors/answers/cohorts.ts'
import { CohortForm } from '../cohorts/cohort-form.tsx'
import { HelpLink } from '../docs/help-link.tsx'
import { ApiError, get, post, remove } from '../lib/api.ts'
import { counted, momentText, numberText } from '../lib/format.ts'
import type { PageProps } from '../lib/page.ts'
import { go, linkTo, type Place } from '../lib/router.ts'
import { useProject } from '../lib/session.ts'
import { parameters, useAddress } from '../lib/use-address.ts'
import { useLoaded } from '../lib/use-loaded.ts'
import { shownValue } from '../people/types.ts'
import { Ago } from '../ui/ago.tsx'
import { MembersPage } from '../ui/for-members.tsx'
import { ConfirmButton, RemoveButton } from '../ui/forms.tsx'
import { History } from '../ui/history.tsx'
import { ListTable, Search, useList } from '../ui/list-table.tsx'
import { Empty, ErrorBox, NotHere, PageHead, Working } from '../ui/parts.tsx'
import '../ui/records.css'

/** The list; under `new` a form; under an id the members and the definition. */
export function Cohorts({ place, rest: [which] }: PageProps) {
  if (which === 'new') return <NewCohort />
  if (which !== undefined) return <CohortPage id={which} key={which} />
  return <CohortList place={place} />
}

function CohortList({ place }: { place: Place }) {
  const { api, link, mayChange } = useProject()
  const { of, set } = useAddress(place)
  const search = of('search')
  const list = useList<CohortAnswer>(api(`cohorts/?${parameters({ search, limit: 50 })}`))
  return (
    <>
      <PageHead title="Cohorts">
        <HelpLink doc="cohorts" />
        {mayChange && (
          <a class="button primary" href={linkTo(link('cohorts/new'))}>
            New cohort
          </a>
        )}
      </PageHead>
      <div class="filters">
        <Search label="Search cohorts" placeholder="Name or description" value={search} onChange={(text) => set({ search: text })} />
      </div>
      <ListTable
        list={list}
        what="cohorts"
        head={[
          { title: 'Name', by: ({ name }) => name },
          { title: 'Kind', by: (one) => (one.is_static ? 'static' : 'dynamic') },
          { title: 'People', by: ({ count }) => count, isNumber: true },
          { title: 'Created', by: ({ created_at }) => created_at },
        ]}
        empty={
          search !== '' ? (
            <Empty title="No cohort like this">
              <p>Search for something shorter.</p>
            </Empty>
          ) : (
            <Empty title="No cohort yet">
              <p>
                A cohort is a set of people: those who match a condition, or a list. Filters and breakdowns can use it.{' '}
                {mayChange && <a href={linkTo(link('cohorts/new'))}>Make the first one</a>}
              </p>
            </Empty>
          )
        }
        row={(one) => (
          <tr key={one.id}>
            <td class="wrap">
              <a href={linkTo(link(`cohorts/${one.id}`))}>{one.name}</a>
              {one.description !== '' && <div class="note">{one.description}</div>}
            </td>
            <td>{one.is_static ? 'static' : 'dynamic'}</td>
            <td class="number">{one.errors_calculating > 0 ? <span class="state bad">broken</span> : numberText(one.count)}</td>
            <td class="when">
              <Ago of={one.created_at} />
              {one.created_by && <span class="note"> by {one.created_by.first_name || one.created_by.email}</span>}
            </td>
          </tr>
        )}
      />
    </>
  )
}

function NewCohort() {
  const { link } = useProject()
  return (
    <>
      <PageHead title="New cohort" />
      <MembersPage>
        <CohortForm cohort={null} onSaved={({ id }) => go(linkTo(link(`cohorts/${id}`)))} />
      </MembersPage>
    </>
  )
}

function CohortPage({ id }: { id: string }) {
  const { api, link, timezone, mayChange } = useProject()
  const path = api(`cohorts/${encodeURIComponent(id)}/`)
  const { value: cohort, error, reload } = useLoaded((signal) => get<CohortAnswer>(path, signal), [path])
  const [isEditing, setEditing] = useState(false)
  const [round, setRound] = useState(0)
  if (error instanceof ApiError && error.status === 404)
    return (
      <NotHere title="There is no such cohort">
        <p>
          <a href={linkTo(link('cohorts'))}>All cohorts</a>
        </p>
      </NotHere>
    )
  if (error) return <ErrorBox error={error} retry={reload} />
  if (!cohort) return <Working what="Counting members" />
  const saved = () => {
    setEditing(false)
    setRound(round + 1)
    reload()
  }
  return (
    <>
      <PageHead title={cohort.name}>
        {mayChange && (
          <>
            <button type="button" aria-expanded={isEditing} onClick={() => setEditing(!isEditing)}>
              Edit
            </button>
            <DeleteCohort cohort={cohort} path={path} />
          </>
        )}
      </PageHead>
      <p class="note">
        <a href={linkTo(link('cohorts'))}>Cohorts</a> · {cohort.is_static ? 'static' : 'dynamic'} ·{' '}
        {counted(cohort.count, 'person', 'people')}
        {cohort.last_calculation ? ` as of ${momentText(cohort.last_calculation, timezone)}` : ''}
      </p>
      {cohort.description !== '' && <p class="wrap">{cohort.description}</p>}
      {cohort.errors_calculating > 0 && (
        <p class="warning">
          Its condition names something that does not exist any more. Edit it; queries with this cohort are refused until then.
        </p>
      )}
      {isEditing && <CohortForm cohort={cohort} onSaved={saved} />}
      {cohort.errors_calculating === 0 && <Members path={path} key={round} />}
      <History path={path} />
    </>
  )
}

/** Of a list with more, all members would have to be read to bring them back. */
const mostRestored = 10_000

function DeleteCohort({ cohort, path }: { cohort: CohortAnswer; path: string }) {
  const { api, link, ask } = useProject()
  const leave = () => go(linkTo(link('cohorts')))
  const { id, name, description, is_static, filters } = cohort
  const drop = () => remove(path).then(leave)
  if (is_static && cohort.count > mostRestored)
    return (
      <ConfirmButton label="Delete" title="Delete the cohort" action={drop}>
        <p class="wrap">
          <strong>{name}</strong> is deleted. Its people stay. Insights and cohorts that use it are refused afterwards. A list of more than{' '}
          {numberText(mostRestored)} people cannot be brought back: upload it again.
        </p>
      </ConfirmButton>
    )
  let members: readonly string[] = []
  const readMembers = async () => {
    const properties = [{ type: 'cohort', key: 'id', value: id }]
    const { results } = await ask({ kind: 'ActorsQuery', select: ['id'], properties, limit: mostRestored })
    members = (results as readonly (readonly string[])[]).flat()
  }
  return (
    <RemoveButton
      label="Delete"
      text={`${name} is deleted. Its people stay. Insights that use it are refused.`}
      remove={async () => {
        if (is_static) await readMembers()
        await drop()
      }}
      // With the id that insights know.
      undo={() =>
        post<CohortAnswer>(api('cohorts/'), {
          ...{ id, name, description, is_static },
          ...(is_static ? { person_ids: members } : { filters }),
        }).then(() => go(linkTo(link(`cohorts/${id}`))))
      }
    />
  )
}

function Members({ path }: { path: string }) {
  const { link, timezone } = useProject()
  const list = useList<CohortPersonAnswer>(`${path}persons/?limit=50`)
  return (
    <section aria-label="Members">
      <h2>Members</h2>
      <ListTable
        list={list}
        what="people"
        head={[
          {
            title: 'Person',
            by: ({ properties, distinct_ids, id }) => shownValue(properties.email ?? properties.name ?? distinct_ids[0] ?? id),
          },
          'Distinct ids',
          { title: 'First seen', by: ({ created_at }) => created_at },
        ]}
        empty="Nobody is in it now."
        row={({ id, distinct_ids, properties, created_at }) => (
          <tr key={id}>
            <td class="clip">
              <a href={linkTo(link(`people/${id}`))}>{shownValue(properties.email ?? properties.name ?? distinct_ids[0] ?? id)}</a>
            </td>
            <td class="clip">{distinct_ids.join(', ')}</td>
            <td class="when">{momentText(created_at, timezone)}</td>
          </tr>
        )}
      />
    </section>
  )
}
