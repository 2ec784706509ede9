import { timeOrderedUuids } from '../../lib/ids/time-ordered-uuid.ts'
import type { Backpressure } from './applying/backpressure.ts'
import { DailySalts, type Salts } from './cookieless/salts.ts'
import { type BatchFacts, type DecodedBatch, decodeEvents, decodeInTurns, decodePast, readBody } from './decoding/decode-batch.ts'
import type { EventSource } from './decoding/event-source.ts'
import type { IngestLog, LogRecords } from './ports.ts'
import type { Warning } from './warnings.ts'
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

/** Entry point of batches: validates and prepares events, applies backpressure, and acknowledges them when the log has them. */
export class Intake<H extends Handed = Handed> {
  private readonly parts: Parts<H>
  /** Batches being written to the log. */
  private readonly entering = new Set<Promise<unknown>>()
  readonly newUuid: () => string
  private readonly salts: Salts

  constructor(parts: Parts<H>) {
    this.parts = parts
    this.newUuid = timeOrderedUuids(parts.clock)
    this.salts = parts.salts ?? new DailySalts(parts.clock)
  }

  /** Takes the body of `POST /batch/` without the key. */
  async ingest(body: unknown, about: Pick<BatchFacts, 'ip' | 'userAgent' | 'sentAt'> = {}): Promise<IngestAnswer> {
    this.parts.mustBeOpen()
    const receipt = this.receipt(about)
    const { events, facts } = readBody(body, about)
    const batch = facts.isHistorical ? await decodePast(events, receipt, facts) : decodeEvents(events, receipt, facts)
    return this.take(batch, receipt.receivedAt, true)
  }

  /** The same for events that are parsed while they are prepared; yields to the event loop in between. */
  async ingestEvents(events: EventSource, facts: BatchFacts): Promise<IngestAnswer> {
    this.parts.mustBeOpen()
    const receipt = this.receipt(facts)
    return this.take(await decodeInTurns(events, receipt, facts), receipt.receivedAt, facts.countsDuplicates === true)
  }

  private receipt({ ip = null, userAgent = null, sender }: Pick<BatchFacts, 'ip' | 'userAgent' | 'sender'>) {
    const { anonymizeIps, timezone = 'UTC' } = this.parts.settings()
    const receivedAt = this.now()
    const visitors = {
      project: this.parts.projectId,
      timezone,
      salts: this.salts,
      sender: sender ?? { address: ip, userAgent },
      receivedAt: receivedAt * 1000,
    }
    return { receivedAt, ip, anonymizeIps, visitors, newUuid: this.newUuid }
  }

  private async take(batch: DecodedBatch, receivedAt: number, countsDuplicates: boolean): Promise<IngestAnswer> {
    const { events } = batch
    const dropped = events.filter((event) => event.isDropped).length
    if (events.length === 0) return { accepted: 0, duplicates: 0, dropped: 0, warnings: [] }

    const records: LogRecords = {
      kind: 'event',
      receivedAt,
      sentAt: batch.sentAt,
      historical: batch.isHistorical,
      ip: null, // it is in the properties, unless the project discards addresses
      uuids: batch.uuids,
      payloads: batch.payloads,
    }
    const handed = await this.accept(records, { kind: 'event', events, bytes: batch.payloads.bytes, duplicates: new Set() })
    const duplicates = countsDuplicates || batch.isHistorical ? await handed.duplicates() : 0
    return {
      accepted: events.length - dropped - duplicates,
      duplicates,
      dropped,
      warnings: events.flatMap((event) => event.warnings),
    }
  }

  /** Resolves when the records are durable; for past events, when their duplicates are known too. */
  accept(records: LogRecords, content: Content): Promise<H> {
    const { receivedAt, sentAt, historical: isHistorical, payloads } = records
    const { log, backpressure, mustBeOpen, handOver } = this.parts
    const bytes = payloads.byteLength
    return backpressure.admit(bytes, isHistorical, async () => {
      mustBeOpen()
      const entering = log
        .append(records)
        .then(({ firstSeq }) =>
          handOver({ firstSeq, count: payloads.length, receivedAt: receivedAt * 1000, sentAt, isHistorical, bytes, content }),
        )
      this.entering.add(entering)
      const handed = await entering.finally(() => this.entering.delete(entering))
      if (isHistorical) await handed.duplicates()
      return handed
    })
  }

  /** Resolves when every batch in flight is in the log or refused. */
  async settled(): Promise<void> {
    await Promise.allSettled(this.entering)
  }

  now(): number {
    return this.parts.clock().getTime()
  }
}
