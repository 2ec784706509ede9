import type { SlotUse } from '../../../events/ingestion/ports.ts'
import type { SlotKind } from '../../../language/catalog/slots.ts'
import { numberText } from '../../../language/types/property-values.ts'

// The engine computes the value of a slot from the JSON text, for new and for old rows alike, so a slot always equals a read of the
// JSON.

const fromText: Readonly<Record<SlotKind, (text: string) => string>> = {
  text: (text) => text,
  number: (text) => {
    const number = `TRY_CAST(${text} AS DOUBLE)`
    return `CASE WHEN regexp_full_match(${text}, '${numberText}') AND isfinite(${number}) THEN ${number} END`
  },
  boolean: (text) => `CASE ${text} WHEN 'true' THEN true WHEN 'false' THEN false END`,
}

const literal = (text: string): string => `'${text.replaceAll("'", "''")}'`
export const pointer = (key: string): string => `/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`

/** The texts of all slots, extracted from the JSON at once: a list in the order of `slots`. */
export const slotTexts = (slots: readonly SlotUse[], json: string): string =>
  `json_extract_string(${json}, [${slots.map((slot) => literal(pointer(slot.key))).join(', ')}])`

/** The value of slot `i`, from `slotTexts(slots, …)` under the name `texts`. */
export const slotValue = (slots: readonly SlotUse[], i: number, texts: string): string => fromText[slots[i]!.kind](`${texts}[${i + 1}]`)
