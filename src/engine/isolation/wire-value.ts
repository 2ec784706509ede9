import { readError, type WireError, writeError } from './wire-error.ts'

// Services return data that may contain errors, which keep their class on the way.

const errorKey = '$error'

const isPlain = (value: unknown): value is Record<string, unknown> =>
  value !== null && typeof value === 'object' && [Object.prototype, null].includes(Object.getPrototypeOf(value))

function changed(value: unknown, change: (value: unknown) => unknown): unknown {
  const own = change(value)
  if (own !== undefined) return own
  if (Array.isArray(value)) return value.map((one) => changed(one, change))
  if (value instanceof Map) return new Map([...value].map(([key, one]) => [key, changed(one, change)]))
  if (isPlain(value)) return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, changed(one, change)]))
  return value
}

export const writeValue = (value: unknown): unknown =>
  changed(value, (one) => (one instanceof Error ? { [errorKey]: writeError(one) } : undefined))

export const readValue = (value: unknown): unknown =>
  changed(value, (one) => (isPlain(one) && errorKey in one ? readError(one[errorKey] as WireError) : undefined))
