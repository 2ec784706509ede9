import type { OrderFill } from '../ast/nodes.ts'
import { QueryError } from '../errors/errors.ts'
import { isInteger, isNamed, isNumeric, isTime } from '../types/types.ts'
import { constantNumber } from './constants.ts'
import { resolveExpr } from './expressions.ts'
import { openScope } from './scope.ts'
import type { Session } from './session.ts'
import { asTime } from './times.ts'
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

/** `ORDER BY expr WITH FILL …`: where the values begin and end, and how far they are from each other. */
export function resolveFill(session: Session, fill: OrderFill, { expr, descending }: Pick<TypedOrder, 'expr' | 'descending'>): TypedFill {
  if (!isNumeric(expr.type) && !isTime(expr.type))
    refuse('WITH FILL needs a number, a date or a time to fill; a property is one behind `toFloat`, `toDate` or `toDateTime`', fill)
  const edge = (written: OrderFill['from']): TypedExpr | null =>
    written && asTime(resolveExpr(session, written, openScope()), expr, session.context.project.timezone)
  const [from, to] = [edge(fill.from), edge(fill.to)]
  for (const value of [from, to])
    if (value && !(isTime(expr.type) ? isTime(value.type) : isNumeric(value.type)))
      refuse(`FROM and TO of WITH FILL are ${isTime(expr.type) ? 'dates or times' : 'numbers'}, like what is filled`, { span: value.span })
  const { step, unit } = stepOf(session, fill, expr, descending)
  if (step === 0 || step < 0 !== descending)
    refuse(`STEP of WITH FILL is ${descending ? 'below zero where ORDER BY is descending' : 'above zero'}, found ${step}`, fill)
  return { from, to, step, unit, span: fill.span }
}

function stepOf(session: Session, fill: OrderFill, { type }: TypedExpr, descending: boolean): Pick<TypedFill, 'step' | 'unit'> {
  const ofNumbers = isTime(type) ? (isNamed(type, 'Date') ? 'day' : 'second') : null
  if (!fill.step) return { step: descending ? -1 : 1, unit: ofNumbers }
  const step = resolveExpr(session, fill.step, openScope())
  const unit = step.kind === 'call' ? units[step.name] : undefined
  if (unit && !ofNumbers) refuse('STEP of WITH FILL is a number where numbers are filled', fill.step)
  const count = constantNumber(unit && step.kind === 'call' ? step.args[0]! : step)
  const isWhole = ofNumbers !== null || isInteger(type)
  if (count === null || (isWhole && !Number.isInteger(count)))
    return refuse(
      `STEP of WITH FILL is a ${ofNumbers ? 'whole number or an interval' : isWhole ? 'whole number, like what is filled' : 'number'}`,
      fill.step,
    )
  return { step: count, unit: unit ?? ofNumbers }
}

/** What a filled select may be: its rows are sorted once more, and those that are filled in have no more than their place. */
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
