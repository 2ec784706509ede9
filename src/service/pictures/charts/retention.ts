import { type Chart, clipped, cut, type GridRow, most, nothing, type Series } from '../chart.ts'
import { numberText, percentages, plainNumbers } from '../format.ts'
import { overTime } from './over-time.ts'
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

/** A line for those who began in an interval, and one for all of them: the share that came back after so many intervals. */
function retentionCurves(rows: readonly Fields[], { names, amount, isSum, isUnreached }: RetentionRows): Chart {
  const lists = rows.map((row) => objectsOf(row.values))
  const longest = [...lists].sort((a, b) => b.length - a.length)[0] ?? []
  if (longest.length === 0) return nothing()
  const started = (row: number) => numberOf(lists[row]![0]?.count) ?? 0
  const valueAt = (row: number, at: number): number | null => {
    const value = lists[row]![at]
    if (!value || isUnreached(rows[row]!, at)) return null
    return isSum ? amount(value) : started(row) === 0 ? null : (100 * amount(value)) / started(row)
  }
  const mean = (at: number): number | null => {
    const reached = [...rows.keys()].filter((row) => !isPreviousRow(rows[row]!) && lists[row]![at] && !isUnreached(rows[row]!, at))
    const all = reached.reduce((sum, row) => sum + started(row), 0)
    return all === 0 ? null : (100 * reached.reduce((sum, row) => sum + amount(lists[row]![at]!), 0)) / all
  }
  // The latest say what is so now.
  const { kept, leftOut } = cut([...rows.keys()].reverse(), most.series - 1, 'row', 'rows')
  const series = kept.toReversed().map(
    (row, i): Series => ({
      label: names[row]!,
      values: longest.map((_, at) => valueAt(row, at)),
      color: i + 1,
      isPrevious: isPreviousRow(rows[row]!),
      row,
    }),
  )
  const all: Series = { label: 'All', values: longest.map((_, at) => mean(at)), color: 0, isPrevious: false, row: -1 }
  const labels = longest.map((value) => textOf(value.label))
  const chart = overTime(labels, isSum ? series : [all, ...series], { kind: 'lines', format: isSum ? plainNumbers : percentages })
  return { ...chart, leftOut: [...leftOut, ...chart.leftOut] }
}

interface RetentionRows {
  readonly names: readonly string[]
  readonly isSum: boolean
  amount(value: Fields): number
  isUnreached(row: Fields, value: number): boolean
}

/** A row per interval in which actors started, a column per interval after it, as the share of those who started; or the same as lines. */
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
    all.map(({ date }) => textOf(date)),
    period,
  )
  const isUnreached = unreached(all, period, computed)
  const nameOf = (row: Fields, i: number) => {
    const split = row.breakdown_value === null || row.breakdown_value === undefined ? '' : `${breakdownText(row.breakdown_value)} `
    return clipped(`${split}${began[i]!}${isPreviousRow(row) ? ' (previous)' : ''}`, 32)
  }
  if (fieldsOf(query.retentionFilter).display === 'ActionsLineGraph')
    return retentionCurves(all, { names: all.map(nameOf), isSum, amount, isUnreached })
  const rows = kept.map((row, i): GridRow => {
    const values = lists[i]!
    const started = numberOf(values[0]?.count) ?? 0
    return {
      label: nameOf(row, i),
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
