import { axisLabels } from '../../service/pictures/axes.ts'
import type { Chart } from '../../service/pictures/chart.ts'
import { unreached } from '../../service/pictures/charts/retention.ts'
import { stepShares } from '../../service/pictures/draw/funnel.ts'
import { durationText, type NumberFormat, numberText, percentages, plainNumbers } from '../../service/pictures/format.ts'
import { readableSeries } from '../../service/pictures/readable.ts'
import { type AnswerRow, itemName, rowsOf } from '../insights/people-of.ts'
import { listIn, objectIn, type SeriesNode, textIn } from '../insights/query.ts'
import type { Answer, Query } from '../lib/api.ts'

// An answer in words and a few large numbers, said before it is drawn.

/** The number of a series over the whole range, whatever it is split by. */
export interface Whole {
  /** Of the series or the formula. */
  readonly order: number
  /** Null: a range has no such number. Undefined: it is still asked. */
  readonly now: number | null | undefined
  /** Undefined too where nothing is compared. */
  readonly before: number | null | undefined
}

export interface Change {
  readonly direction: -1 | 0 | 1
  /** `18.4%` or `0.4 points`; empty: a share of nothing. */
  readonly by: string
  readonly was: string
}
export interface Saying {
  readonly value: string
  readonly about: string
  /** Null: nothing is compared. */
  readonly change: Change | null
  /** More of it is worse. */
  readonly isRiseBad?: boolean
}

const most = 4
const oneDecimal: NumberFormat = { ...plainNumbers, decimals: 1 }
export const shares: NumberFormat = { ...percentages, decimals: 1 }
const isShare = ({ style }: NumberFormat) => style === 'percentage' || style === 'percentage_scaled'

/** A share changes by points, any other number by a share of what it was. */
export function changeOf(now: number | null | undefined, before: number | null | undefined, format: NumberFormat): Change | null {
  if (now == null || before == null) return null
  const was = numberText(before, format)
  const points = (now - before) * (format.style === 'percentage_scaled' ? 100 : 1)
  const by = isShare(format) ? points : before === 0 ? null : (100 * (now - before)) / Math.abs(before)
  const direction = now > before ? 1 : now < before ? -1 : 0
  if (by === null || direction === 0) return { direction, by: '', was }
  return { direction, by: `${numberText(Math.abs(by), oneDecimal)}${isShare(format) ? ' points' : '%'}`, was }
}

export type TimeChart = Extract<Chart, { kind: 'lines' | 'bars' }>
/** The last interval that is over. */
export const lastOver = ({ labels, unfinished }: TimeChart): number => Math.max(0, labels.length - unfinished - 1)
export const nameAt = ({ labels }: TimeChart, at: number): string => axisLabels(labels)[at] ?? ''

const lowered = (text: string) => (/^[A-Z][a-z]/.test(text) ? text.charAt(0).toLowerCase() + text.slice(1) : text)

/** `Pageview events` */
const eventsText = (name: string) => (/\bevents?$/i.test(name) ? lowered(name) : `${name} events`)

function aboutNode(node: SeriesNode): string {
  const own = textIn(node, 'custom_name')
  if (own !== '') return own
  const name = textIn(node, 'event') || textIn(node, 'name')
  const counted = readableSeries(name, textIn(node, 'math'), textIn(node, 'math_property'))
  return ['', 'total'].includes(textIn(node, 'math')) ? eventsText(counted) : lowered(counted)
}

/** What a series or a formula is called. */
export function aboutOf(query: Query, order: number): string {
  const filter = objectIn(query, 'trendsFilter')
  const formulas = [
    ...listIn<{ formula?: string; custom_name?: string | null }>(filter, 'formulaNodes').map((one) => one.custom_name || one.formula || ''),
    ...listIn<string>(filter, 'formulas'),
    ...(textIn(filter, 'formula') ? [textIn(filter, 'formula')] : []),
  ]
  if (formulas.length > 0) return formulas[order] ?? ''
  const node = listIn<SeriesNode | null>(query, 'series')[order]
  return node ? aboutNode(node) : ''
}

function ofTrend(query: Query, chart: Chart, wholes: readonly Whole[]): readonly Saying[] {
  const format = 'format' in chart ? chart.format : plainNumbers
  return wholes.flatMap(({ order, now, before }): Saying[] => {
    const about = aboutOf(query, order)
    if (now === undefined) return [{ value: '…', about, change: null }]
    if (now !== null) return [{ value: numberText(now, format), about, change: changeOf(now, before, format) }]
    if (chart.kind !== 'lines' && chart.kind !== 'bars') return []
    // The people of the last week or month: a range has no number of them, its last day has.
    const at = lastOver(chart)
    const own = chart.series.filter(({ isPrevious }) => !isPrevious)
    if (own.length !== wholes.length) return []
    const value = own[wholes.findIndex((one) => one.order === order)]?.values[at] ?? null
    const earlier = chart.series.filter(({ isPrevious }) => isPrevious)[wholes.findIndex((one) => one.order === order)]?.values[at]
    return [{ value: numberText(value, format), about: `${about}, ${nameAt(chart, at)}`, change: changeOf(value, earlier, format) }]
  })
}

/** `isSplit`: all together come first once they are known. */
function ofSteps({ groups }: Extract<Chart, { kind: 'funnel' }>, isSplit: boolean): readonly Saying[] {
  const [group, next] = groups
  if (!group || group.steps.length < 2 || (isSplit && group.color >= 0)) return []
  const own = stepShares(group.steps)
  const before = next?.isPrevious ? stepShares(next.steps).at(-1)!.share * 100 : undefined
  const converted = own.at(-1)!.share * 100
  const later = [...group.steps.entries()].slice(1)
  const timed = later.flatMap(([, { name, time }]) => (time === null ? [] : [{ name, time }]))
  const slowest = timed.length === 0 ? null : timed.reduce((a, b) => (b.time > a.time ? b : a))
  const [worst] = later.toSorted(([a], [b]) => own[a]!.kept - own[b]!.kept)
  const lost = 100 * (1 - own[worst![0]]!.kept)
  return [
    { value: numberText(converted, shares), about: 'converted', change: changeOf(converted, before, shares) },
    ...(slowest === null
      ? []
      : [
          {
            value: durationText(slowest.time),
            about: later.length === 1 ? 'median from first to last step' : `median to ${slowest.name}, the slowest step`,
            change: null,
          },
        ]),
    ...(later.length > 1 && lost > 0
      ? [{ value: numberText(lost, shares), about: `dropped off before ${worst![1].name}: the biggest drop-off`, change: null }]
      : []),
  ]
}

function ofFunnel(query: Query, answer: Answer, chart: Chart): readonly Saying[] {
  if (chart.kind === 'funnel') return ofSteps(chart, query.breakdownFilter != null)
  if (chart.kind === 'lines') {
    const at = lastOver(chart)
    const own = chart.series.filter(({ isPrevious }) => !isPrevious)
    return own.slice(0, most).map(({ label, values }) => {
      const before = chart.series.find((one) => one.isPrevious && one.label.startsWith(label))?.values[at]
      const about = `${own.length > 1 ? `${label}, ` : ''}converted, of those who began ${nameAt(chart, at)}`
      return { value: numberText(values[at] ?? null, shares), about, change: changeOf(values[at], before, shares) }
    })
  }
  const { average_conversion_time: average } = Array.isArray(answer.results) ? { average_conversion_time: null } : timesOf(answer)
  return typeof average === 'number' ? [{ value: durationText(average), about: 'on average from first to last step', change: null }] : []
}
const timesOf = ({ results }: Answer): { readonly average_conversion_time?: unknown } =>
  typeof results === 'object' && results !== null ? results : {}

function ofRetention(query: Query, answer: Answer): readonly Saying[] {
  const filter = objectIn(query, 'retentionFilter')
  if (filter.aggregationType === 'sum' || filter.aggregationType === 'avg') return []
  const rows = rowsOf(answer)
  const isUnreached = unreached(rows, textIn(filter, 'period') || 'Day', answer.last_refresh ?? null)
  const cells = (row: AnswerRow) => listIn<{ readonly count?: number; readonly label?: string }>(row, 'values')
  const longest = rows.map(cells).reduce<ReturnType<typeof cells>>((a, b) => (b.length > a.length ? b : a), [])
  const shareAt = (at: number, isPrevious: boolean): number | null => {
    const reached = rows.filter((row) => (row.compare_label === 'previous') === isPrevious && cells(row)[at] && !isUnreached(row, at))
    const sum = (value: number) => reached.reduce((total, row) => total + (cells(row)[value]?.count ?? 0), 0)
    return sum(0) === 0 ? null : (100 * sum(at)) / sum(0)
  }
  const known = [...longest.keys()].slice(1).filter((at) => shareAt(at, false) !== null)
  const [first, middle] = [known[0], known[Math.floor((known.length - 1) / 2)]]
  return [...new Set([first, middle])].flatMap((at): Saying[] => {
    if (at === undefined) return []
    const [now, before] = [shareAt(at, false), shareAt(at, true)]
    return [{ value: numberText(now, shares), about: `came back, ${longest[at]!.label ?? at}`, change: changeOf(now, before, shares) }]
  })
}

function ofStickiness(query: Query, answer: Answer): readonly Saying[] {
  const isCumulative = objectIn(query, 'stickinessFilter').computedAs === 'cumulative'
  const interval = textIn(query, 'interval') || 'day'
  const read = (row: AnswerRow | undefined) => {
    const data = listIn<number | null>(row ?? {}, 'data').map((value) => value ?? 0)
    const sum = data.reduce((total, value) => total + value, 0)
    const people = isCumulative ? (data[0] ?? 0) : sum
    const intervals = isCumulative ? sum : data.reduce((total, value, i) => total + value * (i + 1), 0)
    return { people, each: people === 0 ? null : intervals / people }
  }
  const rows = rowsOf(answer)
  const now = rows.find((row) => row.compare_label !== 'previous')
  const previous = rows.find((row) => row.compare_label === 'previous')
  if (!now) return []
  const [own, earlier] = [read(now), previous && read(previous)]
  return [
    { value: numberText(own.people), about: 'active', change: changeOf(own.people, earlier?.people, plainNumbers) },
    {
      value: numberText(own.each, oneDecimal),
      about: `${interval}s each, on average`,
      change: changeOf(own.each, earlier?.each, oneDecimal),
    },
  ]
}

function ofLifecycle(chart: Chart): readonly Saying[] {
  if (chart.kind !== 'bars') return []
  const at = lastOver(chart)
  return chart.series.map(({ label, values }) => ({
    value: numberText(Math.abs(values[at] ?? 0)),
    about: `${label}, ${nameAt(chart, at)}`,
    change: changeOf(Math.abs(values[at] ?? 0), at > 0 ? Math.abs(values[at - 1] ?? 0) : null, plainNumbers),
    ...(label === 'dormant' && { isRiseBad: true }),
  }))
}

function ofPaths(chart: Chart): readonly Saying[] {
  const first = chart.kind === 'flow' ? chart.edges[0] : undefined
  if (!first) return []
  const about = `from ${itemName(first.from)} to ${itemName(first.to)}, more than anywhere else`
  return [{ value: numberText(first.value), about, change: changeOf(first.value, first.previous, plainNumbers) }]
}

/** The first few things that an answer says; empty: the drawing itself is a number, or there is nothing to say. */
export function answerInWords(query: Query, answer: Answer, chart: Chart, wholes: readonly Whole[]): readonly Saying[] {
  if (['nothing', 'number', 'boxes', 'map'].includes(chart.kind)) return []
  if (chart.kind === 'grid' && query.kind !== 'RetentionQuery') return []
  switch (query.kind) {
    case 'TrendsQuery':
      return ofTrend(query, chart, wholes).slice(0, most)
    case 'FunnelsQuery':
      return ofFunnel(query, answer, chart)
    case 'RetentionQuery':
      return ofRetention(query, answer)
    case 'StickinessQuery':
      return ofStickiness(query, answer)
    case 'LifecycleQuery':
      return ofLifecycle(chart)
    case 'PathsQuery':
      return ofPaths(chart)
    default:
      return []
  }
}
