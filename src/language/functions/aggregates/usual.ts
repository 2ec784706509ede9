import { QueryError } from '../../../errors/errors.ts'
import { isFloat, isNamed, notNull, type SqlType, scalar } from '../../types/types.ts'
import { asFloat, asNumber, nan, orDefault } from '../cells/duckdb-values.ts'
import { part } from '../makes.ts'
import { beyond63Bits, beyond64Bits } from '../numbers/arithmetic.ts'
import { integer, integerShape, sameAs } from '../results.ts'
import type { Arg, CellContext, SqlCell } from '../row.ts'
import {
  type AggregateRow,
  aggregate,
  aggregateOf,
  aggregates,
  arrayOfItems,
  floatLike,
  type ListFold,
  like,
  listOf,
  rowsCall,
  withFilter,
} from './aggregate.ts'

export function sumType(type: SqlType): SqlType {
  if (isFloat(type) || type.kind === 'unknown') return like(scalar('Float64'), [type])
  if (isNamed(type, 'Decimal'))
    return like({ ...scalar('Decimal'), parameters: [38, type.kind === 'scalar' ? (type.parameters?.[1] ?? 0) : 0] }, [type])
  const shape = integerShape(type)
  return shape ? like(integer({ ...shape, bits: shape.bits > 64 ? shape.bits : 64 }), [type]) : type
}
/** DuckDB sums integers as HUGEINT. For 64-bit integers the result is cast back, since later operations do not need it. */
export const asSum = (text: string, type: SqlType): string => (isNamed(type, 'Int64', 'UInt64') ? `CAST(${text} AS BIGINT)` : text)

/** For HUGEINT, the sum behind a mean wraps around at 128 bits (DuckDB 1.5). */
const isWide = (type: SqlType): boolean => (integerShape(type)?.bits ?? 0) > 64

const count64 = (): SqlType => scalar('UInt64')

const sum: SqlCell = (args, context) => orDefault(asSum(rowsCall('sum', [asNumber(args[0]!)], context), context.type), context, '0')
const oneOf =
  (name: string): SqlCell =>
  (args, context) =>
    orDefault(rowsCall(name, [args[0]!.sql], context), context)

/** Like ClickHouse, counts only rows in which no argument is NULL. */
function countDistinct(args: readonly Arg[], context: CellContext): string {
  const distinct: CellContext = { ...context, aggregate: { ...context.aggregate!, distinct: true } }
  if (args.length === 1) return rowsCall('count', [args[0]!.sql], distinct)
  const whole = args.map((a) => `${a.sql} IS NOT NULL`).join(' AND ')
  return rowsCall('count', [`(${args.map((a) => a.sql).join(', ')})`], withFilter(distinct, whole))
}

/** Over a list of tuples: the value, and what it is chosen by. */
const edgeOf =
  (order: 'ASC' | 'DESC'): ListFold =>
  (list, _item, context) => {
    const t = context.fresh()
    const pairs = `list_transform(${list}, lambda ${t}: {'k': struct_extract_at(${t}, 2), 'v': struct_extract_at(${t}, 1)})`
    return orDefault(`list_sort(${pairs}, '${order}')[1].v`, context)
  }

const uniq = (summary: string, name: string, most: number | null = null): AggregateRow =>
  aggregate({
    args: [1, most],
    takes: 'key',
    returns: count64,
    summary,
    clickhouse: 'uniqExact',
    duckdb: countDistinct,
    ofList: (list) => `coalesce(list_unique(${list}), 0)`,
    cases: [
      [`select ${name}(x) from (select arrayJoin([1, 2, 2, 3]) as x)`, 3],
      [`select ${name}(x) from (select arrayJoin(['a', NULL, 'a']) as x)`, 1],
      [`select ${name}(number) from numbers(0)`, 0],
    ],
  })

/** The largest bitmap, in numbers: 32 MB for each group. */
const mostNumber = 2 ** 28 - 1

function numberParameter({ params }: CellContext): string {
  const most = Number(params[0]?.constant)
  if (!(Number.isInteger(most) && most >= 0 && most <= mostNumber))
    throw new QueryError('invalid-query', { message: `The parameter of uniqNumbers is a whole number from 0 to ${mostNumber}.` })
  return String(most)
}

/** One bit for each number: twice as fast as a hash table if numbers are dense. */
function countBits([x]: readonly Arg[], context: CellContext): string {
  const most = numberParameter(context)
  const inRange = withFilter(context, `${x!.sql} BETWEEN 0 AND ${most}`)
  return `coalesce(bit_count(${rowsCall('bitstring_agg', [x!.sql, '0', most], inRange)}), 0)`
}

/** At most as many items as the parameter allows, if there is one. */
const atMost = (list: string, { params: [most] }: CellContext) => (most ? `list_slice(${list}, 1, ${most.sql})` : list)

export const aggregateFunctions = aggregates({
  count: aggregate({
    args: [0, 1],
    takes: 'key',
    returns: count64,
    caseInsensitive: true,
    summary: 'Number of rows; with an argument, of rows where it is not NULL.',
    clickhouse: 'count',
    duckdb: (args, context) => rowsCall('count', args.length ? [args[0]!.sql] : ['*'], context),
    ofList: (list) => `coalesce(list_count(${list}), 0)`,
    cases: [
      ['select count() from numbers(4)', 4],
      ['select count(x) from (select arrayJoin([1, NULL, 3]) as x)', 2],
      ['select count(distinct x) from (select arrayJoin([1, 1, 3]) as x)', 2],
      ['select COUNT() from numbers(0)', 0],
    ],
  }),
  sum: aggregate({
    args: [1, 1],
    takes: 'number',
    returns: (args) => sumType(args[0]!),
    caseInsensitive: true,
    summary: 'Sum of the values; 0 for none, NULL for none when the argument may be NULL.',
    clickhouse: 'sum',
    duckdb: sum,
    ofList: (list, _item, context) => orDefault(asSum(`list_sum(${list})`, context.type), context, '0'),
    cases: [
      ['select sum(number) from numbers(5)', 10],
      ['select sum(number) from numbers(0)', 0],
      ['select sum(x) from (select arrayJoin([1.5, NULL]) as x)', 1.5],
      ['select sum(x) from (select arrayJoin([NULL, toNullable(1)]) as x) where x > 5', null],
    ],
    differences: [
      beyond64Bits('select sum(x) from (select arrayJoin([18446744073709551615, 5]) as x)', 4),
      beyond64Bits('select sum(x) from (select arrayJoin([-9223372036854775808, -1]) as x)', '9223372036854775807'),
      beyond63Bits('select sum(x) from (select arrayJoin([9223372036854775807, 5]) as x)', '9223372036854775812'),
    ],
  }),
  avg: aggregate({
    args: [1, 1],
    takes: 'number',
    returns: floatLike,
    caseInsensitive: true,
    summary: 'Mean of the values; not a number for none (NULL in JSON).',
    clickhouse: 'avg',
    duckdb: ([x], context) => orDefault(rowsCall('avg', [isWide(x!.type) ? asFloat(x!) : asNumber(x!)], context), context, nan),
    ofList: (list, item, context) => orDefault(`list_avg(${isWide(item) ? `CAST(${list} AS DOUBLE[])` : list})`, context, nan),
    cases: [
      ['select avg(number) from numbers(4)', 1.5],
      ['select avg(x) from (select arrayJoin([1, NULL, 3]) as x)', 2],
      ['select isNaN(avg(number)) from numbers(0)', 1],
    ],
  }),
  min: aggregate({
    args: [1, 1],
    takes: 'order',
    ordersItems: true,
    returns: sameAs(0),
    caseInsensitive: true,
    makes: part,
    summary: 'Smallest value; the default of the type for none.',
    clickhouse: 'min',
    duckdb: oneOf('min'),
    ofList: (list, _item, context) => orDefault(`list_min(${list})`, context),
    cases: [
      ['select min(number) from numbers(3, 4)', 3],
      ["select min(x) from (select arrayJoin(['b', 'a', NULL]) as x)", 'a'],
      ['select min(number) from numbers(0)', 0],
    ],
  }),
  max: aggregate({
    args: [1, 1],
    takes: 'order',
    ordersItems: true,
    returns: sameAs(0),
    caseInsensitive: true,
    makes: part,
    summary: 'Largest value; the default of the type for none.',
    differences: [
      {
        expression: 'select isNaN(max(x)) from (select arrayJoin([1.5, 0 / 0]) as x)',
        duckdb: { value: 1 },
        clickhouse: { value: 0 },
        reason: 'nan is greater than all numbers on DuckDB, and is not counted on ClickHouse',
      },
    ],
    clickhouse: 'max',
    duckdb: oneOf('max'),
    ofList: (list, _item, context) => orDefault(`list_max(${list})`, context),
    cases: [
      ['select max(number) from numbers(3, 4)', 6],
      ["select max(x) from (select arrayJoin(['b', 'a', NULL]) as x)", 'b'],
      ['select max(number) from numbers(0)', 0],
    ],
  }),
  any: aggregate({
    args: [1, 1],
    takes: 'value',
    returns: sameAs(0),
    makes: part,
    summary: 'The first value that is not NULL.',
    clickhouse: 'any',
    duckdb: oneOf('any_value'),
    ofList: (list, _item, context) => orDefault(`list_any_value(${list})`, context),
    cases: [
      ['select any(x) from (select arrayJoin([NULL, 7, 7]) as x)', 7],
      ['select any(number) from numbers(0)', 0],
    ],
  }),
  anyLast: aggregate({
    args: [1, 1],
    takes: 'value',
    returns: sameAs(0),
    makes: part,
    summary: 'The last value that is not NULL.',
    clickhouse: 'anyLast',
    duckdb: (args, context) => orDefault(rowsCall('last', [args[0]!.sql], withFilter(context, `${args[0]!.sql} IS NOT NULL`)), context),
    cases: [
      ['select anyLast(x) from (select arrayJoin([6, 7, NULL]) as x)', 7],
      ['select anyLast(number) from numbers(0)', 0],
    ],
  }),
  anyHeavy: aggregate({
    args: [1, 1],
    returns: sameAs(0),
    makes: part,
    summary: 'The most frequent value, when it makes up more than half of the values.',
    clickhouse: 'anyHeavy',
    duckdb: oneOf('mode'),
    cases: [["select anyHeavy(x) from (select arrayJoin(['a', 'b', 'b', 'b']) as x)", 'b']],
  }),
  argMin: aggregate({
    args: [2, 2],
    takes: ['value', 'order'],
    returns: (args) => like(args[0]!, args),
    makes: part,
    summary: 'The first argument in the row where the second is smallest.',
    clickhouse: 'argMin',
    duckdb: (args, context) => orDefault(rowsCall('arg_min', [args[0]!.sql, args[1]!.sql], context), context),
    ofList: edgeOf('ASC'),
    cases: [
      ['select argMin(toString(number), 10 - number) from numbers(4)', '3'],
      ['select argMin(number, number) from numbers(0)', 0],
    ],
  }),
  argMax: aggregate({
    args: [2, 2],
    takes: ['value', 'order'],
    returns: (args) => like(args[0]!, args),
    makes: part,
    summary: 'The first argument in the row where the second is largest.',
    clickhouse: 'argMax',
    duckdb: (args, context) => orDefault(rowsCall('arg_max', [args[0]!.sql, args[1]!.sql], context), context),
    ofList: edgeOf('DESC'),
    cases: [
      ['select argMax(toString(number), number) from numbers(4)', '3'],
      ['select argMax(number, number) from numbers(0)', 0],
    ],
  }),
  countDistinct: uniq('Number of distinct values, exact.', 'countDistinct', 1),
  uniq: uniq('Number of distinct values (or combinations of values). Exact, unlike in ClickHouse.', 'uniq'),
  uniqExact: uniq('Number of distinct values (or combinations of values).', 'uniqExact'),
  uniqCombined: uniq('Number of distinct values. Exact here, like `uniqExact`.', 'uniqCombined'),
  uniqCombined64: uniq('Number of distinct values. Exact here, like `uniqExact`.', 'uniqCombined64'),
  uniqHLL12: uniq('Number of distinct values. Exact here, like `uniqExact`.', 'uniqHLL12'),
  uniqTheta: uniq('Number of distinct values. Exact here, like `uniqExact`.', 'uniqTheta'),
  uniqNumbers: aggregate({
    args: [1, 1],
    takes: 'integer',
    params: [1, 1],
    paramKinds: ['whole'],
    returns: count64,
    summary:
      'Number of distinct whole numbers from 0 to the parameter, counted in a bitmap of that many bits for each group. Others are left out.',
    clickhouse: (args, context) =>
      rowsCall('uniqExactIf', [args[0]!.sql, `${args[0]!.sql} BETWEEN 0 AND ${numberParameter(context)}`], context),
    duckdb: countBits,
    cases: [
      ['select uniqNumbers(9)(x) from (select arrayJoin([0, 3, 3, 9, 10, NULL]) as x)', 3],
      ['select uniqNumbers(0)(x) from (select arrayJoin([0, -1, 1]) as x)', 1],
      ['select uniqNumbers(9)(number) from numbers(0)', 0],
    ],
  }),
  groupArray: aggregate({
    args: [1, 1],
    returns: (args) => (isNamed(args[0]!, 'Nothing') ? args[0]! : arrayOfItems(args)),
    keeps: 1,
    summary: 'All values that are not NULL, in the order of the rows.',
    clickhouse: 'groupArray',
    duckdb: (args, context) => (isNamed(args[0]!.type, 'Nothing') ? 'NULL' : `coalesce(${listOf(args[0]!.sql, context)}, [])`),
    cases: [
      ['select groupArray(number) from numbers(3)', [0, 1, 2]],
      ["select groupArray(x) from (select arrayJoin(['a', NULL, 'b']) as x)", ['a', 'b']],
      ['select groupArray(number) from numbers(0)', []],
    ],
  }),
  groupUniqArray: aggregate({
    args: [1, 1],
    params: [0, 1],
    paramKinds: ['count'],
    returns: (args) => arrayOfItems([notNull(args[0]!)]),
    keeps: 1,
    summary: 'Distinct values without NULL, in no particular order; the parameter limits their number.',
    clickhouse: { name: 'groupUniqArray', params: (context) => context.params.map((p) => p.sql) },
    duckdb: (args, context) =>
      atMost(`coalesce(${listOf(args[0]!.sql, { ...context, aggregate: { ...aggregateOf(context), distinct: true } })}, [])`, context),
    ofList: (list, _item, context) => atMost(`coalesce(list_distinct(${list}), [])`, context),
    cases: [
      ['select groupUniqArray(x) from (select arrayJoin([2, 1, 2]) as x)', [1, 2], { unordered: true }],
      ['select groupUniqArray(number) from numbers(0)', []],
      ['select length(groupUniqArray(2)(number % 3)) from numbers(9)', 2],
    ],
  }),
})
