import type * as z from 'zod'
import type { ExportRun } from '../destinations/destination.ts'
import type { Compression, FileFormat } from '../ports.ts'

// Names of files, as destinations of files and objects use them: `<prefix><start>-<end>[-<n>].<extension>`.

const two = (value: number) => String(value).padStart(2, '0')
/** `2026-01-05T10:00:00+00:00`. */
const iso = (time: Date) => time.toISOString().replace(/(\.000)?Z$/, '+00:00')

const compressed: Readonly<Record<Compression, string>> = { gzip: 'gz', brotli: 'br', zstd: 'zst', lz4: 'lz4', snappy: 'sz' }
const plain: Readonly<Record<FileFormat, string>> = { JSONLines: 'jsonl', Parquet: 'parquet', CSV: 'csv' }

export const extension = (format: FileFormat, compression: Compression | null): string =>
  compression ? `${plain[format]}.${compressed[compression]}` : plain[format]

const names = ['year', 'month', 'day', 'hour', 'minute', 'second', 'data_interval_start', 'data_interval_end', 'table'] as const

/** For `superRefine` of a prefix. */
export const fieldsMustBeKnown = (prefix: string, context: z.RefinementCtx): void => {
  const unknown = [...prefix.matchAll(/\{(\w+)\}/g)].find(([, name]) => !(names as readonly string[]).includes(name!))
  if (!unknown) return
  const known = names.map((name) => `{${name}}`).join(', ')
  context.addIssue({ code: 'custom', message: `Unknown field ${unknown[0]} in the prefix. Use one of: ${known}.` })
}

/** The prefix with its fields filled in from the end of the interval, without a leading slash. */
const filledPrefix = (prefix: string, { start, end, model }: Pick<ExportRun, 'start' | 'end' | 'model'>): string => {
  const values: Readonly<Record<(typeof names)[number], string>> = {
    year: String(end.getUTCFullYear()).padStart(4, '0'),
    month: two(end.getUTCMonth() + 1),
    day: two(end.getUTCDate()),
    hour: two(end.getUTCHours()),
    minute: two(end.getUTCMinutes()),
    second: two(end.getUTCSeconds()),
    data_interval_start: start ? iso(start) : 'START',
    data_interval_end: iso(end),
    table: model,
  }
  return prefix.replace(/\{(\w+)\}/g, (whole, name: keyof typeof values) => values[name] ?? whole).replace(/^\/+/, '')
}

/** The name of all files of a run without their number and extension. */
export const baseKey = (prefix: string, run: Pick<ExportRun, 'start' | 'end' | 'model' | 'isBackfill'>): string => {
  const filled = filledPrefix(prefix, run)
  const folder = filled === '' || filled.endsWith('/') ? filled : `${filled}/`
  return `${folder}${run.start ? iso(run.start) : 'START'}-${iso(run.end)}${run.isBackfill ? '-backfill' : ''}`
}

/** `index` null: the only file of a run. */
export const fileKey = (base: string, index: number | null, ending: string): string =>
  `${base}${index === null ? '' : `-${index}`}.${ending}`

const endings: ReadonlySet<string> = new Set(
  Object.values(plain).flatMap((ending) => [ending, ...Object.values(compressed).map((more) => `${ending}.${more}`)]),
)
/** Whether a key is that of a file of the run with this base. */
export function isFileKey(base: string, key: string): boolean {
  const rest = key.startsWith(base) ? /^(?:-\d+)?\.(.+)$/.exec(key.slice(base.length)) : null
  return rest !== null && endings.has(rest[1]!)
}
