/** An own property by an external name: every object inherits `constructor` and the like. */
export const own = <V>(record: Readonly<Record<string, V>>, name: string): V | undefined =>
  Object.hasOwn(record, name) ? record[name] : undefined

/** Assigning to `__proto__` would change the prototype instead of storing a value. */
export const setOwn = <V>(record: Record<string, V>, name: string, value: NoInfer<V>): void => {
  if (name === '__proto__') Object.defineProperty(record, name, { value, writable: true, enumerable: true, configurable: true })
  else record[name] = value
}
