import type { ImportFormat } from '../../events/imports/format.ts'
import type { Mapping } from '../../events/imports/formats/mapped.ts'
import { identified, idNamespace, type RowPlace } from '../../events/imports/identity.ts'
import type { ImportedEvent } from '../../events/imports/record.ts'
import { ApiError } from '../lib/api.ts'
import { type OpenedFile, rowsOf } from './read-file.ts'

// Sends the events of a file, as `waymark import --url` does, with the same ids of rows.

export interface Progress {
  readonly format: ImportFormat
  readonly bytesRead: number
  readonly rows: number
  readonly stored: number
  readonly duplicates: number
  readonly dropped: number
  readonly unreadable: number
  /** The first of them. */
  readonly problems: readonly { readonly row: number; readonly problem: string }[]
}

const batchSize = 2000
const batchCharacters = 4 * 1024 * 1024
const problemsKept = 10
const mostTries = 60
const retryAfterMs = 1000

const hex = (bytes: ArrayBuffer, count: number) =>
  [...new Uint8Array(bytes, 0, count)].map((byte) => byte.toString(16).padStart(2, '0')).join('')
const utf8 = new TextEncoder()
const namespaceBytes = Uint8Array.from(idNamespace.replaceAll('-', '').match(/../g)!, (pair) => Number.parseInt(pair, 16))

/** UUIDv5. */
async function nameUuid(name: string): Promise<string> {
  const text = utf8.encode(name)
  const all = new Uint8Array(namespaceBytes.length + text.length)
  all.set(namespaceBytes)
  all.set(text, namespaceBytes.length)
  const hash = await crypto.subtle.digest('SHA-1', all)
  const bytes = new Uint8Array(hash)
  bytes[6] = (bytes[6]! & 0x0f) | 0x50
  bytes[8] = (bytes[8]! & 0x3f) | 0x80
  const digits = hex(hash, 16)
  return `${digits.slice(0, 8)}-${digits.slice(8, 12)}-${digits.slice(12, 16)}-${digits.slice(16, 20)}-${digits.slice(20)}`
}

interface Target {
  readonly key: string
  /** The import that the events are of. */
  readonly importId: string
  readonly signal: AbortSignal
}
interface Summary {
  readonly accepted: number
  readonly duplicates: number
  readonly dropped: number
}

const pause = (ms: number, signal: AbortSignal) =>
  new Promise<void>((resolve, reject) => {
    const timer = setTimeout(resolve, ms)
    signal.addEventListener('abort', () => {
      clearTimeout(timer)
      reject(signal.reason as Error)
    })
  })

/** Until the server has taken it: one that is busy says when to come again. */
async function send(batch: readonly ImportedEvent[], { key, importId, signal }: Target): Promise<Summary> {
  const body = JSON.stringify({ historical_migration: true, import_id: importId, batch })
  for (let tries = 1; ; tries++) {
    const response = await fetch('i/v1/analytics/events?summary=1', {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body,
      signal,
    }).catch((error: unknown) => {
      if (signal.aborted) throw error
      return null
    })
    const answer = (await response?.json().catch(() => ({}))) as
      | { summary?: Summary; results?: Record<string, { result: string; details?: string }>; detail?: string }
      | undefined
    if (response?.status === 413 && batch.length > 1) {
      const half = batch.length >> 1
      const [a, b] = [await send(batch.slice(0, half), { key, importId, signal }), await send(batch.slice(half), { key, importId, signal })]
      return { accepted: a.accepted + b.accepted, duplicates: a.duplicates + b.duplicates, dropped: a.dropped + b.dropped }
    }
    const waits = Object.values(answer?.results ?? {}).find(({ result }) => result === 'retry' || result === 'limited')
    if (response?.ok && answer?.summary && !waits) return answer.summary
    const isRefused = response !== null && !response.ok && response.status !== 429 && response.status !== 503
    if (isRefused || tries === mostTries)
      throw new ApiError(response?.status ?? 0, {
        detail: answer?.detail ?? waits?.details ?? 'The server cannot be reached. Is it running?',
      })
    await pause(Number(response?.headers.get('retry-after') ?? 0) * 1000 || retryAfterMs, signal)
  }
}

/** Stops where `signal` is aborted; what was sent until then stays, and the same file can be sent again. */
export async function importFile(
  opened: OpenedFile,
  mapping: Mapping,
  target: Target,
  onProgress: (progress: Progress) => void,
): Promise<Progress> {
  const { file, format, sample } = opened
  const fingerprint = hex(await crypto.subtle.digest('SHA-256', utf8.encode(sample.join('\n'))), 16)

  const problems: { row: number; problem: string }[] = []
  const counts = { rows: 0, stored: 0, duplicates: 0, dropped: 0, unreadable: 0 }
  let bytesRead = 0
  let batch: Promise<ImportedEvent>[] = []
  let characters = 0
  const report = () => ({ format, bytesRead, problems, ...counts })
  const withId = async (event: ImportedEvent, place: RowPlace): Promise<ImportedEvent> => {
    const { event: plain, name } = identified(event, place)
    return name === null ? plain : { ...plain, uuid: await nameUuid(name) }
  }
  const flush = async () => {
    if (batch.length === 0) return
    const { accepted, duplicates, dropped } = await send(await Promise.all(batch), target)
    counts.stored += accepted
    counts.duplicates += duplicates
    counts.dropped += dropped
    batch = []
    characters = 0
    onProgress(report())
  }
  const onBytes = (count: number) => {
    bytesRead = count
  }
  for await (const read of rowsOf(opened, mapping, onBytes)) {
    target.signal.throwIfAborted()
    counts.rows++
    if ('problem' in read.converted) {
      counts.unreadable++
      if (problems.length < problemsKept) problems.push({ row: read.row, problem: read.converted.problem })
      continue
    }
    batch.push(...read.converted.map((event, index) => withId(event, { fingerprint, row: read.row, index })))
    characters += read.characters
    if (batch.length >= batchSize || characters >= batchCharacters) await flush()
  }
  await flush()
  return { ...report(), bytesRead: file.size }
}
