import type { Query } from '../lib/api.ts'
import { takesProperty } from './choices.ts'

// The query of an insight is JSON, as the API takes it. The builder changes that JSON, and the address holds it.

export interface Filter {
  readonly key: string
  readonly type: 'event' | 'person' | 'session' | 'group' | 'cohort' | 'hogql'
  readonly group_type_index?: number | null
  readonly operator: string
  readonly value?: unknown
}
export interface SeriesNode {
  readonly kind: 'EventsNode' | 'ActionsNode' | 'GroupNode'
  readonly event?: string | null
  readonly id?: number
  readonly name?: string
  readonly custom_name?: string
  readonly math?: string
  readonly math_property?: string
  readonly properties?: readonly Filter[]
  readonly [field: string]: unknown
}

export const kinds = [
  { kind: 'TrendsQuery', name: 'trends', icon: 'insights', title: 'Trends', about: 'How often something happens, over time' },
  { kind: 'FunnelsQuery', name: 'funnel', icon: 'funnel', title: 'Funnel', about: 'How many get from step to step, and where they leave' },
  { kind: 'RetentionQuery', name: 'retention', icon: 'retention', title: 'Retention', about: 'How many come back' },
  { kind: 'PathsQuery', name: 'paths', icon: 'pipelines', title: 'Paths', about: 'Where people go from page to page' },
  { kind: 'StickinessQuery', name: 'stickiness', icon: 'stickiness', title: 'Stickiness', about: 'On how many days people are active' },
  {
    kind: 'LifecycleQuery',
    name: 'lifecycle',
    icon: 'lifecycle',
    title: 'Lifecycle',
    about: 'New, returning, resurrecting and dormant people',
  },
] as const
export type InsightKind = (typeof kinds)[number]['kind']

const allEvents: SeriesNode = { kind: 'EventsNode', event: null, name: 'All events', math: 'total' }
const someEvent = (event: string | null): SeriesNode => ({ kind: 'EventsNode', event, name: event ?? 'All events' })

/** What a new insight begins with: page views, or the first event of the project's own; then another one. `names`: the most frequent first. */
export function suggestedEvents(names: readonly string[]): readonly string[] {
  const own = names.filter((name) => !name.startsWith('$'))
  const first = names.find((name) => name === '$pageview') ?? own[0] ?? names[0]
  return first === undefined ? [] : [first, own.find((name) => name !== first) ?? first]
}

/** What a new insight of a kind asks about the suggested events. */
export function emptyQuery(kind: InsightKind, [event = null, next = event]: readonly (string | null)[] = []): Query {
  const dateRange = { date_from: '-30d' }
  const first = event === null ? allEvents : { ...someEvent(event), math: 'total' }
  switch (kind) {
    case 'TrendsQuery':
      return { kind, series: [first], interval: 'day', dateRange, trendsFilter: { display: 'ActionsLineGraph' } }
    case 'FunnelsQuery':
      return {
        kind,
        series: [someEvent(event), someEvent(next)],
        dateRange,
        funnelsFilter: { funnelWindowInterval: 14, funnelWindowIntervalUnit: 'day' },
      }
    case 'RetentionQuery':
      return {
        kind,
        dateRange: { date_from: '-11d' },
        retentionFilter: {
          period: 'Day',
          totalIntervals: 11,
          retentionType: 'retention_recurring',
          targetEntity: { id: event, name: event ?? 'All events', type: 'events' },
          returningEntity: { id: event, name: event ?? 'All events', type: 'events' },
        },
      }
    case 'PathsQuery':
      return { kind, dateRange, pathsFilter: { includeEventTypes: ['$pageview'], stepLimit: 5, edgeLimit: 50 } }
    case 'StickinessQuery':
      return { kind, series: [{ ...(event === null ? allEvents : someEvent(event)), math: 'dau' }], interval: 'day', dateRange }
    case 'LifecycleQuery':
      return { kind, series: [first], interval: 'day', dateRange }
  }
}

export const objectIn = (query: Query, field: string): Readonly<Record<string, unknown>> => {
  const value = query[field]
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : {}
}
export const listIn = <T>(of: Readonly<Record<string, unknown>>, field: string): readonly T[] =>
  Array.isArray(of[field]) ? (of[field] as T[]) : []

/** What is not a text is left out: an address may hold anything. */
export const textsIn = (of: Readonly<Record<string, unknown>>, field: string): readonly string[] =>
  listIn<unknown>(of, field).filter((one) => typeof one === 'string')
export const textIn = (of: Readonly<Record<string, unknown>>, field: string): string => {
  const value = of[field]
  return typeof value === 'string' ? value : value == null || typeof value === 'object' ? '' : String(value)
}

/** Sets a field; undefined removes it. */
export function withField<Q extends Readonly<Record<string, unknown>>>(of: Q, field: string, value: unknown): Q {
  const changed: Record<string, unknown> = { ...of, [field]: value }
  if (value === undefined) delete changed[field]
  return changed as Q
}
/** Sets a field of an object inside the query. */
export const within = (query: Query, field: string, name: string, value: unknown): Query =>
  withField(query, field, withField(objectIn(query, field), name, value))

/** What must still be chosen before the query can be asked; null: nothing. */
export function missingIn(query: Query): string | null {
  const series = listIn<SeriesNode | null>(query, 'series').map((node) => node ?? ({} as Partial<SeriesNode>))
  for (const [i, { math, math_property, math_hogql }] of series.entries()) {
    const mark = String.fromCharCode(65 + i)
    if (takesProperty(math) && !math_property) return `Choose the property whose numbers ${mark} takes.`
    if (math === 'hogql' && !math_hogql) return `Write the SQL expression of ${mark}, such as count().`
  }
  const display = objectIn(query, 'trendsFilter').display
  if (display === 'BoxPlot' && series.some(({ math_property }) => !math_property))
    return 'A box plot shows the numbers of a property: choose “Average of” and the property.'
  if (query.kind === 'FunnelsQuery' && series.length < 2) return 'A funnel needs a second step.'
  return null
}

/** The query of an address, or one that was typed. Null: it is not a query. */
export function queryOf(text: string | null): Query | null {
  if (text === null) return null
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null && typeof (value as Query).kind === 'string' ? unwrapped(value as Query) : null
  } catch {
    return null
  }
}
/** Nodes that say how a query is shown contain the query itself. */
export function unwrapped(query: Query): Query {
  const source = query.source
  return /^(InsightViz|DataTable|DataVisualization)Node$/.test(query.kind) && typeof source === 'object' && source !== null
    ? unwrapped(source as Query)
    : query
}

export const isStatement = ({ kind }: Query): boolean => kind === 'HogQLQuery' || kind === 'SqlLikeQuery'
