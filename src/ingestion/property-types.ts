/** What a property's values are taken for. The order is the order of the counters in the store. */
export const valueTypes = ['Numeric', 'String', 'Boolean', 'DateTime', 'Other'] as const
export type ValueType = (typeof valueTypes)[number]
export type PropertyType = Exclude<ValueType, 'Other'>

export const propertyTypes: readonly PropertyType[] = ['Numeric', 'String', 'Boolean', 'DateTime']

const dateTime = /^\d{4}-[01]\d-[0-3]\d(?:[T ][0-2]\d:[0-5]\d(?::[0-5]\d(?:\.\d{1,9})?)?(?:Z|[+-][0-2]\d:?[0-5]\d)?)?$/

/** Index into `valueTypes`, or -1 for a value that says nothing (null, absent). Texts of digits stay texts: a postcode is not a number. */
export function valueTypeOf(value: unknown): number {
  switch (typeof value) {
    case 'number':
      return Number.isFinite(value) ? 0 : -1
    case 'string':
      return value.length >= 10 && value.length <= 40 && value.charCodeAt(4) === 45 && dateTime.test(value) ? 3 : 1
    case 'boolean':
      return 2
    case 'object':
      return value === null ? -1 : value instanceof Date ? 3 : 4
    default:
      return -1
  }
}
