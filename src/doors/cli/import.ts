import { readTableFile } from '../../engine/storage/files/table-file.ts'
import { WaymarkError } from '../../errors/errors.ts'
import { ImportFileError, type ImportFormat, importFormats } from '../../events/imports/format.ts'
import { type CellFormats, numberFormats, timeFormats } from '../../events/imports/formats/cells.ts'
import { type ChosenColumns, fieldSource, type Mapping } from '../../events/imports/formats/mapped.ts'
import { openSource, type SourceFile } from '../../events/imports/open.ts'
import type { ImportSummary } from '../../events/imports/run.ts'
import { zoneOf } from '../../lib/time/zone.ts'
import { carryFiles, type Target } from '../library/import-files.ts'
import { type Command, type Output, type Values, wrongUsage } from './command.ts'
import {
  directoryOptions,
  geoipOption,
  memoryOption,
  projectId,
  projectOption,
  recoveryOf,
  recoveryOption,
  withDirectory,
} from './directory.ts'
import { nowhere, toProject, toServer } from './import-targets.ts'
import { progressLine } from './progress.ts'

export const importFiles: Command = {
  takes: 'FILE…',
  options: {
    ...directoryOptions,
    project: projectOption,
    from: { value: 'FORMAT', summary: `format of the files, if it is not detected: ${importFormats.join(', ')}` },
    map: {
      value: 'FIELD=COLUMN,…',
      summary:
        'column for each field of a CSV, JSONL or Parquet file: event, distinct_id, timestamp, uuid, properties; FIELD==TEXT sets a constant',
    },
    'time-format': {
      value: 'FORMAT',
      summary: `how the times of a CSV, JSONL or Parquet file are written, if not as they look: ${timeFormats.join(', ')}`,
    },
    timezone: { value: 'ZONE', summary: 'time zone of times that name none (default: UTC)' },
    numbers: { value: 'FORMAT', summary: `reads texts as numbers, written as one of ${numberFormats.join(' ; ')}` },
    url: { value: 'URL', summary: 'send events to this server instead of opening a directory; needs --key' },
    key: { value: 'KEY', summary: "the project's API key, with --url" },
    memory: memoryOption,
    geoip: geoipOption,
    recovery: recoveryOption,
    'dry-run': { summary: 'store nothing; report what would be stored' },
    json: { summary: 'print the summary as one line of JSON' },
  },
  run: async (values, output) => {
    if (values.rest.length === 0) throw wrongUsage('import takes one or more files.')
    const options = {
      format: formatOf(values.text('from')),
      mapping: mappingOf(values.text('map'), cellsOf(values)),
      readTable: readTableFile,
    }
    const files: SourceFile[] = []
    for (const path of values.rest) files.push(await openSource(path, options).catch(refused))
    if (values.isOn('dry-run')) return report(await carry(files, nowhere), values, output, 'Would be stored')
    const url = values.text('url')
    if (url !== undefined) return report(await carry(files, toServer(url, values.required('key'))), values, output, 'Stored')
    const dataDir = values.required('data')
    const project = projectId(values)
    await withDirectory(
      values,
      async (directory) => report(await carry(files, await toProject(directory, dataDir, project)), values, output, 'Stored'),
      { memoryLimit: values.text('memory'), recovery: recoveryOf(values), err: output.err },
    )
  },
}

const refused = (error: unknown): never => {
  if (error instanceof ImportFileError) throw new WaymarkError('command-failed', { message: error.message }, { cause: error })
  throw error
}

function formatOf(text: string | undefined): ImportFormat | undefined {
  if (text === undefined || (importFormats as readonly string[]).includes(text)) return text as ImportFormat | undefined
  throw wrongUsage(`--from must be one of ${importFormats.join(', ')}, but got ${text}.`)
}

const fields = ['event', 'distinct_id', 'timestamp', 'uuid', 'properties'] as const

function chosen<T extends string>(option: string, given: string | undefined, all: readonly T[]): T | undefined {
  if (given === undefined || (all as readonly string[]).includes(given)) return given as T | undefined
  throw wrongUsage(`--${option} must be one of ${all.join(' ; ')}, but got ${given}.`)
}

function isZone(name: string): boolean {
  try {
    zoneOf(name)
    return true
  } catch {
    return false
  }
}

function cellsOf(values: Values): CellFormats {
  const time = chosen('time-format', values.text('time-format'), timeFormats)
  const numbers = chosen('numbers', values.text('numbers'), numberFormats)
  const timezone = values.text('timezone')
  if (timezone !== undefined && !isZone(timezone))
    throw wrongUsage(`--timezone expects a time zone such as Europe/Berlin, but got ${timezone}.`)
  return { ...(time && { time }), ...(timezone !== undefined && { timezone }), ...(numbers && { numbers }) }
}

function mappingOf(text: string | undefined, cells: CellFormats): Mapping {
  const mapping: Record<string, ReturnType<typeof fieldSource>> = {}
  for (const part of text?.split(',') ?? []) {
    const at = part.indexOf('=')
    const field = part.slice(0, at).trim()
    if (at < 0 || !(fields as readonly string[]).includes(field))
      throw wrongUsage(`--map expects FIELD=COLUMN, where FIELD is one of ${fields.join(', ')}, but got ${part}.`)
    mapping[field] = fieldSource(part.slice(at + 1))
  }
  return Object.keys(cells).length > 0 ? { ...mapping, cells } : mapping
}

async function carry(files: readonly SourceFile[], target: Target): Promise<ImportSummary> {
  const line = progressLine(process.stderr)
  const stop = new AbortController()
  const interrupt = () => stop.abort()
  process.once('SIGINT', interrupt)
  process.once('SIGTERM', interrupt)
  try {
    return await carryFiles(target, { files, signal: stop.signal, onProgress: (progress) => line.show(progress) })
  } catch (error) {
    return refused(error)
  } finally {
    process.off('SIGINT', interrupt)
    process.off('SIGTERM', interrupt)
    line.end()
  }
}

/** In the format of `--map`. */
const named = (columns: ChosenColumns): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Object.entries(columns).flatMap(([field, from]) => (from ? [[field, 'column' in from ? from.column : `=${from.constant}`]] : [])),
  )
const columnText = (columns: ChosenColumns): string =>
  `${Object.entries(named(columns))
    .map(([field, from]) => `${field}=${from}`)
    .join(', ')}; other columns are properties`

const shownEvents = 10

function report(summary: ImportSummary, values: Values, { out }: Output, done: string): void {
  const events = [...summary.events].sort((a, b) => b[1] - a[1])
  if (values.isOn('json')) {
    const { warnings, events: _, files, ...rest } = summary
    const read = files.map(({ file, format, columns }) => ({ file, format, columns: columns && named(columns) }))
    out(JSON.stringify({ ...rest, files: read, warnings: Object.fromEntries(warnings), events: Object.fromEntries(events) }))
    return
  }
  const number = (value: number) => value.toLocaleString('en')
  out(`${done.padEnd(16)} ${number(summary.stored)} events of ${number(summary.rows)} rows`)
  if (values.isOn('dry-run'))
    for (const { file, format, columns } of summary.files)
      out(`Read as          ${format}${columns ? `: ${columnText(columns)}` : ''}  (${file})`)
  if (summary.skipped > 0) out(`Stored before    ${number(summary.skipped)} rows`)
  if (summary.duplicates > 0) out(`Already there    ${number(summary.duplicates)}`)
  if (summary.dropped > 0) out(`Dropped          ${number(summary.dropped)}`)
  if (summary.earliest !== null) out(`Time             ${summary.earliest} to ${summary.latest}`)
  for (const [name, count] of events.slice(0, shownEvents)) out(`  ${name.padEnd(30)} ${number(count)}`)
  if (events.length > shownEvents) out(`  and ${number(events.length - shownEvents)} more names`)
  for (const [kind, count] of summary.warnings) out(`Warning          ${kind}: ${number(count)}`)
  if (summary.unreadable > 0) out(`Not readable     ${number(summary.unreadable)} rows, such as:`)
  for (const { file, row, problem } of summary.problems.slice(0, 5)) out(`  ${file ? `${file} row ${row}: ` : ''}${problem}`)
  if (summary.isAborted)
    throw new WaymarkError('command-failed', { message: 'Interrupted. Run the command again to resume; no event is stored twice.' })
}
