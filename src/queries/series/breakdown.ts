import { call, field } from '../../language/ast/build.ts'
import type { Expr } from '../../language/ast/nodes.ts'
import { cleanedPath, normalizedUrl } from '../filters/path-cleaning.ts'
import { eventProperty, personProperty } from '../filters/property-reads.ts'
import type { QueryContext } from '../kind.ts'
import { eventExprOf, named } from '../origin.ts'
import type { BreakdownFilter, BreakdownType } from '../schemas.ts'

/** One property that rows are split by. */
export interface BreakdownPart {
  readonly property: string
  readonly type: Exclude<BreakdownType, 'cohort'>
  readonly groupTypeIndex: number | null
  readonly normalizeUrl: boolean
  readonly binCount: number | null
  /** The field of the request that names the property. */
  readonly attr: string
}

export interface Breakdown {
  readonly parts: readonly BreakdownPart[]
  readonly cohorts: readonly (number | 'all')[]
  /** Values are lists, also of one part. */
  readonly isList: boolean
  readonly limit: number
  readonly isOtherHidden: boolean
  readonly cleansPaths: boolean
}

const defaultLimit = 25
export const noBreakdown: Breakdown = {
  parts: [],
  cohorts: [],
  isList: false,
  limit: defaultLimit,
  isOtherHidden: false,
  cleansPaths: false,
}

export function breakdownOf(filter: BreakdownFilter | null | undefined, limit = defaultLimit): Breakdown {
  if (!filter) return noBreakdown
  const common = {
    limit: filter.breakdown_limit ?? limit,
    isOtherHidden: filter.breakdown_hide_other_aggregation === true,
    cleansPaths: filter.breakdown_path_cleaning === true,
  }
  const list = filter.breakdowns
  if (list?.length) {
    if (list[0]!.type === 'cohort') return { ...common, parts: [], cohorts: list.map((item) => cohortOf(item.property)), isList: false }
    const parts = list.map((item, i) => ({
      property: String(item.property),
      type: (item.type ?? 'event') as BreakdownPart['type'],
      groupTypeIndex: item.group_type_index ?? null,
      normalizeUrl: item.normalize_url === true,
      binCount: item.histogram_bin_count ?? null,
      attr: `breakdownFilter__breakdowns__${i}__property`,
    }))
    return { ...common, parts, cohorts: [], isList: true }
  }
  if (filter.breakdown == null) return noBreakdown
  const values = Array.isArray(filter.breakdown) ? filter.breakdown : [filter.breakdown]
  if (filter.breakdown_type === 'cohort') return { ...common, parts: [], cohorts: values.map(cohortOf), isList: false }
  const parts = values.map((property) => ({
    property: String(property),
    type: (filter.breakdown_type ?? 'event') as BreakdownPart['type'],
    groupTypeIndex: filter.breakdown_group_type_index ?? null,
    normalizeUrl: filter.breakdown_normalize_url === true,
    binCount: filter.breakdown_histogram_bin_count ?? null,
    attr: 'breakdownFilter__breakdown',
  }))
  return { ...common, parts, cohorts: [], isList: values.length > 1 }
}

const cohortOf = (value: string | number): number | 'all' => (value === 'all' || Number(value) === 0 ? 'all' : Number(value))

export const isBrokenDown = ({ parts, cohorts }: Breakdown): boolean => parts.length > 0 || cohorts.length > 0

/** The property's value before it is converted to text. */
export function partValue(part: BreakdownPart, env: QueryContext): Expr {
  switch (part.type) {
    case 'event':
      return eventProperty(part.property)
    case 'person':
      return personProperty(part.property, ['person'])
    case 'group':
      return field(`group_${part.groupTypeIndex ?? 0}`, 'properties', part.property)
    case 'session':
      return named(field('session', part.property), part.property, part.attr, env)
    case 'event_metadata':
      return named(field(...part.property.split('.')), part.property, part.attr, env)
    case 'hogql':
      return eventExprOf(part.property, part.attr, env)
  }
}

/** The property's value as text, or null. */
export function partText(
  part: BreakdownPart,
  { cleansPaths }: Pick<Breakdown, 'cleansPaths'>,
  env: QueryContext,
  value = partValue(part, env),
): Expr {
  const text = call('toString', value)
  const path = cleansPaths ? cleanedPath(text, env) : text
  return part.normalizeUrl ? normalizedUrl(path) : path
}
