import { clickhouseFlag, clickhouseMarked, clickhouseNumber, clickhouseNumberText } from '../../functions/values/property-values.ts'
import type { JsonRead } from '../../resolver/typed.ts'

/** The value at a path of a document. `bind` prints a text of the path. */
export function readJson(document: string, path: readonly (string | number)[], as: JsonRead, bind: (text: string) => string): string {
  const steps = path.map((step) => (typeof step === 'number' ? String(step) : bind(step))).join(', ')
  const at = `${document}, ${steps}`
  // Raw text keeps the quotes around strings, and escapes inside them.
  const string = `JSONExtractString(${at})`
  const whenOther = `nullIf(nullIf(JSONExtractRaw(${at}), ''), 'null')`
  if (as === 'value') return `if(JSONType(${at}) = 'String', ${clickhouseMarked(string)}, ${whenOther})`
  return madeOf(`if(JSONType(${at}) = 'String', ${string}, ${whenOther})`, 'text', as)
}

/** Converts a property from its stored form to the requested one. Other pairs do not occur. */
export function madeOf(value: string, holds: JsonRead, wanted: JsonRead): string {
  if (holds === wanted) return value
  if (wanted === 'number') return clickhouseNumber(value)
  if (wanted === 'boolean') return clickhouseFlag(value)
  return holds === 'number' ? clickhouseNumberText(value) : `transform(toUInt8(${value}), [1, 0], ['true', 'false'], NULL)`
}
