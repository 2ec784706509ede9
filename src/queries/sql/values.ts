/** Why a value cannot be used in a statement. Supported are JSON values, times, and integers of any size. */
export function mistakeOfValue(value: unknown): string | null {
  if (value === undefined) return 'undefined; pass null for a missing value'
  if (typeof value === 'function' || typeof value === 'symbol') return `a ${typeof value}`
  if (typeof value === 'number' && !Number.isFinite(value)) return `${value}, which JSON cannot represent`
  if (value instanceof Date && Number.isNaN(value.getTime())) return 'an invalid Date'
  if (value instanceof Map || value instanceof Set) return `a ${value.constructor.name}; pass an array or an object`
  return null
}

/** A time as text, and a BigInt as a number if that is exact. */
export const shown = (value: unknown): unknown => {
  if (value instanceof Date) return value.toISOString()
  return typeof value === 'bigint' && Number.isSafeInteger(Number(value)) ? Number(value) : value
}
