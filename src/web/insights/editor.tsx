import type { RefObject } from 'preact'
import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import type { SavedInsightAnswer } from '../../doors/answers/insights.ts'
import { ChartPlaceContext } from '../annotations/chart-place.ts'
import { InsightHead } from '../documents/insight-head.tsx'
import type { Answer, Query } from '../lib/api.ts'
import { agoText } from '../lib/format.ts'
import { useCohortName } from '../lib/names.ts'
import { useProject } from '../lib/session.ts'
import { useLoaded } from '../lib/use-loaded.ts'
import { busy } from '../ui/answer-of.tsx'
import { FieldErrors } from '../ui/field-errors.tsx'
import { Guarded } from '../ui/guarded.tsx'
import { ErrorBox, Working } from '../ui/parts.tsx'
import { useChosenInSight } from '../ui/tabs.tsx'
import { Builder } from './builder.tsx'
import { EditorDialog, type What } from './editor-dialog.tsx'
import { questionInWords } from './in-words.ts'
import { type InsightKind, kinds, missingIn, unwrapped, withField } from './query.ts'
import { Result } from './result.tsx'
import { shownName } from './saved.tsx'
import { Toolbar } from './toolbar.tsx'

interface Props {
  readonly query: Query
  readonly saved: SavedInsightAnswer | null
  onChange(query: Query): void
  /** Of a new one. */
  onKind?(kind: InsightKind): void
  /** The form is shown; of a saved one the answer is looked at first. */
  readonly isEditing?: boolean
  onEdit?(isEditing: boolean): void
  onSaved?(saved: SavedInsightAnswer): void
  /** Back to the saved query. */
  onDiscard?(): void
}

const nothing = () => undefined

/** The builder of an insight with its answer, and what is done with it. */
export function Editor({
  query,
  saved,
  onChange,
  onKind,
  isEditing = true,
  onEdit = nothing,
  onSaved = nothing,
  onDiscard = nothing,
}: Props) {
  const asked = JSON.stringify(query)
  const { missing, latest, error, isLoading, reload, cancel } = useAnswer(query)
  const [dialog, setDialog] = useState<What | null>(null)
  const title = saved ? shownName(saved) : (kinds.find(({ kind }) => kind === query.kind)?.title ?? query.kind)
  const isChanged = saved !== null && asked !== JSON.stringify(unwrapped(saved.query))
  /** What was looked at before, from the outermost on. */
  const [outer, setOuter] = useState<readonly Pick<Query, 'dateRange' | 'interval'>[]>([])
  const zoomTo = (next: Query) => {
    setOuter([...outer, { dateRange: query.dateRange, interval: query.interval }])
    onChange(next)
  }
  const zoomOut = () => {
    const before = outer.at(-1)!
    setOuter(outer.slice(0, -1))
    onChange(withField(withField(query, 'dateRange', before.dateRange), 'interval', before.interval))
  }
  return (
    <>
      <InsightHead
        title={title}
        query={query}
        answer={!error && missing === null && latest?.query === query ? latest.answer : null}
        saved={saved}
        isChanged={isChanged}
        isEditing={isEditing}
        onEdit={onEdit}
        onDialog={setDialog}
        onSaved={onSaved}
        onDiscard={onDiscard}
      />
      {onKind && <KindTabs kind={query.kind} onKind={onKind} />}
      <FieldErrors error={error} isTyped>
        {(unplaced) => (
          <>
            {!isEditing && <InWords query={query} />}
            <div class={isEditing ? 'editor' : ''}>
              {isEditing && (
                <Guarded
                  of={asked}
                  instead={<p class="hint">The form cannot show this query. “Query” shows it as JSON, and lets you change it.</p>}
                >
                  <Builder query={query} onChange={onChange} key={query.kind} />
                </Guarded>
              )}
              <section class="answer" {...busy(isLoading)} aria-label="Answer">
                <Guarded of={asked} instead={null}>
                  <Toolbar query={query} onChange={onChange} />
                </Guarded>
                {outer.length > 0 && (
                  <button type="button" onClick={zoomOut}>
                    Zoom out
                  </button>
                )}
                {missing !== null && <p class="hint">{missing}</p>}
                {error && !isLoading && unplaced === error && <ErrorBox error={error} retry={reload} />}
                {error && unplaced === null && <p class="hint">There is no answer: the field with the error shows why.</p>}
                {isLoading && <Slow cancel={cancel} />}
                {!error && missing === null && latest && latest.query.kind === query.kind && (
                  <ChartPlaceContext.Provider value={saved ? { insight: saved.id } : {}}>
                    <Result query={latest.query} answer={latest.answer} title={title} isOpen onZoom={zoomTo} />
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
      {dialog && (
        <EditorDialog
          what={dialog}
          query={query}
          saved={saved}
          isChanged={isChanged}
          onChange={onChange}
          onSaved={onSaved}
          onClose={() => setDialog(null)}
        />
      )}
    </>
  )
}

/** The answer of a query that lacks nothing, with the query that it answers: it stays while the next one is computed. */
function useAnswer(query: Query) {
  const project = useProject()
  const missing = missingIn(query)
  const { value, error, isLoading, reload, cancel } = useLoaded(
    async (signal, isAgain) => (missing === null ? project.ask(query, signal, isAgain ? 'force_blocking' : 'blocking') : null),
    [JSON.stringify(query)],
  )
  const shown = useRef<{ query: Query; answer: Answer } | null>(null)
  const latest = useMemo(() => {
    if (value && !isLoading) shown.current = { query, answer: value }
    return shown.current
  }, [value, isLoading])
  return { missing, latest, error, isLoading, reload, cancel }
}

/** What is asked, where the form is not shown. */
function InWords({ query }: { query: Query }) {
  const nameOf = useCohortName()
  return (
    <Guarded of={JSON.stringify(query)} instead={null}>
      <Words query={query} nameOf={nameOf} />
    </Guarded>
  )
}
function Words({ query, nameOf }: { query: Query; nameOf: (id: unknown) => string }) {
  const text = questionInWords(query, nameOf)
  return text === '' ? null : <p class="question">{text}</p>
}

function KindTabs({ kind, onKind }: { kind: string; onKind: (kind: InsightKind) => void }) {
  const ref = useChosenInSight(kind) as RefObject<HTMLDivElement>
  return (
    <div class="tabs" role="tablist" aria-label="Kind of insight" ref={ref}>
      {kinds.map((one) => (
        <button
          type="button"
          role="tab"
          key={one.kind}
          aria-selected={one.kind === kind}
          onClick={() => one.kind !== kind && onKind(one.kind)}
        >
          {one.title}
        </button>
      ))}
    </div>
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
        <Working what="Computing" look="bar" cancel={cancel} since={1} />
      </div>
    )
  )
}
