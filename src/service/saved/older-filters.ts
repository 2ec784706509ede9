import { isObject } from '../../lib/is-object.ts'
import { own } from '../../lib/own.ts'
import { likelyName } from '../../lib/text/likely-name.ts'
import { invalid } from '../accounts/refusals.ts'

// Insights were once saved as `filters`: a flat object for all kinds. Older clients and scripts still send it. It becomes a query of the same meaning; what
// has no equivalent is refused with its name, so that no insight answers something else than was asked.

type Fields = Readonly<Record<string, unknown>>
interface Where {
  readonly path: string
}

const refused = (path: string, message: string, candidates: readonly string[] = []) =>
  invalid(`${path}: ${message}`, `filters__${path.replace(/[.[\]]+/g, '__').replace(/__$/, '')}`, 'invalid_input', { candidates })

/** They came in URLs, where everything is text. */
const asTruth = (value: unknown, { path }: Where): unknown => {
  if (value === null || typeof value === 'boolean') return value
  if (/^(true|1)$/i.test(String(value))) return true
  if (/^(false|0|)$/i.test(String(value))) return false
  throw refused(path, 'expected true or false.')
}
const asNumber = (value: unknown, { path }: Where): unknown => {
  if (value === null || value === '') return null
  const number = typeof value === 'string' ? Number(value) : value
  if (typeof number === 'number' && Number.isFinite(number)) return number
  throw refused(path, 'expected a number.')
}
const asIs = (value: unknown): unknown => value
const asText = (value: unknown, { path }: Where): unknown => {
  if (value === null || typeof value === 'string') return value
  throw refused(path, 'expected a text.')
}
const asTexts = (value: unknown, { path }: Where): unknown => {
  if (value === null) return null
  if (Array.isArray(value)) return value
  throw refused(path, 'expected a list of texts.')
}
const fromJson = (value: unknown, { path }: Where): unknown => {
  if (typeof value !== 'string') return value
  try {
    return JSON.parse(value)
  } catch {
    throw refused(path, 'expected JSON.')
  }
}
/** `auto`, or how many. */
const asBins = (value: unknown, where: Where): unknown => (value === 'auto' ? value : asNumber(value, where))

type Read = (value: unknown, where: Where) => unknown
/** The name in the query, and how the value is read. Null: it is about how a client shows the insight, and is left out. */
type Names = Readonly<Record<string, readonly [name: string, read: Read] | null>>

const filterOperators = new Set(
  'exact is_not icontains not_icontains regex not_regex gt gte lt lte is_set is_not_set is_date_exact is_date_before is_date_after in not_in between not_between'.split(
    ' ',
  ),
)
const filter = (given: unknown, where: Where): unknown => {
  if (!isObject(given)) throw refused(where.path, 'expected a filter with a key.')
  if ('values' in given) return { ...given, values: filtersIn(given.values, { path: `${where.path}.values` }) }
  return { type: 'event', operator: 'exact', ...given }
}
/** A list, a group, or the oldest form: `{"$browser__icontains": "Fire"}`. */
function filtersIn(value: unknown, where: Where): unknown {
  const given = fromJson(value, where)
  if (given === null || given === undefined) return null
  if (Array.isArray(given)) return given.map((one, i) => filter(one, { path: `${where.path}[${i}]` }))
  if (!isObject(given)) throw refused(where.path, 'expected a list of filters.')
  if ('values' in given) return filter(given, where)
  return Object.entries(given).map(([name, wanted]) => {
    const at = name.lastIndexOf('__')
    const operator = at > 0 ? name.slice(at + 2) : ''
    return filterOperators.has(operator)
      ? { type: 'event', key: name.slice(0, at), operator, value: wanted }
      : { type: 'event', key: name, operator: 'exact', value: wanted }
  })
}

/** Renames the fields of an object. Throws for the first that has no equivalent. */
function renamed(given: Fields, names: Names, path: string): Record<string, unknown> {
  const renamed: Record<string, unknown> = {}
  for (const [name, value] of Object.entries(given)) {
    const target = own(names, name)
    const place = path === '' ? name : `${path}.${name}`
    if (target === undefined) {
      const likely = likelyName(name, Object.keys(names))
      const hint = likely === undefined ? '' : ` Did you mean ${likely}?`
      throw refused(
        place,
        `unknown older filter for this kind of insight.${hint} Send the insight as a query instead.`,
        likely ? [likely] : [],
      )
    }
    if (target === null || value === undefined) continue
    const read = target[1](value, { path: place })
    if (read !== null && read !== undefined) renamed[target[0]] = read
  }
  return renamed
}

const nodeNames: Names = {
  id: null,
  type: null,
  order: null,
  index: null,
  new_entity: null,
  uuid: null,
  name: ['name', asText],
  custom_name: ['custom_name', asText],
  math: ['math', asText],
  math_property: ['math_property', asText],
  math_property_type: ['math_property_type', asText],
  math_hogql: ['math_hogql', asText],
  math_group_type_index: ['math_group_type_index', asNumber],
  properties: ['properties', filtersIn],
  optionalInFunnel: ['optionalInFunnel', asTruth],
}
const exclusionNames: Names = {
  ...nodeNames,
  funnel_from_step: ['funnelFromStep', asNumber],
  funnel_to_step: ['funnelToStep', asNumber],
}
const node = (given: unknown, type: string, names: Names, path: string): Record<string, unknown> => {
  if (!isObject(given)) throw refused(path, 'expected an object with the id of an event or an action.')
  const rest = renamed(given, names, path)
  if (type !== 'actions')
    return { kind: 'EventsNode', ...(given.id == null ? {} : { event: asText(given.id, { path: `${path}.id` }) }), ...rest }
  return { kind: 'ActionsNode', id: asNumber(given.id, { path: `${path}.id` }), ...rest }
}
const exclusions: Read = (value, { path }) => {
  const given = fromJson(value, { path })
  if (!Array.isArray(given)) throw refused(path, 'expected a list.')
  return given.map((one: unknown, i) => node(one, isObject(one) ? String(one.type ?? 'events') : 'events', exclusionNames, `${path}[${i}]`))
}

interface Placed {
  readonly order: number
  readonly node: Record<string, unknown>
}
/** Events and actions are two lists; `order` says where each stands. */
function seriesOf(filters: Fields): Record<string, unknown>[] {
  const placed: Placed[] = []
  for (const type of ['events', 'actions'] as const) {
    const given = fromJson(filters[type] ?? [], { path: type })
    if (!Array.isArray(given)) throw refused(type, 'expected a list.')
    for (const [i, one] of given.entries()) {
      const order = isObject(one) && one.order !== undefined ? Number(asNumber(one.order, { path: `${type}[${i}].order` })) : placed.length
      placed.push({ order, node: node(one, type, nodeNames, `${type}[${i}]`) })
    }
  }
  return placed.sort((a, b) => a.order - b.order).map(({ node: one }) => one)
}

const shownOnly: Names = Object.fromEntries(
  'insight entity_type shown_as new_entity id layout funnel_advanced show_labels_on_series hidden_legend_keys hidden_legend_indexes client_query_id refresh session legend_hidden'
    .split(' ')
    .map((name) => [name, null]),
)
/** Of the query itself. */
const common: Names = {
  properties: ['properties', filtersIn],
  filter_test_accounts: ['filterTestAccounts', asTruth],
  sampling_factor: ['samplingFactor', asNumber],
  aggregation_group_type_index: ['aggregation_group_type_index', asNumber],
}
const range: Names = { date_from: ['date_from', asText], date_to: ['date_to', asText], explicit_date: ['explicitDate', asTruth] }
const interval: Names = { interval: ['interval', asText] }
const breakdown: Names = {
  breakdown: ['breakdown', fromText],
  breakdown_type: ['breakdown_type', asText],
  breakdown_limit: ['breakdown_limit', asNumber],
  breakdown_normalize_url: ['breakdown_normalize_url', asTruth],
  breakdown_group_type_index: ['breakdown_group_type_index', asNumber],
  breakdown_histogram_bin_count: ['breakdown_histogram_bin_count', asNumber],
  breakdown_hide_other_aggregation: ['breakdown_hide_other_aggregation', asTruth],
  breakdowns: ['breakdowns', fromJson],
}
/** A name, or ids of cohorts, which may be JSON. */
function fromText(value: unknown): unknown {
  if (typeof value !== 'string' || !value.startsWith('[')) return value
  try {
    return JSON.parse(value)
  } catch {
    return value
  }
}
const compare: Names = { compare: ['compare', asTruth], compare_to: ['compare_to', asText] }
const legend: Names = {
  show_legend: ['showLegend', asTruth],
  show_values_on_series: ['showValuesOnSeries', asTruth],
}

interface Kind {
  readonly kind: string
  readonly hasSeries: boolean
  /** Fields of the query by the name of their object; the empty name is the query itself. */
  readonly parts: Readonly<Record<string, Names>>
}

const entity: Read = (value, { path }) => {
  const given = fromJson(value, { path })
  if (!isObject(given)) throw refused(path, 'expected an object with the id of an event or an action.')
  return renamed(
    given,
    {
      id: ['id', asIs],
      type: ['type', asText],
      properties: ['properties', filtersIn],
      ...{ name: null, order: null, uuid: null, custom_name: null, math: null, kind: null },
    },
    path,
  )
}

const kinds: Readonly<Record<string, Kind>> = {
  TRENDS: {
    kind: 'TrendsQuery',
    hasSeries: true,
    parts: {
      '': { ...common, ...interval },
      dateRange: range,
      breakdownFilter: breakdown,
      compareFilter: compare,
      trendsFilter: {
        ...legend,
        display: ['display', asText],
        formula: ['formula', asText],
        smoothing_intervals: ['smoothingIntervals', asNumber],
        show_percent_stack_view: ['showPercentStackView', asTruth],
        aggregation_axis_format: ['aggregationAxisFormat', asText],
        aggregation_axis_prefix: ['aggregationAxisPrefix', asText],
        aggregation_axis_postfix: ['aggregationAxisPostfix', asText],
        decimal_places: ['decimalPlaces', asNumber],
        y_axis_scale_type: ['yAxisScaleType', asText],
      },
    },
  },
  FUNNELS: {
    kind: 'FunnelsQuery',
    hasSeries: true,
    parts: {
      '': { ...common, ...interval },
      dateRange: range,
      breakdownFilter: breakdown,
      funnelsFilter: {
        funnel_viz_type: ['funnelVizType', asText],
        funnel_order_type: ['funnelOrderType', asText],
        funnel_window_interval: ['funnelWindowInterval', asNumber],
        funnel_window_interval_unit: ['funnelWindowIntervalUnit', asText],
        funnel_from_step: ['funnelFromStep', asNumber],
        funnel_to_step: ['funnelToStep', asNumber],
        funnel_aggregate_by_hogql: ['funnelAggregateByHogQL', asText],
        breakdown_attribution_type: ['breakdownAttributionType', asText],
        breakdown_attribution_value: ['breakdownAttributionValue', asNumber],
        bin_count: ['binCount', asBins],
        exclusions: ['exclusions', exclusions],
        funnel_step_reference: null,
        display: null,
      },
    },
  },
  RETENTION: {
    kind: 'RetentionQuery',
    hasSeries: false,
    parts: {
      '': common,
      dateRange: range,
      breakdownFilter: breakdown,
      retentionFilter: {
        target_entity: ['targetEntity', entity],
        returning_entity: ['returningEntity', entity],
        period: ['period', asText],
        total_intervals: ['totalIntervals', asNumber],
        retention_type: ['retentionType', asText],
        retention_reference: ['retentionReference', asText],
        mean_retention_calculation: ['meanRetentionCalculation', asText],
        cumulative: ['cumulative', asTruth],
        display: null,
        show_mean: null,
      },
    },
  },
  PATHS: {
    kind: 'PathsQuery',
    hasSeries: false,
    parts: {
      '': common,
      dateRange: range,
      pathsFilter: {
        include_event_types: ['includeEventTypes', asTexts],
        paths_hogql_expression: ['pathsHogQLExpression', asText],
        start_point: ['startPoint', asText],
        end_point: ['endPoint', asText],
        exclude_events: ['excludeEvents', asTexts],
        path_groupings: ['pathGroupings', asTexts],
        path_replacements: ['pathReplacements', asTruth],
        local_path_cleaning_filters: ['localPathCleaningFilters', asIs],
        step_limit: ['stepLimit', asNumber],
        edge_limit: ['edgeLimit', asNumber],
        min_edge_weight: ['minEdgeWeight', asNumber],
        max_edge_weight: ['maxEdgeWeight', asNumber],
        display: null,
      },
    },
  },
  STICKINESS: {
    kind: 'StickinessQuery',
    hasSeries: true,
    parts: {
      '': { ...common, ...interval },
      dateRange: range,
      compareFilter: compare,
      stickinessFilter: { ...legend, display: ['display', asText] },
    },
  },
  LIFECYCLE: {
    kind: 'LifecycleQuery',
    hasSeries: true,
    parts: {
      '': { ...common, ...interval },
      dateRange: range,
      lifecycleFilter: { ...legend, toggledLifecycles: ['toggledLifecycles', asTexts], display: null },
    },
  },
}
export const olderKinds: readonly string[] = Object.keys(kinds)

/** Older still: lifecycle and stickiness were ways to show a trend. */
const shownAs: Readonly<Record<string, string>> = { Stickiness: 'STICKINESS', Lifecycle: 'LIFECYCLE' }

function kindOf(filters: Fields): Kind {
  const given = String(filters.insight ?? 'TRENDS').toUpperCase()
  const name = given === 'TRENDS' ? (own(shownAs, String(filters.shown_as ?? '')) ?? given) : given
  const kind = own(kinds, name)
  if (!kind)
    throw refused(
      'insight',
      `${JSON.stringify(filters.insight)} is not one of ${olderKinds.join(', ')}. Send the insight as a query instead.`,
    )
  return kind
}

/** Fields that mean the same, one of them older. */
const sameAs = (filters: Fields): Fields => {
  const { funnel_window_days: days, ...rest } = filters
  return days == null ? rest : { funnel_window_interval: days, funnel_window_interval_unit: 'day', ...rest }
}

/** The query of older filters. Errors name the field in the body, `filters__events__0__math`. */
export const queryOfFilters = (given: Fields): Fields => ({ kind: 'InsightVizNode', source: sourceOf(given) })

function sourceOf(given: Fields): Fields {
  const filters = sameAs(given)
  const { kind, hasSeries, parts } = kindOf(filters)
  const seriesNames: Names = hasSeries ? { events: null, actions: null } : {}
  const all: Names = Object.assign({}, shownOnly, seriesNames, ...Object.values(parts))
  const empty = (name: string, value: unknown) => own(all, name) === undefined && isNothing(value)
  // Checks all names at once, before anything is read.
  renamed(Object.fromEntries(Object.entries(filters).filter(([name, value]) => !empty(name, value))), all, '')
  const query: Record<string, unknown> = { kind }
  if (hasSeries) query.series = seriesOf(filters)
  for (const [part, names] of Object.entries(parts)) {
    const fields = renamed(Object.fromEntries(Object.entries(filters).filter(([name]) => Object.hasOwn(names, name))), names, '')
    if (part === '') Object.assign(query, fields)
    else if (Object.keys(fields).length > 0) query[part] = fields
  }
  return query
}

/** Clients sent the fields of all kinds, empty where they did not apply. */
const isNothing = (value: unknown): boolean =>
  value === null ||
  value === undefined ||
  value === '' ||
  value === false ||
  (Array.isArray(value) && value.length === 0) ||
  (isObject(value) && Object.keys(value).length === 0)
