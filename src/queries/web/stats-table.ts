import type { Table } from 'apache-arrow'
import { noSpan } from '../../errors/span.ts'
import { alias, and, call, callWith, equals, field, from, groupBy, isIn, join, literal, order, select } from '../../language/ast/build.ts'
import type { Expr, OrderItem, Query, Select } from '../../language/ast/nodes.ts'
import { isObject } from '../../lib/is-object.ts'
import { pageLimit } from '../answers/page-limit.ts'
import { columnValues, type JsonValue } from '../answers/rows.ts'
import { along, type QueryContext, type QueryKind, type QueryRun } from '../kind.ts'
import { refuse } from '../refusals.ts'
import { scaledUp } from '../series/sampling.ts'
import type { ShownRanges } from '../time/comparison.ts'
import { type Breakdown, breakdownOf, cleaning, entryPage, eventPart, languageTag, pageBefore } from './breakdowns.ts'
import { bounced, contextOf, eventFilters, inPeriods, isNamed, isPage, planWeb, rangesOf, samplingRate, type WebPlan } from './plan.ts'
import { statsTableSchema, type tableOrders, type WebStatsTableQuery } from './schema.ts'
import { type Visits, valueColumn, valueFields, visitsOf } from './visits.ts'

export interface WebTableAnswer extends ShownRanges {
  /** `context.columns.breakdown_value`, `context.columns.visitors` … */
  readonly columns: readonly string[]
  /** A value or a list of values, then pairs of the number now and in the comparison period. */
  readonly results: readonly (readonly JsonValue[])[]
  readonly hasMore: boolean
  readonly limit: number
  readonly offset: number
  readonly samplingRate: { readonly numerator: number }
}

/** A column of pairs. */
interface Measure {
  readonly name: string
  readonly orderedAs: (typeof tableOrders)[number]
  /** Counts add up, and grow with a sample; others are fractions. */
  readonly isCount: boolean
}
const count = (name: string, orderedAs: Measure['orderedAs']): Measure => ({ name, orderedAs, isCount: true })
const fraction = (name: string, orderedAs: Measure['orderedAs']): Measure => ({ name, orderedAs, isCount: false })
const visitors = count('visitors', 'Visitors')
const views = count('views', 'Views')
const bounceRate = fraction('bounce_rate', 'BounceRate')
const scrolls = [
  fraction('average_scroll_percentage', 'AverageScrollPercentage'),
  fraction('scroll_gt80_percentage', 'ScrollGt80Percentage'),
]
const totalConversions = count('total_conversions', 'TotalConversions')
const uniqueConversions = count('unique_conversions', 'UniqueConversions')
const conversions = [visitors, totalConversions, uniqueConversions, fraction('conversion_rate', 'ConversionRate')]
const frustrations = [count('rage_clicks', 'RageClicks'), count('dead_clicks', 'DeadClicks'), count('errors', 'Errors')]

const shown = (name: string): string => `context.columns.${name}`
const previously = (name: string): string => `previous_${name}`
export const defaultLimits = { defaultRows: 100, mostRows: 10_000 }

export const webStatsTable: QueryKind<'WebStatsTableQuery', typeof statsTableSchema, WebTableAnswer> = {
  kind: 'WebStatsTableQuery',
  isCached: true,
  schema: statsTableSchema,
  *run(query, env) {
    const plan = yield* planWeb(query, env, () => namesOf(query))
    const { defaultRows, mostRows } = env.limits ?? defaultLimits
    const rows = Math.min(query.limit ?? defaultRows, mostRows)
    const offset = query.offset ?? 0
    const { breakdown, measures, grouped } = tableOf(query, plan, contextOf(plan, env))
    const isFrustration = query.breakdownBy === 'FrustrationMetrics'
    const asked = paged(grouped, { breakdown, measures, query, plan, limit: pageLimit(rows + 1, offset) })
    const table = yield* along<Table>({
      label: 'web table',
      lists: () => refuse('no-fold', 'tables of web analytics'),
      statement: () => ({ query: asked, read: (found) => found }),
    })
    const hasMore = table.numRows > rows
    const page = table.slice(0, rows)
    const values = (name: string): JsonValue[] => columnValues(page.getChild(name)!, 'UTC')
    const parts = breakdown.parts.map((_, i) => values(valueColumn(i)))
    const tags = query.breakdownBy === 'Language' ? yield* usualTags(parts[0]!, query, plan, env) : null
    const pairs = measures.map(({ name, isCount }) => {
      const read = (column: string) =>
        values(column).map((value) => (value === null ? null : isCount ? scaledUp(Number(value), plan.sample) : value))
      const [now, before] = [read(name), plan.previous ? read(previously(name)) : null]
      return now.map((value, i): JsonValue => [value, before ? before[i]! : null])
    })
    const fill = isFrustration ? null : values('fill')
    const shownValue = (row: number): JsonValue => {
      if (parts.length > 1) return parts.map((part) => part[row]!)
      const value = parts[0]![row]!
      return tags?.get(String(value)) ?? value
    }
    return {
      columns: ['breakdown_value', ...measures.map(({ name }) => name), ...(fill ? ['ui_fill_fraction'] : []), 'cross_sell'].map(shown),
      results: Array.from({ length: page.numRows }, (_, row) => [
        shownValue(row),
        ...pairs.map((pair) => pair[row]!),
        ...(fill ? [fill[row]!] : []),
        '',
      ]),
      hasMore,
      limit: rows,
      offset,
      samplingRate: samplingRate(plan),
      ...rangesOf(plan),
    }
  },
}

interface Tabled {
  readonly breakdown: Breakdown
  readonly measures: readonly Measure[]
  /** One row per value, with the columns of the measures. */
  readonly grouped: Select
}

const countWhere = (condition: Expr) => (counted: Expr) => call('countIf', and(counted, condition))

const frustrationNames = { rage_clicks: '$rageclick', dead_clicks: '$dead_click', errors: '$exception' }
const isFrustrating = isNamed('$pageview', '$screen', ...Object.values(frustrationNames))
const tellsScroll = isNamed('$pageview', '$pageleave', '$screen')
const hasScroll = ({ breakdownBy, includeScrollDepth }: WebStatsTableQuery) => includeScrollDepth === true && breakdownBy === 'Page'

/** The events that any column counts. */
const namesOf = (query: WebStatsTableQuery): Expr =>
  query.breakdownBy === 'FrustrationMetrics' ? isFrustrating : hasScroll(query) ? tellsScroll : isPage

function tableOf(query: WebStatsTableQuery, plan: WebPlan, env: QueryContext): Tabled {
  const cleaned = cleaning(query, env)
  const breakdown = breakdownOf(query, cleaned)
  const groupedOver = (visits: Omit<Visits, 'breakdown'>, ...columns: readonly Expr[]) =>
    overValues(visitsOf(plan, { breakdown, ...visits }, env), breakdown, columns)
  const visitorColumns = inPeriods(plan, 'visitors', 'visitors', field('person'))
  if (query.breakdownBy === 'FrustrationMetrics') {
    const also = Object.fromEntries(Object.entries(frustrationNames).map(([name, event]) => [name, countWhere(isNamed(event))]))
    const sums = Object.keys(frustrationNames).flatMap((name) => inPeriods(plan, name, 'sum', field(name)))
    return { breakdown, measures: frustrations, grouped: groupedOver({ names: isFrustrating, also }, ...sums) }
  }
  if (plan.goal) {
    const converted = call('if', call('greater', field('goals'), literal(0)), field('person'), literal(null))
    const grouped = groupedOver(
      { also: { goals: countWhere(plan.goal) } },
      ...visitorColumns,
      ...inPeriods(plan, 'total_conversions', 'sum', field('goals')),
      ...inPeriods(plan, 'unique_conversions', 'visitors', converted),
    )
    return { breakdown, measures: conversions, grouped: withRates(grouped, breakdown) }
  }
  const hasBounces = query.includeBounceRate === true || query.includeScrollDepth === true
  const isPages = query.breakdownBy === 'Page'
  const bounces = inPeriods(plan, 'bounce_rate', 'avg', bounced)
  const counts = groupedOver(
    { also: { views: countWhere(isPage) } },
    ...visitorColumns,
    ...inPeriods(plan, 'views', 'sum', field('views')),
    ...(hasBounces && !isPages ? bounces : []),
  )
  const measures = [visitors, views, ...(hasBounces ? [bounceRate] : []), ...(hasScroll(query) ? scrolls : [])]
  if (!isPages || !hasBounces) return { breakdown, measures, grouped: counts }
  return { breakdown, measures, grouped: withBounces(counts, query, plan, env) }
}

const overValues = (rows: Query, breakdown: Breakdown, columns: readonly Expr[]): Select =>
  select({
    columns: [...valueFields(breakdown), ...columns],
    from: from(rows, 'web_visits'),
    groupBy: groupBy(...valueFields(breakdown)),
  })

/** A rate of nothing is null. */
function withRates(grouped: Select, breakdown: Breakdown): Select {
  const kept = ['visitors', 'total_conversions', 'unique_conversions'].flatMap((name) => [name, previously(name)])
  const rate = (of: (name: string) => string) =>
    call(
      'if',
      equals(field(of('visitors')), literal(0)),
      literal(null),
      call('divide', field(of('unique_conversions')), field(of('visitors'))),
    )
  return select({
    columns: [
      ...valueFields(breakdown),
      ...kept.map((name) => field(name)),
      alias(
        rate((name) => name),
        'conversion_rate',
      ),
      alias(rate(previously), previously('conversion_rate')),
    ],
    from: from(grouped, 'web_conversions'),
  })
}

/** The bounces of sessions that began on the page, and how far it was scrolled before it was left. */
function withBounces(counts: Select, query: WebStatsTableQuery, plan: WebPlan, env: QueryContext): Select {
  const cleaned = cleaning(query, env)
  const entries = entryPage(cleaned)
  const bounces = overValues(
    visitsOf(plan, { breakdown: entries, also: {}, filters: pageFilters(query, env, () => null) }, env),
    entries,
    inPeriods(plan, 'bounce_rate', 'avg', bounced),
  )
  const own = ['value_0', 'visitors', 'views'].flatMap((name) => (name === 'value_0' ? [name] : [name, previously(name)]))
  const joined = [{ rows: bounces, as: 'web_bounces', names: ['bounce_rate'] }]
  if (hasScroll(query)) joined.push({ rows: scrollDepths(query, plan, env), as: 'web_scrolls', names: scrolls.map(({ name }) => name) })
  return select({
    columns: [
      ...own.map((name) => alias(field('web_counts', name), name)),
      ...joined.flatMap(({ as, names }) => names.flatMap((name) => [name, previously(name)].map((one) => alias(field(as, one), one)))),
    ],
    from: joined.reduce(
      (left, { rows, as }) => join(left, from(rows, as), equals(field('web_counts', 'value_0'), field(as, 'value_0')), 'left'),
      from(counts, 'web_counts') as Parameters<typeof join>[0],
    ),
  })
}

/** The filters of the query, with those for the path of a page replaced. */
function pageFilters(query: WebStatsTableQuery, env: QueryContext, replace: (filter: Filter) => Filter | null): Expr {
  const replaced = (item: unknown): unknown => {
    if (Array.isArray(item)) return item.map(replaced).filter((one) => one !== null)
    if (!isObject(item)) return item
    if (Array.isArray(item.values)) return { ...item, values: replaced(item.values) }
    return item.key === '$pathname' && (item.type ?? 'event') === 'event' ? replace(item) : item
  }
  return eventFilters({ ...query, properties: (query.properties && replaced(query.properties)) as WebStatsTableQuery['properties'] }, env)
}
type Filter = Readonly<Record<string, unknown>>

/** Clients tell with each event how far the page before it was scrolled. */
function scrollDepths(query: WebStatsTableQuery, plan: WebPlan, env: QueryContext): Select {
  const breakdown = eventPart(pageBefore(cleaning(query, env)))
  const depth = call('toFloat', field('properties', '$prev_pageview_max_scroll_percentage'))
  const content = call('toFloat', field('properties', '$prev_pageview_max_content_percentage'))
  const isFar = call('greater', content, literal(0.8))
  const also = {
    depths: (counted: Expr) => call('sumIf', depth, and(counted, call('isNotNull', depth))),
    deep: countWhere(call('isNotNull', depth)),
    far: countWhere(and(call('isNotNull', content), isFar)),
    contents: countWhere(call('isNotNull', content)),
  }
  const filters = pageFilters(query, env, (filter) => ({ ...filter, key: '$prev_pageview_pathname' }))
  const visits = visitsOf(plan, { breakdown, names: tellsScroll, also, filters }, env)
  return overValues(visits, breakdown, [
    ...shareIn(plan, 'average_scroll_percentage', 'depths', 'deep'),
    ...shareIn(plan, 'scroll_gt80_percentage', 'far', 'contents'),
  ])
}

/** The sum of one column divided by the sum of another one; null for none. */
function shareIn(plan: WebPlan, name: string, part: string, whole: string): Expr[] {
  const sums = (column: string) => inPeriods(plan, name, 'sum', field(column)).map((one) => (one.kind === 'alias' ? one.expr : one))
  const wholes = sums(whole)
  return sums(part).map((sum, i) => alias(call('divide', sum, call('nullIf', wholes[i]!, literal(0))), i === 0 ? name : previously(name)))
}

interface Paged {
  readonly breakdown: Breakdown
  readonly measures: readonly Measure[]
  readonly query: WebStatsTableQuery
  readonly plan: WebPlan
  readonly limit: Select['limit']
}

/** The page, with the share that each row has of the column it is ordered by. */
function paged(grouped: Select, { breakdown, measures, query, plan, limit }: Paged): Select {
  const [wanted, direction] = query.orderBy ?? []
  const chosen = measures.find(({ orderedAs }) => orderedAs === wanted)
  // Most conversions come first, then most visitors. Errors matter more than clicks.
  const usual =
    measures === frustrations ? [...measures].reverse() : plan.goal ? [uniqueConversions, totalConversions, visitors] : [visitors, views]
  const ordered = [...(chosen ? [chosen] : []), ...usual.filter((measure) => measure !== chosen)]
  const how = direction === 'ASC' ? 'asc' : 'desc'
  const orderBy: OrderItem[] = ordered.flatMap(({ name }) => [
    order(field(name), how),
    ...(plan.previous ? [order(field(previously(name)), how)] : []),
  ])
  const fill = ordered[0]!
  return select({
    columns: [
      ...valueFields(breakdown),
      ...measures.flatMap(({ name }) => [field(name), field(previously(name))]),
      alias(fill.isCount ? shareOfAll(field(fill.name)) : field(fill.name), 'fill'),
    ],
    from: from(grouped, 'web_rows'),
    orderBy: [...orderBy, ...valueFields(breakdown).map((value) => order(value))],
    limit,
  })
}

const shareOfAll = (value: Expr): Expr => {
  const over = { kind: 'window', partitionBy: [], orderBy: [], frame: null, span: noSpan } as const
  return call('divide', value, call('nullIf', callWith('sum', { args: [value], over }), literal(0)))
}

/** The most frequent tag of each language: `en-US` of `en`. */
function* usualTags(
  languages: readonly JsonValue[],
  query: WebStatsTableQuery,
  plan: WebPlan,
  env: QueryContext,
): QueryRun<ReadonlyMap<string, string>> {
  if (languages.length === 0) return new Map()
  const { parts } = breakdownOf(query, cleaning(query, env))
  const breakdown = { ...eventPart(...parts, languageTag) }
  const [language, tag] = valueFields(breakdown) as [Expr, Expr]
  const counted = select({
    columns: [language, tag, alias(call('count'), 'visits')],
    from: from(visitsOf(plan, { breakdown, also: {} }, env), 'web_tags'),
    where: isIn(
      language,
      languages.map((one) => literal(String(one))),
    ),
    groupBy: groupBy(language, tag),
  })
  const asked = select({
    columns: [language, tag],
    from: from(counted, 'web_tags_counted'),
    orderBy: [order(field('visits'), 'desc'), order(tag)],
    limitBy: { kind: 'limitBy', limit: literal(1), offset: null, by: [language], span: noSpan },
  })
  const table = (yield { kind: 'statement', label: 'tags of languages', query: asked }) as Table
  const [names, tags] = [valueColumn(0), valueColumn(1)].map((name) => columnValues(table.getChild(name)!, 'UTC').map(String))
  return new Map(names!.map((name, i) => [name, tags![i]!]))
}
