import { failures } from './errors.ts'

export const largestBody = 10 * 1024 * 1024

/** All bytes of a body that stays under the limit, however it is announced. */
const readAll = async (request: Request): Promise<Uint8Array> => {
  const declared = request.headers.get('content-length')
  if (Number(declared ?? 0) > largestBody) throw failures.tooLarge()
  // As a whole where its length is known: passing it through a stream of the web costs more than reading it.
  if (declared !== null) {
    const whole = new Uint8Array(await request.arrayBuffer())
    if (whole.byteLength > largestBody) throw failures.tooLarge()
    return whole
  }
  if (!request.body) return new Uint8Array()
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of request.body as unknown as AsyncIterable<Uint8Array>) {
    size += chunk.byteLength
    if (size > largestBody) throw failures.tooLarge()
    chunks.push(chunk)
  }
  return chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks)
}

/** More levels than anybody writes, and few enough for whatever calls itself for each of them. */
const mostLevels = 200
const quote = 0x22
const backslash = 0x5c
const isOpening = (byte: number) => byte === 0x5b || byte === 0x7b
const isClosing = (byte: number) => byte === 0x5d || byte === 0x7d

/** Whether JSON has too many lists and objects within each other. */
const isTooDeep = (bytes: Uint8Array): boolean => {
  if (bytes.byteLength <= 2 * mostLevels) return false
  let depth = 0
  let isInText = false
  for (let i = 0; i < bytes.length; i++) {
    const byte = bytes[i]!
    if (isInText) {
      if (byte === backslash) i++
      else if (byte === quote) isInText = false
    } else if (byte === quote) isInText = true
    else if (isOpening(byte)) {
      if (++depth > mostLevels) return true
    } else if (isClosing(byte)) depth--
  }
  return false
}

const strictUtf8 = new TextDecoder('utf-8', { fatal: true })
const parseJson = (bytes: Uint8Array): unknown => {
  if (isTooDeep(bytes)) throw failures.parse(`JSON parse error - nested more than ${mostLevels} levels deep`)
  try {
    return JSON.parse(strictUtf8.decode(bytes))
  } catch (error) {
    throw failures.parse(`JSON parse error - ${error instanceof Error ? error.message : String(error)}`)
  }
}

const parseForm = async (bytes: Uint8Array, type: string, takesFiles: boolean): Promise<unknown> => {
  try {
    const form = await new Response(new Uint8Array(bytes), { headers: { 'content-type': type } }).formData()
    const fields: [string, string][] = []
    for (const [name, value] of form) {
      if (typeof value === 'string') fields.push([name, value])
      else if (takesFiles) fields.push([name, await value.text()])
    }
    return Object.fromEntries(fields)
  } catch {
    throw failures.parse('The form cannot be read.')
  }
}

/** Reads a body once, when somebody first asks. An empty body is an empty object. */
export const lazyBody = (request: Request, takesCsv = false): (() => Promise<unknown>) => {
  let read: Promise<unknown> | undefined
  const load = async (): Promise<unknown> => {
    const bytes = await readAll(request)
    const type = request.headers.get('content-type') ?? 'application/json'
    const media = type.split(';', 1)[0]!.trim().toLowerCase()
    if (bytes.byteLength === 0) return {}
    if (media === 'application/x-www-form-urlencoded' || media === 'multipart/form-data') return parseForm(bytes, type, takesCsv)
    if (takesCsv && media === 'text/csv') return { csv: new TextDecoder().decode(bytes) }
    // Texts of unknown kind are tried as JSON: `text/plain` is what a browser sends without asking first.
    if (media === '' || media === 'text/plain' || media === 'application/json' || media.endsWith('+json')) return parseJson(bytes)
    throw failures.wrongMedia(media)
  }
  return () => {
    read ??= load()
    return read
  }
}
