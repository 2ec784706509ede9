import { QueryError } from '../../errors/errors.ts'
import type { OrderFill } from '../ast/nodes.ts'
import { isInteger, isNamed, isNumeric, isTime } from '../types/types.ts'
import { builtCall } from './calls.ts'
import { constantNumber } from './constants.ts'
import { resolveExpr } from './expressions.ts'
import { openScope } from './scope.ts'
import type { Session } from './session.ts'
import { hasAggregate, hasWindow } from './shape.ts'
import { asTime, parseInstant } from './times.ts'
import type { FillUnit, TypedExpr, TypedFill, TypedOrder, TypedSelect } from './typed.ts'

const units: Readonly<Record<string, FillUnit>> = {
  toIntervalSecond: 'second',
  toIntervalMinute: 'minute',
  toIntervalHour: 'hour',
  toIntervalDay: 'day',
  toIntervalWeek: 'week',
  toIntervalMonth: 'month',
  toIntervalQuarter: 'quarter',
  toIntervalYear: 'year',
}

const refuse = (message: string, { span }: Pick<OrderFill, 'span'>): never => {
  throw new QueryError('wrong-type', { message }, span)
}

/** `ORDER BY expr WITH FILL …`: the bounds of the values and their distance. */
export function resolveFill(session: Session, fill: OrderFill, { expr, descending }: Pick<TypedOrder, 'expr' | 'descending'>): TypedFill {
  if (!isNumeric(expr.type) && !isTime(expr.type))
    refuse('WITH FILL needs a number, a date or a time to fill; a property is one behind `toFloat`, `toDate` or `toDateTime`', fill)
  const edge = (written: OrderFill['from']): TypedExpr | null =>
    written && edgeOf(session, resolveExpr(session, written, openScope()), expr)
  const [from, to] = [edge(fill.from), edge(fill.to)]
  const { step, unit } = stepOf(session, fill, expr, descending)
  if (step === 0 || step < 0 !== descending)
    refuse(`STEP of WITH FILL must be ${descending ? 'negative when ORDER BY is descending' : 'positive'}, found ${step}`, fill)
  return { from, to, step, unit, span: fill.span }
}

/** A bound of the values: constant, and of the type of the filled column. */
function edgeOf(session: Session, given: TypedExpr, filled: TypedExpr): TypedExpr {
  const edge = asTime(given, filled, session.context.project.timezone)
  if (!isTime(filled.type)) {
    if (!isNumeric(edge.type)) return refuse('FROM and TO of WITH FILL must be numbers, like the filled column', edge)
    if (!Number.isFinite(constantNumber(edge) ?? Number.NaN))
      return refuse('FROM and TO of WITH FILL must be constant numbers, such as `5` or `2 * 3`', edge)
    return edge
  }
  if (!isTime(edge.type)) return refuse('FROM and TO of WITH FILL must be dates or times, like the filled column', edge)
  if (!isConstantTime(edge))
    return refuse("FROM and TO of WITH FILL must be constant dates or times, such as `'2024-01-01'` or `now() - interval 7 day`", edge)
  const isDay = isNamed(edge.type, 'Date')
  if (isNamed(filled.type, 'Date'))
    return isDay ? edge : refuse('FROM and TO of WITH FILL must be dates when the filled column is a date: use `toDate(…)`', edge)
  return isDay ? builtCall('toDateTime', [edge], edge.span) : edge
}

/** Constant for all rows, and not a text that reads as null. */
function isConstantTime(expr: TypedExpr): boolean {
  if (expr.kind === 'constant') return expr.value !== null
  if (expr.kind !== 'call' || hasAggregate(expr) || hasWindow(expr)) return false
  // Volatile calls are random numbers, which differ per call, or the current time, which is fixed per statement.
  if (expr.row.isVolatile && !isTime(expr.type)) return false
  const [text] = expr.args
  if (isTime(expr.type) && expr.args.length === 1 && text?.kind === 'constant' && typeof text.value === 'string')
    return parseInstant(text.value, 'UTC') !== null
  return expr.args.every(isConstantTime)
}

function stepOf(session: Session, fill: OrderFill, { type }: TypedExpr, descending: boolean): Pick<TypedFill, 'step' | 'unit'> {
  const ofNumbers = isTime(type) ? (isNamed(type, 'Date') ? 'day' : 'second') : null
  if (!fill.step) return { step: descending ? -1 : 1, unit: ofNumbers }
  const step = resolveExpr(session, fill.step, openScope())
  const unit = step.kind === 'call' ? units[step.name] : undefined
  if (isNamed(type, 'Date') && (unit === 'second' || unit === 'minute' || unit === 'hour'))
    refuse(
      'STEP of WITH FILL must be at least one day when the filled column is a date: use `toDateTime(…)` in ORDER BY for shorter steps',
      fill.step,
    )
  if (unit && !ofNumbers) refuse('STEP of WITH FILL must be a number when the filled column is a number', fill.step)
  const count = constantNumber(unit && step.kind === 'call' ? step.args[0]! : step)
  const isWhole = ofNumbers !== null || isInteger(type)
  if (count === null || !Number.isFinite(count) || (isWhole && !Number.isInteger(count)))
    return refuse(
      `STEP of WITH FILL must be a ${ofNumbers ? 'whole number or an interval' : isWhole ? 'whole number, like the filled column' : 'number'}`,
      fill.step,
    )
  return { step: count, unit: unit ?? ofNumbers }
}

/** Checks that a select can be filled: its rows are sorted again, and filled rows have a value for their sort key only. */
export function checkFill(session: Session, select: TypedSelect): void {
  const { orderBy, distinct, distinctOn, limitBy, limit, groupBy } = select
  const at = orderBy.findIndex(({ fill }) => fill)
  if (at < 0) return
  const { span } = orderBy[at]!.fill!
  const what =
    at < orderBy.length - 1
      ? 'WITH FILL before other expressions of ORDER BY'
      : distinct || distinctOn.length
        ? 'WITH FILL beside DISTINCT'
        : limitBy
          ? 'WITH FILL beside LIMIT BY'
          : limit?.withTies || limit?.percent
            ? `WITH FILL beside ${limit.withTies ? 'WITH TIES' : 'LIMIT PERCENT'}`
            : groupBy?.withTotals
              ? 'WITH FILL beside WITH TOTALS'
              : null
  if (what) session.report(new QueryError('unsupported-syntax', { what }, span))
}
