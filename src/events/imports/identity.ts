import type { ImportedEvent } from './record.ts'

// Every row has an id of its own that is the same in each import, from any program.

/** The UUIDv5 namespace of the ids of rows. */
export const idNamespace = '7b2f0c1e-5d0a-5f3e-9c36-6a1f0f5a7e11'

export interface RowPlace {
  readonly fingerprint: string
  readonly row: number
  /** Among the events of the row. */
  readonly index: number
}

/** `name`: what its id is computed from; null: it has its id already. */
export function identified(event: ImportedEvent, { fingerprint, row, index }: RowPlace): { event: ImportedEvent; name: string | null } {
  if (event.uuid !== undefined && event.source_id === undefined) return { event, name: null }
  const { source_id: sourceId, ...rest } = event
  const plain = rest as unknown as ImportedEvent
  if (event.uuid !== undefined) return { event: plain, name: null }
  if (typeof sourceId !== 'string') return { event: plain, name: `${fingerprint}\n${row}\n${index}` }
  return uuidShape.test(sourceId) ? { event: { ...plain, uuid: sourceId.toLowerCase() }, name: null } : { event: plain, name: sourceId }
}
const uuidShape = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i
