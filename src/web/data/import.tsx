import { useEffect, useRef, useState } from 'preact/hooks'
import type { HistoricalImportAnswer, ImportAnswer } from '../../doors/answers/historical-import.ts'
import type { Mapping } from '../../events/imports/formats/mapped.ts'
import { FileField } from '../files/file-field.tsx'
import { get, patch, post } from '../lib/api.ts'
import { momentText, numberText } from '../lib/format.ts'
import { linkTo } from '../lib/router.ts'
import { useProject } from '../lib/session.ts'
import { useLoaded } from '../lib/use-loaded.ts'
import { useList } from '../ui/list-table.tsx'
import { CopyButton, ErrorBox, Field } from '../ui/parts.tsx'
import { importFile, type Progress } from './import-file.ts'
import { ImportPreview } from './import-preview.tsx'
import { ImportsList } from './imports-list.tsx'
import { type OpenedFile, openFile } from './read-file.ts'

interface Run {
  readonly is: 'running' | 'done' | 'stopped'
  readonly opened: OpenedFile
  readonly mapping: Mapping
  readonly progress: Progress | null
}

/** What was received, and how much of it is not there any more. */
function receivedText({ imported_events: all, removed_events: removed }: HistoricalImportAnswer): string {
  if (all === 0) return 'No past events were received so far.'
  const received = `${numberText(all)} past ${all === 1 ? 'event was' : 'events were'} received so far, in files or from clients`
  return removed === 0
    ? `${received}.`
    : `${received}; ${numberText(removed)} of them ${removed === 1 ? 'was' : 'were'} removed again with the imports that were undone.`
}

/** Events of the past: a file from here, or the command. */
export function Import() {
  const { api, api_token, link, timezone, mayChange } = useProject()
  const list = useList<ImportAnswer>(api('imports/?limit=20'))
  const undone = list.rows?.reduce((sum, { removed_events: events }) => sum + (events ?? 0), 0) ?? 0
  const {
    value: agreed,
    error: agreedError,
    reload,
  } = useLoaded((signal) => get<HistoricalImportAnswer>(api('historical_import/'), signal), [undone])
  const [opened, setOpened] = useState<OpenedFile | null>(null)
  const [run, setRun] = useState<Run | null>(null)
  const [error, setError] = useState<Error | null>(null)
  const control = useRef<AbortController | null>(null)
  const isRunning = run?.is === 'running'
  useEffect(() => {
    if (!isRunning) return
    const warn = (event: BeforeUnloadEvent) => event.preventDefault()
    window.addEventListener('beforeunload', warn)
    return () => window.removeEventListener('beforeunload', warn)
  }, [isRunning])
  useEffect(() => () => control.current?.abort(), [])
  const origin = new URL('.', document.baseURI).href.replace(/\/$/, '')
  const command = `npx waymark import FILE --url ${origin} --key ${api_token}`

  const asked = useRef<File | null>(null)
  const look = async (file: File) => {
    asked.current = file
    setRun(null)
    setOpened(null)
    setError(null)
    try {
      const found = await openFile(file)
      if (asked.current === file) setOpened(found)
    } catch (failure) {
      if (asked.current === file) setError(failure as Error)
    }
  }
  const start = async (opened: OpenedFile, mapping: Mapping) => {
    const stop = new AbortController()
    control.current = stop
    setOpened(null)
    setError(null)
    let last: Progress | null = null
    let importId: string | null = null
    let isWhole = false
    const follow = (progress: Progress) => {
      last = progress
      setRun({ is: 'running', opened, mapping, progress })
    }
    setRun({ is: 'running', opened, mapping, progress: null })
    try {
      const { id } = await post<ImportAnswer>(api('imports/'), { file: opened.file.name.slice(0, 400), format: opened.format })
      importId = id
      const progress = await importFile(opened, mapping, { key: api_token, importId: id, signal: stop.signal }, follow)
      last = progress
      isWhole = true
      setRun({ is: 'done', opened, mapping, progress })
    } catch (failure) {
      setRun({ is: 'stopped', opened, mapping, progress: last })
      if (!stop.signal.aborted) setError(failure as Error)
    }
    const { rows, unreadable } = last ?? { rows: 0, unreadable: 0 }
    if (importId !== null)
      await patch(api(`imports/${importId}/`), { status: isWhole ? 'done' : 'stopped', rows, unreadable }).catch(() => undefined)
    reload()
    list.reload()
  }
  return (
    <>
      {agreedError && <ErrorBox error={agreedError} retry={reload} />}
      {agreed && (
        <p class="note">
          {receivedText(agreed)} {agreed.limits.total_events !== null && `At most ${numberText(agreed.limits.total_events)} may be. `}
          {agreed.limits.events_per_minute !== null && `At most ${numberText(agreed.limits.events_per_minute)} are taken in a minute. `}
          {agreed.approved_at !== null && `Approved ${momentText(agreed.approved_at, timezone)}.`}
        </p>
      )}
      {mayChange ? (
        <section class="panel" aria-label="A file">
          <h2>A file from this computer</h2>
          <p>
            Its first rows are shown before anything is stored. The same file can be imported again: what is stored already is not stored
            twice.
          </p>
          <div class="import-file">
            <Field label="File">
              {(id) => (
                <FileField
                  id={id}
                  disabled={isRunning}
                  about="CSV or JSON lines of your own, JSON lines of PostHog, Mixpanel or Amplitude, an access log of a web server; lines also as gzip"
                  isKept={false}
                  onFile={(file) => file && void look(file)}
                />
              )}
            </Field>
          </div>
          {error && <ErrorBox error={error} />}
          {run && <RunReport run={run} cancel={() => control.current?.abort()} retry={() => void start(run.opened, run.mapping)} />}
          {opened && <ImportPreview opened={opened} onStart={(mapping) => void start(opened, mapping)} onLeave={() => setOpened(null)} />}
          {run?.is === 'done' && (run.progress?.stored ?? 0) > 0 && (
            <p>
              <a href={linkTo(link('data/events'))}>See the events</a>
            </p>
          )}
        </section>
      ) : (
        <p class="note">Only members can import files.</p>
      )}
      <ImportsList list={list} />
      <section class="panel" aria-label="The command">
        <h2>The command</h2>
        <p>
          It also reads Parquet and zstd, checks every row of a file without storing any with <code class="whole">--dry-run</code>, and goes
          on where it was interrupted.
        </p>
        <pre tabIndex={0}>
          <code>{command}</code>
        </pre>
        <CopyButton text={command} />
      </section>
    </>
  )
}

function RunReport({ run: { is, opened, progress }, cancel, retry }: { run: Run; cancel: () => void; retry: () => void }) {
  const { file } = opened
  const read = is === 'done' ? file.size : (progress?.bytesRead ?? 0)
  const percent = file.size === 0 ? 100 : Math.min(100, Math.floor((100 * read) / file.size))
  const words = { running: 'Importing', done: 'Imported', stopped: 'Stopped' } as const
  return (
    <div role="status" aria-live="polite">
      <p class="actions">
        <strong class="wrap">
          {words[is]} {file.name}
        </strong>
        <progress max={100} value={percent} aria-label="Read of the file" />
        <span>{percent}%</span>
        {is === 'running' && (
          <button type="button" onClick={cancel}>
            Cancel
          </button>
        )}
        {is === 'stopped' && (
          <button type="button" onClick={retry}>
            Import it again
          </button>
        )}
      </p>
      {is === 'stopped' && <p class="note">What was stored stays, and is not stored twice.</p>}
      {is === 'running' && <p class="note">Stay on this page until it has ended.</p>}
      {progress && (
        <ul class="lines counts">
          {(
            [
              ['Format', progress.format],
              ['Rows', numberText(progress.rows)],
              ['Stored', numberText(progress.stored)],
              ['Stored before', numberText(progress.duplicates)],
              ['Left out by rules of ingestion', numberText(progress.dropped)],
              ['Unreadable', numberText(progress.unreadable)],
            ] as const
          ).map(([label, value]) => (
            <li key={label}>
              <span>{label}</span>
              <span class="number">{value}</span>
            </li>
          ))}
        </ul>
      )}
      {progress && progress.problems.length > 0 && (
        <section aria-label="Rows that cannot be read">
          <h3 class="apart">Rows that cannot be read</h3>
          <ul class="lines">
            {progress.problems.map(({ row, problem }) => (
              <li class="wrap" key={row}>
                Row {row}: {problem}
              </li>
            ))}
          </ul>
          {progress.unreadable > progress.problems.length && (
            <p class="note">
              And {numberText(progress.unreadable - progress.problems.length)} more. The command below lists them all with{' '}
              <code>--dry-run</code>.
            </p>
          )}
        </section>
      )}
    </div>
  )
}
