import { WaymarkError } from '../errors/errors.ts'
import { isObject } from '../lib/is-object.ts'
import { TextWriter } from '../lib/text-writer.ts'
import { Texts } from '../lib/texts.ts'
import { type PreparedEvent, prepareEvent, type Receipt, sentTime } from './prepare.ts'
import type { Warning } from './warnings.ts'

export interface DecodedBatch {
  readonly events: readonly PreparedEvent[]
  /** What the log keeps of each event. */
  readonly payloads: Texts
  readonly uuids: readonly string[]
  readonly sentAt: string | null
  readonly isHistorical: boolean
}

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

/** Events are written here one after another; a batch takes with it a copy of what it is. */
const writer = new TextWriter()

const writtenTexts = (ends: readonly number[]): Texts => {
  const offsets = new Int32Array(ends.length + 1)
  offsets.set(ends, 1)
  return new Texts(writer.bytes(), offsets)
}

/** Reads a batch as `POST /batch/` takes it, less the key. Refuses it whole at the first event that cannot be taken. */
export function decodeBatch(body: unknown, receipt: Omit<Receipt, 'sentAt'>, about: { sentAt?: unknown } = {}): DecodedBatch {
  const raw = eventsOf(body)
  const envelope = isObject(body) && 'batch' in body ? body : {}
  const sentAt = asSentAt(about.sentAt ?? envelope.sent_at ?? envelope.sentAt)
  const isHistorical = envelope.historical_migration === true
  const whole = { ...receipt, sentAt }
  const events: PreparedEvent[] = []
  const ends: number[] = []
  const uuids: string[] = []
  writer.clear()
  for (let i = 0; i < raw.length; i++) {
    const event = prepareOrRefuse(raw[i], whole, i)
    events.push(event)
    ends.push(writer.length)
    uuids.push(event.uuid)
  }
  return { events, payloads: writtenTexts(ends), uuids, sentAt, isHistorical }
}

function prepareOrRefuse(item: unknown, receipt: Receipt, index: number): PreparedEvent {
  try {
    return prepareEvent(item, receipt, index, writer)
  } catch (cause) {
    if (cause instanceof WaymarkError) throw cause
    const message = `Event ${index} of the batch: It holds values that JSON cannot hold.`
    throw new WaymarkError('bad-event', { message, index, attr: 'event' }, { cause })
  }
}

/** The same events again, from the log. */
export function readPayloads(
  payloads: Texts,
  uuids: readonly string[],
  receipt: Omit<Receipt, 'anonymizeIps' | 'newUuid' | 'ip'>,
): { readonly events: readonly PreparedEvent[]; readonly payloads: Texts } {
  writer.clear()
  const ends: number[] = []
  const events = payloads.map((payload, i) => {
    const event = readPayload(payload, uuids[i]!, receipt)
    ends.push(writer.length)
    return event
  })
  return { events, payloads: writtenTexts(ends) }
}

function readPayload(payload: string, uuid: string, receipt: Omit<Receipt, 'anonymizeIps' | 'newUuid' | 'ip'>): PreparedEvent {
  const raw: unknown = JSON.parse(payload)
  const again = { ...receipt, ip: null, anonymizeIps: false, newUuid: () => uuid }
  const dropped = isObject(raw) ? raw.$dropped : undefined
  if (!Array.isArray(dropped)) return prepareEvent(isObject(raw) ? { ...raw, uuid } : raw, again, null, writer)
  return { ...prepareEvent({ ...(raw as object), uuid }, again, null, writer), isDropped: true, warnings: dropped as Warning[] }
}
