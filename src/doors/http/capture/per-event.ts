import { WaymarkError } from '../../../errors/errors.ts'
import { type StrangeField, strangeInBatch } from '../../../events/ingestion/decoding/event-fields.ts'
import type { EventSource } from '../../../events/ingestion/decoding/event-source.ts'
import type { BatchFacts, IngestAnswer } from '../../../events/ingestion/intake.ts'
import { runInSlices } from '../../../lib/flow/run-in-slices.ts'
import { isObject } from '../../../lib/is-object.ts'
import { type CaptureRequest, decodeBody } from './body.ts'
import { type JsonItems, scanJson } from './json-items.ts'
import { CaptureRefusal } from './refusal.ts'

// The newer protocol: the project's key as bearer token, and a result for each event instead of one for the request, so that clients retry only
// events that may still succeed.

export type EventResult = { readonly result: 'ok' | 'drop' | 'limited' | 'retry'; readonly details?: string }
export type EventResults = Record<string, EventResult>

export interface PerEventBatch {
  readonly token: string
  readonly items: JsonItems
  /** The client's clock when it sent the request. */
  readonly sentAt: string | null
  readonly isHistorical: boolean
  /** The import that the events are of. */
  readonly importId?: string
  /** Fields of the batch that are ignored. */
  readonly strangeFields: readonly StrangeField[]
}

interface OwnedEvent {
  readonly uuid: string
  readonly [field: string]: unknown
}

type Json = Readonly<Record<string, unknown>>

/** Fields of an event's `options` and of the event itself that are stored as properties. */
const optionProperties: Readonly<Record<string, string>> = {
  process_person_profile: '$process_person_profile',
  cookieless_mode: '$cookieless_mode',
  disable_skew_correction: '$ignore_sent_at',
  product_tour_id: '$product_tour_id',
}
const fieldProperties: Readonly<Record<string, string>> = { session_id: '$session_id', window_id: '$window_id' }
const sliceMs = 8
const uuidShape = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i

export async function readPerEventBatch(request: CaptureRequest): Promise<PerEventBatch> {
  const token = /^Bearer\s+(\S+)$/i.exec(request.headers.get('authorization') ?? '')?.[1]
  if (token === undefined)
    throw new CaptureRefusal('missing-token', 'Send the project API key in the Authorization header, as a Bearer token.')
  if (token.startsWith('phx_')) throw new CaptureRefusal('token-personal', 'API key is not valid: personal_api_key')
  const { json } = await decodeBody(request)
  const { items, value } = await runInSlices(scanJson(json), sliceMs)
  if (!items || !isObject(value)) throw new CaptureRefusal('invalid-payload', 'Invalid payload: the body needs a list "batch".')
  if (items.count === 0) throw new CaptureRefusal('no-data', 'The request contains no events.')
  return {
    token,
    items,
    sentAt: request.headers.get('posthog-request-timestamp') ?? (typeof value.created_at === 'string' ? value.created_at : null),
    isHistorical: value.historical_migration === true,
    ...(value.historical_migration === true && typeof value.import_id === 'string' && { importId: value.import_id }),
    strangeFields: strangeInBatch(value),
  }
}

/** The events that can be ingested. The reasons for the others go into `results`. */
const eventsOf = (items: JsonItems, results: EventResults): EventSource<OwnedEvent> => ({
  count: items.count,
  bytes: items.bytes,
  *[Symbol.iterator]() {
    let index = 0
    for (const item of items) {
      if (!isObject(item) || typeof item.uuid !== 'string' || !uuidShape.test(item.uuid))
        throw new CaptureRefusal('invalid-payload', `Invalid payload: event ${index} has no uuid.`)
      index++
      const problem = problemOf(item)
      if (problem === null) yield eventOf(item, item.uuid)
      else results[item.uuid] = { result: 'drop', details: problem }
    }
  },
})

/** All events are refused, each with its own result. */
export async function limitEach(items: JsonItems, results: EventResults, details: string): Promise<void> {
  const events = eventsOf(items, results)
  await runInSlices(
    (function* () {
      for (const { uuid } of events) {
        results[uuid] = { result: 'limited', details }
        yield
      }
    })(),
    sliceMs,
  )
}

/** Ingests events and returns one result each. A refused event does not affect the others. Null: none was accepted. */
export async function ingestEach(
  items: JsonItems,
  results: EventResults,
  ingest: (events: EventSource, facts: Pick<BatchFacts, 'onRefused'>) => Promise<IngestAnswer>,
): Promise<IngestAnswer | null> {
  const events = eventsOf(items, results)
  const taken = new Set<string>()
  const noted: EventSource = {
    count: events.count,
    bytes: events.bytes,
    *[Symbol.iterator]() {
      for (const event of events) {
        taken.add(event.uuid)
        yield event
      }
    },
  }
  const onRefused = (event: unknown, error: WaymarkError) => {
    const { uuid } = event as OwnedEvent
    taken.delete(uuid)
    results[uuid] = { result: 'drop', details: error.detail }
  }
  const tell = (result: EventResult) => {
    for (const uuid of taken) results[uuid] = result
  }
  try {
    const answer = await ingest(noted, { onRefused })
    tell({ result: 'ok' })
    return answer
  } catch (error) {
    if (!(error instanceof WaymarkError) || error.status === 413 || error.code === 'import-over') throw error
    tell(error.isRetryable ? { result: 'retry', details: error.code } : { result: 'drop', details: error.detail })
    return null
  }
}

/** For senders that count: how many events are new, duplicates, or dropped. */
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

function eventOf(item: Json, uuid: string): OwnedEvent {
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
