import type { RefObject } from 'preact'
import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import type { SavedInsightAnswer } from '../../doors/answers/insights.ts'
import { NotificationsDialog } from '../alerts/dialog.tsx'
import { ChartPlaceContext } from '../annotations/chart-place.ts'
import { Builder } from '../insights/builder.tsx'
import { emptyQuery, type InsightKind, kinds, missingIn, queryOf, suggestedEvents, unwrapped } from '../insights/query.ts'
import { QueryDialog } from '../insights/query-dialog.tsx'
import { Result } from '../insights/result.tsx'
import { DeleteDialog, DetailsDialog, SaveDialog, shownName } from '../insights/saved.tsx'
import { SharingDialog } from '../insights/sharing.tsx'
import { Toolbar } from '../insights/toolbar.tsx'
import { type Answer, get, type Page, patch, type Query } from '../lib/api.ts'
import { agoText } from '../lib/format.ts'
import { useHasNoEvents, useKnownEvents } from '../lib/names.ts'
import type { PageProps } from '../lib/page.ts'
import { go, linkTo, type Place } from '../lib/router.ts'
import { useProject } from '../lib/session.ts'
import { parameters, useAddress } from '../lib/use-address.ts'
import { useLoaded } from '../lib/use-loaded.ts'
import { NoEvents } from '../live/no-events.tsx'
import { busy } from '../ui/answer-of.tsx'
import { FieldErrors } from '../ui/field-errors.tsx'
import { Refused } from '../ui/forms.tsx'
import { Guarded } from '../ui/guarded.tsx'
import { Icon } from '../ui/icon.tsx'
import { ListTable, Search, useList } from '../ui/list-table.tsx'
import { ErrorBox, NotHere, PageHead, Working } from '../ui/parts.tsx'
import { useChosenInSight } from '../ui/tabs.tsx'

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

function Editor({
  query,
  saved,
  onChange,
  onKind,
  onSaved,
}: {
  query: Query
  saved: SavedInsightAnswer | null
  onChange: (query: Query) => void
  onKind?: (kind: InsightKind) => void
  onSaved?: () => void
}) {
  const project = useProject()
  const tabs = useChosenInSight(query.kind) as RefObject<HTMLDivElement>
  const asked = JSON.stringify(query)
  const missing = missingIn(query)
  const { value, error, isLoading, reload, cancel } = useLoaded(
    async (signal, isAgain) => (missing === null ? project.ask(query, signal, isAgain ? 'force_blocking' : 'blocking') : null),
    [asked],
  )
  // An answer is drawn with the question that it answers.
  const shown = useRef<{ query: Query; answer: Answer } | null>(null)
  const latest = useMemo(() => {
    if (value && !isLoading) shown.current = { query, answer: value }
    return shown.current
  }, [value, isLoading])
  const [dialog, setDialog] = useState<'save' | 'json' | 'share' | 'notifications' | 'details' | 'delete' | null>(null)
  const title = saved ? shownName(saved) : (kinds.find(({ kind }) => kind === query.kind)?.title ?? query.kind)
  const isChanged = saved !== null && asked !== JSON.stringify(unwrapped(saved.query))
  const [failure, setFailure] = useState<Error | null>(null)
  const update = async () => {
    if (!saved) return
    setFailure(null)
    await patch(project.api(`insights/${saved.id}/`), { query: { kind: 'InsightVizNode', source: query } }).then(onSaved, setFailure)
  }
  return (
    <>
      <PageHead title={title}>
        <button type="button" onClick={() => setDialog('json')}>
          Query
        </button>
        {saved && (
          <>
            <button type="button" onClick={() => setDialog('share')}>
              Share
            </button>
            <button type="button" onClick={() => setDialog('notifications')}>
              Notify…
            </button>
            <button type="button" onClick={() => setDialog('details')}>
              Details…
            </button>
            <button type="button" onClick={() => setDialog('delete')}>
              Delete…
            </button>
          </>
        )}
        {saved && isChanged && (
          <button type="button" class="primary" onClick={() => void update()}>
            Save changes
          </button>
        )}
        <button type="button" class={saved ? '' : 'primary'} onClick={() => setDialog('save')}>
          {saved ? 'Save a copy' : 'Save'}
        </button>
      </PageHead>
      {onKind && (
        <div class="tabs" role="tablist" aria-label="Kind of insight" ref={tabs}>
          {kinds.map((one) => (
            <button
              type="button"
              role="tab"
              key={one.kind}
              aria-selected={one.kind === query.kind}
              onClick={() => one.kind !== query.kind && onKind(one.kind)}
            >
              {one.title}
            </button>
          ))}
        </div>
      )}
      {saved?.description && <p class="note">{saved.description}</p>}
      <FieldErrors error={error ?? failure} isTyped>
        {(unplaced) => (
          <>
            {failure && unplaced === failure && <Refused error={failure} />}
            <div class="editor">
              <Guarded
                of={asked}
                instead={<p class="hint">The form cannot show this query. “Query” shows it as JSON, and lets you change it.</p>}
              >
                <Builder query={query} onChange={onChange} key={query.kind} />
              </Guarded>
              <section class="answer" {...busy(isLoading)} aria-label="Answer">
                <Guarded of={asked} instead={null}>
                  <Toolbar query={query} onChange={onChange} />
                </Guarded>
                {missing !== null && <p class="hint">{missing}</p>}
                {error && !isLoading && unplaced === error && <ErrorBox error={error} retry={reload} />}
                {error && unplaced === null && <p class="hint">There is no answer: the field with the error shows why.</p>}
                {isLoading && <Slow cancel={cancel} />}
                {!error && missing === null && latest && latest.query.kind === query.kind && (
                  <ChartPlaceContext.Provider value={saved ? { insight: saved.id } : {}}>
                    <Result query={latest.query} answer={latest.answer} title={title} isOpen />
                  </ChartPlaceContext.Provider>
                )}
                {!error && missing === null && latest?.answer.last_refresh && (
                  <p class="note">
                    Computed {agoText(latest.answer.last_refresh)}.{' '}
                    <button type="button" class="plain link" onClick={reload}>
                      Refresh
                    </button>
                  </p>
                )}
              </section>
            </div>
          </>
        )}
      </FieldErrors>
      {dialog === 'json' && <QueryDialog query={query} onChange={onChange} onClose={() => setDialog(null)} />}
      {dialog === 'share' && saved && (
        <SharingDialog
          of={{ what: 'insight', id: saved.id, name: title }}
          note={isChanged ? 'The link shows the insight as it was saved, without your changes.' : undefined}
          onClose={() => setDialog(null)}
        />
      )}
      {dialog === 'notifications' && saved && (
        <NotificationsDialog
          insight={{ id: saved.id, query: unwrapped(saved.query) }}
          isTrend={unwrapped(saved.query).kind === 'TrendsQuery'}
          onClose={() => setDialog(null)}
        />
      )}
      {dialog === 'details' && saved && <DetailsDialog saved={saved} onSaved={() => onSaved?.()} onClose={() => setDialog(null)} />}
      {dialog === 'delete' && saved && <DeleteDialog saved={saved} onClose={() => setDialog(null)} />}
      {dialog === 'save' && <SaveDialog query={query} name={saved ? `${shownName(saved)} (copy)` : ''} onClose={() => setDialog(null)} />}
    </>
  )
}

/** Nothing for a second, so that quick answers do not flicker; then above the chart, which stays where it is. */
function Slow({ cancel }: { cancel: () => void }) {
  const [isSlow, setSlow] = useState(false)
  useEffect(() => {
    const timer = setTimeout(() => setSlow(true), 1000)
    return () => clearTimeout(timer)
  }, [])
  return (
    isSlow && (
      <div class="over-answer">
        <Working what="Computing" cancel={cancel} since={1} />
      </div>
    )
  )
}
