import { tableToIPC } from 'apache-arrow'
import { csvLines } from '../../../lib/text/csv.ts'
import { isSiteTable } from '../../../queries/answers/chart-table.ts'
import { answerTable } from '../../../queries/answers/rows.ts'
import type { AnswerWarning } from '../../../queries/query-types.ts'
import { failures } from '../errors.ts'

// Results in other formats than JSON. Information that does not fit into rows goes into headers: nothing is dropped silently.

export type Form = 'json' | 'csv' | 'arrow'
const media: Readonly<Record<Form, readonly string[]>> = {
  json: ['application/json', 'application/*', '*/*'],
  csv: ['text/csv', 'text/*'],
  arrow: ['application/vnd.apache.arrow.stream'],
}

/** The first supported format of the Accept header, by quality, then by position. */
export const wantedForm = (accept: string | null): Form => formIn(accept, media, 'json')

export const formIn = <F extends string>(accept: string | null, media: Readonly<Record<F, readonly string[]>>, byDefault: F): F => {
  if (accept === null || accept.trim() === '') return byDefault
  const asked = accept
    .split(',')
    .map((part, index) => {
      const [type = '', ...parameters] = part.split(';').map((one) => one.trim().toLowerCase())
      const quality = Number(parameters.find((one) => one.startsWith('q='))?.slice(2) ?? 1)
      return { type, quality, index }
    })
    .filter((one) => one.quality > 0)
    .sort((a, b) => b.quality - a.quality || a.index - b.index)
  for (const { type } of asked) for (const form of Object.keys(media) as F[]) if (media[form].includes(type)) return form
  throw failures.notAcceptable()
}

const longestWarnings = 4096
/** A header holds ASCII only. */
const asciiJson = (value: unknown) =>
  JSON.stringify(value).replace(/[^ -~]/g, (letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}`)

/** The warnings of an answer without their messages: their number, and as many as fit into a header. */
export function warningHeaders(warnings: readonly AnswerWarning[]): Record<string, string> {
  if (warnings.length === 0) return {}
  const shown: string[] = []
  for (const { message: _, ...facts } of warnings) {
    shown.push(asciiJson(facts))
    if (shown.join().length > longestWarnings) shown.pop()
  }
  return { 'x-warning-count': String(warnings.length), 'x-warnings': `[${shown.join()}]` }
}

export const csvMedia = 'text/csv; charset=utf-8'
export const arrowMedia = 'application/vnd.apache.arrow.stream'

interface ListAnswer {
  readonly columns: readonly string[]
  readonly results: readonly (readonly unknown[])[]
}
const isList = (answer: object): answer is ListAnswer => {
  const { columns, results } = answer as Partial<ListAnswer>
  return Array.isArray(columns) && !isSiteTable(columns) && Array.isArray(results) && results.every((row) => Array.isArray(row))
}

/** The cells of an answer: of its rows as JSON shows them, or of the points of a chart. */
const csvCells = (answer: object): (readonly unknown[])[] => {
  if (isList(answer)) return [answer.columns, ...answer.results]
  const table = answerTable(answer)
  const columns = table.schema.fields.map((field) => field.name)
  return [columns, ...table.toArray().map((row) => columns.map((name) => row[name] as unknown))]
}

/** A complete answer (a chart, or the result of an async query) in another format. */
export const inForm = (answer: object, form: 'csv' | 'arrow'): { body: Uint8Array; headers: Record<string, string> } => {
  const { limit } = answer as { limit?: unknown }
  return {
    body: form === 'csv' ? Buffer.concat([...csvLines(csvCells(answer))]) : tableToIPC(answerTable(answer), 'stream'),
    headers: {
      ...(typeof limit === 'number' ? { 'x-row-limit': String(limit) } : {}),
      'content-type': form === 'csv' ? csvMedia : arrowMedia,
      'x-has-more': String((answer as { hasMore?: boolean }).hasMore === true),
      ...warningHeaders((answer as { warnings?: readonly AnswerWarning[] }).warnings ?? []),
    },
  }
}
