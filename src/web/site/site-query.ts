import type { Filter } from '../insights/query.ts'
import type { Query } from '../lib/api.ts'
import { sqlText } from '../lib/format.ts'

// What the page of a site asks: the same range, filters and comparison for every number on it.

export interface SiteChoices {
  readonly from: string
  readonly to: string | null
  readonly isCompared: boolean
  /** `event:<name>` or `action:<id>`; empty: no goal. */
  readonly goal: string
  readonly filters: readonly SiteFilter[]
}
export interface SiteFilter extends Filter {
  readonly value: string
}

const goalOf = (goal: string): object | null => {
  const [, kind, of] = /^(event|action):(.*)$/s.exec(goal) ?? []
  return kind === undefined ? null : kind === 'action' ? { actionId: Number(of) } : { customEventName: of }
}

export const siteQuery = (
  kind: string,
  { from, to, isCompared, goal, filters }: SiteChoices,
  more: Readonly<Record<string, unknown>> = {},
): Query => {
  const conversionGoal = kind === 'WebGoalsQuery' || kind === 'WebExternalClicksTableQuery' ? null : goalOf(goal)
  return {
    kind,
    dateRange: { date_from: from, ...(to && { date_to: to }) },
    ...(isCompared && { compareFilter: { compare: true } }),
    ...(filters.length > 0 && { properties: filters }),
    ...(conversionGoal && { conversionGoal }),
    ...more,
  }
}

/** Minutes for an hour, hours for a day or two, weeks for half a year and more. */
function intervalOf({ from, to }: SiteChoices): string {
  const [, count, unit] = /^-(\d+)([hdwmy])$/.exec(from) ?? []
  const days = unit
    ? Number(count) * ({ h: 1 / 24, d: 1, w: 7, m: 30, y: 365 }[unit] ?? 1)
    : /^\d{4}-/.test(from)
      ? ((to ? Date.parse(to) : Date.now()) - Date.parse(from)) / 86_400_000
      : ({ dStart: 1, mStart: 30, yStart: 365, all: 365 }[from] ?? 30)
  return days <= 1 / 12 ? 'minute' : days <= 2 ? 'hour' : days < 120 ? 'day' : days < 370 ? 'week' : 'month'
}

const page = { kind: 'EventsNode', event: '$pageview', name: '$pageview', custom_name: 'Visitors', math: 'dau' }

/** What makes a visitor in all numbers of the page: pages, screens of apps, and what is chosen as the goal. */
function visitorSeries(goal: string, hasScreens: boolean): object {
  if (!hasScreens && goal === '') return page
  const [, kind, of = ''] = /^(event|action):(.*)$/s.exec(goal) ?? []
  const conditions = [
    "event in ('$pageview', '$screen')",
    ...(kind === 'event' ? [`event = ${sqlText(of)}`] : kind === 'action' ? [`matchesAction(${Number(of)})`] : []),
  ]
  return { ...page, event: null, name: 'All events', properties: [{ type: 'hogql', key: conditions.join(' or ') }] }
}

/** Visitors over time: those of the cards. */
export const visitorsQuery = (choices: SiteChoices, hasScreens: boolean): Query => ({
  kind: 'TrendsQuery',
  series: [visitorSeries(choices.goal, hasScreens)],
  interval: intervalOf(choices),
  dateRange: { date_from: choices.from, ...(choices.to && { date_to: choices.to }) },
  ...(choices.isCompared && { compareFilter: { compare: true } }),
  ...(choices.filters.length > 0 && { properties: choices.filters }),
  ...(choices.filters.some(({ type }) => type === 'session') && { madeSessions: true }),
  trendsFilter: { display: 'ActionsLineGraph' },
})

/** A table: what its rows are, and the filter that a row is. */
export interface Table {
  readonly by: string
  readonly title: string
  /** Null: rows are not filters. */
  readonly filter: { readonly type: 'event' | 'session'; readonly key: string } | null
}
export interface TableGroup {
  readonly title: string
  readonly tables: readonly Table[]
}
const table = (by: string, title: string, type?: 'event' | 'session', key?: string): Table => ({
  by,
  title,
  filter: type && key ? { type, key } : null,
})

export const tableGroups: readonly TableGroup[] = [
  {
    title: 'Pages',
    tables: [
      table('Page', 'Pages', 'event', '$pathname'),
      table('InitialPage', 'Entry', 'session', '$entry_pathname'),
      table('ExitPage', 'Exit', 'session', '$end_pathname'),
      table('ExitClick', 'Links out'),
    ],
  },
  {
    title: 'Sources',
    tables: [
      table('InitialChannelType', 'Channels', 'session', '$channel_type'),
      table('InitialReferringDomain', 'Referrers', 'session', '$entry_referring_domain'),
      table('InitialUTMSource', 'UTM source', 'session', '$entry_utm_source'),
      table('InitialUTMCampaign', 'Campaign', 'session', '$entry_utm_campaign'),
    ],
  },
  {
    title: 'Devices',
    tables: [
      table('Browser', 'Browsers', 'event', '$browser'),
      table('DeviceType', 'Devices', 'event', '$device_type'),
      table('OS', 'Systems', 'event', '$os'),
      table('Viewport', 'Screen sizes'),
    ],
  },
  {
    title: 'Places',
    tables: [
      table('Country', 'Countries', 'event', '$geoip_country_code'),
      table('Region', 'Regions'),
      table('City', 'Cities'),
      table('Language', 'Languages'),
      table('Timezone', 'Time zones'),
    ],
  },
]

const regions = new Intl.DisplayNames('en', { type: 'region' })
const languages = new Intl.DisplayNames('en', { type: 'language' })
const named = (names: Intl.DisplayNames, code: string): string => {
  try {
    return names.of(code) ?? code
  } catch {
    return code
  }
}
const countryName = (code: string): string => named(regions, code)

/** What a row says, by what its table is about. */
export function rowName(by: string, value: unknown): string {
  if (value === null || value === '') return '(none)'
  if (Array.isArray(value)) {
    if (by === 'Viewport') return value.join(' × ')
    const [country, ...rest] = value as unknown[]
    return [...rest.slice(-1).map(String), countryName(String(country))].join(', ')
  }
  if (by === 'Country') return countryName(String(value))
  if (by === 'Language') return named(languages, String(value))
  if (by === 'Timezone') return `UTC${Number(value) < 0 ? '−' : '+'}${Math.abs(Number(value))}`
  if (value === '$direct') return 'Direct'
  return String(value)
}
