import { readableEvent } from '../../service/pictures/readable.ts'
import type { Cast } from '../dashboards/templates/templates.ts'
import type { Answer, Query } from '../lib/api.ts'
import { changeOf } from '../lib/format.ts'

// The numbers of the last day on the first page, from the events that a project has.

export interface DayNumber {
  readonly title: string
  /** The number, and that of the day before. */
  readonly query: Query
  /** By hours. */
  readonly hours: Query
}

const lastDay = { date_from: '-24h' }

const numberOf = (title: string, series: object): DayNumber => ({
  title,
  query: {
    kind: 'TrendsQuery',
    series: [series],
    dateRange: lastDay,
    compareFilter: { compare: true },
    trendsFilter: { display: 'BoldNumber' },
  },
  hours: { kind: 'TrendsQuery', series: [series], interval: 'hour', dateRange: lastDay, trendsFilter: { display: 'ActionsLineGraph' } },
})
const node = (event: string | null, more: object = {}) => ({ kind: 'EventsNode', event, name: event ?? 'All events', ...more })

/** People first, then what the product is for. Without an event of a role its number is left out. */
export function dayNumbers({ visit, signUp, use, pay }: Cast): readonly DayNumber[] {
  return [
    numberOf('People', node(visit?.event ?? null, { math: 'dau' })),
    ...(signUp ? [numberOf(readableEvent(signUp.event), node(signUp.event))] : []),
    ...(use ? [numberOf(readableEvent(use.event), node(use.event))] : []),
    ...(pay ? [numberOf(readableEvent(pay.event), node(pay.event))] : []),
    ...(pay?.number === undefined ? [] : [numberOf('Revenue', node(pay.event, { math: 'sum', math_property: pay.number }))]),
  ].slice(0, 4)
}

/** As the dashboards of templates draw it. */
export const weeklyActive = ({ use, visit }: Cast): Query => ({
  kind: 'TrendsQuery',
  series: [node(visit?.event ?? use?.event ?? null, { math: 'weekly_active' })],
  interval: 'day',
  dateRange: { date_from: '-30d' },
  compareFilter: { compare: true },
  trendsFilter: { display: 'ActionsLineGraph' },
})

interface Row {
  readonly aggregated_value?: unknown
  readonly compare_label?: unknown
  readonly data?: unknown
}
const rowsOf = ({ results }: Answer): readonly Row[] => (Array.isArray(results) ? (results as Row[]) : [])
const totalOf = (row: Row | undefined): number => (typeof row?.aggregated_value === 'number' ? row.aggregated_value : 0)

export function readDay(answer: Answer): { readonly now: number; readonly before: number } {
  const rows = rowsOf(answer)
  const previous = rows.find((row) => row.compare_label === 'previous')
  return { now: totalOf(rows.find((row) => row !== previous)), before: totalOf(previous) }
}

export const hoursOf = (answer: Answer): readonly number[] => {
  const data = rowsOf(answer)[0]?.data
  return Array.isArray(data) ? data.map((value) => (typeof value === 'number' ? value : 0)) : []
}

/** `▲ 6.1%` over the time before. */
export function changeText(now: number, before: number): string {
  if (before === 0) return now === 0 ? 'as the day before: none' : 'none the day before'
  const share = (now - before) / Math.abs(before)
  if (Math.abs(share) < 0.0005) return 'as the day before'
  return `${share > 0 ? '▲' : '▼'} ${changeOf(now, before)} vs. the day before`
}
