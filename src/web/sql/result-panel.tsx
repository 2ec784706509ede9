import { useEffect, useMemo, useState } from 'preact/hooks'
import { AttachedAges } from '../answers/attached-ages.tsx'
import type { Answer, Query } from '../lib/api.ts'
import { numberText } from '../lib/format.ts'
import { useProject } from '../lib/session.ts'
import { CopyButton, ErrorBox } from '../ui/parts.tsx'
import type { ChartChoice } from './chart-choice.ts'
import { ChartPanel } from './chart-panel.tsx'
import { columnsOf, rowsOf, tabSeparated } from './columns.ts'
import { type DownloadFormat, downloadFormats, startDownload } from './download.ts'
import { RowsTable } from './rows-table.tsx'

export type ResultView = 'rows' | 'chart'

/** The answer of a statement: its rows, their chart, and all of them as a file. */
export function ResultPanel({
  answer,
  query,
  ms,
  view,
  choice,
  onView,
  onChoose,
}: {
  answer: Answer
  /** As it was asked. */
  query: Query
  ms: number
  view: ResultView
  choice: ChartChoice | null
  onView: (view: ResultView) => void
  onChoose: (choice: ChartChoice) => void
}) {
  const columns = useMemo(() => columnsOf(answer), [answer])
  const rows = useMemo(() => rowsOf(answer), [answer])
  return (
    <>
      <div class="result-head">
        <div class="tabs" role="tablist" aria-label="The answer as">
          {(['rows', 'chart'] as const).map((one) => (
            <button type="button" role="tab" key={one} aria-selected={view === one} onClick={() => onView(one)}>
              {one === 'rows' ? 'Rows' : 'Chart'}
            </button>
          ))}
        </div>
        <div class="actions">
          {rows.length > 0 && <CopyButton text={tabSeparated(columns, rows)} label="Copy rows" />}
          <Download query={query} />
        </div>
      </div>
      <p class="note" role="status">
        {numberText(rows.length)} {rows.length === 1 ? 'row' : 'rows'} in {numberText(Math.round(ms))} ms.{' '}
        {answer.hasMore === true &&
          'There are more. Without LIMIT a statement answers 100 rows, with LIMIT at most 10,000. A file has all of them.'}
      </p>
      <AttachedAges answer={answer} />
      {(answer.warnings ?? []).map(({ message }) => (
        <p class="warning" key={message}>
          {message}
        </p>
      ))}
      {view === 'rows' && rows.length > 0 && <RowsTable columns={columns} rows={rows} />}
      {view === 'rows' && rows.length === 0 && (
        <p class="note">The statement is valid, but has no rows. Its columns: {columns.map(({ name }) => name).join(', ')}.</p>
      )}
      {view === 'chart' && <ChartPanel answer={answer} query={query} choice={choice} onChoose={onChoose} />}
    </>
  )
}

function Download({ query }: { query: Query }) {
  const { api } = useProject()
  const [isAsked, setAsked] = useState(false)
  const [error, setError] = useState<Error | null>(null)
  useEffect(() => {
    setAsked(false)
    setError(null)
  }, [query])
  const start = (format: DownloadFormat) => {
    setError(null)
    setAsked(true)
    startDownload(api('query/export/'), query, format, (failure) => {
      setAsked(false)
      setError(failure)
    })
  }
  return (
    <>
      <select
        aria-label="Download all rows"
        value=""
        onChange={(event) => {
          const format = downloadFormats.find(({ value }) => value === event.currentTarget.value)
          event.currentTarget.value = ''
          if (format) start(format.value)
        }}
      >
        <option value="">Download all rows</option>
        {downloadFormats.map(({ value, label }) => (
          <option key={value} value={value}>
            {label}
          </option>
        ))}
      </select>
      {isAsked && (
        <span class="note" role="status">
          Your browser saves the file, and shows its progress.
        </span>
      )}
      {error && <ErrorBox error={error} />}
    </>
  )
}
