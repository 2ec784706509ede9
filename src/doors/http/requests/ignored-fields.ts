import * as z from 'zod'
import { isObject } from '../../../lib/is-object.ts'
import { likelyName } from '../../../lib/text/likely-name.ts'
import type { Row } from '../resource.ts'

/** Finds the fields of a body that the record does not have. */
export const ignoredFieldsHeader = 'x-ignored-fields'

/** Allowed in any body, and not part of the record. */
const besideRecords: readonly string[] = ['csrfmiddlewaretoken', 'personal_api_key']

/** Maximum number of names. */
export const maxNames = 10
const longestName = 80

const shapeOf = (schema: z.ZodType | null): readonly string[] => {
  if (schema instanceof z.ZodArray) return shapeOf(schema.element as z.ZodType)
  return schema instanceof z.ZodObject ? Object.keys(schema.shape) : []
}

interface Known {
  readonly written: readonly string[]
  readonly all: ReadonlySet<string>
}
const knownOf = new WeakMap<Row, Known>()

/** Read-only fields may be sent back, so that a record can be written as it was read. */
function fieldsOf(row: Row): Known {
  const before = knownOf.get(row)
  if (before) return before
  const written = shapeOf(row.body)
  const known = { written, all: new Set([...written, ...shapeOf(row.answer), ...besideRecords]) }
  knownOf.set(row, known)
  return known
}

const encoded = (text: string): string =>
  text.replace(/[^\w.$-]+/g, (odd) =>
    encodeURIComponent(odd).replace(/[!'()*~]/g, (one) => `%${one.charCodeAt(0).toString(16).toUpperCase()}`),
  )

/** Encoded for a header: percent-encoded except letters, digits and `_.$-`. */
const shown = (name: string): string => {
  if (name === '') return '""'
  const whole = encoded(name.slice(0, longestName).replace(/\p{Surrogate}/gu, '\uFFFD'))
  const kept = whole.slice(0, longestName).replace(/%[0-9A-F]?$/, '')
  return name.length > longestName || kept !== whole ? `${kept}...` : whole
}

/**
 * The value of the header for a body with fields that the record does not have: `nme (name?), tile`.
 * Routes without a schema check their bodies themselves, and the query endpoint refuses such fields.
 */
export function ignoredFields(row: Row, body: unknown): string | null {
  if (row.body === null || row.name.startsWith('query.')) return null
  const { written, all } = fieldsOf(row)
  const items = row.body instanceof z.ZodArray && Array.isArray(body) ? body : [body]
  const strange = [...new Set(items.flatMap((item) => (isObject(item) ? Object.keys(item).filter((name) => !all.has(name)) : [])))]
  if (strange.length === 0) return null
  const named = strange.slice(0, maxNames).map((name) => {
    const likely = likelyName(name, written)
    return likely === undefined ? shown(name) : `${shown(name)} (${likely}?)`
  })
  const more = strange.length - named.length
  return named.join(', ') + (more > 0 ? ` and ${more} more` : '')
}
