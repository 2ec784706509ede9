import type { Removal } from '../../../language/catalog/removals.ts'
import { readPayloads } from '../decoding/decode-batch.ts'
import type { LogRecords } from '../ports.ts'
import type { Content, GroupImport, PersonChange, PersonImport, PropertyTypeRow, RecordWrite, Work } from '../work.ts'

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
    case 'removals':
      return { kind: 'removals', removals: rows<Removal>() }
  }
}

/** Converts a batch of the log back to what it was on arrival, without the records that are set aside. */
export function readWork(batch: LogRecords & { readonly firstSeq: number }, aside: ReadonlySet<number> = new Set()): Work {
  const work = workOf(batch)
  const rows = new Set<number>()
  if (aside.size > 0) for (let i = 0; i < work.count; i++) if (aside.has(work.firstSeq + i)) rows.add(i)
  if (rows.size === 0) return work
  const { content } = work
  if (content.kind !== 'event') return { ...work, aside: rows }
  const events = content.events.map((event, i) => (rows.has(i) ? { ...event, isDropped: true, warnings: [] } : event))
  return { ...work, content: { ...content, events } }
}

const workOf = (batch: LogRecords & { readonly firstSeq: number }): Work => ({
  firstSeq: batch.firstSeq,
  count: batch.payloads.length,
  receivedAt: batch.receivedAt * 1000,
  sentAt: batch.sentAt,
  isHistorical: batch.historical,
  ...(batch.importId !== undefined && { importId: batch.importId }),
  bytes: batch.payloads.byteLength,
  content: contentOf(batch),
})
