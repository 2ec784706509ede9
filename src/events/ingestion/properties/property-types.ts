import { type ValueType, valueTypes } from '../../../language/catalog/property-counts.ts'
import { numberText, timeText } from '../../../language/types/property-values.ts'

export type PropertyType = Exclude<ValueType, 'Other' | 'NumericString'>

export const propertyTypes: readonly PropertyType[] = ['Numeric', 'String', 'Boolean', 'DateTime']

const [numeric, string, boolean, dateTime, other, numericString] = valueTypes.map((_, i) => i) as [
  number,
  number,
  number,
  number,
  number,
  number,
]
const isTime = new RegExp(`^${timeText}$`)
const isNumber = new RegExp(`^(?:${numberText})$`)

const minus = 45
/** In ASCII, digits, signs and the point come before all letters. */
const mayBeNumber = (first: number): boolean => first >= 43 && first <= 57

function typeOfText(text: string): number {
  const { length } = text
  if (length >= 10 && length <= 40 && text.charCodeAt(4) === minus && isTime.test(text)) return dateTime
  return length > 0 && mayBeNumber(text.charCodeAt(0)) && isNumber.test(text) && Number.isFinite(Number(text)) ? numericString : string
}

/** Index into `valueTypes` of the JSON type of the value, or -1 for a missing value (null, absent). */
export function valueTypeOf(value: unknown): number {
  switch (typeof value) {
    case 'number':
      return Number.isFinite(value) ? numeric : -1
    case 'string':
      return typeOfText(value)
    case 'boolean':
      return boolean
    case 'object':
      if (value === null) return -1
      if (value instanceof Number || value instanceof String || value instanceof Boolean) return valueTypeOf(value.valueOf())
      return 'toJSON' in value && typeof value.toJSON === 'function' ? valueTypeOf(value.toJSON('')) : other
    default:
      return -1
  }
}
