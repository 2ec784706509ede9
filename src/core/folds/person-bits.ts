import type { EventBits, Matching } from './fold.ts'

/** The bits that any event may meet. */
export const anyBits = ({ byEvent, others }: Pick<EventBits, 'byEvent' | 'others'>): number =>
  byEvent.reduce((all, bits) => all | bits, others)

/** The bits that any event of a person may meet. */
export function personBits({ flags }: EventBits, person: number): number {
  let bits = -1
  for (const flag of flags) if (flag.of === 'person' && flag.column.values[person] !== 1) bits &= ~flag.bits
  return bits
}

/** Columns whose value has to be 1 for any bit. Null: there are others, which decide about some bits only. */
export function columnsForAll({ bits }: Matching): Uint8Array[] | null {
  const any = anyBits(bits)
  const columns: Uint8Array[] = []
  for (const { of, bits: flagged, column } of bits.flags) {
    if (of === 'person') continue
    if ((any & ~flagged) !== 0 || !(column.values instanceof Uint8Array)) return null
    columns.push(column.values)
  }
  return columns
}

export const bitsOfName = ({ byEvent, others }: EventBits, name: number): number => (name < byEvent.length ? byEvent[name]! : others)

/** The bits of all names that may meet any, where they are the same; 0: they are not. */
export function onlyMask({ byEvent, others }: Pick<EventBits, 'byEvent' | 'others'>): number {
  const any = anyBits({ byEvent, others })
  return others === any || others === 0 ? (byEvent.every((mask) => mask === 0 || mask === any) ? any : 0) : 0
}
