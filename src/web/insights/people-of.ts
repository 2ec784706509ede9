import type { Chart } from '../../service/pictures/chart.ts'
import { boxLabel } from '../../service/pictures/charts/boxes.ts'
import { stepGroups } from '../../service/pictures/charts/funnels.ts'
import { labelsOf, weekdays, weekOfGrid } from '../../service/pictures/charts/trends.ts'
import { breakdownInBrackets } from '../../service/pictures/charts/values.ts'
import { picks } from '../../service/pictures/draw/flow.ts'
import { readableEvent } from '../../service/pictures/readable.ts'
import type { Picked } from '../charts/picked.ts'
import type { Answer, Query } from '../lib/api.ts'
import { objectIn, within } from './query.ts'

// Which question lists the people behind a number of an insight.

export type AnswerRow = Readonly<Record<string, unknown>>
export interface Chosen {
  readonly title: string
  readonly source: Query
}

export const rowsOf = (answer: Answer): readonly AnswerRow[] => (Array.isArray(answer.results) ? (answer.results as AnswerRow[]) : [])
/** Each group is a list of steps. */
export const funnelGroups = ({ results }: Answer): readonly (readonly AnswerRow[])[] => (Array.isArray(results) ? stepGroups(results) : [])

const insightActors = (query: Query, more: AnswerRow): Query => ({ kind: 'InsightActorsQuery', source: query, ...more })

/** Of a comparison: which of the two periods a row is about. */
const periodOf = ({ compare_label: compare }: AnswerRow) => (typeof compare === 'string' ? { compare } : {})

/** Of several intervals in one point the one that is shown: the largest. */
function intervalAt(row: AnswerRow, index: number, step: number): number {
  const data = Array.isArray(row.data) ? (row.data as (number | null)[]) : []
  const inPoint = data.slice(index * step, (index + 1) * step).map((value) => Math.abs(value ?? 0))
  return index * step + Math.max(0, inPoint.indexOf(Math.max(...inPoint)))
}

/** Null: the people behind it cannot be listed. */
export function peopleAt(query: Query, answer: Answer, chart: Chart, picked: Picked): Chosen | null {
  switch (query.kind) {
    case 'FunnelsQuery':
      return inFunnel(query, answer, chart, picked)
    case 'RetentionQuery':
      return picked.series < 0 ? null : retained(query, answer, picked.series, picked.index, retainedTitle(chart, picked))
    case 'PathsQuery':
      return picked.index === picks.target || picked.index === picks.source
        ? atNode(query, rowsOf(answer)[picked.series], picked.index)
        : onEdge(query, rowsOf(answer)[picked.series])
    default:
      return inSeries(query, answer, chart, picked)
  }
}

function inSeries(query: Query, answer: Answer, chart: Chart, { series, index }: Picked): Chosen | null {
  if (chart.kind === 'grid') return inHour(query, answer, { series, index })
  if (chart.kind === 'boxes') return inBox(query, answer, series)
  const row = rowsOf(answer)[series]
  if (!row) return null
  const label = String(row.status ?? labelsOf(rowsOf(answer))[series])
  const isOverTime = chart.kind === 'lines' || chart.kind === 'bars'
  const at = isOverTime && index >= 0 ? intervalAt(row, index, chart.step) : -1
  const day = at < 0 ? undefined : (row.days as readonly unknown[] | undefined)?.[at]
  const when = at < 0 ? '' : `, ${String((row.labels as readonly unknown[] | undefined)?.[at] ?? '')}`
  const title = `${label}${when}`
  const compare = periodOf(row)
  if (query.kind === 'LifecycleQuery')
    return day === undefined ? null : { title, source: insightActors(query, { day, status: row.status }) }
  if (query.kind === 'StickinessQuery')
    return day === undefined ? null : { title, source: insightActors(query, { day, series: Number(row.order ?? 0), ...compare }) }
  // The number of a formula has no people of its own.
  if (row.action === null) return null
  const value = row.breakdown_value
  const source = insightActors(query, {
    series: Number(row.order ?? 0),
    ...(day !== undefined && { day }),
    ...(value !== undefined && value !== null && { breakdown: value }),
    ...compare,
  })
  return { title, source }
}

function inHour(query: Query, answer: Answer, { series, index }: Picked): Chosen | null {
  const found = weekOfGrid(rowsOf(answer), series)
  if (!found) return null
  const { row, weekday } = found
  const title = `${labelsOf([row])[0]!}, ${weekdays[weekday - 1]!} at ${index}:00`
  return { title, source: insightActors(query, { series: Number(row.order ?? 0), row: weekday, column: index, ...periodOf(row) }) }
}

function inBox(query: Query, { boxplot_data: boxes }: Answer, at: number): Chosen | null {
  const row = Array.isArray(boxes) ? (boxes as AnswerRow[])[at] : undefined
  if (!row) return null
  const title = `${boxLabel(row, query)}, ${String(row.label)}`
  return { title, source: insightActors(query, { series: Number(row.series_index ?? 0), day: row.day, ...periodOf(row) }) }
}

function inFunnel(query: Query, answer: Answer, chart: Chart, { series, index, isLost = false }: Picked): Chosen | null {
  if (objectIn(query, 'funnelsFilter').funnelVizType === 'trends') {
    const row = rowsOf(answer)[series]
    const at = row && (chart.kind === 'lines' || chart.kind === 'bars') ? intervalAt(row, index, chart.step) : -1
    const day = at < 0 ? undefined : (row?.days as readonly unknown[] | undefined)?.[at]
    if (day === undefined) return null
    const value = row?.breakdown_value
    const source = {
      kind: 'FunnelsActorsQuery',
      source: query,
      funnelTrendsEntrancePeriodStart: day,
      funnelTrendsDropOff: false,
      ...(value !== undefined && value !== null && { funnelStepBreakdown: value }),
      ...periodOf(row!),
    }
    return { title: `Converted, ${String(day)}${row!.compare_label === 'previous' ? ' (previous)' : ''}`, source }
  }
  const step = funnelGroups(answer)[series]?.[index]
  return chart.kind === 'funnel' && step ? inStep(query, isLost ? -(index + 1) : index + 1, step) : null
}

/** `step` below 0: those who left before it. */
export function inStep(query: Query, step: number, row: AnswerRow): Chosen {
  const { custom_name, name, breakdown_value: group } = row
  const source = {
    kind: 'FunnelsActorsQuery',
    source: query,
    funnelStep: step,
    ...(group != null && { funnelStepBreakdown: group }),
    ...periodOf(row),
  }
  const period = row.compare_label === 'previous' ? ' (previous)' : ''
  const shown = `${String(custom_name || readableEvent(String(name ?? '')) || 'All events')}${group == null ? '' : ` ${breakdownInBrackets(group)}`}${period}`
  return { title: step < 0 ? `Dropped off before ${shown}` : `Reached ${shown}`, source }
}

/** `Began 5 Jan, Day 3` */
const retainedTitle = (chart: Chart, { series, index }: Picked): string =>
  chart.kind === 'lines' ? `Began ${chart.series.find(({ row }) => row === series)?.label ?? ''}, ${chart.labels[index] ?? ''}` : ''

/** Of those who began in a row, those who came back in an interval; 0: all of the row. */
export function retained(query: Query, answer: Answer, at: number, interval: number, title: string): Chosen {
  const rows = rowsOf(answer)
  const own = rows[at] ?? {}
  const { breakdown_value: value, compare_label: period } = own
  const isSame = (row: AnswerRow) => row.compare_label === period && JSON.stringify(row.breakdown_value) === JSON.stringify(value)
  const before = rows.slice(0, at).filter(isSame).length
  const source = insightActors(query, { interval: before, day: interval, ...(value != null && { breakdown: value }), ...periodOf(own) })
  return { title, source }
}

export function onEdge(query: Query, edge: AnswerRow | undefined): Chosen | null {
  if (!edge) return null
  const [from, to] = [String(edge.source), String(edge.target)]
  const source = within(within(query, 'pathsFilter', 'pathStartKey', from), 'pathsFilter', 'pathEndKey', to)
  const period = edge.compare_label === 'previous' ? ' (previous)' : ''
  return { title: `From ${itemName(from)} to ${itemName(to)}${period}`, source: insightActors(source, periodOf(edge)) }
}

/** All who came to a node, or began there. */
function atNode(query: Query, edge: AnswerRow | undefined, side: number): Chosen | null {
  if (!edge) return null
  const node = String(side === picks.target ? edge.target : edge.source)
  const source = within(query, 'pathsFilter', side === picks.target ? 'pathEndKey' : 'pathStartKey', node)
  const period = edge.compare_label === 'previous' ? ' (previous)' : ''
  return { title: `Came to ${itemName(node)}${period}`, source: insightActors(source, periodOf(edge)) }
}

/** `2_/home` is the item /home at step 2. */
export const itemName = (id: string): string => id.replace(/^\d{1,3}_/, '')
