import { ApiError } from '../lib/api.ts'

export const downloadFormats = [
  { value: 'csv', label: 'CSV', extension: 'csv' },
  { value: 'jsonl', label: 'JSON lines', extension: 'jsonl' },
  { value: 'parquet', label: 'Parquet', extension: 'parquet' },
  { value: 'arrow', label: 'Arrow', extension: 'arrows' },
] as const
export type DownloadFormat = (typeof downloadFormats)[number]

/** All rows of a statement as a file, offered when it is complete. A part of one is never offered. */
export async function downloadRows(
  path: string,
  query: unknown,
  { value: format, extension }: DownloadFormat,
  onBytes: (bytes: number) => void,
  signal: AbortSignal,
): Promise<void> {
  const response = await fetch(path, {
    method: 'POST',
    credentials: 'same-origin',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ query, format }),
    signal,
  })
  if (!response.ok || !response.body) throw new ApiError(response.status, await response.json().catch(() => ({})))
  const parts: Uint8Array<ArrayBuffer>[] = []
  let bytes = 0
  const reader = response.body.getReader()
  for (;;) {
    const { done, value } = await reader.read().catch((error: unknown) => {
      if (signal.aborted) throw error
      throw new Error('The download ended before it was complete. Nothing was saved.')
    })
    if (done) break
    parts.push(value)
    bytes += value.length
    onBytes(bytes)
  }
  const address = URL.createObjectURL(new Blob(parts))
  const link = document.createElement('a')
  link.href = address
  link.download = `rows.${extension}`
  link.click()
  setTimeout(() => URL.revokeObjectURL(address), 60_000)
}
