// Answers that are sent again keep their JSON text, beside the object from which other formats are made.

const known = new WeakMap<object, string>()

export const rememberText = <T extends object>(body: T, text: string): T => {
  known.set(body, text)
  return body
}

const plain = (_: string, value: unknown) =>
  typeof value === 'bigint' ? (Number.isSafeInteger(Number(value)) ? Number(value) : String(value)) : value

/** A replacer function called for each value is slow, and few answers contain integers that JSON cannot represent. */
const written = (body: unknown): string => {
  try {
    return JSON.stringify(body)
  } catch (error) {
    if (error instanceof RangeError) throw error // no text can be that long
    return JSON.stringify(body, plain)
  }
}

export const jsonText = (body: unknown): string =>
  (typeof body === 'object' && body !== null ? known.get(body) : undefined) ?? written(body)
