import { failures } from '../errors.ts'
import { FormError, multipartFields, urlEncodedFields } from './form-fields.ts'
import type { RequestBodies } from './request-bodies.ts'

export const largestBody = 10 * 1024 * 1024

/** The maximum nesting: more than real bodies have, and safe for recursive functions. */
export const maxLevels = 200
/** A parsed value takes many times the memory of its text. */
export const maxValues = 500_000
const [quote, backslash, comma] = [0x22, 0x5c, 0x2c]
const isOpening = (byte: number) => byte === 0x5b || byte === 0x7b
const isClosing = (byte: number) => byte === 0x5d || byte === 0x7d

/** The measures of a JSON text that would make it too large to parse. */
const excessOf = (bytes: Uint8Array): string | null => {
  if (bytes.byteLength <= 2 * maxLevels) return null
  let depth = 0
  let values = 1
  let isInText = false
  for (let i = 0; i < bytes.length; i++) {
    const byte = bytes[i]!
    if (isInText) {
      if (byte === backslash) i++
      else if (byte === quote) isInText = false
    } else if (byte === quote) isInText = true
    else if (isOpening(byte)) {
      values++
      if (++depth > maxLevels) return `nested more than ${maxLevels} levels deep`
    } else if (isClosing(byte)) depth--
    else if (byte === comma) values++
  }
  return values > maxValues ? `more than ${maxValues} values` : null
}

const strictUtf8 = new TextDecoder('utf-8', { fatal: true })
const parseJson = (bytes: Uint8Array): unknown => {
  const excess = excessOf(bytes)
  if (excess !== null) throw failures.parse(`JSON parse error - ${excess}`)
  try {
    return JSON.parse(strictUtf8.decode(bytes))
  } catch (error) {
    throw failures.parse(`JSON parse error - ${error instanceof Error ? error.message : String(error)}`)
  }
}

export interface BodyForms {
  /** Bytes. */
  readonly mostBody?: number
  readonly takesCsv?: boolean
  readonly takesFiles?: boolean
}

/** `add_attachment[key]` */
const keyed = /^(\w{1,64})\[([^[\]]{1,200})\]$/

const withKeys = (fields: readonly (readonly [string, unknown])[]): Record<string, unknown> => {
  const body = new Map<string, unknown>()
  for (const [name, value] of fields) {
    const [, field, key] = keyed.exec(name) ?? []
    if (field === undefined) body.set(name, value)
    else body.set(field, { ...(body.get(field) as object | undefined), [key!]: value })
  }
  return Object.fromEntries(body)
}

const uploaded = async (file: File) => ({
  name: file.name,
  type: file.type,
  contents: Buffer.from(await file.arrayBuffer()).toString('base64'),
})

const parseForm = async (bytes: Uint8Array, type: string, { takesCsv, takesFiles }: BodyForms): Promise<unknown> => {
  try {
    const isMultipart = type.toLowerCase().startsWith('multipart/form-data')
    const form = isMultipart ? await multipartFields(bytes, type) : urlEncodedFields(new TextDecoder().decode(bytes))
    const fields: [string, unknown][] = []
    for (const [name, value] of form) {
      if (typeof value === 'string') fields.push([name, value])
      else if (takesFiles) fields.push([name, await uploaded(value)])
      else if (takesCsv) fields.push([name, await value.text()])
    }
    return takesFiles ? withKeys(fields) : Object.fromEntries(fields)
  } catch (error) {
    throw failures.parse(error instanceof FormError ? `Invalid form body: ${error.message}.` : 'Invalid form body.')
  }
}

/** Reads a body once, at its first use. An empty body is an empty object. */
export const lazyBody = (request: Request, intake: RequestBodies, forms: BodyForms = {}): (() => Promise<unknown>) => {
  let read: Promise<unknown> | undefined
  const load = async (): Promise<unknown> => {
    const body = await intake.read(request, forms.mostBody ?? largestBody, failures.tooLarge)
    try {
      return await parse(body.bytes)
    } finally {
      body.release()
    }
  }
  const parse = async (bytes: Uint8Array): Promise<unknown> => {
    const type = request.headers.get('content-type') ?? 'application/json'
    const media = type.split(';', 1)[0]!.trim().toLowerCase()
    if (bytes.byteLength === 0) return {}
    if (media === 'application/x-www-form-urlencoded' || media === 'multipart/form-data') return parseForm(bytes, type, forms)
    if (forms.takesCsv && media === 'text/csv') return { csv: new TextDecoder().decode(bytes) }
    // Unlabelled texts are parsed as JSON: browsers send `text/plain` without a preflight request.
    if (media === '' || media === 'text/plain' || media === 'application/json' || media.endsWith('+json')) return parseJson(bytes)
    throw failures.wrongMedia(media)
  }
  return () => {
    read ??= load()
    return read
  }
}
