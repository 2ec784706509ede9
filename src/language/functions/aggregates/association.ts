import { isNullable } from '../../types/types.ts'
import { nan, onceAll } from '../cells/duckdb-values.ts'
import type { Arg, Case, CellContext, SqlCell } from '../row.ts'
import { type AggregateRow, aggregate, aggregates, floatLike, rowsCall, withFilter } from './aggregate.ts'

// Measures of association between two columns, from a contingency table.

const entries = (value: string, context: CellContext): string => `map_entries(${rowsCall('histogram', [value], context)})`
const whole = (args: readonly Arg[], context: CellContext): CellContext =>
  args.reduce((c, a) => (isNullable(a.type) ? withFilter(c, `${a.sql} IS NOT NULL`) : c), context)

/** The printed counts: the number of rows, and entries of value and count for each column and for pairs. */
interface Counts {
  readonly rows: string
  readonly left: string
  readonly right: string
  readonly pairs: string
}
const overCounts =
  (body: (counts: Counts, context: CellContext) => string): SqlCell =>
  (args, context) => {
    const [a, b] = args.map((arg) => arg.sql) as [string, string]
    const inner = whole(args, context)
    const counts = [rowsCall('count', ['*'], inner), entries(a, inner), entries(b, inner), entries(`{'a': ${a}, 'b': ${b}}`, inner)]
    return onceAll(
      context,
      counts,
      (rows, left, right, pairs) => `CASE WHEN ${rows} = 0 THEN ${nan} ELSE ${body({ rows, left, right, pairs } as Counts, context)} END`,
    )
  }

const summed = (list: string, context: CellContext, term: (entry: string) => string): string => {
  const entry = context.fresh()
  return `list_sum(list_transform(${list}, lambda ${entry}: ${term(entry)}))`
}
const countIn = (list: string, value: string, context: CellContext): string => {
  const entry = context.fresh()
  return `list_filter(${list}, lambda ${entry}: ${entry}.key = ${value})[1].value`
}

/** Chi squared divided by the number of rows. */
const phiSquared = ({ left, right, pairs }: Counts, context: CellContext): string => {
  const term = (p: string) =>
    `pow(${p}.value, 2) / (CAST(${countIn(left, `${p}.key.a`, context)} AS DOUBLE) * ${countIn(right, `${p}.key.b`, context)})`
  return `greatest(${summed(pairs, context, term)} - 1, 0)`
}
const rootOrNan = (above: string, below: string): string => `CASE WHEN ${below} = 0 THEN ${nan} ELSE sqrt(${above} / ${below}) END`

const cramersV = overCounts((counts, context) =>
  onceAll(context, [phiSquared(counts, context), `least(len(${counts.left}), len(${counts.right})) - 1`], (phi, q) => rootOrNan(phi!, q!)),
)
const corrected = overCounts((counts, context) => {
  const size = (side: string) => `(len(${side}) - 1)`
  const [a, b, n] = [size(counts.left), size(counts.right), `(${counts.rows} - 1)`]
  const phi = `greatest(0, ${phiSquared(counts, context)} - ${a} * ${b} / ${n})`
  const q = `least(${a} + 1 - pow(${a}, 2) / ${n}, ${b} + 1 - pow(${b}, 2) / ${n}) - 1`
  return onceAll(context, [phi, q], (p, size) => rootOrNan(p!, size!))
})
const contingency = overCounts((counts, context) => onceAll(context, [phiSquared(counts, context)], (phi) => `sqrt(${phi} / (${phi} + 1))`))
/** The share of the first column's entropy that the second explains. */
const theilsU = overCounts((counts, context) => {
  const { rows, left, right, pairs } = counts
  const known = summed(pairs, context, (p) => `${p}.value * ln(${p}.value / CAST(${countIn(right, `${p}.key.b`, context)} AS DOUBLE))`)
  const all = summed(left, context, (e) => `${e}.value * ln(${e}.value / CAST(${rows} AS DOUBLE))`)
  return onceAll(context, [all, known], (h, k) => `CASE WHEN ${h} = 0 THEN 0 ELSE (${h} - ${k}) / ${h} END`)
})

const association = (name: string, summary: string, duckdb: SqlCell, cases: readonly Case[]): AggregateRow =>
  aggregate({ args: [2, 2], returns: floatLike, summary, keeps: 6, clickhouse: name, duckdb, cases })

const pairs = "from (select arrayJoin([('a', 1), ('a', 1), ('b', 2), ('b', 1)]) as t)"
const five = 'from (select arrayJoin([1, 2, 2, 4, 7]) as x)'

export const associationFunctions = aggregates({
  contingency: association('contingency', 'Coefficient of contingency of two columns.', contingency, [
    [`select contingency(t.1, t.2) ${pairs}`, 0.5],
    [`select contingency(x, x % 3) ${five}`, Math.SQRT1_2],
    ['select isNaN(contingency(number, number)) from numbers(0)', 1],
  ]),
  cramersV: association('cramersV', 'Cramér’s V of two columns.', cramersV, [
    [`select cramersV(t.1, t.2) ${pairs}`, 0.5773502691896257],
    [`select cramersV(x, x % 3) ${five}`, 1],
    [`select isNaN(cramersV(x, 1)) ${five}`, 1],
  ]),
  cramersVBiasCorrected: association('cramersVBiasCorrected', 'Cramér’s V of two columns, corrected for bias.', corrected, [
    [`select cramersVBiasCorrected(x, x % 3) ${five}`, 0.5773502691896255],
    [`select cramersVBiasCorrected(t.1, t.2) ${pairs}`, 0],
  ]),
  theilsU: association('theilsU', 'Theil’s U of two columns.', theilsU, [
    [`select theilsU(t.1, t.2) ${pairs}`, 0.3112781244591327],
    [`select theilsU(x, x % 3) ${five}`, 0.5051961085524236],
    [`select theilsU(x, 1) ${five}`, 0],
  ]),
})
