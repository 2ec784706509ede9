import type { GroupTypeAnswer } from '../../doors/answers/groups.ts'
import { capital } from '../lib/format.ts'

export type Properties = Readonly<Record<string, unknown>>

export const pluralOf = ({ group_type, name_plural }: GroupTypeAnswer): string => name_plural || `${capital(group_type)} groups`
export const singularOf = ({ group_type, name_singular }: GroupTypeAnswer): string => name_singular || capital(group_type)

export const shownValue = (value: unknown): string => (typeof value === 'string' ? value : value === undefined ? '' : JSON.stringify(value))

/** Those of the product first, then those that client libraries set. */
export const sorted = (properties: Properties) =>
  Object.entries(properties).sort(([a], [b]) => (a.startsWith('$') === b.startsWith('$') ? a.localeCompare(b) : a.startsWith('$') ? 1 : -1))
