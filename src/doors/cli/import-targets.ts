import { WaymarkError } from '../../errors/errors.ts'
import type { ImportedEvent } from '../../events/imports/record.ts'
import type { BatchResult } from '../../events/imports/run.ts'
import { decodeBatch } from '../../events/ingestion/decoding/decode-batch.ts'
import { checkpointFiles, counted, type ImportRecords, type Target } from '../library/import-files.ts'
import { callServer } from './call-server.ts'
import type { Directory } from './directory.ts'

// Targets of imported events: a project of a directory, a remote server, or none for a dry run.

export async function toProject(directory: Directory, dataDir: string, project: number): Promise<Target> {
  const records: ImportRecords = {
    begin: async (about) => (await directory.do('begin-import', { project, ...about })).id,
    finish: (id, about) => directory.do('finish-import', { project, id, ...about }),
    areUndone: async (ids) => (await directory.do('are-imports-undone', { project, ids })).areUndone,
  }
  return {
    records,
    checkpoints: await checkpointFiles(dataDir, project, records),
    ...(directory.prepared && { prepared: await directory.prepared(project) }),
    store: async (batch, importId) => {
      const body = { batch, historical_migration: true }
      const answer = await directory.do('ingest', { project, body, ...(importId !== undefined && { import: importId }) })
      return { ...answer, warnings: counted(answer.warnings) }
    },
  }
}

const retryAfterMs = 1000
const mostTries = 60
/** The size of one request; the server accepts 20 MiB. */
const largestBody = 12 * 1024 * 1024
const path = '/i/v1/analytics/events?summary=1'

interface PerEventAnswer {
  readonly results: Readonly<Record<string, { readonly result: string; readonly details?: string }>>
  /** The server is Waymark; another server only reports a result for each event. */
  readonly summary?: BatchResult
}

/** Uses the protocol with a result for each event, so that the counts are those of the server. */
export function toServer(url: string, key: string): Target {
  let hasAnswered = false
  const post = async (body: string): Promise<Response | null> => {
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
    try {
      return await callServer(url, path, { method: 'POST', headers, body })
    } catch (error) {
      if (!hasAnswered) throw error
      return null // it was there before: perhaps it is being started again
    }
  }
  const send = async (batch: readonly ImportedEvent[]): Promise<BatchResult> => {
    const body = JSON.stringify({ historical_migration: true, batch })
    if (body.length > largestBody && batch.length > 1) {
      const half = batch.length >> 1
      return together(await send(batch.slice(0, half)), await send(batch.slice(half)))
    }
    for (let tries = 1; ; tries++) {
      const response = await post(body)
      const answer = response && ((await response.json().catch(() => ({}))) as Partial<PerEventAnswer> & { detail?: string })
      if (response) hasAnswered = true
      if (response?.ok && answer?.results) {
        const results = Object.values(answer.results)
        const waits = results.find(({ result }) => result === 'retry' || result === 'limited')
        if (!waits) return answer.summary ?? byResult(results)
        if (tries === mostTries) throw refusal(url, `${waits.details ?? waits.result}`)
      } else if (response && response.status !== 429 && response.status !== 503)
        throw refusal(url, answer?.detail ?? response.statusText, response.status)
      else if (tries === mostTries) throw refusal(url, answer?.detail ?? 'it stopped responding', response?.status)
      const seconds = Number(response?.headers.get('retry-after') ?? 0)
      await new Promise((resume) => setTimeout(resume, seconds * 1000 || retryAfterMs))
    }
  }
  return { store: send }
}

const refusal = (url: string, reason: string, status?: number) =>
  new WaymarkError('command-failed', { message: `${url} refused the events${status ? ` (${status})` : ''}: ${reason}` })

function byResult(results: readonly { readonly result: string; readonly details?: string }[]): BatchResult {
  const dropped = results.filter(({ result }) => result === 'drop').length
  return { accepted: results.length - dropped, duplicates: 0, dropped, warnings: [] }
}

const together = (a: BatchResult, b: BatchResult): BatchResult => ({
  accepted: a.accepted + b.accepted,
  duplicates: a.duplicates + b.duplicates,
  dropped: a.dropped + b.dropped,
  warnings: [...a.warnings, ...b.warnings],
})

const receipt = { receivedAt: Date.now(), ip: null, anonymizeIps: false, newUuid: () => crypto.randomUUID() }

/** The result that ingestion would give for each event. */
export const nowhere: Target = {
  store: async (batch) => {
    const { events } = decodeBatch({ batch, historical_migration: true }, receipt)
    const dropped = events.filter((event) => event.isDropped).length
    return { accepted: events.length - dropped, duplicates: 0, dropped, warnings: counted(events.flatMap((event) => event.warnings)) }
  },
}
