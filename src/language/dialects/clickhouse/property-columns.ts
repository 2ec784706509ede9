import { createHash } from 'node:crypto'
import { type SlotKind, slotPools } from '../../catalog/slots.ts'
import { readJson } from './json.ts'

// Slots on a server: the table of events has a column for each property that a project asks for one, and the server itself computes it from the JSON. So a
// column is right for the rows of all projects, and for rows that are older than it.

export interface PropertyColumn {
  readonly name: string
  /** `Nullable(String)` and the like. */
  readonly type: string
  /** Of the table of events. */
  readonly expression: string
}

const types: Readonly<Record<SlotKind, string>> = { text: 'Nullable(String)', number: 'Nullable(Float64)', boolean: 'Nullable(Bool)' }
const hashLength = 16

/** As slots of a file, it begins with the letter of its kind. */
export function propertyColumn(key: string, kind: SlotKind, literal: (text: string) => string): PropertyColumn {
  const hash = createHash('sha256').update(key).digest('hex').slice(0, hashLength)
  return {
    name: `${slotPools[kind].prefix}_${hash}`,
    type: types[kind],
    expression: readJson('properties', [key], kind, literal),
  }
}
