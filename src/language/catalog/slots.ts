// Slots come from a pool that is created with the table: DDL during ingestion would go through DuckDB's write-ahead log.

/** The form in which a slot stores every value: as text; or as a number or Boolean if the value is one. */
export type SlotKind = 'text' | 'number' | 'boolean'

export const slotPools: Readonly<Record<SlotKind, { readonly prefix: string; readonly count: number }>> = {
  text: { prefix: 's', count: 32 },
  number: { prefix: 'n', count: 16 },
  boolean: { prefix: 'b', count: 8 },
}

const kindsByPrefix = new Map((Object.keys(slotPools) as SlotKind[]).map((kind) => [slotPools[kind].prefix, kind]))
export const kindOfSlot = (column: string): SlotKind => kindsByPrefix.get(column[0]!)!

export const slotNames = (kind: SlotKind): readonly string[] =>
  Array.from({ length: slotPools[kind].count }, (_, i) => `${slotPools[kind].prefix}${i + 1}`)
