// Property columns come from a pool that is created with the table: DDL in the ingest path would go through DuckDB's write-ahead log.

/** What a slot holds of every value of its property: the text, or the number or truth value where the value is one. */
export type SlotKind = 'text' | 'number' | 'boolean'

export const slotPools: Readonly<Record<SlotKind, { readonly prefix: string; readonly count: number }>> = {
  text: { prefix: 's', count: 32 },
  number: { prefix: 'n', count: 16 },
  boolean: { prefix: 'b', count: 8 },
}

export const slotNames = (kind: SlotKind): readonly string[] =>
  Array.from({ length: slotPools[kind].count }, (_, i) => `${slotPools[kind].prefix}${i + 1}`)
