import { isObject } from '../../lib/is-object.ts'
import { clipped } from '../pictures/chart.ts'
import { stepGroups } from '../pictures/charts/funnels.ts'
import { labelsOf } from '../pictures/charts/trends.ts'
import { breakdownText } from '../pictures/charts/values.ts'
import { isNumberPerRange } from './alert-display.ts'

// The numbers of an answer that an alert compares, by the kind of the query. `index` (`series_index` of the config) says which one of several.

export interface Line {
  /** Of several lines: a value of the breakdown, or a row of a statement. */
  readonly label: string
  /** By intervals, the earliest first. */
  readonly data: readonly number[]
  /** Of the whole range. */
  readonly total: number | null
}
export interface Lines {
  readonly lines: readonly Line[]
  /** One number for the whole range; else one for each interval. */
  readonly isNumber: boolean
  /** After a number. */
  readonly unit: '' | '%' | ' s' | ' days'
  /** The last interval is over; else it counts only where the config says so. */
  readonly isWhole?: boolean
  /** What is compared: `The conversion`. */
  readonly subject?: string
}

interface Query {
  readonly kind: string
  readonly [field: string]: unknown
}
export interface NumberAsked {
  readonly query: Query
  readonly index: number
  /** Also the interval that is not over yet. */
  readonly isOngoing: boolean
}
type Reader = (results: readonly unknown[], asked: NumberAsked, answer: Readonly<Record<string, unknown>>) => Lines

type Fields = Readonly<Record<string, unknown>>
const fieldsOf = (value: unknown): Fields => (isObject(value) ? value : {})
const numberOf = (value: unknown): number | null => (typeof value === 'number' && Number.isFinite(value) ? value : null)
const numbersOf = (value: unknown): readonly number[] => (Array.isArray(value) ? value.map((one) => numberOf(one) ?? 0) : [])
const rowsOf = (results: readonly unknown[]): readonly Fields[] =>
  results.filter(isObject).filter((row) => row.compare_label !== 'previous')

const percent = (part: number, whole: number): number => (whole === 0 ? 0 : (part / whole) * 100)
const labelOf = (value: unknown): string => (value === undefined ? '' : clipped(breakdownText(value)))

export const displayOf = ({ trendsFilter }: Query): string | null => {
  const { display } = fieldsOf(trendsFilter)
  return typeof display === 'string' ? display : null
}
const funnelShape = ({ funnelsFilter }: Query): string => String(fieldsOf(funnelsFilter).funnelVizType ?? 'steps')

const ofTrends: Reader = (results, { query, index }) => {
  const all = results.filter(isObject)
  const labels = labelsOf(all)
  const lines = all.flatMap((row, i): Line[] => {
    if (row.compare_label === 'previous' || (numberOf(row.order) ?? 0) !== index) return []
    const label = typeof row.label === 'string' && row.label !== '' ? labels[i]! : ''
    return [{ label, data: numbersOf(row.data), total: numberOf(row.aggregated_value) }]
  })
  return { lines, isNumber: isNumberPerRange(displayOf(query)), unit: '' }
}

/** 0: of the whole funnel; else of that step, from the one before. */
function ofSteps(results: readonly unknown[], index: number): readonly Line[] {
  return stepGroups(results).flatMap((steps): Line[] => {
    const [first] = steps
    if (!first || first.compare_label === 'previous') return []
    const count = (step: Fields | undefined) => numberOf(step?.count) ?? 0
    const total = index === 0 ? percent(count(steps.at(-1)), count(first)) : percent(count(steps[index]), count(steps[index - 1]))
    return [{ label: labelOf(first.breakdown_value), data: [], total }]
  })
}
const ofFunnels: Reader = (results, { query, index }, answer) => {
  const shape = funnelShape(query)
  if (shape === 'trends') {
    const lines = rowsOf(results).map((row): Line => ({ label: labelOf(row.breakdown_value), data: numbersOf(row.data), total: null }))
    return { lines, isNumber: false, unit: '%', subject: 'The conversion' }
  }
  if (shape === 'time_to_convert') {
    const mean = numberOf(fieldsOf(answer.results).average_conversion_time)
    return { lines: [{ label: '', data: [], total: mean }], isNumber: true, unit: ' s', subject: 'The mean time to convert' }
  }
  return { lines: ofSteps(results, index), isNumber: true, unit: '%', subject: 'The conversion' }
}

/** Of all who began in intervals whose return interval is over: the share who came back in it. */
const ofRetention: Reader = (results, { index, isOngoing }) => {
  const byValue = new Map<string, Fields[]>()
  for (const row of rowsOf(results)) {
    const value = JSON.stringify(row.breakdown_value ?? null)
    byValue.set(value, [...(byValue.get(value) ?? []), row])
  }
  const lines = [...byValue.values()].map((rows): Line => {
    const last = rows.length - (isOngoing ? 1 : 2)
    const begun = rows.flatMap((row, i) => {
      const counts = Array.isArray(row.values) ? row.values.map((one) => numberOf(fieldsOf(one).count) ?? 0) : []
      return i + index <= last && counts.length > index ? [[counts[index]!, counts[0]!] as const] : []
    })
    const sum = (at: 0 | 1) => begun.reduce((before, one) => before + one[at], 0)
    const { breakdown_value: value } = rows[0]!
    const label = byValue.size === 1 && value === null ? '' : labelOf(value)
    return { label, data: [], total: begun.length === 0 ? null : percent(sum(0), sum(1)) }
  })
  return { lines, isNumber: true, unit: '%', subject: 'The share who came back' }
}

/** On how many days people were active, in the mean. */
const ofStickiness: Reader = (results, { index }) => {
  const rows = rowsOf(results)
  const labels = labelsOf(rows)
  const lines = rows.flatMap((row, i): Line[] => {
    if ((numberOf(row.order) ?? fieldsOf(row.action).order ?? 0) !== index) return []
    const counts = numbersOf(row.data)
    const people = counts.reduce((sum, count) => sum + count, 0)
    const days = counts.reduce((sum, count, day) => sum + count * (day + 1), 0)
    return [{ label: labels[i] ?? '', data: [], total: people === 0 ? 0 : days / people }]
  })
  return { lines, isNumber: true, unit: '', subject: 'The mean number of active intervals' }
}

const lifecycleStatuses = ['new', 'returning', 'resurrecting', 'dormant'] as const
const ofLifecycle: Reader = (results, { index }) => {
  const status = lifecycleStatuses[index]
  const lines = rowsOf(results)
    .filter((row) => row.status === status)
    .map((row): Line => ({ label: '', data: numbersOf(row.data), total: null }))
  return { lines, isNumber: false, unit: '', subject: `The number of ${status} people` }
}

const isTime = (type: unknown) => typeof type === 'string' && /Date/.test(type)

/** A column of numbers: of one row a number; of rows in the order of time intervals; of others each row is compared. */
const ofStatement: Reader = (results, { index }, { columns, types }) => {
  const rows = results.filter(Array.isArray) as readonly (readonly unknown[])[]
  const names = Array.isArray(columns) ? columns.map(String) : []
  const kinds = Array.isArray(types) ? types.map((one) => (Array.isArray(one) ? one[1] : one)) : []
  const isNumbers = (column: number) => rows.length > 0 && rows.every((row) => row[column] === null || typeof row[column] === 'number')
  const numbers = names.flatMap((_, column) => (isNumbers(column) ? [column] : []))
  const column = numbers[index]
  const subject = column === undefined ? 'The value' : clipped(names[column]!)
  if (column === undefined) return { lines: [], isNumber: true, unit: '', subject }
  const time = kinds.findIndex(isTime)
  if (rows.length > 1 && time >= 0) {
    const ordered = rows.toSorted((a, b) => (String(a[time]) < String(b[time]) ? -1 : 1))
    return {
      lines: [{ label: '', data: ordered.map((row) => numberOf(row[column]) ?? 0), total: null }],
      isNumber: false,
      unit: '',
      subject,
      isWhole: true,
    }
  }
  const label = names.findIndex((_, other) => !numbers.includes(other))
  const lines = rows.map(
    (row): Line => ({ label: rows.length > 1 && label >= 0 ? clipped(String(row[label])) : '', data: [], total: numberOf(row[column]) }),
  )
  return { lines, isNumber: true, unit: '', subject }
}

const readers: Readonly<Record<string, Reader>> = {
  TrendsQuery: ofTrends,
  FunnelsQuery: ofFunnels,
  RetentionQuery: ofRetention,
  StickinessQuery: ofStickiness,
  LifecycleQuery: ofLifecycle,
  HogQLQuery: ofStatement,
  SqlLikeQuery: ofStatement,
}

/** Kinds whose answers have numbers that can be compared. */
export const checkedKinds: readonly string[] = Object.keys(readers)

export function linesOf(answer: unknown, asked: NumberAsked): Lines {
  const fields = fieldsOf(answer)
  const results = Array.isArray(fields.results) ? fields.results : []
  return readers[asked.query.kind]!(results, asked, fields)
}

/** Whether the answer has one number for the whole range. Null: the answer of a statement shows it. */
export function isNumberOf(query: Query): boolean | null {
  if (query.kind === 'HogQLQuery' || query.kind === 'SqlLikeQuery') return null
  if (query.kind === 'TrendsQuery') return isNumberPerRange(displayOf(query))
  if (query.kind === 'FunnelsQuery') return funnelShape(query) !== 'trends'
  return query.kind !== 'LifecycleQuery'
}

const lengthOf = (value: unknown): number => (Array.isArray(value) ? value.length : 0)

/** The least and the largest index, and what they count. */
export function indicesOf(query: Query): { readonly first: number; readonly last: number; readonly what: string } {
  switch (query.kind) {
    case 'TrendsQuery': {
      const { formulas, formulaNodes } = fieldsOf(query.trendsFilter)
      const count = lengthOf(formulas) || lengthOf(formulaNodes) || lengthOf(query.series)
      return { first: 0, last: Math.max(1, count) - 1, what: `The insight has ${count} series: series_index counts from 0.` }
    }
    case 'FunnelsQuery': {
      const steps = funnelShape(query) === 'steps' ? lengthOf(query.series) : 1
      return {
        first: 0,
        last: steps - 1,
        what: `series_index is 0 for the whole funnel, or a step up to ${steps - 1}: from the one before.`,
      }
    }
    case 'RetentionQuery': {
      const { totalIntervals } = fieldsOf(query.retentionFilter)
      const last = (numberOf(totalIntervals) ?? 7) - 1
      return { first: 1, last, what: `series_index is the interval in which people come back, from 1 to ${last}.` }
    }
    case 'StickinessQuery':
      return { first: 0, last: Math.max(1, lengthOf(query.series)) - 1, what: `The insight has ${lengthOf(query.series)} series.` }
    case 'LifecycleQuery':
      return { first: 0, last: 3, what: `series_index is 0 to 3: ${lifecycleStatuses.join(', ')}.` }
    default:
      return { first: 0, last: 1000, what: 'series_index counts the columns of numbers from 0.' }
  }
}
