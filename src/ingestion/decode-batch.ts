import { setImmediate } from 'node:timers/promises'
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
/** A batch of past events is written over many turns of the event loop, with whole batches in between. */
const pastWriter = new TextWriter()
const sliceMs = 1
const eventsOfLook = 8

const writtenTexts = (ends: readonly number[], written = writer): Texts => {
  const offsets = new Int32Array(ends.length + 1)
  offsets.set(ends, 1)
  return new Texts(written.bytes(), offsets)
}

type AnyReceipt = Omit<Receipt, 'sentAt'>

/** Stops now and then for whoever wants to do something else. */
function* decoding(body: unknown, receipt: AnyReceipt, about: { sentAt?: unknown }, written: TextWriter): Generator<void, DecodedBatch> {
  const raw = eventsOf(body)
  const envelope = isObject(body) && 'batch' in body ? body : {}
  const sentAt = asSentAt(about.sentAt ?? envelope.sent_at ?? envelope.sentAt)
  const whole = { ...receipt, sentAt }
  const events: PreparedEvent[] = []
  const ends: number[] = []
  const uuids: string[] = []
  written.clear()
  for (let i = 0; i < raw.length; i++) {
    const event = prepareOrRefuse(raw[i], whole, i, written)
    events.push(event)
    ends.push(written.length)
    uuids.push(event.uuid)
    if (i % eventsOfLook === eventsOfLook - 1) yield
  }
  return { events, payloads: writtenTexts(ends, written), uuids, sentAt, isHistorical: isPast(body) }
}

/** Whether a body says that its events are of the past. */
export const isPast = (body: unknown): boolean => isObject(body) && 'batch' in body && body.historical_migration === true

/** Reads a batch as `POST /batch/` takes it, less the key. Refuses it whole at the first event that cannot be taken. */
export function decodeBatch(body: unknown, receipt: AnyReceipt, about: { sentAt?: unknown } = {}): DecodedBatch {
  const steps = decoding(body, receipt, about, writer)
  for (;;) {
    const step = steps.next()
    if (step.done) return step.value
  }
}

let pastTurn: Promise<unknown> = Promise.resolve()

/** The same a few milliseconds at a time, one batch after another, so that live events pass. */
export function decodePast(body: unknown, receipt: AnyReceipt, about: { sentAt?: unknown } = {}): Promise<DecodedBatch> {
  const turn = pastTurn.then(async () => {
    const steps = decoding(body, receipt, about, pastWriter)
    for (let begin = performance.now(); ; ) {
      const step = steps.next()
      if (step.done) return step.value
      if (performance.now() - begin < sliceMs) continue
      await setImmediate()
      begin = performance.now()
    }
  })
  pastTurn = turn.catch(() => undefined)
  return turn
}

function prepareOrRefuse(item: unknown, receipt: Receipt, index: number, written: TextWriter): PreparedEvent {
  try {
    return prepareEvent(item, receipt, index, written)
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
