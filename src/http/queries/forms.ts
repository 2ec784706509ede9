import { RecordBatchStreamWriter, type Table } from 'apache-arrow'
import { answerTable } from '../../queries/rows.ts'
import { failures } from '../errors.ts'

// The same results in other forms than JSON. What a form cannot say in its rows goes into headers: nothing is cut silently.

type Form = 'json' | 'csv' | 'arrow'
const media: Readonly<Record<Form, readonly string[]>> = {
  json: ['application/json', 'application/*', '*/*'],
  csv: ['text/csv', 'text/*'],
  arrow: ['application/vnd.apache.arrow.stream'],
}

/** The first form of the Accept header that there is; by quality, then by place. */
export const wantedForm = (accept: string | null): Form => {
  if (accept === null || accept.trim() === '') return 'json'
  const asked = accept
    .split(',')
    .map((part, place) => {
      const [type = '', ...parameters] = part.split(';').map((one) => one.trim().toLowerCase())
      const quality = Number(parameters.find((one) => one.startsWith('q='))?.slice(2) ?? 1)
      return { type, quality, place }
    })
    .filter((one) => one.quality > 0)
    .sort((a, b) => b.quality - a.quality || a.place - b.place)
  for (const { type } of asked) for (const form of Object.keys(media) as Form[]) if (media[form].includes(type)) return form
  throw failures.notAcceptable()
}

interface Rows {
  readonly columns: readonly string[]
  readonly rows: readonly (readonly unknown[])[]
}
const rowsOf = (answer: object): Rows => {
  const table = answerTable(answer)
  const columns = table.schema.fields.map((field) => field.name)
  const given = answer as { columns?: unknown; results?: unknown }
  // Rows that are rows already keep the text of their values.
  if (Array.isArray(given.columns) && Array.isArray(given.results) && given.results.every(Array.isArray))
    return { columns: given.columns.map(String), rows: given.results as unknown[][] }
  return { columns, rows: table.toArray().map((row) => columns.map((name) => row[name] as unknown)) }
}

/** Columns stand as the answer names them. */
const inOrder = (table: Table, answer: object): Table => {
  const { columns } = answer as { columns?: unknown }
  const names = Array.isArray(columns) ? columns.map(String) : []
  return new Set(names).size === table.numCols && names.every((name) => table.getChild(name)) ? table.select(names) : table
}

const cell = (value: unknown): string => {
  if (value === null || value === undefined) return ''
  const text = typeof value === 'object' ? JSON.stringify(value) : String(value)
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}

const linesPerChunk = 1000
function* csv({ columns, rows }: Rows): Generator<Uint8Array> {
  const encode = new TextEncoder()
  yield encode.encode(`${columns.map(cell).join(',')}\r\n`)
  for (let from = 0; from < rows.length; from += linesPerChunk) {
    const lines = rows.slice(from, from + linesPerChunk).map((row) => `${row.map(cell).join(',')}\r\n`)
    yield encode.encode(lines.join(''))
  }
}

const streamOf = (chunks: Iterable<Uint8Array> | AsyncIterable<Uint8Array>): ReadableStream<Uint8Array> => {
  const iterator = Symbol.asyncIterator in chunks ? chunks[Symbol.asyncIterator]() : chunks[Symbol.iterator]()
  return new ReadableStream({
    async pull(controller) {
      const { done, value } = await iterator.next()
      if (done) controller.close()
      else controller.enqueue(value)
    },
    async cancel() {
      await iterator.return?.()
    },
  })
}

export const inForm = (answer: object, form: 'csv' | 'arrow'): { body: ReadableStream<Uint8Array>; headers: Record<string, string> } => {
  const { hasMore } = answer as { hasMore?: unknown }
  const headers = { 'x-has-more': String(hasMore === true) }
  if (form === 'csv') return { body: streamOf(csv(rowsOf(answer))), headers: { ...headers, 'content-type': 'text/csv; charset=utf-8' } }
  const writer = RecordBatchStreamWriter.writeAll(inOrder(answerTable(answer), answer))
  return { body: streamOf(writer), headers: { ...headers, 'content-type': 'application/vnd.apache.arrow.stream' } }
}
