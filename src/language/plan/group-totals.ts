import type { IdOf } from '../ast/identity.ts'
import { groupingRow } from '../functions/aggregates/grouping.ts'
import { findRow, plainCall } from '../resolver/call-node.ts'
import { builtCall } from '../resolver/calls.ts'
import { constant } from '../resolver/constants.ts'
import { defaultOf } from '../resolver/defaults.ts'
import { columnOf } from '../resolver/property-columns.ts'
import { childrenOf, groupKeys, isAggregateCall } from '../resolver/shape.ts'
import {
  emptySelect,
  type TypedColumn,
  type TypedExpr,
  type TypedLimit,
  type TypedOrder,
  type TypedQuery,
  type TypedSelect,
  type TypedSource,
  type TypedWindow,
} from '../resolver/typed.ts'
import { freshAliases, mapExprs } from '../resolver/typed-walk.ts'
import { isProperty } from '../types/property-values.ts'
import { arrayOf, isNullable, scalar } from '../types/types.ts'
import type { Pass } from './context.ts'
import { unnestCalls } from './unnest-calls.ts'

/**
 * GROUP BY … WITH TOTALS adds one last row, regardless of ORDER BY and LIMIT: the aggregates over all rows. The input is read once.
 * Before: `SELECT k, count() … GROUP BY k WITH TOTALS ORDER BY k LIMIT 2`. After: `SELECT k, count(), GROUPING(k) … GROUP BY GROUPING SETS ((k), ())`,
 * where LIMIT does not count the totals row.
 */
export const groupTotals: Pass = (query, { idOf }) =>
  query.kind === 'select' && query.groupBy?.withTotals ? withTotals(query, freshAliases(query), idOf) : query

const isTotalName = '@total'

function withTotals(asked: TypedSelect, fresh: (wanted: string) => string, idOf: IdOf): TypedQuery {
  // Totals are computed over the rows after an arrayJoin, even if it is a key.
  const select = unnestCalls(asked, fresh, idOf)
  const { ctes, span } = select
  const sortKeys = select.orderBy.map(({ expr }, i): TypedColumn => ({ name: `@${i}`, alias: `@${i}`, expr }))
  const rows: TypedSelect = { ...select, ctes: [], columns: [...select.columns, ...sortKeys], orderBy: [], limit: null }
  const whole = fresh('whole')
  const { from, isTotal } = totalled(rows, whole, fresh, idOf)
  const read = ({ name, alias, expr: { type } }: TypedColumn): TypedExpr => columnOf(whole, { name, alias, type }, span)
  const orderBy: TypedOrder[] = [
    { expr: isTotal, descending: false, nulls: 'last' },
    ...select.orderBy.map((item, i) => ({ ...item, expr: read(sortKeys[i]!) })),
  ]
  return {
    ...emptySelect,
    ctes,
    columns: select.columns.map((column) => ({ ...column, expr: read(column) })),
    from,
    qualify: select.limit && builtCall('or', [isTotal, isWithin(select.limit, orderBy)], span),
    orderBy,
    span,
  }
}

/** The groups, the totals row, and the column that marks it. */
function totalled(
  rows: TypedSelect,
  whole: string,
  fresh: (wanted: string) => string,
  idOf: IdOf,
): { from: TypedSource; isTotal: TypedExpr } {
  const { span } = rows
  const keys = rows.groupBy!.items.filter(differs)
  if (keys.length === 0) {
    // Without keys the only group is the total.
    const total = fresh('total')
    const groupBy = { mode: 'plain', items: rows.groupBy!.items, sets: [] } as const
    const twice: TypedExpr = { kind: 'array', items: [0, 1].map((value) => constant(value, span)), type: arrayOf(scalar('UInt8')), span }
    const input: TypedSource = { kind: 'derived', alias: whole, query: { ...rows, groupBy } }
    return {
      from: { kind: 'unnest', alias: total, input, left: false, items: [{ name: isTotalName, expr: twice }], span },
      isTotal: builtCall(
        'equals',
        [{ kind: 'column', source: total, name: isTotalName, type: scalar('UInt8'), span }, constant(1, span)],
        span,
      ),
    }
  }
  const mark = markOf(keys)
  const isTotal = plainCall(groupingRow.name, groupingRow, { args: [mark] }, span)
  const query: TypedSelect = {
    ...rows,
    columns: [
      ...rows.columns.map((column) => ({ ...column, expr: withoutKeys(column.expr, new Set(keys.map(idOf)), isTotal, idOf) })),
      { name: isTotalName, alias: isTotalName, expr: isTotal },
    ],
    groupBy: { mode: 'sets', items: [], sets: [keys.includes(mark) ? keys : [...keys, mark], []], hidesMissingKeys: true },
    // No rows, no totals.
    having: builtCall('greater', [builtCall('count', [], span), constant(0, span)], span),
  }
  return {
    from: { kind: 'derived', alias: whole, query },
    isTotal: columnOf(whole, { name: isTotalName, alias: isTotalName, type: isTotal.type }, span),
  }
}

/** The key that GROUPING() is applied to, preferably a plain column: an engine may group by the parts of other expressions.
 * Casting a key to text makes no more groups. */
function markOf(keys: readonly TypedExpr[]): TypedExpr {
  const key = groupKeys(keys).find((each) => each.type.kind === 'scalar' && differs(each)) ?? keys[0]!
  return key.type.kind === 'scalar' ? key : builtCall('toString', [key], key.span)
}

const differs = (expr: TypedExpr): boolean =>
  expr.kind === 'column' || (expr.kind === 'call' && expr.row.isVolatile === true) || childrenOf(expr).some(differs)

/** The default value for each key in the totals row. */
function withoutKeys(expr: TypedExpr, keys: ReadonlySet<number>, isTotal: TypedExpr, idOf: IdOf): TypedExpr {
  const inside = (one: TypedExpr): TypedExpr => {
    if (one.kind === 'constant' || isAggregateCall(one)) return one
    if (!keys.has(idOf(one))) return mapExprs(one, inside)
    // Engines fill in NULL themselves.
    if (isNullable(one.type) && !isProperty(one.type)) return one
    const { name, row } = findRow('if', one.span)
    return { ...plainCall(name, row, { args: [isTotal, defaultOf(one.type, one.span), one] }, one.span), type: one.type }
  }
  return inside(expr)
}

/** LIMIT for all rows except the totals row. */
function isWithin({ limit, offset, percent, withTies, span }: TypedLimit, orderBy: readonly TypedOrder[]): TypedExpr {
  const over = (name: string, ordered: readonly TypedOrder[]): TypedExpr => {
    const window: TypedWindow = { partitionBy: [], orderBy: ordered, frame: null }
    return plainCall(name, findRow(name, span).row, { args: [], over: window }, span)
  }
  const number = over('row_number', orderBy)
  const isBehind = builtCall('greater', [number, constant(offset, span)], span)
  if (limit === null) return isBehind
  const all = builtCall('minus', [over('count', []), constant(1, span)], span)
  const share = builtCall(
    'floor',
    [builtCall('divide', [builtCall('multiply', [all, constant(limit, span)], span), constant(100, span)], span)],
    span,
  )
  const last = percent ? builtCall('plus', [share, constant(offset, span)], span) : constant(limit + offset, span)
  const isBefore = builtCall('lessOrEquals', [withTies ? over('rank', orderBy) : number, last], span)
  return builtCall('and', [isBehind, isBefore], span)
}
