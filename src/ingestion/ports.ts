import type { Texts } from '../lib/texts.ts'

/** What ingestion asks of a project's log. `storage/log` fills it. */
export interface IngestLog {
  /** Resolves when the batch is durable. */
  append(batch: LogRecords): Promise<{ firstSeq: number }>
  read(fromSeq: number): AsyncIterable<LogRecords & { readonly firstSeq: number }>
  readonly lastSeq: number
  markApplied(seq: number): void
}

export interface LogRecords {
  readonly kind: 'event' | 'persons' | 'groups' | 'property_types' | 'records'
  /** Milliseconds. */
  readonly receivedAt: number
  readonly sentAt: string | null
  readonly historical: boolean
  readonly ip: string | null
  readonly uuids: readonly string[]
  readonly payloads: Texts
}
