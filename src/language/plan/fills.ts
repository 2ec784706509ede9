import { filledSeries } from '../../errors/codes.ts'
import { QueryError } from '../../errors/errors.ts'
import type { Span } from '../../errors/span.ts'
import type { IdOf } from '../ast/identity.ts'
import { intervalFunctions } from '../ast/interval-functions.ts'
import { builtCall } from '../resolver/calls.ts'
import { constant, constantNumber } from '../resolver/constants.ts'
import { defaultOf } from '../resolver/defaults.ts'
import { columnOf } from '../resolver/property-columns.ts'
import {
  emptySelect,
  type TypedColumn,
  type TypedCte,
  type TypedExpr,
  type TypedFill,
  type TypedOrder,
  type TypedSelect,
  type TypedSet,
} from '../resolver/typed.ts'
import { freshAliases, rewrite } from '../resolver/typed-walk.ts'
import { isInteger, isNumeric, isTime, scalar } from '../types/types.ts'
import type { Pass } from './context.ts'

/** The most rows that one WITH FILL may add. */
const mostFilled = 1_000_000

/**
 * ORDER BY … WITH FILL adds a row for each missing value of a series.
 * Before: `SELECT k, v FROM t ORDER BY k WITH FILL FROM 0 TO 9`. After: the rows of `SELECT k, v FROM t`, and `SELECT k, 0` for each `k` of the
 * series that is missing, sorted.
 */
export const fills: Pass = (query, { idOf }) => {
  const fresh = freshAliases(query)
  return rewrite(query, { select: (select) => (select.orderBy.at(-1)?.fill ? filled(select, fresh, idOf) : select) })
}

function filled(select: TypedSelect, fresh: (wanted: string) => string, idOf: IdOf): TypedSelect {
  const { ctes, span, limit } = select
  const { fill, descending } = select.orderBy.at(-1)! as TypedOrder & { readonly fill: TypedFill }
  const sortKeys = select.orderBy.map(({ expr, fill: isFilled }, i): TypedColumn => {
    const name = `@${i}`
    return { name, alias: name, expr: isFilled ? widest(expr) : expr }
  })
  const sortKeyOf = new Map(select.orderBy.map(({ expr }, i) => [idOf(expr), sortKeys[i]!]))
  const columns = [...select.columns, ...sortKeys]
  const rows: TypedCte = {
    name: fresh('@filled'),
    recursive: false,
    materialized: true,
    query: { ...select, ctes: [], columns, orderBy: [], limit: null },
  }
  const from = (alias: string) => ({ kind: 'cteRef', alias, name: rows.name }) as const
  const read = (source: string, { alias, expr: { type } }: TypedColumn): TypedExpr => columnOf(source, { name: alias, alias, type }, span)

  // The first and the last value of each group. The expressions before the filled one form the groups.
  const [known, edges, series] = [fresh('rows'), fresh('edges'), fresh('series')]
  const by = sortKeys.slice(0, -1).map((sortKey) => ({ ...sortKey, expr: read(known, sortKey) }))
  const values = read(known, sortKeys.at(-1)!)
  const edge = (written: TypedExpr | null, name: string) => written ?? builtCall(name, [values], fill.span)
  const first: TypedColumn = { name: '@first', alias: '@first', expr: edge(fill.from, descending ? 'max' : 'min') }
  const last: TypedColumn = { name: '@last', alias: '@last', expr: edge(fill.to, descending ? 'min' : 'max') }
  const found: TypedSelect = {
    ...emptySelect,
    columns: [...by, first, last],
    ...(by.length || !fill.from || !fill.to
      ? { from: from(known), groupBy: { mode: 'plain', items: by.length ? by.map(({ expr }) => expr) : [constant(0, span)], sets: [] } }
      : { from: null }),
    span,
  }
  const [start, end] = [read(edges, first), read(edges, last)] as const
  // `range` is generated: its errors must not point to a name that is not in the statement.
  const steps = { ...builtCall('range', [stepsBetween(start, end, fill)], fill.span), name: filledSeries } as TypedExpr
  assertFew(fill)
  const step: TypedExpr = { kind: 'column', source: series, name: 'step', type: scalar('UInt64'), span: fill.span }
  const value = stepped(start, step, fill)
  const isInside = builtCall(`${descending ? 'greater' : 'less'}${fill.to ? '' : 'OrEquals'}`, [value, end], fill.span)
  const sortKey = (i: number): TypedExpr => (i === sortKeys.length - 1 ? value : read(edges, by[i]!))
  const sought: TypedExpr =
    sortKeys.length === 1
      ? value
      : {
          kind: 'tuple',
          items: sortKeys.map((_, i) => sortKey(i)),
          type: { kind: 'tuple', items: sortKeys.map((_, i) => sortKey(i).type) },
          span,
        }
  const there = fresh('there')
  const isMissing: TypedExpr = {
    kind: 'in',
    expr: sought,
    not: true,
    set: { query: { ...emptySelect, columns: sortKeys.map((one) => ({ ...one, expr: read(there, one) })), from: from(there), span } },
    type: scalar('Bool'),
    span: fill.span,
  }
  const filler: TypedSelect = {
    ...emptySelect,
    columns: columns.map((column) => {
      const at = sortKeys.indexOf(column)
      return { ...column, expr: at < 0 ? defaultOf(column.expr.type, span) : sortKey(at) }
    }),
    from: {
      kind: 'unnest',
      alias: series,
      input: { kind: 'derived', alias: edges, query: found },
      left: false,
      items: [{ name: 'step', expr: steps }],
      span: fill.span,
    },
    where: builtCall('and', [isInside, isMissing], fill.span),
    span,
  }
  const kept = fresh('kept')
  const set: TypedSet = {
    kind: 'set',
    ctes: [],
    op: 'union',
    all: true,
    left: { ...emptySelect, columns: columns.map((column) => ({ ...column, expr: read(kept, column) })), from: from(kept), span },
    right: filler,
    columns: columns.map(({ name, alias, expr }) => ({ name, alias, type: expr.type })),
    orderBy: [],
    limit: null,
    span,
  }
  const whole = fresh('whole')
  return {
    ...emptySelect,
    ctes: [...ctes, rows],
    columns: select.columns.map((column) => ({ ...column, expr: read(whole, sortKeyOf.get(idOf(column.expr)) ?? column) })),
    from: { kind: 'derived', alias: whole, query: set },
    orderBy: select.orderBy.map(({ descending: isDescending, nulls }, i) => ({
      expr: read(whole, sortKeys[i]!),
      descending: isDescending,
      nulls,
    })),
    limit,
    span,
  }
}

const number = (value: number, span: Span): TypedExpr => constant(value, span)

/** The value `steps` steps after `start`. */
function stepped(start: TypedExpr, steps: TypedExpr, { step, unit, span }: TypedFill): TypedExpr {
  const far = builtCall('multiply', [builtCall('toInt', [steps], span), number(step, span)], span)
  return unit
    ? builtCall('plus', [start, builtCall(intervalFunctions[unit], [far], span)], span)
    : widest(builtCall('plus', [start, far], span))
}

/** The sum may exceed the range of a small integer type. */
const widest = (expr: TypedExpr): TypedExpr =>
  isNumeric(expr.type) ? builtCall(isInteger(expr.type) ? 'toInt' : 'toFloat', [expr], expr.span) : expr

/** An upper bound of the number of steps between both. */
function stepsBetween(start: TypedExpr, end: TypedExpr, { step, unit, span }: TypedFill): TypedExpr {
  const far = unit ? builtCall('dateDiff', [constant(unit, span), start, end], span) : builtCall('minus', [end, start], span)
  const whole = builtCall('floor', [builtCall('divide', [far, number(step, span)], span)], span)
  const count = builtCall('toInt', [unit || isInteger(start.type) ? whole : bounded(whole)], span)
  const known = builtCall(
    'greatest',
    [builtCall('ifNull', [builtCall('plus', [count, number(2, span)], span), number(0, span)], span), number(0, span)],
    span,
  )
  const isTooMany = builtCall('greater', [known, number(mostFilled + 2, span)], span)
  return builtCall('plus', [known, builtCall('throwIf', [isTooMany, constant(tooMany, span)], span)], span)
}

/** Larger counts are refused alike, and may overflow an integer. */
function bounded(count: TypedExpr): TypedExpr {
  const most = number(mostFilled + 2, count.span)
  return builtCall('if', [builtCall('greater', [count, most], count.span), most, count], count.span)
}

const tooMany = `WITH FILL would make more than ${mostFilled.toLocaleString('en-US')} rows: use a larger STEP, or nearer FROM and TO`

/** With constant bounds, the number of rows is known before the statement runs. */
function assertFew({ from, to, step, unit, span }: TypedFill): void {
  if (!from || !to) return
  const [a, b] = [from, to].map((edge) => edgeNumber(edge))
  if (a === null || b === null) return
  const rows = Math.ceil((b! - a!) / (step * (unit ? microsOf[unit] : 1)))
  if (rows > mostFilled) {
    throw new QueryError('invalid-query', { message: tooMany }, span)
  }
}

const second = 1_000_000
const day = 86_400 * second
/** Lower bounds: months and years vary. */
const microsOf = {
  second,
  minute: 60 * second,
  hour: 3600 * second,
  day,
  week: 7 * day,
  month: 28 * day,
  quarter: 90 * day,
  year: 365 * day,
} as const

function edgeNumber(edge: TypedExpr): number | null {
  if (!isTime(edge.type)) return constantNumber(edge)
  if (edge.kind === 'constant') return typeof edge.value === 'bigint' ? Number(edge.value) : Date.parse(String(edge.value)) * 1000
  const [text] = edge.kind === 'call' ? edge.args : []
  const micros = text?.kind === 'constant' && typeof text.value === 'string' ? Date.parse(text.value) * 1000 : Number.NaN
  return Number.isNaN(micros) ? null : micros
}
