import type { Recipe, Rows } from '../imports/open.ts'
import type { ImportedEvent } from '../imports/record.ts'
import { type Counts, RowTaker } from '../imports/row-taker.ts'
import { isCookieless } from '../ingestion/cookieless/visitor.ts'
import { decodeEvents } from '../ingestion/decoding/decode-batch.ts'
import { type WireBatch, writeBatch } from '../ingestion/wire-batch.ts'

export type { WireBatch } from '../ingestion/wire-batch.ts'

/** What preparing needs to know of a project, besides the rows. */
export interface Preparing {
  /** Milliseconds. */
  readonly receivedAt: number
  readonly anonymizeIps: boolean
}

/** Consecutive rows of a file, ready for the log. Plain data: it crosses to another thread. */
export interface PreparedPart {
  readonly counts: Counts
  /** Null: there are no events, or they are in `events`. */
  readonly batch: WireBatch | null
  /** Events that only the project itself can prepare. */
  readonly events: readonly ImportedEvent[]
}

/** Visitors without cookies need salts, which do not leave the project. */
const needsSalts = ({ distinct_id, properties }: ImportedEvent): boolean => isCookieless(distinct_id, properties)

const neverNew = (): string => {
  throw new TypeError('Imported events have ids')
}

/** Rows up to `done` are only counted. */
export function preparePart(rows: Rows, recipe: Pick<Recipe, 'fingerprint'>, done: number, preparing: Preparing): PreparedPart {
  const taker = new RowTaker(recipe, done)
  for (const [i, converted] of rows.items.entries()) taker.take(converted, rows.first + i)
  const { events } = taker
  const batch = events.length === 0 || events.some(needsSalts) ? null : prepared(taker, preparing)
  return { counts: taker.takeCounts(), batch, events: batch || events.length === 0 ? [] : events }
}

/** Null: it failed, and the project itself is to find out why. */
function prepared(taker: RowTaker, { receivedAt, anonymizeIps }: Preparing): WireBatch | null {
  const refused: { readonly row: number; readonly problem: string }[] = []
  const receipt = { receivedAt, ip: null, anonymizeIps, newUuid: neverNew }
  try {
    const { events, payloads } = decodeEvents(taker.events, receipt, {
      isHistorical: true,
      onRefused: (_, { data: { index, message: problem } }) => refused.push({ row: taker.rowOf(index ?? 0), problem }),
    })
    const content = { kind: 'event', events, bytes: payloads.bytes, duplicates: new Set<number>() } as const
    const batch = writeBatch({
      firstSeq: 0,
      count: events.length,
      receivedAt: receivedAt * 1000,
      sentAt: null,
      isHistorical: true,
      bytes: payloads.byteLength,
      content,
    })
    for (const { row, problem } of refused) taker.refuse(row, problem)
    return batch
  } catch {
    return null
  }
}
