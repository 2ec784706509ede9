import { isObject } from '../../lib/is-object.ts'
import type { AskedQuery } from '../../queries/asked-query.ts'
import type { AnswerWarning } from '../../queries/query-types.ts'

const says = (value: unknown): boolean =>
  Array.isArray(value) ? value.length > 0 : isObject(value) ? Object.values(value).some(says) : Boolean(value)

/** A statement uses its filters only at `{filters}`. */
export function unusedFilters({ query, filters }: AskedQuery): readonly AnswerWarning[] {
  if (!says(filters) || typeof query !== 'string' || /\{\s*filters\s*\}/.test(query)) return []
  const message = 'The statement has no {filters} placeholder, so the filters have no effect. Add it to the condition: WHERE {filters}.'
  return [{ code: 'unused-filters', message }]
}
