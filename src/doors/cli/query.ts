import { tableToIPC, vectorFromArray } from 'apache-arrow'
import { WaymarkError } from '../../errors/errors.ts'
import { type DownloadFormat, downloadFormats } from '../../project.ts'
import { chartTable, isSiteTable } from '../../queries/answers/chart-table.ts'
import { type ShownColumn, shownTable } from '../../queries/answers/rows.ts'
import type { AnswerWarning } from '../../queries/query-types.ts'
import { type Command, wrongUsage } from './command.ts'
import {
  currencyRatesOption,
  type Directory,
  directoryOptions,
  projectId,
  projectOption,
  recoveryOf,
  recoveryOption,
  withDirectory,
} from './directory.ts'
import { attachOptions } from './options/attach.ts'
import { tableText } from './table-text.ts'
import { writeDownload } from './write-download.ts'

const formats = ['table', 'json', 'csv', 'jsonl', 'parquet', 'arrow'] as const
type Format = (typeof formats)[number]

interface Rows {
  readonly columns: readonly string[]
  readonly rows: readonly (readonly unknown[])[]
}

export const query: Command = {
  takes: "'SQL or JSON'",
  options: {
    ...directoryOptions,
    project: projectOption,
    recovery: recoveryOption,
    'currency-rates': currencyRatesOption,
    ...attachOptions,
    format: { value: 'F', summary: `one of ${formats.join(', ')}`, default: 'table' },
    out: { value: 'FILE', summary: `write all rows to a file, without a row limit, as ${downloadFormats.join(', ')}; - for the output` },
  },
  run: async (values, { out, err }) => {
    const [text, ...more] = values.rest
    if (text === undefined || more.length > 0) throw wrongUsage('query expects one statement, in quotes.')
    const format = values.required('format') as Format
    if (!formats.includes(format)) throw wrongUsage(`--format must be one of ${formats.join(', ')}, but got ${format}.`)
    const asked = queryOf(text)
    const project = projectId(values)
    const path = values.text('out')
    if (path !== undefined) return writeDownload(values, { project, query: asked, format: downloadFormat(format) }, path, { out, err })
    if (format === 'parquet' || format === 'jsonl') throw wrongUsage(`--format ${format} needs --out FILE, or --out - for the output.`)
    const ask = (directory: Directory) => directory.do('query', { project, query: asked })
    const answer = await withDirectory(values, ask, { recovery: recoveryOf(values), err })
    if (format === 'json') return out(JSON.stringify(answer, null, 2))
    const { warnings = [] } = answer as { warnings?: readonly AnswerWarning[] }
    for (const { message } of warnings) err(`Warning: ${message}`)
    const rows = rowsOf(answer)
    if (format === 'csv') return out(csv(rows))
    if (format === 'arrow') {
      process.stdout.write(arrow(rows))
      return
    }
    out(tableText(rows.columns, rows.rows))
    if ((answer as { hasMore?: boolean }).hasMore) out('(more rows are available; use LIMIT and OFFSET)')
  },
}

function downloadFormat(format: Format): DownloadFormat {
  if ((downloadFormats as readonly string[]).includes(format)) return format as DownloadFormat
  throw wrongUsage(`--out needs --format ${downloadFormats.join(', ')}, but got ${format}.`)
}

function queryOf(text: string): object {
  if (!text.trimStart().startsWith('{')) return { kind: 'SqlLikeQuery', query: text }
  try {
    return JSON.parse(text) as object
  } catch (cause) {
    throw new WaymarkError('wrong-usage', { message: `Invalid JSON: ${(cause as Error).message}.` }, { cause })
  }
}

/** A chart becomes one row for each point. Other kinds without columns return objects: their fields are the columns. */
function rowsOf(answer: object): Rows {
  const { columns, results } = answer as { columns?: readonly string[]; results?: unknown }
  if (columns && !isSiteTable(columns) && Array.isArray(results)) return { columns, rows: results as unknown[][] }
  const chart = chartTable(answer)
  if (chart) {
    const shown = chart.schema.fields.map(({ name }) => name)
    return { columns: shown, rows: chart.toArray().map((row) => shown.map((name) => row[name] as unknown)) }
  }
  const list = (Array.isArray(results) ? results.flat() : [results ?? answer]) as Readonly<Record<string, unknown>>[]
  const names = [...new Set(list.flatMap((row) => Object.keys(row)))]
  return { columns: names, rows: list.map((row) => names.map((name) => row[name] ?? null)) }
}

export const cellText = (value: unknown): string =>
  value === null || value === undefined ? '' : typeof value === 'object' ? JSON.stringify(value) : String(value)

const quoted = (text: string) => (/[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text)
const csv = ({ columns, rows }: Rows) => [columns, ...rows].map((row) => row.map((cell) => quoted(cellText(cell))).join(',')).join('\n')

function arrow({ columns, rows }: Rows): Uint8Array {
  const cellsOf = (i: number): ShownColumn['cells'] => {
    const values = rows.map((row) => row[i] ?? null)
    return values.length > 0 && values.every((value) => typeof value === 'number')
      ? vectorFromArray(Float64Array.from(values as number[]))
      : (row) => (values[row] === null ? null : cellText(values[row]))
  }
  const shown = columns.map((name, i): ShownColumn => ({ name, cells: cellsOf(i), field: null }))
  return tableToIPC(shownTable(rows.length, shown), 'stream')
}
