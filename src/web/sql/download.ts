import { ApiError } from '../lib/api.ts'

export const downloadFormats = [
  { value: 'spreadsheet', label: 'CSV for spreadsheets' },
  { value: 'csv', label: 'CSV, exact' },
  { value: 'jsonl', label: 'JSON lines' },
  { value: 'parquet', label: 'Parquet' },
  { value: 'arrow', label: 'Arrow' },
] as const
export type DownloadFormat = (typeof downloadFormats)[number]['value']

/** Laid over parts of the query, as on a dashboard. */
interface Overrides {
  readonly filters_override?: object
  readonly variables_override?: object
}

const field = (name: string, value: string) => Object.assign(document.createElement('input'), { type: 'hidden', name, value })

/** Why the server refused a download that the browser could not show. */
async function refusal(path: string, body: object): Promise<Error> {
  const control = new AbortController()
  const response = await fetch(path, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
    signal: control.signal,
  }).catch(() => null)
  if (response === null) return new ApiError(0, { detail: 'The server cannot be reached. Is it running?' })
  if (!response.ok) return new ApiError(response.status, await response.json().catch(() => ({})))
  control.abort()
  return new Error('The download did not start. Try again.')
}

/**
 * All rows of a statement as a file. The browser itself sends a form and writes the answer to its downloads, so no row is held in the page. A file has
 * no `load` event; an error has, inside a frame that is not shown.
 */
export function startDownload(
  path: string,
  query: object,
  format: DownloadFormat,
  onRefused: (error: Error) => void,
  overrides: Overrides = {},
): void {
  const frame = Object.assign(document.createElement('iframe'), { hidden: true, name: `download-${Date.now()}`, title: 'Download' })
  const form = Object.assign(document.createElement('form'), { hidden: true, method: 'post', action: path, target: frame.name })
  form.append(field('query', JSON.stringify(query)), field('format', format))
  for (const [name, value] of Object.entries(overrides)) form.append(field(name, JSON.stringify(value)))
  document.body.append(frame, form)
  frame.addEventListener('load', () => {
    // The empty document that a frame begins with.
    if (frame.contentDocument?.URL === 'about:blank') return
    frame.remove()
    void refusal(path, { query, format, ...overrides }).then(onRefused)
  })
  form.submit()
  form.remove()
}
