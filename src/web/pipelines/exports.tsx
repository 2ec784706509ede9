import { useState } from 'preact/hooks'
import type {
  BackfillAnswer,
  BatchExportAnswer,
  DestinationAnswer,
  ExportRunAnswer,
  ExportStepAnswer,
  ExportStepsAnswer,
} from '../../doors/answers/batch-exports.ts'
import { ApiError, get, patch, post, remove } from '../lib/api.ts'
import { momentText, numberText } from '../lib/format.ts'
import { go, linkTo, type Place } from '../lib/router.ts'
import { useProject } from '../lib/session.ts'
import { useLoaded } from '../lib/use-loaded.ts'
import { Ago } from '../ui/ago.tsx'
import { ForMembers } from '../ui/for-members.tsx'
import {
  CheckField,
  ChoiceField,
  ConfirmButton,
  DialogButton,
  Form,
  isChecked,
  TextField,
  TimeField,
  textOf,
  timeOf,
  useAction,
} from '../ui/forms.tsx'
import { ListTable, useList } from '../ui/list-table.tsx'
import { Dialog, Empty, ErrorBox, NotHere, Working } from '../ui/parts.tsx'
import { DestinationFields, destinationName, settingsFrom } from './destination-fields.tsx'
import { Logs, LogsInDialog } from './plugin.tsx'

const isActive = (status: string) => /^(Starting|Running|FailedRetryable)$/.test(status)
const tone = (status: string) =>
  status === 'Completed' ? 'good' : /^Failed|TimedOut|Terminated/.test(status) ? 'bad' : isActive(status) ? 'warn' : ''
const stateWords: Readonly<Record<string, string>> = {
  ContinuedAsNew: 'Continued',
  FailedRetryable: 'Failed, is retried',
  TimedOut: 'Timed out',
}
const StatusBadge = ({ status }: { status: string }) => <span class={`state ${tone(status)}`}>{stateWords[status] ?? status}</span>

const intervals = [
  { value: 'hour', label: 'Every hour' },
  { value: 'day', label: 'Every day' },
  { value: 'week', label: 'Every week' },
  { value: 'every 5 minutes', label: 'Every 5 minutes' },
]
const models = [
  { value: 'events', label: 'Events' },
  { value: 'persons', label: 'People' },
  { value: 'sessions', label: 'Sessions' },
]
const labelOf = (options: readonly { value: string; label: string }[], value: string) =>
  options.find((one) => one.value === value)?.label ?? value

export function ExportsList() {
  const { api, link } = useProject()
  const list = useList<BatchExportAnswer>(api('batch_exports/?limit=50'))
  return (
    <section class="block">
      <div class="head-row">
        <h2>Batch exports</h2>
        <ForMembers>
          <a class="button primary" href={linkTo(link('pipelines/exports/new'))}>
            New export
          </a>
        </ForMembers>
      </div>
      <p class="note">They copy events, people or sessions to files, buckets and databases, an interval at a time.</p>
      <ListTable
        list={list}
        what="batch exports"
        head={[
          { title: 'Name', by: ({ name }) => name },
          { title: 'Destination', by: ({ destination }) => destinationName(destination.type) },
          { title: 'Rows', by: ({ model }) => model },
          { title: 'Interval', by: ({ interval }) => interval },
          'State',
          { title: 'Last run', by: ({ latest_runs: [last] }) => last?.created_at ?? '' },
        ]}
        empty={
          <Empty title="No batch export yet">
            <p>
              The first one needs a destination, such as a bucket or a database.{' '}
              <ForMembers>
                <a href={linkTo(link('pipelines/exports/new'))}>Choose one</a>
              </ForMembers>
            </p>
          </Empty>
        }
        row={(one) => {
          const [last] = one.latest_runs
          return (
            <tr key={one.id}>
              <td class="wrap">
                <a href={linkTo(link(`pipelines/exports/${one.id}`))}>{one.name}</a>
              </td>
              <td>{destinationName(one.destination.type)}</td>
              <td>{labelOf(models, one.model)}</td>
              <td>{labelOf(intervals, one.interval)}</td>
              <td>
                <span class={`state ${one.paused ? '' : 'good'}`}>{one.paused ? 'paused' : 'on'}</span>
                {one.paused && one.paused_reason && <p class="field-error">{one.paused_reason}</p>}
              </td>
              <td class="wrap">
                {last ? <StatusBadge status={last.status} /> : 'Not yet'}
                {last?.latest_error && last.status !== 'Completed' && <p class="field-error">{last.latest_error}</p>}
              </td>
            </tr>
          )
        }}
      />
    </section>
  )
}

const useDestinations = () => {
  const { api } = useProject()
  return useLoaded((signal) => get<readonly DestinationAnswer[]>(api('batch_exports/destinations/'), signal), [])
}

const commonFrom = (form: HTMLFormElement) => ({
  name: textOf(form, 'name'),
  interval: textOf(form, 'interval'),
})

function CommonFields({ of }: { of: BatchExportAnswer | null }) {
  return (
    <>
      <TextField name="name" label="Name" value={of?.name} required maxLength={400} />
      <ChoiceField name="interval" label="Interval" value={of?.interval ?? 'hour'} options={intervals} />
    </>
  )
}

export function NewExport() {
  const { api, link } = useProject()
  const { value: destinations, error, reload } = useDestinations()
  const [type, setType] = useState('S3')
  if (error) return <ErrorBox error={error} retry={reload} />
  if (!destinations) return <Working what="Reading destinations" />
  const destination = destinations.find((one) => one.type === type) ?? destinations[0]!
  return (
    <section class="block">
      <h2>New batch export</h2>
      <Form
        submit="Create"
        send={async (form) => {
          const made = await post<BatchExportAnswer>(api('batch_exports/'), {
            ...commonFrom(form),
            model: textOf(form, 'model'),
            destination: { type: destination.type, config: settingsFrom(form, destination) },
          })
          go(linkTo(link(`pipelines/exports/${made.id}`)))
        }}
      >
        <ChoiceField
          name="type"
          of={['destination', 'destination.type']}
          label="Destination"
          value={destination.type}
          options={destinations.map((one) => ({ value: one.type, label: `${destinationName(one.type)}: ${one.summary}` }))}
          onChange={setType}
        />
        <CommonFields of={null} />
        <ChoiceField name="model" label="Rows" value="events" options={models} />
        <DestinationFields destination={destination} settings={null} key={destination.type} />
        <TestSteps destination={destination} exportId={null} />
      </Form>
    </section>
  )
}

/** Runs the checks of a destination one after the other, with what the form around it says. */
function TestSteps({ destination, exportId }: { destination: DestinationAnswer; exportId: string | null }) {
  const { api } = useProject()
  const [steps, setSteps] = useState<readonly ExportStepAnswer[] | null>(null)
  const { act, isBusy, failure } = useAction()
  const run = (form: HTMLFormElement) =>
    act(async () => {
      const { steps: all } = await get<ExportStepsAnswer>(api(`batch_exports/test/?destination=${destination.type}`))
      setSteps(all)
      for (const [step] of all.entries()) {
        const body = { step, destination: { type: destination.type, config: settingsFrom(form, destination) } }
        const done = await post<ExportStepAnswer>(
          api(exportId ? `batch_exports/${exportId}/run_test_step/` : 'batch_exports/run_test_step_new/'),
          body,
        )
        setSteps((before) => before!.map((one, i) => (i === step ? done : one)))
        if (done.result?.status === 'Failed') break
      }
    })
  return (
    <div>
      <button type="button" disabled={isBusy} onClick={(event) => run(event.currentTarget.form!)}>
        {isBusy ? 'Testing…' : 'Test these settings'}
      </button>
      {failure}
      {steps?.length === 0 && <p role="status">There is nothing to test.</p>}
      <ul class="steps" aria-live="polite">
        {steps?.map((step) => (
          <li key={step.name}>
            <span class={`state ${step.result?.status === 'Passed' ? 'good' : step.result ? 'bad' : ''}`}>
              {step.result?.status.toLowerCase() ?? 'not yet'}
            </span>{' '}
            {step.name}
            {step.result?.message && <p class="field-error">{step.result.message}</p>}
          </li>
        ))}
      </ul>
    </div>
  )
}

export function ExportPage({ place, id }: { place: Place; id: string }) {
  const { api, link, mayChange } = useProject()
  const path = api(`batch_exports/${encodeURIComponent(id)}/`)
  const { value, error, reload } = useLoaded((signal) => get<BatchExportAnswer>(path, signal), [id])
  const { value: destinations } = useDestinations()
  const { act, isBusy, failure } = useAction()
  const [round, setRound] = useState(0)
  const refresh = () => {
    reload()
    setRound((before) => before + 1)
  }
  if (error instanceof ApiError && error.status === 404)
    return (
      <NotHere title="There is no such batch export">
        <p>
          <a href={linkTo(link('pipelines/exports'))}>All batch exports</a>
        </p>
      </NotHere>
    )
  if (error) return <ErrorBox error={error} retry={reload} />
  if (!value) return <Working what="Reading the export" />
  const destination = destinations?.find(({ type }) => type === value.destination.type)
  return (
    <>
      <section class="block">
        <h2>{value.name}</h2>
        <p>
          <span class={`state ${value.paused ? '' : 'good'}`}>{value.paused ? 'paused' : 'on'}</span> {labelOf(models, value.model)} to{' '}
          {destinationName(value.destination.type)}, {labelOf(intervals, value.interval).toLowerCase()}
        </p>
        {value.paused && value.paused_reason && <p class="warning">{value.paused_reason}</p>}
        {failure}
        <ForMembers>
          {' '}
          <div class="row">
            {value.paused ? (
              <DialogButton label="Continue…" title="Continue the export">
                {(close) => (
                  <Form
                    submit="Continue"
                    send={async (form) => {
                      await post(`${path}unpause/`, { backfill: isChecked(form, 'backfill') })
                      refresh()
                      close()
                    }}
                  >
                    <CheckField name="backfill" label="Also export the time in which it was paused" value />
                  </Form>
                )}
              </DialogButton>
            ) : (
              <button type="button" disabled={isBusy} onClick={() => act(() => post(`${path}pause/`).then(refresh))}>
                Pause
              </button>
            )}
            <BackfillButton path={path} onMade={refresh} />
            <ConfirmButton
              label="Delete…"
              title={`Delete ${value.name}`}
              submit="Delete"
              action={async () => {
                await remove(path)
                go(linkTo(link('pipelines/exports')))
              }}
            >
              <p>Its runs end. What it has exported stays where it is.</p>
            </ConfirmButton>
          </div>
        </ForMembers>
      </section>
      <Runs path={path} key={`runs ${round}`} onChange={refresh} />
      <Backfills path={path} key={`backfills ${round}`} onChange={refresh} />
      {destination && (
        <section class="block">
          <h2>Settings</h2>
          <Form
            submit="Save"
            done="Saved"
            isReadOnly={!mayChange}
            send={async (form) => {
              await patch(path, {
                ...commonFrom(form),
                destination: { type: destination.type, config: settingsFrom(form, destination, true) },
              })
              reload()
            }}
          >
            <CommonFields of={value} />
            <DestinationFields destination={destination} settings={value.destination.config} />
            <TestSteps destination={destination} exportId={value.id} />
          </Form>
        </section>
      )}
      <Logs place={place} path={`${path}logs/`} key={`logs ${round}`} />
    </>
  )
}

function BackfillButton({ path, onMade }: { path: string; onMade: () => void }) {
  return (
    <DialogButton label="Backfill…" title="Export a range of time">
      {(close) => (
        <Form
          submit="Start"
          send={async (form) => {
            await post(`${path}backfills/`, { start_at: timeOf(form, 'start_at'), end_at: timeOf(form, 'end_at') })
            onMade()
            close()
          }}
        >
          <p class="note">Rows by their own time. An empty field is an open end.</p>
          <TimeField name="start_at" label="From" />
          <TimeField name="end_at" label="Until" />
        </Form>
      )}
    </DialogButton>
  )
}

function Runs({ path, onChange }: { path: string; onChange: () => void }) {
  const { timezone } = useProject()
  const list = useList<ExportRunAnswer>(`${path}runs/?limit=25&after=-90d`)
  const { act, isBusy, failure } = useAction()
  const [shown, setShown] = useState<ExportRunAnswer | null>(null)
  return (
    <section class="block">
      <h2>Runs</h2>
      {failure}
      <ListTable
        list={list}
        what="runs"
        head={['Interval', 'State', 'Rows', 'Bytes', 'Started', null]}
        empty="None in the last 90 days. The first one starts when the interval that has begun is over."
        row={(run) => (
          <tr key={run.id}>
            <td>
              {run.data_interval_start ? momentText(run.data_interval_start, timezone) : 'The beginning'} to{' '}
              {momentText(run.data_interval_end, timezone)}
              {run.backfill && (
                <>
                  {' '}
                  <span class="state">backfill</span>
                </>
              )}
            </td>
            <td>
              <StatusBadge status={run.status} />
              {run.latest_error && <p class="field-error">{run.latest_error}</p>}
            </td>
            <td class="number">{numberText(run.records_completed)}</td>
            <td class="number">{run.bytes_exported === null ? '–' : numberText(run.bytes_exported)}</td>
            <td>
              <Ago of={run.created_at} />
            </td>
            <td>
              <div class="row">
                <button type="button" onClick={() => setShown(run)}>
                  Log
                </button>
                <ForMembers>
                  {isActive(run.status) ? (
                    <button type="button" disabled={isBusy} onClick={() => act(() => post(`${path}runs/${run.id}/cancel/`).then(onChange))}>
                      Cancel
                    </button>
                  ) : (
                    <button type="button" disabled={isBusy} onClick={() => act(() => post(`${path}runs/${run.id}/retry/`).then(onChange))}>
                      Retry
                    </button>
                  )}
                </ForMembers>
              </div>
            </td>
          </tr>
        )}
      />
      <div class="row">
        <button type="button" onClick={onChange}>
          Refresh
        </button>
      </div>
      {shown && (
        <Dialog title={`Run until ${momentText(shown.data_interval_end, timezone)}`} onClose={() => setShown(null)}>
          <LogsInDialog path={`${path}runs/${shown.id}/logs/`} />
        </Dialog>
      )}
    </section>
  )
}

function Backfills({ path, onChange }: { path: string; onChange: () => void }) {
  const { timezone, mayChange } = useProject()
  const list = useList<BackfillAnswer>(`${path}backfills/?limit=25`)
  const { act, isBusy, failure } = useAction()
  if (list.rows?.length === 0) return null
  return (
    <section class="block">
      <h2>Backfills</h2>
      {failure}
      <ListTable
        list={list}
        what="backfills"
        head={['From', 'Until', 'State', 'Progress', null]}
        empty="None."
        row={(one) => (
          <tr key={one.id}>
            <td>{one.start_at ? momentText(one.start_at, timezone) : 'The beginning'}</td>
            <td>{one.end_at ? momentText(one.end_at, timezone) : 'Now'}</td>
            <td>
              <StatusBadge status={one.status} />
            </td>
            <td>
              <progress
                value={one.progress.progress}
                max={1}
                aria-label={`${one.progress.finished_runs} of ${one.progress.total_runs} runs`}
              />{' '}
              {one.progress.finished_runs} of {one.progress.total_runs}
            </td>
            <td>
              {mayChange && isActive(one.status) && (
                <button
                  type="button"
                  disabled={isBusy}
                  onClick={() => act(() => post(`${path}backfills/${one.id}/cancel/`).then(onChange))}
                >
                  Cancel
                </button>
              )}
            </td>
          </tr>
        )}
      />
    </section>
  )
}
