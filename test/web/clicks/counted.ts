import type { Page } from 'playwright-core'

// A number that was clicked, and the people who are listed.

type Fields = Readonly<Record<string, unknown>>
export interface Listing {
  readonly kind: string
  readonly source: Fields & { readonly source?: Fields }
  readonly [field: string]: unknown
}

const wholeNumber = /^-?\d{1,3}(?:,\d{3})*(?=$| \(|, )/

/** The number that something stands for: what it says, in its label, in its row, or of a shape in the table of its chart. Null: it says none. */
export const clickedNumber = `((one) => {
  const label = one.getAttribute('aria-label')
  const ofRetention = label && /, (\\d+) of \\d+: /.exec(label)
  if (ofRetention) return ofRetention[1]
  const pick = one.getAttribute('data-pick')
  if (pick !== null) {
    const [series, index = -1, lost = 0] = pick.split(' ').map(Number)
    const result = one.closest('.result')
    const rows = [...(result?.querySelectorAll('table.rows tbody tr') ?? [])]
    const head = [...(result?.querySelectorAll('table.rows th') ?? [])].map((one) => one.innerText)
    const groups = new Set([...(result?.querySelectorAll('[data-pick]') ?? [])].map((one) => one.getAttribute('data-pick').split(' ')[0])).size
    if (head[1] === 'Reached') return rows[series * (rows.length / groups) + index]?.children[1 + lost].innerText ?? null
    return head[1] === 'Total' && index < 0 ? (rows[series]?.children[1].innerText ?? null) : null
  }
  const own = one.innerText.trim()
  if (/^-?[\\d,]+( \\(.*)?$/.test(own) && one.closest('td.number')) return own
  const row = one.closest('tr')
  const total = row?.children[1]
  const isTotal = row?.closest('table')?.querySelectorAll('th')[1]?.innerText === 'Total'
  return isTotal && one.closest('td') === row.children[0] ? total.innerText.trim() : null
})`

export const numberIn = (text: string | null): number | null => {
  const found = text === null ? null : wholeNumber.exec(text.trim())
  return found ? Math.abs(Number(found[0].replaceAll(',', ''))) : null
}

const ofPeople = new Set(['dau', 'weekly_active', 'monthly_active', 'unique_group', 'first_time_for_user', 'first_matching_event_for_user'])
const ofEvents = new Set([undefined, null, 'total', 'unique_session', 'first_time_for_user_with_filters'])
const fieldsOf = (value: unknown): Fields => (typeof value === 'object' && value !== null ? (value as Fields) : {})

/** How the number that opens a list relates to its people. Null: it says nothing about how many they are. */
export function relationOf({ source }: Listing): 'equal' | 'at most' | null {
  const query = fieldsOf(source.source)
  if (query.samplingFactor != null && query.samplingFactor !== 1) return null
  switch (query.kind) {
    case 'TrendsQuery': {
      const { smoothingIntervals, display } = fieldsOf(query.trendsFilter)
      if (Number(smoothingIntervals ?? 1) > 1 || display === 'ActionsLineGraphCumulative' || display === 'BoxPlot') return null
      const { math } = fieldsOf((query.series as readonly unknown[])[Number(source.series ?? 0)]) as { math?: string }
      return ofPeople.has(math ?? '') ? 'equal' : ofEvents.has(math) ? 'at most' : null
    }
    case 'FunnelsQuery':
      return fieldsOf(query.funnelsFilter).funnelVizType === 'trends' ? null : 'equal'
    case 'RetentionQuery':
      return /sum|avg/.test(String(fieldsOf(query.retentionFilter).aggregationType)) ? null : 'equal'
    case 'LifecycleQuery':
    case 'StickinessQuery':
      return 'equal'
    case 'PathsQuery':
      return 'at most'
    default:
      return null
  }
}

interface ListAnswer {
  readonly results?: readonly [{ id?: string } | string][]
  readonly hasMore?: boolean
  readonly detail?: string
}

/** All rows of a list, as the page would read them. */
export const countListed = async (page: Page, project: number, listing: Listing): Promise<{ rows: number; different: number }> => {
  let rows = 0
  const ids = new Set<string>()
  for (let hasMore = true; hasMore; ) {
    const body = JSON.stringify({ query: { ...listing, limit: 1000, offset: rows }, refresh: 'blocking' })
    const answer = await page.evaluate<ListAnswer>(
      `fetch('api/projects/${project}/query/', { method: 'POST', headers: { 'content-type': 'application/json' }, body: ${JSON.stringify(body)} })
        .then((found) => found.json())`,
    )
    if (!Array.isArray(answer.results)) throw new Error(`the list is refused: ${answer.detail}`)
    for (const [actor] of answer.results) ids.add(typeof actor === 'string' ? actor : (actor.id ?? JSON.stringify(actor)))
    rows += answer.results.length
    hasMore = answer.hasMore === true && answer.results.length > 0
  }
  return { rows, different: ids.size }
}
