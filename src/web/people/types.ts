export type Properties = Readonly<Record<string, unknown>>

export interface Person {
  readonly uuid: string
  readonly name: string
  readonly distinct_ids: readonly string[]
  readonly properties: Properties
  readonly created_at: string
  readonly is_identified: boolean
}
export interface GroupType {
  readonly group_type: string
  readonly group_type_index: number
  readonly name_singular: string | null
  readonly name_plural: string | null
}
export interface Group {
  readonly group_type_index: number
  readonly group_key: string
  readonly group_properties: Properties
  readonly created_at: string
}

const capital = (text: string) => text.charAt(0).toUpperCase() + text.slice(1)
export const pluralOf = ({ group_type, name_plural }: GroupType): string => name_plural || `${capital(group_type)} groups`
export const singularOf = ({ group_type, name_singular }: GroupType): string => name_singular || capital(group_type)

export const shownValue = (value: unknown): string => (typeof value === 'string' ? value : value === undefined ? '' : JSON.stringify(value))

/** Those of the product first, then those that client libraries set. */
export const sorted = (properties: Properties) =>
  Object.entries(properties).sort(([a], [b]) => (a.startsWith('$') === b.startsWith('$') ? a.localeCompare(b) : a.startsWith('$') ? 1 : -1))
