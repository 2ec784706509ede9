import type { Filter } from '../insights/query.ts'

// The filters of a query: a list, or groups of lists.

export type Junction = 'AND' | 'OR'
export interface Group {
  readonly type: Junction
  readonly values: readonly Filter[]
}
export interface Groups {
  readonly type: Junction
  readonly groups: readonly Group[]
}

const isGroup = (value: unknown): value is { type?: unknown; values: readonly unknown[] } =>
  typeof value === 'object' && value !== null && Array.isArray((value as { values?: unknown }).values)
export const junctionOf = (type: unknown): Junction => (type === 'OR' ? 'OR' : 'AND')
const isFilter = (value: unknown): value is Filter =>
  typeof value === 'object' && value !== null && typeof (value as Filter).type === 'string' && !isGroup(value)

/** The filters of a query as groups of filters. Null: they are nested deeper. */
export function readGroups(properties: unknown): Groups | null {
  if (properties === undefined || properties === null) return { type: 'AND', groups: [] }
  if (Array.isArray(properties)) return properties.every(isFilter) ? { type: 'AND', groups: [{ type: 'AND', values: properties }] } : null
  if (!isGroup(properties)) return Object.keys(properties as object).length === 0 ? { type: 'AND', groups: [] } : null
  const { values } = properties
  const type = junctionOf(properties.type)
  if (values.every(isFilter)) return { type: 'AND', groups: [{ type, values }] }
  const groups = values.map((value) => (isFilter(value) ? { type: 'AND', values: [value] } : value))
  return groups.every((group) => isGroup(group) && group.values.every(isFilter))
    ? { type, groups: (groups as Group[]).map((group) => ({ type: junctionOf(group.type), values: group.values })) }
    : null
}

/** As short as it can be said; undefined: no filters. */
export function writeGroups({ type, groups }: Groups): unknown {
  const filled = groups.filter(({ values }) => values.length > 0)
  if (filled.length === 0) return undefined
  if (filled.length > 1) return { type, values: filled }
  const [only] = filled
  return only!.type === 'AND' || only!.values.length === 1 ? only!.values : only
}

/** All of them have to hold. Null: a list of this kind cannot say it. */
export function listOfAll(properties: unknown): readonly Filter[] | null {
  const read = readGroups(properties)
  if (read === null) return null
  const written = writeGroups(read)
  return written === undefined ? [] : Array.isArray(written) ? (written as readonly Filter[]) : null
}

const withoutCopies = (values: readonly Filter[]): readonly Filter[] => {
  const known = new Set<string>()
  return values.filter((one) => !known.has(JSON.stringify(one)) && known.add(JSON.stringify(one)))
}

/** Both have to hold. Null: two levels of groups cannot say it. */
export function joined(one: unknown, other: unknown): unknown {
  const [first, second] = [readGroups(one), readGroups(other)]
  if (first === null || second === null) return null
  if (writeGroups(first) === undefined) return other
  if (writeGroups(second) === undefined) return one
  const [list, more] = [listOfAll(one), listOfAll(other)]
  if (list && more) return withoutCopies([...list, ...more])
  const isOfAll = ({ type, groups }: Groups) => type === 'AND' || groups.filter(({ values }) => values.length > 0).length < 2
  return isOfAll(first) && isOfAll(second) ? writeGroups({ type: 'AND', groups: [...first.groups, ...second.groups] }) : null
}
