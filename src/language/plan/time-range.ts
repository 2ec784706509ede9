import { parseInstant } from '../resolver/times.ts'
import type { ScanSource, TypedExpr, TypedQuery } from '../resolver/typed.ts'
import { walk } from '../resolver/typed-walk.ts'

/**
 * The range of time, in milliseconds, of the events that a query reads, if the conditions on its only scan of events imply one.
 * The range makes conversions of local times cheaper; times outside it are converted correctly, but slower.
 */
export function timeRange(query: TypedQuery, now: Date, timezone: string): readonly [from: number, to: number] | undefined {
  const scans: ScanSource[] = []
  const lower: number[] = []
  const upper: number[] = []
  const see = (condition: TypedExpr): void => {
    if (condition.kind !== 'call') return
    if (condition.name === 'and') {
      for (const arg of condition.args) see(arg)
      return
    }
    if (condition.args.length !== 2) return
    const [a, b] = condition.args as [TypedExpr, TypedExpr]
    const isFlipped = isTimestamp(b)
    if (!isFlipped && !isTimestamp(a)) return
    const at = momentOf(isFlipped ? a : b, now.getTime(), timezone)
    if (at === undefined) return
    const isGreater = condition.name.startsWith('greater')
    if (isGreater || condition.name.startsWith('less')) (isGreater !== isFlipped ? lower : upper).push(at)
  }
  walk(query, {
    source: (source) => {
      if (source.kind === 'scan' && source.table === 'events') scans.push(source)
    },
    query: (one) => {
      if (one.kind === 'select' && one.where) see(one.where)
    },
  })
  if (scans.length !== 1 || lower.length === 0) return undefined
  return [Math.max(...lower), upper.length ? Math.min(...upper) : now.getTime() + 366 * day]
}

const day = 86_400_000
const isTimestamp = (expr: TypedExpr | undefined): boolean => expr?.kind === 'column' && /(^|\.)timestamp$/.test(expr.name)

const lengths: Readonly<Record<string, number>> = {
  toIntervalSecond: 1000,
  toIntervalMinute: 60_000,
  toIntervalHour: 3_600_000,
  toIntervalDay: day,
  toIntervalWeek: 7 * day,
  toIntervalMonth: 31 * day,
  toIntervalQuarter: 92 * day,
  toIntervalYear: 366 * day,
}

/** The approximate time of an expression without columns: exact enough to choose years. */
function momentOf(expr: TypedExpr, now: number, timezone: string): number | undefined {
  if (expr.kind === 'constant') {
    if (typeof expr.value === 'bigint') return Number(expr.value / 1000n)
    const micros = typeof expr.value === 'string' ? parseInstant(expr.value, timezone) : null
    return micros === null ? undefined : micros / 1000
  }
  if (expr.kind !== 'call') return undefined
  const [a, b] = expr.args
  if (/^(now|now64|today|yesterday)$/.test(expr.name)) return now
  const at = a && momentOf(a, now, timezone)
  if (at === undefined) return undefined
  if (/^toStartOf|^toDate|^toTimeZone|^assumeNotNull/.test(expr.name)) return at
  const length =
    b?.kind === 'call' && b.args[0]?.kind === 'constant' ? Number(b.args[0].value) * (lengths[b.name] ?? Number.NaN) : Number.NaN
  if (Number.isNaN(length)) return undefined
  return expr.name === 'minus' || expr.name === 'dateSub'
    ? at - length
    : expr.name === 'plus' || expr.name === 'dateAdd'
      ? at + length
      : undefined
}
