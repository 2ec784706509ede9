import { readPayloads } from './decode-batch.ts'
import type { LogRecords } from './ports.ts'
import type { Content, GroupImport, PersonChange, PersonImport, PropertyTypeRow, RecordWrite, Work } from './work.ts'

const contentOf = (batch: LogRecords): Content => {
  const rows = <T>() => batch.payloads.map((payload) => JSON.parse(payload) as T)
  switch (batch.kind) {
    case 'event': {
      const { events, payloads } = readPayloads(batch.payloads, batch.uuids, {
        receivedAt: batch.receivedAt,
        sentAt: batch.sentAt,
        isHistorical: batch.historical,
      })
      return { kind: 'event', events, bytes: payloads.bytes, duplicates: new Set() }
    }
    case 'persons':
      return { kind: 'persons', persons: rows<PersonImport>() }
    case 'groups':
      return { kind: 'groups', groups: rows<GroupImport>() }
    case 'property_types':
      return { kind: 'property_types', types: rows<PropertyTypeRow>() }
    case 'records':
      return { kind: 'records', records: rows<RecordWrite>() }
    case 'person_changes':
      return { kind: 'person_changes', changes: rows<PersonChange>() }
  }
}

/** Converts a batch of the log back to what it was on arrival. */
export const readWork = (batch: LogRecords & { readonly firstSeq: number }): Work => ({
  firstSeq: batch.firstSeq,
  count: batch.payloads.length,
  receivedAt: batch.receivedAt * 1000,
  sentAt: batch.sentAt,
  isHistorical: batch.historical,
  bytes: batch.payloads.byteLength,
  content: contentOf(batch),
})
