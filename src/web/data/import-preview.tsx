import { useEffect, useRef, useState } from 'preact/hooks'
import type { ImportFormat } from '../../events/imports/format.ts'
import { type Field, type FieldSource, type Mapping, neededFields } from '../../events/imports/formats/mapped.ts'
import type { ImportedEvent } from '../../events/imports/record.ts'
import { counted, momentText, numberText } from '../lib/format.ts'
import { useProject } from '../lib/session.ts'
import { useLoaded } from '../lib/use-loaded.ts'
import { Properties } from '../people/properties.tsx'
import { Scroll, UnfoldButton, UnfoldingRow } from '../ui/list-table.tsx'
import { DraftField, ErrorBox, Select, Working } from '../ui/parts.tsx'
import { CellFormatFields } from './cell-formats.tsx'
import { EventName } from './event-name.tsx'
import { completeMapping, type Preview, previewFile } from './preview-file.ts'
import type { OpenedFile } from './read-file.ts'

const fields: Readonly<Record<Field, string>> = {
  event: 'Event',
  distinct_id: 'Person (distinct id)',
  timestamp: 'Time',
  uuid: 'Event ID',
  properties: 'Properties as JSON',
}
const isNeeded = (field: Field) => (neededFields as readonly Field[]).includes(field)

const formats: Readonly<Record<ImportFormat, string>> = {
  posthog: 'an export of PostHog',
  mixpanel: 'an export of Mixpanel',
  amplitude: 'an export of Amplitude',
  'google-analytics': 'an export of Google Analytics',
  umami: 'an export of Umami',
  plausible: 'an export of Plausible',
  'access-log': 'the access log of a web server',
  csv: 'a table (CSV)',
  jsonl: 'JSON lines',
  parquet: 'a table (Parquet)',
}

/** What would be stored of a file, before anything is. */
export function ImportPreview({
  opened,
  onStart,
  onLeave,
}: {
  opened: OpenedFile
  onStart: (mapping: Mapping) => void
  onLeave: () => void
}) {
  const [mapping, setMapping] = useState<Mapping>({})
  const { value, error, isLoading, reload } = useLoaded((signal) => previewFile(opened, mapping, signal), [opened, JSON.stringify(mapping)])
  const head = useRef<HTMLHeadingElement>(null)
  useEffect(() => head.current?.focus(), [])
  const { file, format, columns } = opened
  const isReady = value !== null && !isLoading && !error && value.missing.length === 0 && value.unreadable < value.lookedAt
  return (
    <section class="preview" aria-label="Preview">
      <h3 class="apart wrap" ref={head} tabIndex={-1}>
        {file.name} is read as {columns === null && format === 'csv' ? 'an export of PostHog (CSV)' : formats[format]}
      </h3>
      {error && <ErrorBox error={error} retry={reload} />}
      {!value && isLoading && <Working what="Reading the first rows" />}
      {value?.chosen && (
        <>
          <Columns
            preview={value}
            columns={columns ?? []}
            samples={opened.samples}
            onChange={(field, source) => setMapping((before) => ({ ...before, [field]: source }))}
          />
          <CellFormatFields cells={value.cells} onChange={(cells) => setMapping((before) => ({ ...before, cells }))} />
        </>
      )}
      {value && value.missing.length > 0 && (
        <p class="warning" role="alert">
          Choose a column for: {value.missing.map((field) => fields[field].toLowerCase()).join(', ')}.
        </p>
      )}
      {value && value.missing.length === 0 && <FirstRows preview={value} isBusy={isLoading} />}
      <p class="actions">
        <button type="button" class="primary" disabled={!isReady} onClick={() => onStart(completeMapping(opened, mapping))}>
          Import
        </button>
        <button type="button" onClick={onLeave}>
          Cancel
        </button>
        <span class="note">Nothing is stored yet.</span>
      </p>
    </section>
  )
}

const [nothing, fixed] = ['nothing', 'fixed']
const columnValue = (column: string) => `column:${column}`

function Columns({
  preview: { chosen, others },
  columns,
  samples,
  onChange,
}: {
  preview: Preview
  columns: readonly string[]
  samples: OpenedFile['samples']
  onChange: (field: Field, source: FieldSource) => void
}) {
  const all = columns.map((column) => ({ value: columnValue(column), label: column }))
  const shown = (source: FieldSource | null) =>
    source === null ? nothing : 'column' in source ? columnValue(source.column) : source.constant === '' ? nothing : fixed
  return (
    <fieldset>
      <legend>Map columns</legend>
      <ul class="lines mapping">
        {(Object.keys(fields) as Field[]).map((field) => {
          const source = chosen![field]
          const isFixed = source !== null && 'constant' in source && source.constant !== ''
          return (
            <li key={field}>
              <span>{fields[field]}</span>
              <span class="inline">
                <Select
                  label={fields[field]}
                  value={shown(source)}
                  options={[
                    ...(isNeeded(field) ? [] : [{ value: nothing, label: 'none' }]),
                    ...(isNeeded(field) && source === null ? [{ value: nothing, label: 'choose a column …' }] : []),
                    ...all,
                    ...(field === 'event' ? [{ value: fixed, label: 'the same for all rows …' }] : []),
                  ]}
                  onChange={(value) =>
                    onChange(
                      field,
                      value === fixed
                        ? { constant: 'imported' }
                        : value === nothing
                          ? { constant: '' }
                          : { column: value.slice(columnValue('').length) },
                    )
                  }
                />
                {isFixed && (
                  <DraftField
                    label="Event of all rows"
                    value={source.constant}
                    onChange={(text) => text.trim() !== '' && onChange(field, { constant: text.trim() })}
                  />
                )}
                {source !== null && 'column' in source && <Sample of={samples[source.column]} />}
              </span>
            </li>
          )
        })}
      </ul>
      {others.length === 0 ? (
        <p class="note">No other column.</p>
      ) : (
        <>
          <p class="note">Every other column becomes a property:</p>
          <ul class="lines mapping" aria-label="Columns that become properties">
            {others.map((column) => (
              <li key={column}>
                <span class="wrap">{column}</span>
                <Sample of={samples[column]} />
              </li>
            ))}
          </ul>
        </>
      )}
    </fieldset>
  )
}

const samplesShown = 3
const longestSample = 30
const clipped = (value: unknown): string => {
  const text = String(value)
  return text.length > longestSample ? `${text.slice(0, longestSample)}…` : text
}

/** The first values of a column. */
const Sample = ({ of = [] }: { of?: readonly unknown[] | undefined }) => (
  <span class="sample note">{of.length === 0 ? 'empty' : of.slice(0, samplesShown).map(clipped).join(' · ')}</span>
)

function FirstRows({ preview: { rows, problems, unreadable, lookedAt, isWhole }, isBusy }: { preview: Preview; isBusy: boolean }) {
  const of = isWhole ? `the ${counted(lookedAt, 'row')} of the file` : `the first ${counted(lookedAt, 'row')}`
  return (
    <div class="preview" aria-busy={isBusy}>
      {rows.length > 0 && <EventRows rows={rows} />}
      <p class={unreadable > 0 ? 'warning' : 'note'} role="status">
        {lookedAt === 0
          ? 'The file has no rows.'
          : unreadable === 0
            ? `All of ${of} can be read.`
            : unreadable === lookedAt
              ? `None of ${of} can be read.`
              : `${numberText(unreadable)} of ${of} cannot be read, and will be left out.`}
      </p>
      {problems.length > 0 && (
        <ul class="lines" aria-label="Rows that cannot be read">
          {problems.map(({ row, problem }, i) => (
            <li class="wrap" key={i}>
              Row {row}: {problem}
            </li>
          ))}
        </ul>
      )}
    </div>
  )
}

function EventRows({ rows }: { rows: Preview['rows'] }) {
  const [open, setOpen] = useState<string | null>(null)
  const { timezone } = useProject()
  const all = rows.flatMap(({ row, events }): { row: number; event: ImportedEvent | null; key: string }[] =>
    events.length === 0 ? [{ row, event: null, key: `${row}` }] : events.map((event, i) => ({ row, event, key: `${row} ${i}` })),
  )
  return (
    <Scroll label="First rows">
      <table class="rows">
        <thead>
          <tr>
            <th class="number">Row</th>
            <th>Event</th>
            <th>Distinct id</th>
            <th>Time</th>
            <th>Properties</th>
          </tr>
        </thead>
        <tbody>
          {all.map(({ row, event, key }) =>
            event === null ? (
              <tr key={key}>
                <td class="number">{row}</td>
                <td colSpan={4} class="note">
                  Left out: it is not an event.
                </td>
              </tr>
            ) : (
              <UnfoldingRow key={key} columns={5} detail={open === key && <Properties of={shownProperties(event)} />}>
                <td class="number">{row}</td>
                <td class="clip">
                  <EventName of={event.event} />
                </td>
                <td class="clip">{event.distinct_id}</td>
                <td class="when" title={event.timestamp}>
                  {momentText(event.timestamp, timezone)}
                </td>
                <td class="clip">
                  <UnfoldButton isOpen={open === key} onToggle={() => setOpen(open === key ? null : key)}>
                    {namesIn(shownProperties(event))}
                  </UnfoldButton>
                </td>
              </UnfoldingRow>
            ),
          )}
        </tbody>
      </table>
    </Scroll>
  )
}

const shownProperties = ({ properties, $set, $set_once }: ImportedEvent): Readonly<Record<string, unknown>> => ({
  ...properties,
  ...($set !== undefined && { $set }),
  ...($set_once !== undefined && { $set_once }),
})

const mostNames = 4
function namesIn(properties: Readonly<Record<string, unknown>>): string {
  const names = Object.keys(properties)
  const more = names.length - mostNames
  return names.length === 0 ? 'none' : `${names.slice(0, mostNames).join(', ')}${more > 0 ? ` and ${more} more` : ''}`
}
