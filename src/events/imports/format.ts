import { accessLogEvent, isAccessLogLine } from './formats/access-log.ts'
import { createAmplitude } from './formats/amplitude.ts'
import { createGoogleAnalytics, isGoogleAnalytics } from './formats/google-analytics.ts'
import { type ChosenColumns, chooseColumns, type Mapping, mapped } from './formats/mapped.ts'
import { mixpanel } from './formats/mixpanel.ts'
import { isPlausible, plausible } from './formats/plausible.ts'
import { posthog } from './formats/posthog.ts'
import { isUmami, umami } from './formats/umami.ts'
import { type Converted, type Converter, type FileRow, isRow, problem } from './record.ts'

// Which format a file has, and how its rows become events. It runs in browsers too.

export const importFormats = [
  'posthog',
  'mixpanel',
  'amplitude',
  'google-analytics',
  'umami',
  'plausible',
  'csv',
  'jsonl',
  'parquet',
  'access-log',
] as const
export type ImportFormat = (typeof importFormats)[number]

export class ImportFileError extends Error {
  override readonly name = 'ImportFileError'
}

/** The first lines, which tell the format. */
export const rowsLookedAt = 20

function parseRow(line: string): unknown {
  try {
    return JSON.parse(line)
  } catch {
    return null
  }
}

const isBinaryText = (sample: readonly string[]): boolean => sample.some((line) => /[\x00-\x08\x0e-\x1a]|\ufffd/.test(line))

/** Lines of text with separators, and no objects. */
export const isTextOfTable = (sample: readonly string[]): boolean =>
  sample[0]?.startsWith('{') === false && sample[0].includes(',') && !isBinaryText(sample)

/** `advice`: what to do about a file of no known format. */
export function guessFormat(
  path: string,
  isParquet: boolean,
  sample: readonly string[],
  advice = `set the format with --from: ${importFormats.join(', ')}`,
): ImportFormat {
  const row = sample.map(parseRow).find(isRow)
  if (isParquet) return 'parquet'
  if (row) {
    if ('event_type' in row && ('user_id' in row || 'device_id' in row || 'amplitude_id' in row)) return 'amplitude'
    if ('event' in row && isRow(row.properties) && 'time' in row.properties) return 'mixpanel'
    if ('event' in row && 'distinct_id' in row && 'timestamp' in row) return 'posthog'
    return exportOf(Object.keys(row)) ?? 'jsonl'
  }
  if (sample[0] !== undefined && isAccessLogLine(sample[0])) return 'access-log'
  const isBinary = isBinaryText(sample)
  if (!isBinary && (/\.csv(\.(gz|zst))?$/i.test(path) || sample[0]?.includes(','))) return 'csv'
  throw new ImportFileError(
    `${path} is neither JSON lines, CSV, Parquet nor an access log${isBinary ? ' (it is a binary file)' : ''}; ${advice}`,
  )
}

const converters: Partial<Record<ImportFormat, () => Converter>> = {
  posthog: () => posthog,
  mixpanel: () => mixpanel,
  amplitude: createAmplitude,
  'google-analytics': createGoogleAnalytics,
  umami: () => umami,
  plausible: () => plausible,
}

const exportColumns = ['event', 'distinct_id', 'timestamp', 'properties']

/** Exports that are known by their columns. */
const exports: ReadonlyMap<ImportFormat, (columns: readonly string[]) => boolean> = new Map([
  ['posthog', (columns: readonly string[]) => exportColumns.every((column) => columns.includes(column))],
  ['google-analytics', isGoogleAnalytics],
  ['umami', isUmami],
  ['plausible', isPlausible],
])
const exportOf = (columns: readonly string[]): ImportFormat | null => [...exports].find(([, is]) => is(columns))?.[0] ?? null

/** A table with the columns of an export. */
export const isExportTable = (columns: readonly string[]): boolean => exportOf(columns) !== null

/** Formats whose files are lines with JSON objects, or tables. */
export const isOfLinesOrTables = (format: ImportFormat): boolean => exports.has(format)

interface Conversion {
  readonly convert: Converter
  /** Null: the format defines all fields. */
  readonly chosen: ChosenColumns | null
}

function converterOf(format: ImportFormat, mapping: Mapping, columns: readonly string[]): Conversion {
  const known = converters[format]?.()
  if (known) return { convert: known, chosen: null }
  try {
    const chosen = chooseColumns(mapping, columns)
    return { convert: mapped(chosen, mapping.cells), chosen }
  } catch (cause) {
    throw new ImportFileError((cause as Error).message, { cause })
  }
}

/** How lines of a file become events, by the first of them. */
export function lineConverter(
  path: string,
  format: ImportFormat,
  mapping: Mapping,
  sample: readonly string[],
): { readonly ofLine: (line: string) => Converted; readonly chosen: ChosenColumns | null } {
  if (format === 'access-log') return { ofLine: accessLogEvent, chosen: null }
  const first = sample.map(parseRow).find(isRow)
  if (!first) throw new ImportFileError(`${path} has no lines with JSON objects`)
  const { convert, chosen } = converterOf(format, mapping, Object.keys(first))
  const ofLine = (line: string) => {
    const row = parseRow(line)
    return isRow(row) ? convert(row) : problem(`not a JSON object: ${line.slice(0, 80)}`)
  }
  return { ofLine, chosen }
}

/** Whether the columns of a file can be chosen: those of an export have their meaning. */
export const choosesColumns = (format: ImportFormat): boolean => format === 'csv' || format === 'jsonl' || format === 'parquet'

/** The rows among the first lines. */
export const rowsOfSample = (sample: readonly string[]): FileRow[] => sample.map(parseRow).filter(isRow)

/** The columns of a file of lines: those of its first row. */
export const columnsOfLines = (sample: readonly string[]): readonly string[] => Object.keys(sample.map(parseRow).find(isRow) ?? {})

/** A table with the columns of an export is read as that export, unless a mapping says otherwise. */
export function tableConverter(format: ImportFormat, mapping: Mapping, columns: readonly string[]): Conversion {
  const known = Object.keys(mapping).length === 0 && !exports.has(format) ? exportOf(columns) : null
  return converterOf(known ?? format, mapping, columns)
}
