import { isSpread } from '../insights/choices.ts'
import { listIn, objectIn, textIn, withField } from '../insights/query.ts'
import type { Answer, Query } from '../lib/api.ts'

// How an insight went in the last days, as one small line beside its name.

const lastDays = { date_from: '-30d' }

/** The same question by days, of everybody together. Null: it has no single number a day. */
export function byLastDays(query: Query): Query | null {
  const bare = withField(withField(query, 'breakdownFilter', undefined), 'compareFilter', undefined)
  const asked = { ...bare, interval: 'day', dateRange: lastDays }
  if (query.kind === 'TrendsQuery') {
    const { formula, formulas, formulaNodes, display } = objectIn(query, 'trendsFilter')
    if (isSpread(String(display ?? ''))) return null
    return { ...asked, trendsFilter: { formula, formulas, formulaNodes, display: 'ActionsLineGraph' } }
  }
  if (query.kind === 'LifecycleQuery') return asked
  if (query.kind !== 'FunnelsQuery' || listIn(query, 'series').length < 2) return null
  return { ...asked, funnelsFilter: { ...objectIn(query, 'funnelsFilter'), funnelVizType: 'trends' } }
}

type Row = { readonly data?: unknown; readonly status?: unknown }

/** Of a lifecycle, those who were active; of anything else its first series. */
export function lastDaysOf(query: Query, { results }: Answer): readonly number[] {
  const rows = Array.isArray(results) ? (results as Row[]) : []
  const numbers = (row: Row | undefined): number[] =>
    listIn<unknown>(row ?? {}, 'data').map((value) => (typeof value === 'number' ? value : 0))
  if (query.kind !== 'LifecycleQuery') return numbers(rows[0])
  const [first = [], ...others] = rows.filter((row) => textIn(row as Query, 'status') !== 'dormant').map(numbers)
  return first.map((value, day) => others.reduce((sum, one) => sum + (one[day] ?? 0), value))
}
