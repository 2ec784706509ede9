import { InternalError, WaymarkError } from '../../../errors/errors.ts'
import { runInSlices } from '../../../lib/flow/run-in-slices.ts'
import { isObject } from '../../../lib/is-object.ts'
import { TextWriter } from '../../../lib/text/text-writer.ts'
import { Texts } from '../../../lib/text/texts.ts'
import { readVisitor, type Sender } from '../cookieless/visitor.ts'
import type { Warning } from '../warnings.ts'
import { type StrangeField, strangeInBatch } from './event-fields.ts'
import type { EventSource } from './event-source.ts'
import { parseTime } from './parse-time.ts'
import { type PreparedEvent, prepareEvent, type Receipt, sentTime } from './prepare.ts'

export interface DecodedBatch {
  readonly events: readonly PreparedEvent[]
  /** What the log keeps of each event. */
  readonly payloads: Texts
  readonly uuids: readonly string[]
  readonly sentAt: string | null
  readonly isHistorical: boolean
  readonly importId?: string
}

/** One event, an array of events, or an envelope with `batch`. */
function eventsOf(body: unknown): readonly unknown[] {
  if (Array.isArray(body)) return body
  if (isObject(body) && 'batch' in body) {
    if (Array.isArray(body.batch)) return body.batch
    throw new WaymarkError('bad-event', { message: '"batch" must be an array of events.', index: null, attr: 'batch' })
  }
  if (isObject(body) && 'event' in body) return [body]
  throw new WaymarkError('bad-event', { message: 'The batch has no events: pass { batch: [...] }.', index: null, attr: 'batch' })
}

const asSentAt = (value: unknown): string | null => (value === undefined || value === null || value === '' ? null : String(sentTime(value)))

/** Maximum bytes of a batch in the log: several times the largest body. */
export const batchBytesLimit = 80 * 1024 * 1024

/** Metadata of all events of a batch. */
export interface BatchFacts {
  readonly sentAt?: unknown
  readonly isHistorical?: boolean
  /** The import that past events are of. */
  readonly importId?: string
  readonly ip?: string | null
  /** Of the sender, for visitors without cookies. */
  readonly userAgent?: string | null
  /** Who sent the request, for visitors without cookies. Default: `ip` and `userAgent`. */
  readonly sender?: Sender
  /** The id of a request that may be sent again: events without a uuid get the same ones each time. */
  readonly attempt?: string | null
  /** Fields of the batch that are not read. */
  readonly strangeFields?: readonly StrangeField[]
  /** True if the response waits for and contains the number of duplicates. Always true for batches of past events. */
  readonly countsDuplicates?: boolean
  /** Called with each invalid event, which is then skipped. Without it the first invalid event rejects the batch. */
  readonly onRefused?: (event: unknown, refusal: WaymarkError<'bad-event'>) => void
}

/** The body of `POST /batch/`, without the key. */
export function readBody(
  body: unknown,
  about: Pick<BatchFacts, 'sentAt' | 'ip' | 'userAgent' | 'attempt' | 'importId'> = {},
): { readonly events: readonly unknown[]; readonly facts: BatchFacts } {
  const events = eventsOf(body)
  const envelope = envelopeOf(body)
  const sentAt = about.sentAt ?? envelope.sent_at ?? envelope.sentAt
  return { events, facts: { ...about, sentAt, isHistorical: isHistorical(body), strangeFields: strangeInBatch(envelope) } }
}

const envelopeOf = (body: unknown): Readonly<Record<string, unknown>> => (isObject(body) && 'batch' in body ? body : {})

/** True if a body holds past events. */
export const isHistorical = (body: unknown): boolean => envelopeOf(body).historical_migration === true

const eventsOfLook = 8

/** The texts that end at these lengths of `written`. */
export const writtenTexts = (ends: readonly number[], written: TextWriter): Texts => {
  const offsets = new Int32Array(ends.length + 1)
  offsets.set(ends, 1)
  return new Texts(written.bytes(), offsets)
}

export type AnyReceipt = Omit<Receipt, 'sentAt'>

/** The receipts of the first event and of the others. Only the first one reports errors of the request. */
export const receiptsOf = (
  { strangeFields, ...receipt }: AnyReceipt,
  sentAt: string | null,
): readonly [first: Receipt, others: Receipt] => {
  const isReadable = sentAt === null || parseTime(sentAt) !== null
  return [
    { ...receipt, sentAt, ...(strangeFields && { strangeFields }) },
    { ...receipt, sentAt: isReadable ? sentAt : null },
  ]
}

/** What is prepared of a batch so far. */
class Prepared {
  readonly events: PreparedEvent[] = []
  private readonly ends: number[] = []
  private readonly uuids: string[] = []
  private readonly written: TextWriter

  constructor(written: TextWriter) {
    this.written = written
    written.clear()
  }

  get count(): number {
    return this.events.length
  }

  /** Adds the events of a request. Yields regularly, so that other work can run. */
  *add(source: Iterable<unknown>, [first, others]: ReturnType<typeof receiptsOf>, { onRefused }: BatchFacts): Generator<void, void> {
    const { events, ends, uuids, written } = this
    const before = events.length
    let index = 0
    for (const item of source) {
      const start = written.length
      try {
        const event = prepareOrRefuse(item, events.length === before ? first : others, index, written)
        events.push(event)
        ends.push(written.length)
        uuids.push(event.uuid)
      } catch (error) {
        if (!onRefused || !(error instanceof WaymarkError) || error.code !== 'bad-event') throw error
        written.length = start
        onRefused(item, error as WaymarkError<'bad-event'>)
      }
      if (written.length > batchBytesLimit) throw new WaymarkError('batch-too-large', { events: index + 1, limit: batchBytesLimit })
      if (++index % eventsOfLook === 0) yield
    }
  }

  /** Removes all events but the first ones. */
  cut(count: number): void {
    const { events, ends, uuids, written } = this
    events.length = ends.length = uuids.length = count
    written.length = ends.at(-1) ?? 0
  }

  batch(sentAt: string | null, isHistorical: boolean): DecodedBatch {
    const { events, ends, uuids, written } = this
    return { events, payloads: writtenTexts(ends, written), uuids, sentAt, isHistorical }
  }
}

/** Yields regularly. */
function* decoding(source: Iterable<unknown>, receipt: AnyReceipt, facts: BatchFacts, written: TextWriter): Generator<void, DecodedBatch> {
  const sentAt = asSentAt(facts.sentAt)
  const isPast = facts.isHistorical === true
  const prepared = new Prepared(written)
  yield* prepared.add(source, receiptsOf({ ...receipt, isHistorical: isPast, strangeFields: facts.strangeFields }, sentAt), facts)
  const batch = prepared.batch(sentAt, isPast)
  return isPast && facts.importId !== undefined ? { ...batch, importId: facts.importId } : batch
}

/** A shared buffer that events are written to one after another. Each batch gets a copy of its bytes. */
const writer = new TextWriter()

/** Decodes without yielding. */
export function decodeEvents(events: Iterable<unknown>, receipt: AnyReceipt, facts: BatchFacts): DecodedBatch {
  return runToEnd(decoding(events, receipt, facts, writer))
}

function runToEnd<T>(steps: Generator<void, T>): T {
  for (;;) {
    const step = steps.next()
    if (step.done) return step.value
  }
}

/** Reads the body of `POST /batch/`, without the key. Rejects the whole batch at the first invalid event. */
export function decodeBatch(body: unknown, receipt: AnyReceipt, about: Pick<BatchFacts, 'sentAt'> = {}): DecodedBatch {
  const { events, facts } = readBody(body, about)
  return decodeEvents(events, receipt, facts)
}

/** A request whose events are prepared together with those of others. */
export interface Part {
  readonly events: Iterable<unknown>
  readonly receipt: AnyReceipt
  readonly facts: BatchFacts
}

/** Where the events of a part are in the batch, or why none of them is. */
export type PartOutcome = { readonly from: number; readonly to: number } | { readonly error: unknown }

/** Decodes live requests into one batch, without yielding. Each is refused by itself; its time of sending is stored with its events. */
export function decodeTogether(parts: readonly Part[]): { readonly batch: DecodedBatch; readonly outcomes: readonly PartOutcome[] } {
  const prepared = new Prepared(writer)
  const sharedSentAt = parts.length === 1 ? asSentAt(parts[0]!.facts.sentAt) : null
  const outcomes = parts.map(({ events, receipt, facts }): PartOutcome => {
    const from = prepared.count
    try {
      const ofPart = { ...receipt, strangeFields: facts.strangeFields, storesSentAt: parts.length > 1 }
      runToEnd(prepared.add(events, receiptsOf(ofPart, asSentAt(facts.sentAt)), facts))
      return { from, to: prepared.count }
    } catch (error) {
      prepared.cut(from)
      return { error }
    }
  })
  return { batch: prepared.batch(sharedSentAt, false), outcomes }
}

/** Decodes one batch after another in slices of a few milliseconds, so that other lanes can overtake. */
class Lane {
  private readonly writer = new TextWriter()
  private turn: Promise<unknown> = Promise.resolve()
  private readonly sliceMs: number

  constructor(sliceMs: number) {
    this.sliceMs = sliceMs
  }

  decode(events: Iterable<unknown>, receipt: AnyReceipt, facts: BatchFacts): Promise<DecodedBatch> {
    const turn = this.turn.then(() => runInSlices(decoding(events, receipt, facts, this.writer), this.sliceMs))
    this.turn = turn.catch(() => undefined)
    return turn
  }
}

const lanes = { past: new Lane(1), live: new Lane(8) }
/** Batches up to this size do not wait for others. */
const small = { events: 100, bytes: 1 << 16 }

export const isSmall = ({ count, bytes }: EventSource): boolean => count <= small.events && bytes <= small.bytes

/** Past events have their own lane. Live events share another one, unless they are few. */
export function decodeInTurns(source: EventSource, receipt: AnyReceipt, facts: BatchFacts): Promise<DecodedBatch> {
  if (facts.isHistorical) return lanes.past.decode(source, receipt, facts)
  if (!isSmall(source)) return lanes.live.decode(source, receipt, facts)
  return Promise.resolve(decodeEvents(source, receipt, facts))
}

/** Decodes past events in their own lane, in short slices. */
export const decodePast = (events: Iterable<unknown>, receipt: AnyReceipt, facts: BatchFacts): Promise<DecodedBatch> =>
  lanes.past.decode(events, receipt, facts)

function prepareOrRefuse(item: unknown, receipt: Receipt, index: number, written: TextWriter): PreparedEvent {
  try {
    return prepareEvent(item, receipt, index, written)
  } catch (cause) {
    if (cause instanceof WaymarkError || cause instanceof InternalError) throw cause
    const message = `Event ${index} of the batch: It has values that JSON cannot represent.`
    throw new WaymarkError('bad-event', { message, index, attr: 'event' }, { cause })
  }
}

/** Decodes the same events again, from the log. */
export function readPayloads(
  payloads: Texts,
  uuids: readonly string[],
  { receivedAt, sentAt, isHistorical }: Pick<Receipt, 'receivedAt' | 'sentAt' | 'isHistorical'>,
): { readonly events: readonly PreparedEvent[]; readonly payloads: Texts } {
  const [first, others] = receiptsOf(
    { receivedAt, isHistorical: isHistorical === true, ip: null, anonymizeIps: false, newUuid: () => '' },
    sentAt,
  )
  writer.clear()
  const ends: number[] = []
  const events = payloads.map((payload, i) => {
    const event = readPayload(payload, uuids[i]!, i === 0 ? first : others, writer)
    ends.push(writer.length)
    return event
  })
  return { events, payloads: writtenTexts(ends, writer) }
}

/** Decodes one event again, from the log. */
export function readPayload(payload: string, uuid: string, receipt: Receipt, writer: TextWriter): PreparedEvent {
  const raw: unknown = JSON.parse(payload)
  const { $dropped: dropped, $noted: noted, $cookieless: stored }: Record<string, unknown> = isObject(raw) ? raw : {}
  const visitor = readVisitor(stored)
  const known = Array.isArray(noted) ? { ...receipt, visitor, noted: noted as Warning[] } : { ...receipt, visitor }
  const event = prepareEvent(isObject(raw) ? { ...raw, uuid } : raw, known, null, writer)
  return Array.isArray(dropped) ? Object.assign(event, { isDropped: true, warnings: dropped as Warning[] }) : event
}
