import { QueryError } from '../../errors/errors.ts'
import { unknownField } from '../../errors/unknown-field.ts'
import { noneOf } from '../../errors/validation.ts'
import { isObject } from '../../lib/is-object.ts'
import { presentation } from '../fields.ts'
import { semverOperators } from './semver.ts'

// Filters as clients send them: a flat list, or groups nested to any depth. A filter whose property is not chosen yet matches everything. An unknown
// field is an error.

const filterTypes = [
  'event',
  'event_metadata',
  'feature',
  'person',
  'group',
  'session',
  'cohort',
  'static-cohort',
  'precalculated-cohort',
  'element',
  'hogql',
] as const
export type FilterType = (typeof filterTypes)[number]

/** As `operator` of a filter. */
const filterOperators = [
  'exact',
  'is_not',
  'icontains',
  'not_icontains',
  'icontains_multi',
  'not_icontains_multi',
  'regex',
  'not_regex',
  'gt',
  'gte',
  'lt',
  'lte',
  'min',
  'max',
  'between',
  'not_between',
  'is_set',
  'is_not_set',
  'in',
  'not_in',
  'is_date_exact',
  'is_date_before',
  'is_date_after',
  'is_cleaned_path_exact',
  ...semverOperators,
] as const
export type Operator = (typeof filterOperators)[number]

/** Types without a meaning here; they are ignored. */
const ignoredTypes: ReadonlySet<string> = new Set(['flag', 'empty'])

export interface PropertyFilter {
  readonly type: FilterType
  readonly key: string
  readonly operator: string
  readonly value: unknown
  readonly groupTypeIndex: number | null
  readonly negation: boolean
  /** Its path in the list, for messages. */
  readonly path: string
}

export interface FilterGroup {
  readonly type: 'AND' | 'OR'
  readonly values: readonly (FilterGroup | PropertyFilter | typeof incomplete)[]
}
/** A filter whose property is not chosen yet matches all events. */
export const incomplete = 'incomplete'

const filterFields = ['key', 'value', 'operator', 'type', 'group_type_index', 'negation']
const groupFields = ['type', 'values', 'negation']
const knownIn = (own: readonly string[]): ReadonlySet<string> => new Set([...own, ...presentation.filter])
const [knownInFilter, knownInGroup] = [knownIn(filterFields), knownIn(groupFields)]

type Ignored = { readonly [K in (typeof presentation.filter)[number]]?: unknown }
type FilterValue = string | number | boolean | null | readonly (string | number | boolean | null)[]

/** One filter, as a request holds it. */
export interface FilterInput extends Ignored {
  /** Default `event`. */
  readonly type?: FilterType | 'flag' | 'empty' | null
  /** The name of the property. Without one the filter matches everything: the property is not chosen yet. */
  readonly key?: string | number | null
  /** Default `exact`. */
  readonly operator?: Operator | null
  readonly value?: FilterValue
  readonly group_type_index?: number | null
  readonly negation?: boolean | null
}
/** Filters of which all, or any, must match. */
export interface FilterGroupInput extends Ignored {
  readonly type?: 'AND' | 'OR'
  readonly values: readonly (FilterInput | FilterGroupInput)[]
  readonly negation?: boolean | null
}
/** A list, all of which must match, or a group. */
export type FiltersInput = readonly (FilterInput | FilterGroupInput)[] | FilterGroupInput | FilterInput | Readonly<Record<string, never>>

type Json = Readonly<Record<string, unknown>>
const isIncomplete = (filter: Json) => filter.key === undefined || filter.key === null || filter.key === ''

const mustBeKnown = (item: Json, known: ReadonlySet<string>, own: readonly string[], path: string): void => {
  for (const name in item) if (!known.has(name)) throw wrongFilter(path, unknownField(name, own), name)
}

export const wrongFilter = (path: string, message: string, field?: string): QueryError =>
  new QueryError('validation-failed', { message, attr: field ? `${path}__${field}` : path })

/** A field whose value is not allowed. */
export const noChoice = (path: string, field: string, given: unknown, allowed: readonly string[]): QueryError =>
  new QueryError('validation-failed', { ...noneOf(`The ${field} of a filter`, given, allowed), attr: `${path}__${field}` })

/** The tree of a request's filters. */
export function readFilters(given: unknown, path = 'properties'): FilterGroup {
  if (given === null || given === undefined) return { type: 'AND', values: [] }
  if (Array.isArray(given)) return { type: 'AND', values: readAll(given, path) }
  if (!isObject(given)) throw wrongFilter(path, 'Filters must be a list, or a group with type and values.')
  const item = readItem(given, path)
  if (item === null) return { type: 'AND', values: [] }
  return typeof item === 'object' && 'values' in item ? item : { type: 'AND', values: [item] }
}

const readAll = (list: readonly unknown[], path: string) =>
  list.map((item, i) => readItem(item, `${path}__${i}`)).filter((item) => item !== null)

function readItem(item: unknown, path: string): FilterGroup['values'][number] | null {
  if (!isObject(item)) throw wrongFilter(path, 'A filter must be an object with key, value, operator and type.')
  if (Array.isArray(item.values)) return readGroup(item, item.values, path)
  mustBeKnown(item, knownInFilter, filterFields, path)
  const type = item.type ?? 'event'
  if (typeof type === 'string' && ignoredTypes.has(type)) return null
  const cohort = typeof type === 'string' && type.endsWith('cohort')
  if (isIncomplete(item) && !(cohort && item.value !== undefined && item.value !== null)) return incomplete
  if (typeof type !== 'string' || !(filterTypes as readonly string[]).includes(type)) throw noChoice(path, 'type', type, filterTypes)
  return {
    type: type as FilterType,
    key: String(item.key ?? 'id'),
    operator: typeof item.operator === 'string' ? item.operator : 'exact',
    value: item.value,
    groupTypeIndex: typeof item.group_type_index === 'number' ? item.group_type_index : null,
    negation: item.negation === true,
    path,
  }
}

function readGroup(group: Json, values: readonly unknown[], path: string): FilterGroup {
  mustBeKnown(group, knownInGroup, groupFields, path)
  const type = group.type ?? 'AND'
  if (type !== 'AND' && type !== 'OR') throw noChoice(path, 'type', type, ['AND', 'OR'])
  return { type, values: readAll(values, `${path}__values`) }
}
