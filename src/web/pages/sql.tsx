import { useEffect, useRef, useState } from 'preact/hooks'
import type { SavedInsightAnswer } from '../../doors/answers/insights.ts'
import type { ViewAnswer } from '../../doors/answers/saved-queries.ts'
import { type Answer, get, type Page, type Query } from '../lib/api.ts'
import { agoText, numberText } from '../lib/format.ts'
import type { PageProps } from '../lib/page.ts'
import { go, linkTo } from '../lib/router.ts'
import { useProject } from '../lib/session.ts'
import { useLoaded } from '../lib/use-loaded.ts'
import { type BackgroundRun, useBackground } from '../sql/background.ts'
import { type ChartChoice, chartNode, fittingChart } from '../sql/chart-choice.ts'
import type { CodeEditor } from '../sql/code-editor.ts'
import { columnsOf, rowsOf } from '../sql/columns.ts'
import { Editor } from '../sql/editor.tsx'
import { ExplainPanel } from '../sql/explain-panel.tsx'
import { forgetHistory, type Ran, readHistory, remember } from '../sql/history.ts'
import { errorMarks, furtherErrors } from '../sql/language.ts'
import { ResultPanel, type ResultView } from '../sql/result-panel.tsx'
import { SaveInsight } from '../sql/save-insight.tsx'
import '../sql/sql.css'
import { SharingDialog } from '../insights/sharing.tsx'
import { TablesPanel } from '../sql/tables-panel.tsx'
import { findView, SaveView, updateView, ViewsPanel } from '../sql/views.tsx'
import { busy } from '../ui/answer-of.tsx'
import { CopyButton, Dialog, ErrorBox, NotHere, PageHead, Working } from '../ui/parts.tsx'

const sample = `select event, count() as number
from events
where timestamp > now() - interval 30 day
group by event
order by number desc`

interface Opened {
  /** What the address named. */
  readonly of: string
  readonly statement: string
  readonly view: ViewAnswer | null
  /** That is open, to be shared. */
  readonly insight: { readonly id: number; readonly name: string } | null
  readonly choice: ChartChoice | null
}

/** The address says what is open: a statement (`q`), a saved query (`view`), or an insight with a statement (`insight`). */
export function Sql({ place }: PageProps) {
  const { api } = useProject()
  const [view, insight] = [place.search.get('view'), place.search.get('insight')]
  const written = place.search.get('q')
  const [side, setSide] = useState<Side>('tables')
  const of = `${view ?? ''} ${insight ?? ''}`
  const { value, error, reload } = useLoaded(
    async (signal): Promise<Opened> => {
      if (view !== null) {
        const found = await findView(api, view, signal)
        return { of, statement: found.query.query, view: found, insight: null, choice: null }
      }
      if (insight !== null) {
        const found = await get<Page<SavedInsightAnswer>>(api(`insights/?basic=true&short_id=${encodeURIComponent(insight)}`), signal)
        return { of, ...openInsight(found) }
      }
      return { of, statement: sample, view: null, insight: null, choice: null }
    },
    [view, insight],
  )
  if (error)
    return (
      <NotHere title="This saved query cannot be opened">
        <ErrorBox error={error} retry={reload} />
      </NotHere>
    )
  if (value?.of !== of) return <Working what="Reading the statement" />
  return <Workbench key={of} opened={value} written={written} keeps={{ view, insight }} onSaved={reload} side={side} onSide={setSide} />
}

/** Which columns the chart of a saved statement draws. */
interface Settings {
  readonly xAxis?: { readonly column: string }
  readonly yAxis?: readonly { readonly column: string }[]
  readonly seriesBreakdownColumn?: string | null
}

function openInsight({ results }: Page<SavedInsightAnswer>): Omit<Opened, 'of'> {
  const [found] = results
  if (!found) throw new Error('This insight does not exist any more.')
  const node = found.query as Query & { display?: string; chartSettings?: Settings }
  const source = (node.source ?? node) as Query & { query?: string }
  const y = node.chartSettings?.yAxis?.map(({ column }) => column) ?? []
  const split = node.chartSettings?.seriesBreakdownColumn
  const choice =
    typeof node.display === 'string'
      ? { display: node.display, x: node.chartSettings?.xAxis?.column ?? '', y, ...(typeof split === 'string' && { split }) }
      : null
  return { statement: String(source.query ?? ''), view: null, insight: { id: found.id, name: found.name || 'SQL' }, choice }
}

interface Done {
  readonly statement: string
  readonly answer: Answer
  readonly ms: number
}
type Side = 'tables' | 'saved' | 'history'
const sides: readonly { readonly name: Side; readonly title: string }[] = [
  { name: 'tables', title: 'Tables' },
  { name: 'saved', title: 'Saved' },
  { name: 'history', title: 'History' },
]

function Workbench({
  opened,
  written,
  keeps,
  onSaved,
  side,
  onSide,
}: {
  opened: Opened
  written: string | null
  keeps: { readonly view: string | null; readonly insight: string | null }
  onSaved: () => void
  side: Side
  onSide: (side: Side) => void
}) {
  const project = useProject()
  const editor = useRef<CodeEditor | null>(null)
  const [text, setText] = useState(written ?? opened.statement)
  const [done, setDone] = useState<Done | null>(null)
  const [error, setError] = useState<Error | null>(null)
  const [explained, setExplained] = useState<Answer | null>(null)
  const [working, setWorking] = useState<'run' | 'explain' | null>(null)
  const [view, setView] = useState<ResultView>(opened.choice ? 'chart' : 'rows')
  const [choice, setChoice] = useState<ChartChoice | null>(opened.choice)
  const [dialog, setDialog] = useState<'view' | 'insight' | 'share' | null>(null)
  const [version, setVersion] = useState(0)
  const [ran, setRan] = useState<readonly Ran[]>(() => readHistory(project.id))
  const running = useRef<AbortController | null>(null)
  const addressed = useRef(written)

  useEffect(() => {
    if (keeps.insight !== null) void run()
    return () => running.current?.abort()
  }, [])
  // Another statement in the address, as after a step back.
  useEffect(() => {
    if (written === addressed.current) return
    addressed.current = written
    editor.current?.setText(written ?? opened.statement)
  }, [written])
  useEffect(() => {
    const q = text === opened.statement ? null : text
    if (q === addressed.current) return
    const timer = setTimeout(() => {
      addressed.current = q
      go(linkTo(project.link('sql'), { ...keeps, q }), true)
    }, 400)
    return () => clearTimeout(timer)
  }, [text])

  const show = (statement: string, answer: Answer, ms: number, isNew = true) => {
    editor.current?.mark([])
    setDone({ statement, answer, ms })
    const rows = Array.isArray(answer.results) ? answer.results.length : 0
    if (isNew) setRan(remember(project.id, { statement, at: new Date().toISOString(), rows, ms: Math.round(ms) }))
  }
  const fail = (statement: string, failure: Error, ms: number | null) => {
    setError(failure)
    const marks = errorMarks(failure, statement.length)
    if (marks[0] && editor.current?.text() === statement) {
      editor.current.mark(marks)
      editor.current.goTo(marks[0].from)
    }
    if (ms !== null) setRan(remember(project.id, { statement, at: new Date().toISOString(), rows: null, ms: Math.round(ms) }))
  }
  const background = useBackground(project, ({ statement, ms, result, isAgain }) => {
    setError(null)
    if (result instanceof Error) fail(statement, result, ms)
    else show(statement, result, ms, !isAgain)
  })
  const runInBackground = async () => {
    const statement = editor.current?.text() ?? text
    if (statement.trim() === '') return setError(new Error('Write a statement first.'))
    setError(null)
    await background.start(statement).catch((failure: Error) => fail(statement, failure, 0))
  }

  const ask = async (what: 'run' | 'explain') => {
    const statement = editor.current?.text() ?? text
    if (statement.trim() === '') return setError(new Error('Write a statement first.'))
    running.current?.abort()
    const control = new AbortController()
    running.current = control
    background.forget()
    setWorking(what)
    setError(null)
    const start = performance.now()
    try {
      const query = { kind: 'HogQLQuery', query: statement, ...(what === 'explain' && { explain: true }) }
      const answer = await project.ask(query, control.signal, 'force_blocking')
      const ms = performance.now() - start
      if (what === 'run') show(statement, answer, ms)
      else {
        editor.current?.mark([])
        setExplained(answer)
      }
    } catch (failure) {
      if (control.signal.aborted && running.current !== control) return
      if (control.signal.aborted) setError(new Error('Cancelled.'))
      else fail(statement, failure as Error, what === 'run' ? performance.now() - start : null)
    }
    if (running.current === control) setWorking(null)
  }
  const run = () => ask('run')
  const update = async () => {
    if (!opened.view) return
    await updateView(project.api, opened.view.id, text).then(() => {
      addressed.current = null
      go(linkTo(project.link('sql'), { view: opened.view!.id }), true)
      setVersion(version + 1)
      onSaved()
    }, setError)
  }
  const saved = (made: ViewAnswer) => {
    setDialog(null)
    setVersion(version + 1)
    go(linkTo(project.link('sql'), { view: made.id }))
  }
  /** Another one was renamed or removed, or this one. */
  const viewChanged = (removed: ViewAnswer | null) => {
    setVersion(version + 1)
    if (removed === null || removed.id !== opened.view?.id) onSaved()
    else go(linkTo(project.link('sql'), { q: text }), true)
  }
  const isChanged = opened.view !== null && text !== opened.view.query.query
  return (
    <>
      <PageHead title={opened.view ? `SQL: ${opened.view.name}` : 'SQL'}>
        {isChanged && (
          <button type="button" onClick={() => void update()}>
            Save changes
          </button>
        )}
        <button type="button" onClick={() => setDialog('view')}>
          Save as
        </button>
        <button type="button" onClick={() => setDialog('insight')} disabled={done === null}>
          Save as insight
        </button>
        {opened.insight && (
          <button type="button" onClick={() => setDialog('share')}>
            Share
          </button>
        )}
        <CopyButton text={location.href} label="Copy address" />
      </PageHead>
      <div class="workbench">
        <div class="bench">
          <Editor text={text} onChange={setText} onRun={() => void run()} onReady={(made) => (editor.current = made)} />
          <div class="toolbar" role="toolbar" aria-label="Run">
            <button type="button" class="primary" onClick={() => void run()}>
              Run <kbd>Ctrl ↵</kbd>
            </button>
            <button
              type="button"
              disabled={background.run !== null}
              title="For long statements: up to ten minutes, also while this page is closed"
              onClick={() => void runInBackground()}
            >
              Start in the background
            </button>
            <button type="button" onClick={() => void ask('explain')}>
              Explain
            </button>
            {working && <Working what={working === 'run' ? 'Running' : 'Explaining'} cancel={() => running.current?.abort()} />}
          </div>
          {background.run && <InBackground run={background.run} cancel={() => void background.cancel().catch(setError)} />}
          <section class="answer" aria-label="Answer" {...busy(working !== null)}>
            {error && <ErrorBox error={error} />}
            {error && furtherErrors(error).map((text) => <p key={text}>{text}</p>)}
            {done && (
              <div class="result">
                <ResultPanel
                  answer={done.answer}
                  statement={done.statement}
                  ms={done.ms}
                  view={view}
                  choice={choice}
                  onView={setView}
                  onChoose={setChoice}
                />
              </div>
            )}
            {!done && !error && !working && (
              <p class="note">
                <kbd>Ctrl</kbd> <kbd>Enter</kbd> runs the statement, <kbd>Ctrl</kbd> <kbd>Space</kbd> completes names.
              </p>
            )}
          </section>
        </div>
        <aside class="side" aria-label="Tables, saved queries and history">
          <div class="tabs" role="tablist" aria-label="Beside the editor">
            {sides.map(({ name, title }) => (
              <button type="button" role="tab" key={name} aria-selected={side === name} onClick={() => onSide(name)}>
                {title}
              </button>
            ))}
          </div>
          {side === 'tables' && <TablesPanel version={version} onInsert={(name) => editor.current?.insert(name)} />}
          {side === 'saved' && <ViewsPanel version={version} onChanged={viewChanged} />}
          {side === 'history' && (
            <HistoryPanel
              ran={ran}
              onOpen={(statement) => editor.current?.setText(statement)}
              onForget={() => {
                forgetHistory(project.id)
                setRan([])
              }}
            />
          )}
        </aside>
      </div>
      {explained && (
        <Dialog title="How the statement is carried out" onClose={() => setExplained(null)}>
          <ExplainPanel answer={explained} />
        </Dialog>
      )}
      {dialog === 'share' && opened.insight && (
        <SharingDialog
          of={{ what: 'insight', ...opened.insight }}
          note={text === opened.statement ? undefined : 'The link shows the insight as it was saved, without your changes.'}
          onClose={() => setDialog(null)}
        />
      )}
      {dialog === 'view' && <SaveView statement={text} onSaved={saved} onClose={() => setDialog(null)} />}
      {dialog === 'insight' && done && (
        <SaveInsight
          query={insightQuery(done, view === 'chart' ? fittingChart(choice, columnsOf(done.answer), rowsOf(done.answer)) : null)}
          onClose={() => setDialog(null)}
        />
      )}
    </>
  )
}

function InBackground({ run, cancel }: { run: BackgroundRun; cancel: () => void }) {
  const { rows_read = 0, estimated_rows_total: total = 0, time_elapsed } = run.progress ?? {}
  return (
    <section class="background" aria-label="In the background">
      <code>{run.statement.slice(0, 200)}</code>
      <progress aria-label="Rows read" {...(total > 0 ? { max: total, value: Math.min(rows_read, total) } : {})} />
      <span role="status">
        {time_elapsed === undefined ? 'Waiting for the server' : `Running: ${numberText(Math.floor(time_elapsed))} s`}
        {total > 0 && `, ${numberText(rows_read)} of ${numberText(total)} rows read`}
      </span>
      <button type="button" onClick={cancel}>
        Cancel
      </button>
    </section>
  )
}

const insightQuery = ({ statement }: Done, choice: ChartChoice | null): Query => {
  const source = { kind: 'HogQLQuery', query: statement }
  return choice ? chartNode(source, choice) : { kind: 'DataTableNode', source }
}

function HistoryPanel({ ran, onOpen, onForget }: { ran: readonly Ran[]; onOpen: (statement: string) => void; onForget: () => void }) {
  if (ran.length === 0) return <p class="note">What you run is listed here. It stays in this browser.</p>
  return (
    <>
      <p class="note">
        Of this browser, the newest first.{' '}
        <button type="button" class="plain link" onClick={onForget}>
          Forget all
        </button>
      </p>
      <ul class="views">
        {ran.map(({ statement, at, rows, ms }) => (
          <li key={at}>
            <button type="button" class="plain cell past" onClick={() => onOpen(statement)}>
              <code>{statement.slice(0, 200)}</code>
            </button>
            <small>
              {agoText(at)}, {rows === null ? 'failed' : `${numberText(rows)} rows`}, {numberText(ms)} ms
            </small>
          </li>
        ))}
      </ul>
    </>
  )
}
