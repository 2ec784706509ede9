import { WaymarkError } from '../errors/errors.ts'
import { type PreparedEvent, prepareEvent, type Receipt, sentTime } from './prepare.ts'
import type { Warning } from './warnings.ts'

export interface DecodedBatch {
  readonly events: readonly PreparedEvent[]
  /** What the log keeps of each event. */
  readonly payloads: readonly string[]
  readonly uuids: readonly string[]
  readonly sentAt: string | null
  readonly isHistorical: boolean
  readonly bytes: number
}

const isObject = (value: unknown): value is Record<string, unknown> => value !== null && typeof value === 'object' && !Array.isArray(value)

/** One event, an array of events, or an envelope with `batch`. */
export function eventsOf(body: unknown): readonly unknown[] {
  if (Array.isArray(body)) return body
  if (isObject(body) && 'batch' in body) {
    if (Array.isArray(body.batch)) return body.batch
    throw new WaymarkError('bad-event', { message: '"batch" must be an array of events.', index: null, attr: 'batch' })
  }
  if (isObject(body) && 'event' in body) return [body]
  throw new WaymarkError('bad-event', { message: 'There is no event in this: give { batch: [...] }.', index: null, attr: 'batch' })
}

const asSentAt = (value: unknown): string | null => (value === undefined || value === null || value === '' ? null : String(sentTime(value)))

/** Reads a batch as `POST /batch/` takes it, less the key. Refuses it whole at the first event that cannot be taken. */
export function decodeBatch(body: unknown, receipt: Omit<Receipt, 'sentAt'>, about: { sentAt?: unknown } = {}): DecodedBatch {
  const raw = eventsOf(body)
  const envelope = isObject(body) && 'batch' in body ? body : {}
  const sentAt = asSentAt(about.sentAt ?? envelope.sent_at ?? envelope.sentAt)
  const isHistorical = envelope.historical_migration === true
  const whole = { ...receipt, sentAt }
  const events: PreparedEvent[] = []
  const payloads: string[] = []
  const uuids: string[] = []
  let bytes = 0
  for (const [index, item] of raw.entries()) {
    const event = prepareOrRefuse(item, whole, index)
    const payload = payloadOf(event, item as Record<string, unknown>)
    events.push(event)
    payloads.push(payload)
    uuids.push(event.uuid)
    bytes += payload.length
  }
  return { events, payloads, uuids, sentAt, isHistorical, bytes }
}

function prepareOrRefuse(item: unknown, receipt: Receipt, index: number): PreparedEvent {
  try {
    return prepareEvent(item, receipt, index)
  } catch (cause) {
    if (cause instanceof WaymarkError) throw cause
    const message = `Event ${index} of the batch: It holds values that JSON cannot hold.`
    throw new WaymarkError('bad-event', { message, index, attr: 'event' }, { cause })
  }
}

function payloadOf(event: PreparedEvent, raw: Readonly<Record<string, unknown>>): string {
  const start = `{"event":${JSON.stringify(event.name)},"distinct_id":${JSON.stringify(event.distinctId)}`
  if (event.isDropped) return `${start},"$dropped":${JSON.stringify(event.warnings)}}`
  let text = start
  for (const name of ['timestamp', 'offset', 'sent_at'] as const) {
    const value = sentTime(raw[name])
    if (value !== undefined && value !== null) text += `,"${name}":${JSON.stringify(value)}`
  }
  if (event.elementsChain) text += `,"elements_chain":${JSON.stringify(event.elementsChain)}`
  return `${text},"properties":${event.properties}}`
}

/** The same event again, from the log. */
export function readPayload(payload: string, uuid: string, receipt: Omit<Receipt, 'anonymizeIps' | 'newUuid' | 'ip'>): PreparedEvent {
  const raw: unknown = JSON.parse(payload)
  const again = { ...receipt, ip: null, anonymizeIps: false, newUuid: () => uuid }
  const dropped = isObject(raw) ? raw.$dropped : undefined
  if (!Array.isArray(dropped)) return prepareEvent(isObject(raw) ? { ...raw, uuid } : raw, again, null)
  return { ...prepareEvent({ ...(raw as object), uuid }, again, null), isDropped: true, shape: '', warnings: dropped as Warning[] }
}
