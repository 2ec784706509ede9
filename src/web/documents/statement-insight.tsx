import { useMemo, useState } from 'preact/hooks'
import type { SavedInsightAnswer } from '../../doors/answers/insights.ts'
import { readChart } from '../../service/pictures/read-chart.ts'
import { ChartPlaceContext } from '../annotations/chart-place.ts'
import { AttachedAges } from '../answers/attached-ages.tsx'
import { ChartView } from '../charts/chart-view.tsx'
import { EditorDialog, type What } from '../insights/editor-dialog.tsx'
import { unwrapped } from '../insights/query.ts'
import { shownName } from '../insights/saved.tsx'
import type { Query } from '../lib/api.ts'
import { agoText } from '../lib/format.ts'
import { go, linkTo } from '../lib/router.ts'
import { useProject } from '../lib/session.ts'
import { useLoaded } from '../lib/use-loaded.ts'
import { readValues, variablesIn, withValues } from '../sql/variables.ts'
import { VariablesBar } from '../sql/variables-bar.tsx'
import { busy } from '../ui/answer-of.tsx'
import { ErrorBox, Working } from '../ui/parts.tsx'
import { InsightHead } from './insight-head.tsx'

/** The query inside the nodes that say how it is shown, with other values of its variables. */
function withVariables(query: Query, values: Readonly<Record<string, unknown>>): Query {
  if (query.source !== undefined && query.kind !== unwrapped(query).kind)
    return { ...query, source: withVariables(query.source as Query, values) }
  const variables = variablesIn(query.variables)
  return Object.keys(variables).length === 0 ? query : { ...query, variables: withValues(variables, values) }
}

/** A saved statement: its answer, and the values of its variables. It is written in the SQL editor. */
export function StatementInsight({
  saved,
  values: valuesText,
  onSaved,
}: {
  saved: SavedInsightAnswer
  /** Of the address. */
  values: string | null
  onSaved: (saved: SavedInsightAnswer) => void
}) {
  const { ask, link, timezone } = useProject()
  const [dialog, setDialog] = useState<What | null>(null)
  const values = readValues(valuesText)
  const shown = withVariables(saved.query, values)
  const source = unwrapped(shown)
  const asked = JSON.stringify(source)
  const title = shownName(saved)
  const {
    value: answer,
    error,
    isLoading,
    reload,
    cancel,
  } = useLoaded((signal, isAgain) => ask(source, signal, isAgain ? 'force_blocking' : 'blocking'), [asked])
  const chart = useMemo(() => answer && readChart(shown, answer, timezone), [answer])
  const isChanged = asked !== JSON.stringify(unwrapped(saved.query))
  const show = (next: Readonly<Record<string, unknown>>) =>
    go(linkTo(link(`insights/${saved.short_id}`), { values: Object.keys(next).length > 0 ? JSON.stringify(next) : null }), true)
  return (
    <>
      <InsightHead
        title={title}
        query={shown}
        answer={(!isLoading && answer) || null}
        saved={saved}
        isChanged={isChanged}
        isEditing={false}
        onEdit={() => go(linkTo(link('sql'), { insight: saved.short_id }))}
        onDialog={setDialog}
        onSaved={onSaved}
        onDiscard={() => show({})}
      />
      <VariablesBar variables={variablesIn(source.variables)} onChange={(id, value) => show({ ...values, [id]: value })} />
      <section class="answer" {...busy(isLoading)} aria-label="Answer">
        {error && !isLoading && <ErrorBox error={error} retry={reload} />}
        {isLoading && !answer && <Working what="Computing" look="chart" cancel={cancel} />}
        {!error && chart && (
          <ChartPlaceContext.Provider value={{ insight: saved.id }}>
            <div class="result">
              <ChartView chart={chart} title={title} />
            </div>
          </ChartPlaceContext.Provider>
        )}
        {answer?.hasMore === true && <p class="note">There are more rows. “Download numbers” has all of them.</p>}
        <AttachedAges answer={answer} />
        {(answer?.warnings ?? []).map(({ message }) => (
          <p class="warning" key={message}>
            {message}
          </p>
        ))}
        {!error && answer?.last_refresh && (
          <p class="note">
            Computed {agoText(answer.last_refresh)}.{' '}
            <button type="button" class="plain link" onClick={reload}>
              Refresh
            </button>
          </p>
        )}
      </section>
      {dialog && (
        <EditorDialog
          what={dialog}
          query={shown}
          saved={saved}
          isChanged={isChanged}
          onChange={(next) => go(linkTo(link('sql'), { insight: saved.short_id, q: String(unwrapped(next).query ?? '') }))}
          onSaved={onSaved}
          onClose={() => setDialog(null)}
        />
      )}
    </>
  )
}
