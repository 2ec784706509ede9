import type { SavedInsightAnswer } from '../../doors/answers/insights.ts'
import { Editor } from '../insights/editor.tsx'
import { emptyQuery, kinds, queryOf, suggestedEvents, unwrapped } from '../insights/query.ts'
import { shownName } from '../insights/saved.tsx'
import { get, type Page, type Query } from '../lib/api.ts'
import { agoText } from '../lib/format.ts'
import { useHasNoEvents, useKnownEvents } from '../lib/names.ts'
import type { PageProps } from '../lib/page.ts'
import { go, linkTo, type Place } from '../lib/router.ts'
import { useProject } from '../lib/session.ts'
import { parameters, useAddress } from '../lib/use-address.ts'
import { useLoaded } from '../lib/use-loaded.ts'
import { NoEvents } from '../live/no-events.tsx'
import { Icon } from '../ui/icon.tsx'
import { ListTable, Search, useList } from '../ui/list-table.tsx'
import { ErrorBox, NotHere, PageHead, Working } from '../ui/parts.tsx'

/** The list of saved ones; under `new` the builder; under a short id the builder with a saved one. */
export function Insights({ place, rest }: PageProps) {
  const [which] = rest
  const [kind, text] = [place.search.get('kind'), place.search.get('q')]
  if (which === undefined) return <SavedList place={place} />
  if (text !== null && queryOf(text) === null) return <Unknown title="There is no query in this address" />
  if (which !== 'new') return <OpenInsight shortId={which} text={text} key={which} />
  if (kind !== null && !kinds.some(({ name }) => name === kind)) return <Unknown title="There is no such kind of insight" />
  return <NewInsight kind={kind} text={text} />
}

function Unknown({ title }: { title: string }) {
  const { link } = useProject()
  return (
    <NotHere title={title}>
      <p>
        <a href={linkTo(link('insights'))}>All insights</a>
      </p>
    </NotHere>
  )
}

const otherKinds: Readonly<Record<string, string>> = {
  HogQLQuery: 'SQL',
  SqlLikeQuery: 'SQL',
  EventsQuery: 'Events',
  ActorsQuery: 'People',
}
const kindTitle = (asked: string): string => kinds.find(({ kind }) => kind === asked)?.title ?? otherKinds[asked] ?? asked

function SavedList({ place }: { place: Place }) {
  const { api, link } = useProject()
  const { of, set } = useAddress(place)
  const search = of('search')
  const list = useList<SavedInsightAnswer>(
    api(`insights/?${parameters({ basic: 'true', saved: 'true', limit: 50, order: '-last_modified_at', search })}`),
  )
  return (
    <>
      <PageHead title="Insights" />
      <div class="kinds">
        {kinds.map(({ name, icon, title, about }) => (
          <a key={name} class="kind" href={linkTo(link('insights/new'), { kind: name })}>
            <Icon name={icon} />
            <strong>New: {title}</strong>
            <span>{about}</span>
          </a>
        ))}
      </div>
      <h2>Saved</h2>
      <div class="filters">
        <Search label="Search saved insights" value={search} onChange={(text) => set({ search: text })} />
      </div>
      <ListTable
        list={list}
        what="saved insights"
        head={['Name', 'Kind', 'Changed']}
        empty={search === '' ? 'None yet: build one above and save it.' : 'None has these words. Search for something shorter.'}
        row={(one) => (
          <tr key={one.id}>
            <td class="wrap">
              <a href={linkTo(link(`insights/${one.short_id}`))}>{shownName(one)}</a>
            </td>
            <td>{kindTitle(unwrapped(one.query).kind)}</td>
            <td class="when">{agoText(one.last_modified_at)}</td>
          </tr>
        )}
      />
    </>
  )
}

function NewInsight({ kind, text }: { kind: string | null; text: string | null }) {
  const { link } = useProject()
  const known = useKnownEvents()
  const hasNoEvents = useHasNoEvents()
  const asked = kinds.find(({ name }) => name === kind)?.kind ?? 'TrendsQuery'
  const given = queryOf(text)
  if (!given && !known) return <Working what="Reading events" />
  const events = suggestedEvents((known ?? []).map(({ name }) => name))
  const query = given ?? emptyQuery(asked, events)
  const show = (next: Query) => go(linkTo(link('insights/new'), { q: JSON.stringify(next) }), true)
  return (
    <>
      {hasNoEvents && <NoEvents />}
      <Editor query={query} onChange={show} saved={null} onKind={(next) => show(emptyQuery(next, events))} />
    </>
  )
}

function OpenInsight({ shortId, text }: { shortId: string; text: string | null }) {
  const { api, link } = useProject()
  const { value, error, reload } = useLoaded(
    (signal) => get<Page<SavedInsightAnswer>>(api(`insights/?basic=true&short_id=${encodeURIComponent(shortId)}`), signal),
    [shortId],
  )
  if (error) return <ErrorBox error={error} retry={reload} />
  if (!value) return <Working what="Reading the insight" />
  const [saved] = value.results
  if (!saved) return <Unknown title="This insight does not exist any more" />
  const query = queryOf(text) ?? unwrapped(saved.query)
  if (query.kind === 'HogQLQuery') {
    go(linkTo(link('sql'), { insight: shortId }), true)
    return null
  }
  return (
    <Editor
      query={query}
      saved={saved}
      onSaved={reload}
      onChange={(next) => go(linkTo(link(`insights/${shortId}`), { q: JSON.stringify(next) }), true)}
    />
  )
}
