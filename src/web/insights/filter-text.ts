import { readableProperty } from '../../service/pictures/readable.ts'
import { isWithoutValue, operatorText } from './choices.ts'
import type { Filter } from './query.ts'

// What a filter asks, as people say it.

/** Values of a filter that are named. */
const mostValues = 3

const quoted = (value: unknown): string => (typeof value === 'string' ? `“${value}”` : String(value))
function valuesText(value: unknown): string {
  const all = Array.isArray(value) ? value : [value]
  const named = all.slice(0, mostValues).map(quoted)
  if (all.length > mostValues) return `${named.join(', ')} or ${all.length - mostValues} more`
  return named.length > 1 ? `${named.slice(0, -1).join(', ')} or ${named.at(-1)}` : named.join('')
}

export type CohortName = (id: unknown) => string

/** `Country is “DE” or “AT”`; empty: it asks nothing. */
export function filterText(filter: Filter, cohortName: CohortName): string {
  if (filter.type === 'cohort') return `${filter.operator === 'not_in' ? 'not in' : 'in'} ${cohortName(filter.value)}`
  if (filter.type === 'hogql') return filter.key
  const name = readableProperty(filter.key)
  if (isWithoutValue(filter.operator)) return `${name} ${operatorText(filter.operator)}`
  if (Array.isArray(filter.value) && filter.value.length === 0) return ''
  if (/between$/.test(filter.operator) && Array.isArray(filter.value))
    return `${name} ${operatorText(filter.operator)} ${quoted(filter.value[0])} and ${quoted(filter.value[1])}`
  return `${name} ${operatorText(filter.operator ?? 'exact')} ${valuesText(filter.value)}`
}
