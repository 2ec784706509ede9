/** One array after the other. */
export function joined<V extends Uint8Array | Int32Array | Float64Array>(parts: readonly V[]): V {
  if (parts.length === 1) return parts[0]!
  const all = new (parts[0]!.constructor as new (length: number) => V)(parts.reduce((sum, part) => sum + part.length, 0))
  let at = 0
  for (const part of parts) {
    all.set(part, at)
    at += part.length
  }
  return all
}
