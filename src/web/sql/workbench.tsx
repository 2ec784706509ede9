import { useEffect, useRef, useState } from 'preact/hooks'
import type { ViewAnswer } from '../../doors/answers/saved-queries.ts'
import { SharingDialog } from '../insights/sharing.tsx'
import { patch, type Query } from '../lib/api.ts'
import { go, linkTo } from '../lib/router.ts'
import { useProject } from '../lib/session.ts'
import { busy } from '../ui/answer-of.tsx'
import { ForMembers } from '../ui/for-members.tsx'
import { CopyButton, Dialog, ErrorBox, PageHead } from '../ui/parts.tsx'
import { type ChartChoice, chartNode, fittingChart } from './chart-choice.ts'
import type { CodeEditor } from './code-editor.ts'
import { columnsOf, rowsOf } from './columns.ts'
import { Editor } from './editor.tsx'
import { ExplainPanel } from './explain-panel.tsx'
import { HistoryPanel } from './history-panel.tsx'
import { furtherErrors } from './language.ts'
import { ResultPanel, type ResultView } from './result-panel.tsx'
import { InBackground, RunBar } from './run-bar.tsx'
import { SaveInsight } from './save-insight.tsx'
import { type Side, SideTabs } from './side-tabs.tsx'
import { TablesPanel } from './tables-panel.tsx'
import { type Done, useRuns } from './use-runs.ts'
import { type Keeps, useStatementAddress } from './use-statement-address.ts'
import { type Variables, variablesOf } from './variables.ts'
import { VariablesBar } from './variables-bar.tsx'
import { SaveView, updateView, ViewsPanel } from './views.tsx'

export interface Opened {
  readonly statement: string
  readonly variables: Variables
  readonly view: ViewAnswer | null
  /** That is open, to be shared. */
  readonly insight: { readonly id: number; readonly short_id: string; readonly name: string; readonly query: Query } | null
  readonly choice: ChartChoice | null
}

interface Props {
  readonly opened: Opened
  /** Statement of the address. */
  readonly written: string | null
  readonly keeps: Keeps
  onSaved(): void
  readonly side: Side
  onSide(side: Side): void
}

export function Workbench({ opened, written, keeps, onSaved, side, onSide }: Props) {
  const project = useProject()
  const editor = useRef<CodeEditor | null>(null)
  const [text, setText] = useState(written ?? opened.statement)
  const [view, setView] = useState<ResultView>(opened.choice ? 'chart' : 'rows')
  const [choice, setChoice] = useState<ChartChoice | null>(opened.choice)
  const [dialog, setDialog] = useState<'view' | 'insight' | 'share' | null>(null)
  // Of the panels beside the editor: another one reads them again.
  const [version, setVersion] = useState(0)
  const [values, setValues] = useState<Variables>(opened.variables)
  const runs = useRuns(project, editor, text, values)
  const address = useStatementAddress(editor, keeps, { text, opened: opened.statement, written })
  useEffect(() => {
    if (keeps.insight !== null) void runs.ask('run')
  }, [])

  const update = async () => {
    if (!opened.view) return
    await updateView(project.api, opened.view.id, text).then(() => {
      address.forget()
      go(linkTo(project.link('sql'), { view: opened.view!.id }), true)
      setVersion((last) => last + 1)
      onSaved()
    }, runs.setError)
  }
  const saved = (made: ViewAnswer) => {
    setDialog(null)
    setVersion((last) => last + 1)
    go(linkTo(project.link('sql'), { view: made.id }))
  }
  /** Another one was renamed or removed, or this one. */
  const viewChanged = (removed: ViewAnswer | null) => {
    setVersion((last) => last + 1)
    if (removed === null || removed.id !== opened.view?.id) onSaved()
    else go(linkTo(project.link('sql'), { q: text }), true)
  }
  const answered = runs.done && insightQuery(runs.done, view, choice)
  const isChanged = opened.view !== null && text !== opened.view.query.query
  return (
    <>
      <PageHead title={opened.view ? `SQL: ${opened.view.name}` : 'SQL'}>
        {isChanged && project.mayChange && (
          <button type="button" onClick={() => void update()}>
            Save changes
          </button>
        )}
        {opened.insight && (
          <OfInsight insight={opened.insight} answered={answered} beforeLeaving={address.forget} onFailure={runs.setError} />
        )}
        <SaveButtons hasAnswer={runs.done !== null} onOpen={setDialog} />
        {opened.insight && (
          <button type="button" onClick={() => setDialog('share')}>
            Share
          </button>
        )}
        <CopyButton text={location.href} label="Copy link" />
      </PageHead>
      <div class="workbench">
        <div class="bench">
          <Editor
            text={text}
            variables={values}
            onChange={setText}
            onRun={() => void runs.ask('run')}
            onReady={(made) => (editor.current = made)}
          />
          <VariablesBar
            hasKinds
            variables={variablesOf(text, values)}
            onChange={(id, value) => setValues({ ...values, [id]: { ...(values[id] ?? { code_name: id }), value } })}
          />
          <RunBar
            working={runs.working}
            isInBackground={runs.background !== null}
            onAsk={(what) => void runs.ask(what)}
            onStartInBackground={() => void runs.startInBackground()}
            onCancel={runs.cancel}
          />
          {runs.background && <InBackground run={runs.background} cancel={runs.cancelBackground} />}
          <section class="answer" aria-label="Answer" {...busy(runs.working !== null)}>
            {runs.error && <ErrorBox error={runs.error} />}
            {runs.error && furtherErrors(runs.error).map((text) => <p key={text}>{text}</p>)}
            {runs.done && (
              <div class="result">
                <ResultPanel {...runs.done} view={view} choice={choice} onView={setView} onChoose={setChoice} />
              </div>
            )}
            {!runs.done && !runs.error && !runs.working && <Keys />}
          </section>
        </div>
        <aside class="side" aria-label="Tables, saved queries and history">
          <SideTabs side={side} onSide={onSide} />
          {side === 'tables' && <TablesPanel version={version} onInsert={(name) => editor.current?.insert(name)} />}
          {side === 'saved' && <ViewsPanel version={version} onChanged={viewChanged} />}
          {side === 'history' && (
            <HistoryPanel
              ran={runs.history.ran}
              onOpen={(statement) => editor.current?.setText(statement)}
              onForget={runs.history.forget}
            />
          )}
        </aside>
      </div>
      {runs.explained && (
        <Dialog title="Query plan" onClose={runs.closeExplained}>
          <ExplainPanel answer={runs.explained} />
        </Dialog>
      )}
      {dialog === 'share' && opened.insight && (
        <SharingDialog
          of={{ what: 'insight', id: opened.insight.id, name: opened.insight.name }}
          note={text === opened.statement ? undefined : 'The link shows the insight as it was saved, without your changes.'}
          onClose={() => setDialog(null)}
        />
      )}
      {dialog === 'view' && <SaveView statement={text} onSaved={saved} onClose={() => setDialog(null)} />}
      {dialog === 'insight' && answered && <SaveInsight query={answered} onClose={() => setDialog(null)} />}
    </>
  )
}

const SaveButtons = ({ hasAnswer, onOpen }: { hasAnswer: boolean; onOpen: (what: 'view' | 'insight') => void }) => (
  <ForMembers>
    <button type="button" onClick={() => onOpen('view')}>
      Save as
    </button>
    <button type="button" onClick={() => onOpen('insight')} disabled={!hasAnswer}>
      Save as insight
    </button>
  </ForMembers>
)

/** Of the insight whose statement is open: the way back, with the changes or without. `answered`: as it would be kept; null until it has run. */
function OfInsight({
  insight: { id, short_id, name, query },
  answered,
  beforeLeaving,
  onFailure,
}: {
  insight: NonNullable<Opened['insight']>
  answered: Query | null
  beforeLeaving: () => void
  onFailure: (error: Error) => void
}) {
  const { api, link, mayChange } = useProject()
  const address = linkTo(link(`insights/${short_id}`))
  const save = () =>
    patch(api(`insights/${id}/`), { query: answered }).then(() => {
      beforeLeaving()
      go(address)
    }, onFailure)
  return (
    <>
      {mayChange && answered && JSON.stringify(answered) !== JSON.stringify(query) && (
        <button type="button" class="primary" onClick={() => void save()}>
          Save changes
        </button>
      )}
      <a href={address}>{name}</a>
    </>
  )
}

const Keys = () => (
  <p class="note">
    <kbd>Ctrl</kbd> <kbd>Enter</kbd> runs the statement, <kbd>Ctrl</kbd> <kbd>Space</kbd> completes names.
  </p>
)

/** As it is shown: as a chart, or as a table. */
function insightQuery({ query: source, answer }: Done, view: ResultView, choice: ChartChoice | null): Query {
  const chart = view === 'chart' ? fittingChart(choice, columnsOf(answer), rowsOf(answer)) : null
  return chart ? chartNode(source, chart) : { kind: 'DataTableNode', source }
}
