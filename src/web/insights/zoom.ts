import type { Chart } from '../../service/pictures/chart.ts'
import type { Query } from '../lib/api.ts'
import { fittingInterval } from './intervals.ts'

// From a chart to a part of it.

const dayMs = 86_400_000
const parts: Readonly<Record<string, number>> = { second: 1000, minute: 60_000, hour: 3_600_000 }

/** A clock without a zone: `2026-01-05`, `2026-01-05 11:00:00`. */
const wallOf = (text: string): number => Date.parse(`${text.slice(0, 10)}T${text.slice(11, 19) || '00:00:00'}Z`)
const textOf = (wall: number): string => new Date(wall).toISOString().slice(0, 19).replace('T', ' ')

/** The first moment after an interval that begins there. */
function endOf(begin: number, interval: string): number {
  const date = new Date(begin)
  switch (interval) {
    case 'week':
      return begin + 7 * dayMs
    case 'month':
    case 'quarter':
      return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + (interval === 'month' ? 1 : 3), 1)
    case 'year':
      return Date.UTC(date.getUTCFullYear() + 1, 0, 1)
    default:
      return begin + (parts[interval] ?? dayMs)
  }
}

/** Its chart is over time, and its intervals can be shorter. */
export const canZoom = ({ kind }: Query): boolean => ['TrendsQuery', 'LifecycleQuery', 'FunnelsQuery'].includes(kind)

/** The query of the intervals from one label of its chart to another. */
export function zoomed(query: Query, chart: Chart, from: number, to: number): Query {
  if (chart.kind !== 'lines' && chart.kind !== 'bars') return query
  const [first, last] = [chart.begins[from], chart.begins[to]]
  if (first === undefined || last === undefined) return query
  const start = wallOf(first)
  // Several intervals of the answer may be in one label.
  const next = chart.begins[to + 1]
  const end = next === undefined ? endOf(wallOf(last), chart.interval) : wallOf(next)
  const interval = fittingInterval(chart.interval, (end - start) / dayMs)
  const isByClock = chart.interval in parts
  const dateRange = isByClock
    ? { date_from: textOf(start), date_to: textOf(end - 1000), explicitDate: true }
    : { date_from: textOf(start).slice(0, 10), date_to: textOf(end - 1).slice(0, 10) }
  return { ...query, dateRange, interval }
}
