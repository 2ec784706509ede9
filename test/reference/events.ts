// The answer to an events query by loops over an array of events, in order of arrival.

export interface ReferenceEvent {
  readonly event: string
  readonly person: number
  /** Microseconds. */
  readonly at: number
  readonly properties: Readonly<Record<string, string | null>>
}

export interface ReferenceQuery {
  readonly events: readonly string[]
  readonly person: number | null
  /** Microseconds, both excluded. */
  readonly after: number
  readonly before: number
  /** Property and the values it may have; rows without it match when `isNot`. */
  readonly filter: { readonly key: string; readonly values: readonly string[]; readonly isNot: boolean } | null
  readonly order: 'time' | 'newest' | 'key' | 'none'
  readonly isCounted: boolean
  readonly limit: number
  readonly offset: number
}

export interface ReferenceAnswer {
  readonly results: readonly (readonly unknown[])[]
  readonly hasMore: boolean
}

export function referenceEvents(events: readonly ReferenceEvent[], query: ReferenceQuery): ReferenceAnswer {
  const { filter } = query
  const chosen = events.filter((e) => {
    if (query.events.length > 0 && !query.events.includes(e.event)) return false
    if (query.person !== null && e.person !== query.person) return false
    if (e.at <= query.after || e.at >= query.before) return false
    if (!filter) return true
    const value = e.properties[filter.key]
    const isOneOf = value !== null && value !== undefined && filter.values.includes(value)
    return filter.isNot ? !isOneOf : isOneOf
  })
  const rows = query.isCounted ? counted(chosen) : listed(chosen, query.order)
  const page = rows.slice(query.offset, query.offset + query.limit)
  return { results: page, hasMore: rows.length > query.offset + query.limit }
}

/** Nothing sorts behind everything. */
const byText = (a: string | null, b: string | null) => (a === b ? 0 : a === null ? 1 : b === null ? -1 : a < b ? -1 : 1)

function listed(events: readonly ReferenceEvent[], order: ReferenceQuery['order']): unknown[][] {
  const key = (e: ReferenceEvent) => e.properties.key ?? null
  const compare: Record<ReferenceQuery['order'], (a: ReferenceEvent, b: ReferenceEvent) => number> = {
    time: (a, b) => a.at - b.at,
    newest: (a, b) => b.at - a.at,
    key: (a, b) => byText(key(a), key(b)),
    none: (a, b) => byText(key(a), key(b)),
  }
  return [...events].sort(compare[order]).map((e) => [key(e), e.event, `d${e.person}`])
}

function counted(events: readonly ReferenceEvent[]): unknown[][] {
  const rows: { key: string | null; count: number }[] = []
  for (const e of events) {
    const key = e.properties.key ?? null
    const row = rows.find((r) => r.key === key)
    if (row) row.count++
    else rows.push({ key, count: 1 })
  }
  return rows.sort((a, b) => b.count - a.count || byText(a.key, b.key)).map(({ key, count }) => [key, count])
}
