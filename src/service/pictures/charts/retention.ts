import { type Chart, clipped, cut, type GridRow, most, nothing } from '../chart.ts'
import { numberText } from '../format.ts'
import { breakdownText, type Fields, fieldsOf, isPreviousRow, numberOf, objectsOf, textOf } from './values.ts'

const seconds: Readonly<Record<string, number>> = { Hour: 3600, Day: 86_400, Week: 7 * 86_400 }

/** Whether the interval `count` after the one that begins at `date` had not begun when the answer was computed: nobody can have returned in it. */
export function isAhead(date: string, period: string, count: number, computed: string | null): boolean {
  const begin = new Date(date)
  if (period === 'Month') begin.setUTCMonth(begin.getUTCMonth() + count)
  else begin.setTime(begin.getTime() + count * (seconds[period] ?? seconds.Day!) * 1000)
  return count > 0 && computed !== null && begin.getTime() > Date.parse(computed)
}

const numberIn = (label: unknown): number | null => {
  const digits = /\d+/.exec(textOf(label))?.[0]
  return digits === undefined ? null : Number(digits)
}

/** The value of a row in which nobody can be: its interval had not begun when the answer was computed, or lies behind the end of the range. */
export function unreached(rows: readonly Fields[], period: string, computed: string | null): (row: Fields, value: number) => boolean {
  const numberOfRow = (row: Fields) => numberIn(row.label)
  // Rows are numbered from 0, in each value of a breakdown and in each period.
  const count = 1 + rows.reduce((most, row) => Math.max(most, numberOfRow(row) ?? -1), -1)
  return (row, value) => {
    // A bracket, `Day 2-3`, has begun with its first interval.
    const offset = numberIn(objectsOf(row.values)[value]?.label) ?? value
    const place = numberOfRow(row)
    return offset > 0 && (isAhead(textOf(row.date), period, offset, computed) || (place !== null && place + offset >= count))
  }
}

const months = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec']

/** When each row began, on the clock of the project, which the date tells: `5 Jan`, or with the year if there are several. */
export function beganTexts(dates: readonly string[], period: string): readonly string[] {
  const isOneYear = new Set(dates.map((date) => date.slice(0, 4))).size === 1
  return dates.map((date) => {
    const month = months[Number(date.slice(5, 7)) - 1]
    if (month === undefined) return date
    const day = `${Number(date.slice(8, 10))} ${month}${isOneYear ? '' : ` ${date.slice(0, 4)}`}`
    return period === 'Hour' ? `${day} ${date.slice(11, 16)}` : day
  })
}

/** A row per interval in which actors started, a column per interval after it, as the share of those who started. */
export function retentionChart(query: Fields, answer: Fields): Chart {
  const all = objectsOf(answer.results)
  const period = textOf(fieldsOf(query.retentionFilter).period) || 'Day'
  const computed = textOf(answer.last_refresh) || null
  const isSum = fieldsOf(query.retentionFilter).aggregationType === 'sum' || fieldsOf(query.retentionFilter).aggregationType === 'avg'
  const { kept, leftOut } = cut(all, most.gridRows, 'row', 'rows')
  const lists = kept.map((row) => objectsOf(row.values))
  const longest = [...lists].sort((a, b) => b.length - a.length)[0] ?? []
  if (longest.length === 0) return nothing()
  const columns = cut(longest, most.gridColumns, 'column', 'columns')
  const amount = (value: Fields) => (isSum ? (numberOf(value.aggregation_value) ?? 0) : (numberOf(value.count) ?? 0))
  const largest = Math.max(0, ...lists.flat().map(amount))
  const began = beganTexts(
    kept.map(({ date }) => textOf(date)),
    period,
  )
  const isUnreached = unreached(all, period, computed)
  const rows = kept.map((row, i): GridRow => {
    const values = lists[i]!
    const started = numberOf(values[0]?.count) ?? 0
    const split = row.breakdown_value === null || row.breakdown_value === undefined ? '' : `${breakdownText(row.breakdown_value)} `
    return {
      label: clipped(`${split}${began[i]!}${isPreviousRow(row) ? ' (previous)' : ''}`, 32),
      note: numberText(started),
      cells: values.slice(0, most.gridColumns).map((value, at) => {
        if (isUnreached(row, at)) return null
        if (isSum)
          return {
            text: numberText(amount(value), { style: 'short', prefix: '', postfix: '', decimals: null }),
            shade: largest > 0 ? amount(value) / largest : 0,
          }
        if (started === 0) return null
        const share = amount(value) / started
        return {
          text: `${numberText(share * 100, { style: 'numeric', prefix: '', postfix: '', decimals: longest.length > 14 ? 0 : 1 })}%`,
          shade: share,
        }
      }),
    }
  })
  return {
    kind: 'grid',
    columns: columns.kept.map((value) => clipped(textOf(value.label), 12)),
    rows,
    leftOut: [...leftOut, ...columns.leftOut],
  }
}
