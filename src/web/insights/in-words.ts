import { readableEvent, readableProperty, readableSeries } from '../../service/pictures/readable.ts'
import type { Query } from '../lib/api.ts'
import { type CohortName, filterText } from './filter-text.ts'
import { type Filter, listIn, objectIn, type SeriesNode, textIn } from './query.ts'

// What a question asks, in a line: for those who look at its answer without the form.

interface Group {
  readonly type?: unknown
  readonly values?: unknown
}
const isGroup = (value: unknown): value is Group => typeof value === 'object' && value !== null && Array.isArray((value as Group).values)

/** A list of filters, or groups of them. Empty: they hold for all. `isInside`: a group in a group stands in brackets. */
function filtersText(of: unknown, cohortName: CohortName, isInside = false): string {
  if (!isGroup(of) && !Array.isArray(of)) return ''
  const values = (isGroup(of) ? of.values : of) as readonly unknown[]
  const parts = values
    .map((one) => (isGroup(one) ? filtersText(one, cohortName, values.length > 1) : filterText(one as Filter, cohortName)))
    .filter((text) => text !== '')
  const text = parts.join(isGroup(of) && of.type === 'OR' ? ' or ' : ' and ')
  return isInside && parts.length > 1 ? `(${text})` : text
}

/** `Country is “DE” and Plan is set`. */
export const filtersInWords = (of: unknown, cohortName: CohortName): string => filtersText(of, cohortName)

function seriesText(node: SeriesNode, cohortName: CohortName): string {
  const name =
    textIn(node, 'custom_name') ||
    readableSeries(textIn(node, 'event') || textIn(node, 'name'), textIn(node, 'math'), textIn(node, 'math_property'))
  const only = filtersText(node.properties, cohortName)
  return only === '' ? name : `${name} (${only})`
}

const entityText = (of: unknown): string => {
  const { id, name } = (typeof of === 'object' && of !== null ? of : {}) as { readonly id?: unknown; readonly name?: unknown }
  return typeof id === 'string' ? readableEvent(id) : typeof name === 'string' && name !== '' ? readableEvent(name) : 'any event'
}

function subjectOf(query: Query, cohortName: CohortName): string {
  if (query.kind === 'RetentionQuery') {
    const filter = objectIn(query, 'retentionFilter')
    const period = (textIn(filter, 'period') || 'Day').toLowerCase()
    return `Who did ${entityText(filter.targetEntity)} and came back for ${entityText(filter.returningEntity)}, by ${period}`
  }
  if (query.kind === 'PathsQuery') {
    const filter = objectIn(query, 'pathsFilter')
    const [start, end] = [textIn(filter, 'startPoint'), textIn(filter, 'endPoint')]
    return ['Paths', start && `from ${start}`, end && `to ${end}`].filter(Boolean).join(' ')
  }
  const series = listIn<SeriesNode | null>(query, 'series').flatMap((node) => (node ? [seriesText(node, cohortName)] : []))
  const formulas = listIn<{ readonly formula?: unknown }>(objectIn(query, 'trendsFilter'), 'formulaNodes').flatMap(({ formula }) =>
    typeof formula === 'string' ? [formula] : [],
  )
  const text = series.join(query.kind === 'FunnelsQuery' ? ' → ' : ', ')
  return formulas.length > 0 ? `${formulas.join(', ')} of ${text}` : text
}

function breakdownText(query: Query, cohortName: CohortName): string {
  const filter = objectIn(query, 'breakdownFilter')
  const several = listIn<{ readonly property?: unknown; readonly type?: unknown }>(filter, 'breakdowns')
  const all =
    several.length > 0
      ? several.map(({ property, type }) => ({ property, type }))
      : [{ property: filter.breakdown, type: filter.breakdown_type }]
  return all
    .flatMap(({ property, type }) => {
      if (type === 'cohort') return (Array.isArray(property) ? property : [property]).map((id) => cohortName(id))
      return typeof property === 'string' && property !== '' ? [type === 'hogql' ? property : readableProperty(property)] : []
    })
    .join(', ')
}

/** `Unique people: Pageview where Country is “DE”, by Plan`; without its dates. */
export function questionInWords(query: Query, cohortName: CohortName = (id) => `cohort ${String(id)}`): string {
  const subject = subjectOf(query, cohortName)
  const filters = filtersText(query.properties, cohortName)
  const breakdown = breakdownText(query, cohortName)
  const parts = [
    filters === '' ? subject : `${subject} where ${filters}`,
    ...(query.filterTestAccounts === true ? ['without internal users'] : []),
    ...(breakdown === '' ? [] : [`by ${breakdown}`]),
    ...(query.aggregation_group_type_index == null ? [] : ['of groups']),
  ]
  return parts.filter((part) => part !== '').join(', ')
}
