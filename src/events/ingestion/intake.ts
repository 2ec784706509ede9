import { timeOrderedUuids, uuidsOfAttempt } from '../../lib/ids/time-ordered-uuid.ts'
import type { Backpressure } from './applying/backpressure.ts'
import { DailySalts, type Salts } from './cookieless/salts.ts'
import {
  type BatchFacts,
  type DecodedBatch,
  decodeEvents,
  decodeInTurns,
  decodePast,
  decodeTogether,
  isSmall,
  readBody,
} from './decoding/decode-batch.ts'
import type { EventSource } from './decoding/event-source.ts'
import type { PreparedEvent } from './decoding/prepare.ts'
import { Gathered, type GatheredRequest } from './gathered.ts'
import type { IngestLog, LogRecords } from './ports.ts'
import type { Warning } from './warnings.ts'
import { readDecoded, type WireBatch } from './wire-batch.ts'
import type { Content, Work } from './work.ts'

export type { BatchFacts } from './decoding/decode-batch.ts'

export interface IngestAnswer {
  /** Stored by this call. */
  readonly accepted: number
  /** Stored before, by their uuid. */
  readonly duplicates: number
  readonly dropped: number
  readonly warnings: readonly Warning[]
}

/** A durable batch that was handed over to be applied. */
export interface Handed {
  /** How many of its events were stored before. */
  duplicates(): Promise<number>
}

interface Parts<H extends Handed> {
  readonly log: Pick<IngestLog, 'append'>
  readonly backpressure: Pick<Backpressure, 'admit'>
  readonly clock: () => Date
  /** Read again for each batch. */
  readonly settings: () => { readonly anonymizeIps: boolean; readonly timezone?: string }
  readonly projectId: number
  /** For visitors without cookies. Default: salts that end with the process. */
  readonly salts?: Salts | undefined
  /** Throws when closed. */
  mustBeOpen(): void
  /** Called when the batch is durable. */
  handOver(work: Work): H | Promise<H>
}

const noEvents: IngestAnswer = { accepted: 0, duplicates: 0, dropped: 0, warnings: [] }

const answerOf = (events: readonly PreparedEvent[], duplicates: number): IngestAnswer => {
  const dropped = events.filter((event) => event.isDropped).length
  return {
    accepted: events.length - dropped - duplicates,
    duplicates,
    dropped,
    warnings: events.flatMap((event) => event.warnings),
  }
}

/**
 * Entry point of batches: validates and prepares events, applies backpressure, and acknowledges them when the log has them. Small requests that arrive
 * within one turn of the event loop become one batch.
 */
export class Intake<H extends Handed = Handed> {
  private readonly parts: Parts<H>
  /** Batches being written to the log. */
  private readonly entering = new Set<Promise<unknown>>()
  readonly newUuid: () => string
  private readonly salts: Salts
  private readonly gathered = new Gathered<IngestAnswer>((requests) => void this.takeTogether(requests))

  constructor(parts: Parts<H>) {
    this.parts = parts
    this.newUuid = timeOrderedUuids(parts.clock)
    this.salts = parts.salts ?? new DailySalts(parts.clock)
  }

  /** Takes the body of `POST /batch/` without the key. */
  async ingest(body: unknown, about: Pick<BatchFacts, 'ip' | 'userAgent' | 'sentAt' | 'attempt' | 'importId'> = {}): Promise<IngestAnswer> {
    this.parts.mustBeOpen()
    const receipt = this.receipt(about)
    const { events, facts } = readBody(body, about)
    const batch = facts.isHistorical ? await decodePast(events, receipt, facts) : decodeEvents(events, receipt, facts)
    return this.take(batch, receipt.receivedAt, true)
  }

  /** The same for events that are parsed while they are prepared; yields to the event loop in between. */
  async ingestEvents(events: EventSource, facts: BatchFacts): Promise<IngestAnswer> {
    this.parts.mustBeOpen()
    const isQuick = isSmall(events) && !facts.isHistorical
    if (isQuick && !facts.countsDuplicates) return this.gathered.add(events, facts)
    const receipt = this.receipt(facts)
    const batch = isQuick ? decodeEvents(events, receipt, facts) : await decodeInTurns(events, receipt, facts)
    return this.take(batch, receipt.receivedAt, facts.countsDuplicates === true)
  }

  /** The same for past events that another thread has prepared. */
  async ingestPrepared(batch: WireBatch): Promise<IngestAnswer> {
    this.parts.mustBeOpen()
    return this.take(readDecoded(batch), batch.receivedAt / 1000, true)
  }

  /** Takes what waits for the end of the turn. */
  flush(): void {
    this.gathered.flush()
  }

  private receipt(
    { ip = null, userAgent = null, sender, attempt = null }: Pick<BatchFacts, 'ip' | 'userAgent' | 'sender' | 'attempt'>,
    receivedAt = this.now(),
  ) {
    const { anonymizeIps, timezone = 'UTC' } = this.parts.settings()
    const visitors = {
      project: this.parts.projectId,
      timezone,
      salts: this.salts,
      sender: sender ?? { address: ip, userAgent },
      receivedAt: receivedAt * 1000,
    }
    return { receivedAt, ip, anonymizeIps, visitors, newUuid: attempt === null ? this.newUuid : uuidsOfAttempt(attempt) }
  }

  private async take(batch: DecodedBatch, receivedAt: number, countsDuplicates: boolean): Promise<IngestAnswer> {
    if (batch.events.length === 0) return noEvents
    const handed = await this.acceptEvents(batch, receivedAt)
    return answerOf(batch.events, countsDuplicates || batch.isHistorical ? await handed.duplicates() : 0)
  }

  /** Each request gets its own answer. */
  private async takeTogether(requests: readonly GatheredRequest<IngestAnswer>[]): Promise<void> {
    try {
      const receivedAt = this.now()
      const parts = requests.map(({ events, facts }) => ({ events, facts, receipt: this.receipt(facts, receivedAt) }))
      const { batch, outcomes } = decodeTogether(parts)
      for (const [i, { answer }] of requests.entries()) {
        const outcome = outcomes[i]!
        if ('error' in outcome) answer.reject(outcome.error)
        else if (outcome.from === outcome.to) answer.resolve(noEvents)
      }
      if (batch.events.length === 0) return
      await this.acceptEvents(batch, receivedAt)
      for (const [i, { answer }] of requests.entries()) {
        const outcome = outcomes[i]!
        if ('from' in outcome) answer.resolve(answerOf(batch.events.slice(outcome.from, outcome.to), 0))
      }
    } catch (error) {
      for (const { answer } of requests) answer.reject(error)
    }
  }

  private acceptEvents({ events, payloads, sentAt, isHistorical, importId, uuids }: DecodedBatch, receivedAt: number): Promise<H> {
    const ip = null // it is in the properties, unless the project discards addresses
    const records: LogRecords = {
      kind: 'event',
      receivedAt,
      sentAt,
      historical: isHistorical,
      ip,
      ...(importId !== undefined && { importId }),
      uuids,
      payloads,
    }
    return this.accept(records, { kind: 'event', events, bytes: payloads.bytes, duplicates: new Set() })
  }

  /** Resolves when the records are durable; for past events, when their duplicates are known too. */
  accept(records: LogRecords, content: Content): Promise<H> {
    this.flush() // what arrived before must not be overtaken
    const { receivedAt, sentAt, historical: isHistorical, importId, payloads } = records
    const { log, backpressure, mustBeOpen, handOver } = this.parts
    const bytes = payloads.byteLength
    return backpressure.admit(bytes, isHistorical, async () => {
      mustBeOpen()
      const entering = log.append(records).then(({ firstSeq }) =>
        handOver({
          firstSeq,
          count: payloads.length,
          receivedAt: receivedAt * 1000,
          sentAt,
          isHistorical,
          ...(importId !== undefined && { importId }),
          bytes,
          content,
        }),
      )
      this.entering.add(entering)
      const handed = await entering.finally(() => this.entering.delete(entering))
      if (isHistorical) await handed.duplicates()
      return handed
    })
  }

  /** Resolves when every batch that was handed to the log is in it or refused. */
  async settled(): Promise<void> {
    await Promise.allSettled(this.entering)
  }

  now(): number {
    return this.parts.clock().getTime()
  }
}
