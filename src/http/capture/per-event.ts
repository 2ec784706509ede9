import { WaymarkError } from '../../errors/errors.ts'
import type { IngestAnswer } from '../../ingestion/pipeline.ts'
import { isObject } from '../../lib/is-object.ts'
import { type CaptureRequest, decodeBody } from './body.ts'
import { CaptureRefusal } from './refusal.ts'

// The newer protocol: the project's key as bearer, and a result for each event instead of one for the request, so that a client sends again
// only what may still succeed.

export type EventResult = { readonly result: 'ok' | 'drop' | 'limited' | 'retry'; readonly details?: string }

export interface PerEventBatch {
  readonly token: string
  readonly events: readonly (Readonly<Record<string, unknown>> & { readonly uuid: string })[]
  readonly refused: ReadonlyMap<string, EventResult>
  /** The client's clock when it sent the request. */
  readonly sentAt: string | null
  readonly isHistorical: boolean
}

type Json = Readonly<Record<string, unknown>>

/** Fields of an event's `options` and of the event itself that are properties here. */
const optionProperties: Readonly<Record<string, string>> = {
  process_person_profile: '$process_person_profile',
  cookieless_mode: '$cookieless_mode',
  disable_skew_correction: '$ignore_sent_at',
  product_tour_id: '$product_tour_id',
}
const fieldProperties: Readonly<Record<string, string>> = { session_id: '$session_id', window_id: '$window_id' }
const uuidShape = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i

export async function readPerEventBatch(request: CaptureRequest): Promise<PerEventBatch> {
  const token = /^Bearer\s+(\S+)$/i.exec(request.headers.get('authorization') ?? '')?.[1]
  if (token === undefined)
    throw new CaptureRefusal('missing-token', 'The project API key belongs in the Authorization header, as a bearer.')
  if (token.startsWith('phx_')) throw new CaptureRefusal('token-personal', 'API key is not valid: personal_api_key')
  const { value } = await decodeBody(request)
  if (!isObject(value) || !Array.isArray(value.batch))
    throw new CaptureRefusal('invalid-payload', 'Invalid payload: the body needs a list "batch".')
  if (value.batch.length === 0) throw new CaptureRefusal('no-data', 'The request holds no event.')
  const events: PerEventBatch['events'][number][] = []
  const refused = new Map<string, EventResult>()
  for (const [index, item] of value.batch.entries()) {
    if (!isObject(item) || typeof item.uuid !== 'string' || !uuidShape.test(item.uuid))
      throw new CaptureRefusal('invalid-payload', `Invalid payload: event ${index} has no uuid to answer for.`)
    const problem = problemOf(item)
    if (problem !== null) refused.set(item.uuid, { result: 'drop', details: problem })
    else events.push(eventOf(item, item.uuid))
  }
  return {
    token,
    events,
    refused,
    sentAt: request.headers.get('posthog-request-timestamp') ?? (typeof value.created_at === 'string' ? value.created_at : null),
    isHistorical: value.historical_migration === true,
  }
}

/** Brings events in and says what became of each. One that ingestion refuses does not keep its neighbours out. Null: none came in. */
export async function ingestEach(
  events: PerEventBatch['events'],
  results: Record<string, EventResult>,
  ingest: (batch: PerEventBatch['events']) => Promise<IngestAnswer>,
): Promise<IngestAnswer | null> {
  for (let left = events; ; ) {
    if (left.length === 0) return { accepted: 0, duplicates: 0, dropped: 0, warnings: [] }
    try {
      const answer = await ingest(left)
      for (const { uuid } of left) results[uuid] = { result: 'ok' }
      return answer
    } catch (error) {
      if (!(error instanceof WaymarkError)) throw error
      const refused = error.code === 'bad-event' ? left[(error as WaymarkError<'bad-event'>).data.index ?? -1] : undefined
      if (refused) {
        results[refused.uuid] = { result: 'drop', details: error.detail }
        left = left.filter((event) => event !== refused)
        continue
      }
      const result = error.isRetryable
        ? ({ result: 'retry', details: error.code } as const)
        : { result: 'drop' as const, details: error.detail }
      for (const { uuid } of left) results[uuid] = result
      return null
    }
  }
}

/** For senders that count: how many are new, were there before, and were dropped. */
export function summaryOf({ accepted, duplicates, dropped, warnings }: IngestAnswer, results: readonly EventResult[]): object {
  const counts = new Map<string, number>()
  for (const { type } of warnings) counts.set(type, (counts.get(type) ?? 0) + 1)
  return {
    accepted,
    duplicates,
    dropped: dropped + results.filter(({ result }) => result === 'drop').length,
    warnings: [...counts].map(([kind, count]) => ({ kind, count })),
  }
}

function problemOf(item: Json): string | null {
  if (typeof item.event !== 'string' || item.event === '') return 'missing_event_name'
  if (typeof item.distinct_id !== 'string' || item.distinct_id === '') return 'missing_distinct_id'
  if (item.properties !== undefined && !isObject(item.properties)) return 'invalid_properties'
  return null
}

function eventOf(item: Json, uuid: string): PerEventBatch['events'][number] {
  const properties: Record<string, unknown> = { ...(isObject(item.properties) ? item.properties : {}) }
  lift(item, fieldProperties, properties)
  if (isObject(item.options)) lift(item.options, optionProperties, properties)
  const { options: _options, session_id: _session, window_id: _window, ...rest } = item
  return { ...rest, uuid, properties }
}

function lift(from: Json, names: Readonly<Record<string, string>>, into: Record<string, unknown>): void {
  for (const [field, property] of Object.entries(names))
    if (from[field] !== undefined && from[field] !== null) into[property] ??= from[field]
}
