import { isObject } from '../../../lib/is-object.ts'
import { failures } from '../errors.ts'
import type { Visit } from '../resource.ts'

// Parameters of lists that are answered by queries.

const json = (text: string, name: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    throw failures.invalid(`${name} must be JSON.`, name)
  }
}

/** `properties`: filters as in queries, as JSON. `type`: of a filter that has none. */
export const givenFilters = ({ query }: Pick<Visit, 'query'>, type: 'event' | 'person'): unknown => {
  const text = query.get('properties')
  if (!text) return []
  const filters = json(text, 'properties')
  if (filters === null || typeof filters !== 'object') throw failures.invalid('properties must be a JSON list of filters.', 'properties')
  if (!Array.isArray(filters)) return filters
  return filters.map((one: unknown) => (isObject(one) && !('values' in one) ? { type, ...one } : one))
}

/** `orderBy`: a name, or a JSON list with one. */
export function givenOrder<K extends string>(
  { query }: Pick<Visit, 'query'>,
  known: Readonly<Record<K, string>>,
  byDefault: NoInfer<K>,
): K {
  const text = query.get('orderBy')
  if (!text) return byDefault
  const given = text.startsWith('[') ? json(text, 'orderBy') : [text]
  const [name] = Array.isArray(given) ? (given as readonly unknown[]) : []
  if (typeof name === 'string' && Object.hasOwn(known, name)) return name as K
  throw failures.invalid(`orderBy must be one of ${Object.keys(known).join(', ')}.`, 'orderBy')
}

/** A filter of persons. The uuids must have been checked. */
export const byUuids = (uuids: readonly string[]) => ({
  type: 'hogql',
  key: `toString(id) in (${uuids.map((uuid) => `'${uuid}'`).join(', ')})`,
})
