import { useState } from 'preact/hooks'
import { type Cohort, CohortForm } from '../cohorts/cohort-form.tsx'
import { ApiError, get, type Page, remove } from '../lib/api.ts'
import { agoText, momentText, numberText } from '../lib/format.ts'
import type { PageProps } from '../lib/page.ts'
import { go, linkTo, type Place } from '../lib/router.ts'
import { useProject } from '../lib/session.ts'
import { parameters, useAddress } from '../lib/use-address.ts'
import { useLoaded } from '../lib/use-loaded.ts'
import { shownValue } from '../people/types.ts'
import { History } from '../ui/history.tsx'
import { Confirm, Pager, Scroll } from '../ui/lists.tsx'
import { Empty, ErrorBox, PageHead, Working } from '../ui/parts.tsx'

const pageSize = 50

/** The list; under `new` a form; under an id the members and the definition. */
export function Cohorts({ place, rest: [which] }: PageProps) {
  if (which === 'new') return <NewCohort />
  if (which !== undefined) return <CohortPage id={which} place={place} key={which} />
  return <CohortList place={place} />
}

function CohortList({ place }: { place: Place }) {
  const { api, link } = useProject()
  const { number, set } = useAddress(place)
  const offset = number('offset')
  const { value, error, isLoading, reload, cancel } = useLoaded(
    (signal) => get<Page<Cohort>>(api(`cohorts/?${parameters({ limit: pageSize, offset })}`), signal),
    [offset],
  )
  return (
    <>
      <PageHead title="Cohorts">
        <a class="button primary" href={linkTo(link('cohorts/new'))}>
          New cohort
        </a>
      </PageHead>
      {error && <ErrorBox error={error} retry={reload} />}
      {isLoading && !value && <Working what="Counting members" cancel={cancel} />}
      {!error && value && value.results.length === 0 && (
        <Empty title="No cohort yet">
          <p>
            A cohort is a set of people: those who match a condition, or a list. Filters and breakdowns can use it.{' '}
            <a href={linkTo(link('cohorts/new'))}>Make the first one</a>.
          </p>
        </Empty>
      )}
      {!error && value && value.results.length > 0 && (
        <>
          <Scroll label="Cohorts">
            <table class="rows" aria-busy={isLoading}>
              <thead>
                <tr>
                  <th>Name</th>
                  <th>Kind</th>
                  <th class="number">People</th>
                  <th>Made</th>
                </tr>
              </thead>
              <tbody>
                {value.results.map((one) => (
                  <tr key={one.id}>
                    <td class="wrap">
                      <a href={linkTo(link(`cohorts/${one.id}`))}>{one.name}</a>
                      {one.description !== '' && <div class="note">{one.description}</div>}
                    </td>
                    <td>{one.is_static ? 'static' : 'dynamic'}</td>
                    <td class="number">{one.errors_calculating > 0 ? <span class="badge bad">broken</span> : numberText(one.count)}</td>
                    <td>
                      {agoText(one.created_at)}
                      {one.created_by && <span class="note"> by {one.created_by.first_name || one.created_by.email}</span>}
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
    </>
  )
}

function NewCohort() {
  const { link } = useProject()
  return (
    <>
      <PageHead title="New cohort" />
      <CohortForm cohort={null} onSaved={({ id }) => go(linkTo(link(`cohorts/${id}`)))} />
    </>
  )
}

function CohortPage({ id, place }: { id: string; place: Place }) {
  const { api, link, timezone } = useProject()
  const path = api(`cohorts/${encodeURIComponent(id)}/`)
  const { value: cohort, error, reload } = useLoaded((signal) => get<Cohort>(path, signal), [path])
  const [isDeleting, setDeleting] = useState(false)
  const [isEditing, setEditing] = useState(false)
  const [round, setRound] = useState(0)
  if (error instanceof ApiError && error.status === 404)
    return (
      <Empty title="There is no such cohort">
        <p>
          <a href={linkTo(link('cohorts'))}>All cohorts</a>
        </p>
      </Empty>
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
        <button type="button" aria-expanded={isEditing} onClick={() => setEditing(!isEditing)}>
          Edit
        </button>
        <button type="button" onClick={() => setDeleting(true)}>
          Delete
        </button>
      </PageHead>
      <p class="note">
        <a href={linkTo(link('cohorts'))}>Cohorts</a> · {cohort.is_static ? 'static' : 'dynamic'} · {numberText(cohort.count)} people
        {cohort.last_calculation ? ` as of ${momentText(cohort.last_calculation, timezone)}` : ''}
      </p>
      {cohort.description !== '' && <p class="wrap">{cohort.description}</p>}
      {cohort.errors_calculating > 0 && (
        <p class="warning">
          Its condition names something that does not exist any more. Edit it; queries with this cohort are refused until then.
        </p>
      )}
      {isEditing && <CohortForm cohort={cohort} onSaved={saved} />}
      {cohort.errors_calculating === 0 && <Members path={path} place={place} key={round} />}
      <History path={path} />
      {isDeleting && (
        <Confirm
          title="Delete the cohort"
          action="Delete"
          onClose={() => setDeleting(false)}
          onConfirm={() => remove(path).then(() => go(linkTo(link('cohorts'))))}
        >
          <p class="wrap">
            <strong>{cohort.name}</strong> is deleted. Its people stay. Insights and cohorts that use it are refused afterwards.
          </p>
        </Confirm>
      )}
    </>
  )
}

interface Member {
  readonly id: string
  readonly distinct_ids: readonly string[]
  readonly properties: Readonly<Record<string, unknown>>
  readonly created_at: string
}

function Members({ path, place }: { path: string; place: Place }) {
  const { link, timezone } = useProject()
  const { number, set } = useAddress(place)
  const offset = number('offset')
  const { value, error, isLoading, reload, cancel } = useLoaded(
    (signal) => get<Page<Member>>(`${path}persons/?${parameters({ limit: pageSize, offset })}`, signal),
    [path, offset],
  )
  return (
    <section aria-label="Members">
      <h2>Members</h2>
      {error && <ErrorBox error={error} retry={reload} />}
      {isLoading && !value && <Working what="Reading members" cancel={cancel} />}
      {!error && value?.results.length === 0 && <p class="note">Nobody is in it now.</p>}
      {!error && value && value.results.length > 0 && (
        <>
          <Scroll label="Members">
            <table class="rows" aria-busy={isLoading}>
              <thead>
                <tr>
                  <th>Person</th>
                  <th>Distinct ids</th>
                  <th>First seen</th>
                </tr>
              </thead>
              <tbody>
                {value.results.map(({ id, distinct_ids, properties, created_at }) => (
                  <tr key={id}>
                    <td class="clip">
                      <a href={linkTo(link(`people/${id}`))}>{shownValue(properties.email ?? properties.name ?? distinct_ids[0] ?? id)}</a>
                    </td>
                    <td class="clip">{distinct_ids.join(', ')}</td>
                    <td class="when">{momentText(created_at, timezone)}</td>
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
    </section>
  )
}
