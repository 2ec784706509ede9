import { call, equals, field, literal } from '../../ast/build.ts'
import type { Expr } from '../../ast/nodes.ts'
import { parseExpr } from '../../parser/parse.ts'
import type { QueryEnv } from '../kind.ts'
import type { BreakdownFilter, BreakdownType } from '../schemas.ts'

/** What a funnel is split by: properties, whose values come with the events, or cohorts, each asked for on its own. */
export interface FunnelBreakdown {
  /** Each the text of a property, '' where there is none. */
  readonly parts: readonly Expr[]
  readonly cohorts: readonly (number | 'all')[]
  readonly limit: number
}

const defaultLimit = 25
export const otherLabel = 'Other'
export const noValueLabel = 'None (i.e. no value)'

export function funnelBreakdown(filter: BreakdownFilter | null | undefined, env: QueryEnv): FunnelBreakdown {
  const limit = filter?.breakdown_limit ?? defaultLimit
  const items = itemsOf(filter)
  if (items.some(({ type }) => type === 'cohort'))
    return {
      parts: [],
      cohorts: items.map(({ property }) => (property === 'all' || Number(property) === 0 ? 'all' : Number(property))),
      limit,
    }
  const text = (item: Item) => {
    let value = call('toString', read(item))
    if (filter?.breakdown_path_cleaning)
      for (const { regex, alias } of env.project.pathCleaningFilters)
        value = call('replaceRegexpAll', value, literal(regex), literal(alias))
    if (item.normalizesUrl) {
      const trimmed = call('replaceRegexpOne', value, literal('[/?#]+$'), literal(''))
      value = call('if', equals(trimmed, literal('')), literal('/'), trimmed)
    }
    return call('ifNull', value, literal(''))
  }
  return { parts: items.map(text), cohorts: [], limit }
}

interface Item {
  readonly property: string | number
  readonly type: BreakdownType
  readonly group: number
  readonly normalizesUrl: boolean
}

function itemsOf(filter: BreakdownFilter | null | undefined): readonly Item[] {
  if (filter?.breakdowns?.length)
    return filter.breakdowns.map((item) => ({
      property: item.property,
      type: item.type ?? 'event',
      group: item.group_type_index ?? 0,
      normalizesUrl: item.normalize_url === true,
    }))
  if (filter?.breakdown == null) return []
  const list = Array.isArray(filter.breakdown) ? filter.breakdown : [filter.breakdown]
  return list.map((property) => ({
    property,
    type: filter.breakdown_type ?? 'event',
    group: filter.breakdown_group_type_index ?? 0,
    normalizesUrl: filter.breakdown_normalize_url === true,
  }))
}

function read({ property, type, group }: Item): Expr {
  const name = String(property)
  switch (type) {
    case 'person':
      return field('person', 'properties', name)
    case 'group':
      return field(`group_${group}`, 'properties', name)
    case 'session':
      return field('session', name)
    case 'hogql':
    case 'event_metadata':
      return parseExpr(name)
    default:
      return field('properties', name)
  }
}
