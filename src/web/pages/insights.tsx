import { useEffect, useState } from 'preact/hooks'
import type { SavedInsightAnswer } from '../../doors/answers/insights.ts'
import { SavedList } from '../documents/saved-list.tsx'
import { StatementInsight } from '../documents/statement-insight.tsx'
import { Editor } from '../insights/editor.tsx'
import { emptyQuery, isStatement, kinds, queryOf, suggestedEvents, unwrapped } from '../insights/query.ts'
import { get, type Page, post, type Query } from '../lib/api.ts'
import { type Board, boardIn } from '../lib/begun-on.ts'
import { useHasNoEvents, useKnownEvents } from '../lib/names.ts'
import type { PageProps } from '../lib/page.ts'
import { go, linkTo } from '../lib/router.ts'
import { useProject } from '../lib/session.ts'
import { useLoaded } from '../lib/use-loaded.ts'
import { NoEvents } from '../live/no-events.tsx'
import { ErrorBox, NotHere, Working } from '../ui/parts.tsx'

/** The list of saved ones; under `new` the builder; under a short id the builder with a saved one. */
export function Insights({ place, rest }: PageProps) {
  const [which] = rest
  const [kind, text] = [place.search.get('kind'), place.search.get('q')]
  if (which === undefined) return <SavedList place={place} />
  if (text !== null && queryOf(text) === null) return <Unknown title="There is no query in this address" />
  if (which !== 'new')
    return <OpenInsight shortId={which} text={text} isEditing={place.search.has('edit')} values={place.search.get('values')} key={which} />
  if (kind !== null && !kinds.some(({ name }) => name === kind)) return <Unknown title="There is no such kind of insight" />
  return <NewInsight kind={kind} text={text} board={boardIn(place)} />
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

function NewInsight({ kind, text, board }: { kind: string | null; text: string | null; board: Board }) {
  const { link } = useProject()
  const known = useKnownEvents()
  const hasNoEvents = useHasNoEvents()
  const asked = kinds.find(({ name }) => name === kind)?.kind ?? 'TrendsQuery'
  const given = queryOf(text)
  if (!given && !known) return <Working what="Reading events" />
  const events = suggestedEvents((known ?? []).map(({ name }) => name))
  const query = given ?? emptyQuery(asked, events)
  const show = (next: Query) => go(linkTo(link('insights/new'), { q: JSON.stringify(next), ...board }), true)
  return (
    <>
      {hasNoEvents && <NoEvents />}
      <Editor query={query} onChange={show} saved={null} onKind={(next) => show(emptyQuery(next, events))} />
    </>
  )
}

function OpenInsight({
  shortId,
  text,
  isEditing,
  values,
}: {
  shortId: string
  text: string | null
  isEditing: boolean
  /** Of the variables of a statement. */
  values: string | null
}) {
  const { api, link } = useProject()
  const { value, error, reload } = useLoaded(
    (signal) => get<Page<SavedInsightAnswer>>(api(`insights/?basic=true&short_id=${encodeURIComponent(shortId)}`), signal),
    [shortId],
  )
  // As the last change left it.
  const [changed, setChanged] = useState<SavedInsightAnswer | null>(null)
  const id = value?.results[0]?.id
  useEffect(() => {
    // For those who come back to what they looked at last; without it nothing is lost.
    if (id !== undefined) post(api(`insights/${id}/viewed/`)).catch(() => undefined)
  }, [id])
  if (error) return <ErrorBox error={error} retry={reload} />
  if (!value) return <Working what="Reading the insight" />
  const saved = changed ?? value.results[0]
  if (!saved) return <Unknown title="This insight does not exist any more" />
  const query = queryOf(text) ?? unwrapped(saved.query)
  if (isStatement(query)) {
    if (!isEditing) return <StatementInsight saved={saved} values={values} onSaved={setChanged} />
    go(linkTo(link('sql'), { insight: shortId }), true)
    return null
  }
  const show = (q: string | null, isNext = isEditing) => go(linkTo(link(`insights/${shortId}`), { edit: isNext ? '1' : null, q }), true)
  return (
    <Editor
      query={query}
      saved={saved}
      isEditing={isEditing}
      onSaved={setChanged}
      onChange={(next) => show(JSON.stringify(next))}
      onEdit={(isNext) => show(text, isNext)}
      onDiscard={() => show(null)}
    />
  )
}
