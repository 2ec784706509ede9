import { arrayOf, isNamed, isNullable, notNull, type SqlType, scalar, unknownType } from '../../types/types.ts'
import { asJson, asText } from '../cells/clickhouse-values.ts'
import { sumOnDuckdb } from '../cells/duckdb-types.ts'
import { asInteger, asNumber, defaultOf, folded, once, orDefault, toText } from '../cells/duckdb-values.ts'
import { fixedBytes, headBytes, inside } from '../makes.ts'
import { integerShape, itemOf, sameAs } from '../results.ts'
import { type Arg, type Case, type CellContext, type SqlCell, unsupported } from '../row.ts'
import { scalars } from '../scalars.ts'
import { jsonText } from '../values/named-casts.ts'
import { type AggregateRow, aggregate, aggregateOf, aggregates, arrayOfItems, listOf, rowsCall, withFilter } from './aggregate.ts'
import { sumType } from './usual.ts'

// Aggregates that return arrays, maps and texts, and those that depend on the order of rows.

const five = 'from (select arrayJoin([1, 2, 2, 4, 7]) as x)'

/** ClickHouse has no ORDER BY inside a call: values are collected together with their sort keys, then sorted. */
function collected(arg: Arg, context: CellContext): string {
  const { order, distinct } = aggregateOf(context)
  if (order.length === 0)
    return rowsCall(distinct ? 'groupUniqArray' : 'groupArray', [arg.sql], {
      ...context,
      aggregate: { ...aggregateOf(context), distinct: false },
    })
  const inner: CellContext = { ...context, aggregate: { ...aggregateOf(context), orderBy: '', order: [], distinct: false } }
  const filtered = isNullable(arg.type) ? withFilter(inner, `isNotNull(${arg.sql})`) : inner
  let rows = rowsCall('groupArray', [`tuple(${[arg, ...order.map((o) => o.arg)].map((a) => a.sql).join(', ')})`], filtered)
  // Sorts are stable, so the last sort key is applied first.
  for (const [i, { descending }] of [...order.entries()].reverse())
    rows = descending ? `arrayReverse(arraySort(t -> t.${i + 2}, arrayReverse(${rows})))` : `arraySort(t -> t.${i + 2}, ${rows})`
  const values = `arrayMap(t -> ${isNullable(arg.type) ? 'assumeNotNull(t.1)' : 't.1'}, ${rows})`
  return distinct ? `arrayDistinct(${values})` : values
}
const asList = (arg: Arg, context: CellContext): string => `coalesce(${listOf(arg.sql, context)}, [])`

const bits = (name: string, engine: string, word: string, value: number): AggregateRow =>
  aggregate({
    args: [1, 1],
    takes: 'integer',
    returns: sameAs(0),
    summary: `All values joined by bitwise ${word}.`,
    clickhouse: name,
    duckdb: ([x], context) =>
      orDefault(rowsCall(engine, [asNumber(x!)], context), context, name === 'groupBitAnd' ? allOnes(x!.type) : '0'),
    ofList: (list, item, context) =>
      orDefault(`list_aggregate(${list}, '${engine}')`, context, name === 'groupBitAnd' ? allOnes(item) : '0'),
    cases: [[`select ${name}(x) from (select arrayJoin([5, 7, 13]) as x)`, value]],
  })
const allOnes = (type: SqlType): string => {
  const shape = integerShape(type)
  return !shape || shape.signed ? '-1' : String((1n << BigInt(Math.min(shape.bits, 63))) - 1n)
}

// --- order of rows -------------------------------------------------------------------------------

/** Sums the increases from one value to the next; decreases are ignored. */
function rises(list: string, context: CellContext): string {
  const [l, i] = [context.fresh(), context.fresh()]
  return `list_transform([${list}], lambda ${l}: list_sum(list_transform(range(2, len(${l}) + 1), lambda ${i}: greatest(${l}[${i}] - ${l}[${i} - 1], 0))))[1]`
}
const asType = (text: string, type: SqlType): string => (integerShape(type) ? `CAST(${text} AS ${sumOnDuckdb(type)})` : text)

const moving = (name: 'groupArrayMovingSum' | 'groupArrayMovingAvg', value: readonly number[]): AggregateRow =>
  aggregate({
    args: [1, 1],
    takes: 'number',
    returns: (args) => arrayOf(name === 'groupArrayMovingSum' ? notNull(sumType(args[0]!)) : scalar('Float64')),
    keeps: 4,
    summary: name === 'groupArrayMovingSum' ? 'Running sums of the values.' : 'Running sums of the values, divided by their number.',
    clickhouse: name,
    duckdb: ([x], context) =>
      once(context, asList({ ...x!, sql: asNumber(x!) }, context), (l) => {
        const i = context.fresh()
        const sum = `list_sum(${l}[1:${i}])`
        const item = context.type.kind === 'array' ? context.type.item : unknownType
        return `list_transform(range(1, len(${l}) + 1), lambda ${i}: ${name === 'groupArrayMovingAvg' ? `${sum} / len(${l})` : asType(sum, item)})`
      }),
    cases: [[`select ${name}(x) ${five}`, value]],
  })

/** Start and end points on one line: the largest number of overlapping intervals, and where it starts. */
const overlaps = (name: 'maxIntersections' | 'maxIntersectionsPosition', value: number): AggregateRow =>
  aggregate({
    args: [2, 2],
    takes: 'number',
    alsoTakes: 'times',
    returns: (args) => (name === 'maxIntersections' ? scalar('UInt64') : args[0]!),
    keeps: 12,
    summary:
      name === 'maxIntersections'
        ? 'Maximum number of overlapping intervals, each with a start and an end.'
        : 'Start of the range where most intervals overlap.',
    clickhouse: name,
    duckdb: ([a, b], context) => {
      const [s, e] = [context.fresh(), context.fresh()]
      const whole = withFilter(context, `${a!.sql} IS NOT NULL AND ${b!.sql} IS NOT NULL`)
      const edges = (x: Arg, by: number): string => rowsCall('list', [`{'p': ${x.sql}, 'd': ${by}, 'n': 0, 'm': 0, 'at': ${x.sql}}`], whole)
      const sorted = `list_sort(list_concat(${edges(a!, 1)}, ${edges(b!, -1)}))`
      const next = `{'p': ${e}.p, 'd': ${e}.d, 'n': ${s}.n + ${e}.d, 'm': greatest(${s}.m, ${s}.n + ${e}.d), 'at': CASE WHEN ${s}.n + ${e}.d > ${s}.m THEN ${e}.p ELSE ${s}.at END}`
      const start = `list_transform(${sorted}[1:1], lambda ${e}: {'p': ${e}.p, 'd': 0, 'n': 0, 'm': 0, 'at': ${e}.p})[1]`
      return orDefault(
        `${folded(sorted, [s, e], next, start)}.${name === 'maxIntersections' ? 'm' : 'at'}`,
        context,
        defaultOf(context.type),
      )
    },
    cases: [[`select ${name}(x.1, x.2) from (select arrayJoin([(1, 5), (5, 7), (2, 6)]) as x)`, value]],
  })

const bitmapReason = 'bitmaps belong to ClickHouse'
const bitmaps = 'from (select arrayJoin([bitmapBuild([1, 2]), bitmapBuild([2, 3])]) as x)'
const bitmap = (name: string, summary: string, value: number | readonly number[], source = bitmaps): AggregateRow =>
  aggregate({
    args: [1, 1],
    returns: () => (typeof value === 'number' ? scalar('UInt64') : { kind: 'state', aggregate: 'groupBitmap', args: [unknownType] }),
    summary,
    clickhouse: name,
    duckdb: unsupported(bitmapReason),
    cases: [[`select ${typeof value === 'number' ? `${name}(x)` : `bitmapToArray(${name}(x))`} ${source}`, value]],
  })

const texts = (name: 'string_agg', cases: readonly Case[]): AggregateRow =>
  aggregate({
    args: [2, 2],
    returns: () => scalar('String'),
    keeps: 1,
    summary: 'Concatenates the values, with a separator.',
    clickhouse: ([x, separator], context) => {
      const text = isNamed(x!.type, 'Bool') ? { sql: asText(x!, context), type: scalar('String', isNullable(x!.type)) } : x!
      return `arrayStringConcat(${collected(text, context)}, ${separator!.sql})`
    },
    duckdb: ([x, separator], context) => `coalesce(${rowsCall(name, [toText(x!, context), separator!.sql], context)}, '')`,
    cases,
  })

const arrayAgg: SqlCell = ([x], context) => (isNamed(x!.type, 'Nothing') ? 'NULL' : asList(x!, context))

export const collectionFunctions = aggregates({
  array_agg: aggregate({
    args: [1, 1],
    returns: (args) => (isNamed(args[0]!, 'Nothing') ? args[0]! : arrayOfItems(args)),
    keeps: 1,
    summary: 'All values that are not NULL, in the order of ORDER BY or of the rows.',
    clickhouse: ([x], context) => collected(x!, context),
    duckdb: arrayAgg,
    cases: [
      [`select array_agg(x) ${five}`, [1, 2, 2, 4, 7]],
      [`select array_agg(x order by x desc) ${five}`, [7, 4, 2, 2, 1]],
      ["select array_agg(x) from (select arrayJoin(['a', NULL]) as x)", ['a']],
    ],
  }),
  json_agg: aggregate({
    args: [1, 1],
    returns: () => scalar('String'),
    keeps: 6,
    summary: 'All values that are not NULL as the text of a JSON array.',
    clickhouse: ([x], context) => asJson({ sql: collected(x!, context), type: arrayOfItems([x!.type]) }, context),
    duckdb: ([x], context) =>
      isNamed(x!.type, 'Nothing') ? `'[]'` : jsonText({ sql: asList(x!, context), type: arrayOfItems([x!.type]) }, context),
    cases: [
      [`select json_agg(x) ${five}`, '[1,2,2,4,7]'],
      ["select json_agg(x) from (select arrayJoin(['a', 'b']) as x)", '["a","b"]'],
      ['select json_agg(x) from (select arrayJoin([1.5, 2.0, nan]) as x)', '[1.5,2,null]'],
      ["select json_agg(x) from (select arrayJoin([toDateTime('2024-01-01 10:00:00')]) as x)", '["2024-01-01 10:00:00.000000"]'],
    ],
  }),
  string_agg: texts('string_agg', [
    ["select string_agg(x, ',') from (select arrayJoin(['a', 'b']) as x)", 'a,b'],
    ["select string_agg(x, '-' order by x desc) from (select arrayJoin(['a', 'b']) as x)", 'b-a'],
    ["select string_agg(toString(number), ',') from numbers(0)", ''],
    ["select string_agg(number = 1, ',' order by number) from numbers(2)", 'false,true'],
  ]),
  every: aggregate({
    args: [1, 1],
    takes: 'boolean',
    returns: (args) => scalar('Bool', isNullable(args[0]!)),
    summary: 'Whether the value is true in every row.',
    clickhouse: ([x], context) => `toBool(${rowsCall('min', [x!.sql], context)})`,
    duckdb: ([x], context) => orDefault(rowsCall('bool_and', [`CAST(${x!.sql} AS BOOLEAN)`], context), context),
    cases: [
      [`select every(x > 0) ${five}`, 1],
      [`select every(x > 1) ${five}`, 0],
    ],
  }),
  groupUniqArrayArray: aggregate({
    args: [1, 1],
    params: [0, 1],
    paramKinds: ['count'],
    returns: (args) => arrayOf(notNull(itemOf(args[0]))),
    keeps: 8,
    summary: 'Distinct items of arrays, in no particular order; the parameter limits their number.',
    clickhouse: { name: 'groupUniqArrayArray', params: (context) => context.params.map((p) => p.sql) },
    duckdb: ([x], context) => {
      const items = `coalesce(list_distinct(flatten(${rowsCall('list', [x!.sql], context)})), [])`
      return context.params[0] ? `list_slice(${items}, 1, ${context.params[0].sql})` : items
    },
    cases: [['select groupUniqArrayArray(x) from (select arrayJoin([[1, 2], [2, 3]]) as x)', [1, 2, 3], { unordered: true }]],
  }),
  groupArrayInsertAt: aggregate({
    args: [2, 2],
    returns: arrayOfItems,
    summary: 'Array with each value at its position, from 0; gaps hold the default of the type.',
    makes: inside,
    clickhouse: { name: 'groupArrayInsertAt', args: ([x, at]) => [x!.sql, `toUInt32(${at!.sql})`] },
    duckdb: ([x, at], context) => {
      const [i, e] = [context.fresh(), context.fresh()]
      const rows = rowsCall('list', [`{'v': ${x!.sql}, 'i': CAST(${at!.sql} AS BIGINT)}`], context)
      const given = isNullable(x!.type) ? `list_filter(${rows}, lambda ${e}: ${e}.v IS NOT NULL)` : rows
      return once(context, `coalesce(${given}, [])`, (l) => {
        const last = `coalesce(list_max(list_transform(${l}, lambda ${e}: ${e}.i)), -1)`
        const found = `list_filter(${l}, lambda ${e}: ${e}.i = ${i})[1].v`
        const positions = context.within(
          `(CAST(${last} AS DOUBLE) + 1) * ${(fixedBytes(x!.type) ?? headBytes) + 8}`,
          `range(0, (${last} + 1))`,
        )
        return `list_transform(${positions}, lambda ${i}: ${orDefault(found, { ...context, type: notNull(x!.type) })})`
      })
    },
    cases: [
      ['select groupArrayInsertAt(x, x - 1) from (select arrayJoin([1, 2, 4]) as x)', [1, 2, 0, 4]],
      ['select groupArrayInsertAt(nullIf(x, 4), x - 1) from (select arrayJoin([2, 4]) as x)', [0, 2]],
    ],
  }),
  groupArrayMovingSum: moving('groupArrayMovingSum', [1, 3, 5, 9, 16]),
  groupArrayMovingAvg: moving('groupArrayMovingAvg', [0.2, 0.6, 1, 1.8, 3.2]),
  groupArraySample: aggregate({
    args: [1, 1],
    params: [1, 2],
    paramKinds: ['count', 'whole'],
    returns: arrayOfItems,
    isVolatile: true,
    keeps: 2,
    summary: 'A random sample of the given number of values.',
    clickhouse: { name: 'groupArraySample', params: (context) => context.params.map((p) => p.sql) },
    duckdb: ([x], context) => {
      const random: CellContext = { ...context, aggregate: { ...aggregateOf(context), orderBy: 'random()', order: [] } }
      return `list_slice(${asList(x!, random)}, 1, ${context.params[0]!.sql})`
    },
    cases: [['select length(groupArraySample(2)(number)) from numbers(5)', 2]],
  }),
  topK: aggregate({
    args: [1, 1],
    params: [1, 1],
    paramKinds: ['count'],
    returns: arrayOfItems,
    keeps: 3,
    summary:
      'The most frequent values, the most frequent one first. Exact on DuckDB, an estimate beyond some thousands of values on ClickHouse.',
    clickhouse: { name: 'topK', params: (context) => context.params.map((p) => p.sql) },
    duckdb: ([x], context) => {
      const e = context.fresh()
      const counts = `map_entries(${rowsCall('histogram', [x!.sql], context)})`
      const sorted = `list_sort(list_transform(${counts}, lambda ${e}: {'n': -${e}.value, 'v': ${e}.key}))`
      return `coalesce(list_transform(list_slice(${sorted}, 1, ${context.params[0]!.sql}), lambda ${e}: ${e}.v), [])`
    },
    cases: [["select topK(2)(x) from (select arrayJoin(['a', 'b', 'b', 'b', 'c', 'c']) as x)", ['b', 'c']]],
  }),
  sumWithOverflow: aggregate({
    args: [1, 1],
    takes: 'number',
    returns: sameAs(0),
    summary: 'Sum in the type of the values; wraps around on overflow.',
    clickhouse: 'sumWithOverflow',
    duckdb: ([x], context) => {
      const shape = integerShape(x!.type)
      const sum = orDefault(rowsCall('sum', [asNumber(x!)], context), context, '0')
      if (!shape || shape.bits > 64) return sum
      const size = `CAST(${1n << BigInt(shape.bits)} AS HUGEINT)`
      const half = shape.signed ? String(1n << BigInt(shape.bits - 1)) : '0'
      return `CAST(((${sum} + ${half}) % ${size} + ${size}) % ${size} - ${half} AS HUGEINT)`
    },
    cases: [['select sumWithOverflow(x) from (select arrayJoin([200, 100]) as x)', 44]],
  }),
  groupBitAnd: bits('groupBitAnd', 'bit_and', 'AND', 5),
  groupBitOr: bits('groupBitOr', 'bit_or', 'OR', 15),
  groupBitXor: bits('groupBitXor', 'bit_xor', 'XOR', 15),
  groupBitmap: aggregate({
    args: [1, 1],
    takes: 'integer',
    returns: (args) => scalar('UInt64', isNullable(args[0]!)),
    summary: 'Number of distinct whole numbers; NULL if all of several are NULL.',
    clickhouse: { name: 'groupBitmap', args: ([x]) => [`toUInt64(${x!.sql})`] },
    duckdb: ([x], context) => {
      const number = isNamed(x!.type, 'Nothing') ? x!.sql : asInteger(x!)
      const count = rowsCall('count', [number], { ...context, aggregate: { ...aggregateOf(context), distinct: true } })
      return isNullable(x!.type) ? `nullif(${count}, 0)` : count
    },
    cases: [
      [`select groupBitmap(x) ${five}`, 4],
      ['select groupBitmap(x) from (select arrayJoin([1.2, 1.7, 2.0]) as x)', 2],
      [`select groupBitmap(nullIf(x, x)) ${five}`, null],
      [`select groupBitmap(x) ${five} where x > 9`, 0],
    ],
  }),
  groupBitmapAnd: bitmap('groupBitmapAnd', 'Size of the intersection of bitmaps.', 1),
  groupBitmapOr: bitmap('groupBitmapOr', 'Size of the union of bitmaps.', 3),
  groupBitmapXor: bitmap('groupBitmapXor', 'Size of the symmetric difference of bitmaps.', 2),
  groupBitmapState: bitmap('groupBitmapState', 'A bitmap of whole numbers.', [1, 2, 4, 7], five),
  groupBitmapAndState: bitmap('groupBitmapAndState', 'The intersection of bitmaps.', [2]),
  groupBitmapOrState: bitmap('groupBitmapOrState', 'The union of bitmaps.', [1, 2, 3]),
  deltaSum: aggregate({
    args: [1, 1],
    takes: 'number',
    returns: sameAs(0),
    keeps: 4,
    summary: 'Sum of the increases from row to row; decreases are ignored.',
    clickhouse: 'deltaSum',
    duckdb: ([x], context) =>
      orDefault(asType(`coalesce(${rises(listOf(asNumber(x!), context), context)}, 0)`, context.type), context, '0'),
    cases: [
      [`select deltaSum(x) ${five}`, 6],
      ['select deltaSum(x) from (select arrayJoin([1.5, 2, 1, 3]) as x)', 2.5],
    ],
  }),
  deltaSumTimestamp: aggregate({
    args: [2, 2],
    takes: 'number',
    alsoTakes: 'times',
    returns: sameAs(0),
    keeps: 4,
    summary: 'Like `deltaSum`, with the rows ordered by the second argument.',
    clickhouse: 'deltaSumTimestamp',
    duckdb: ([x], context) =>
      orDefault(asType(`coalesce(${rises(listOf(asNumber(x!), context), context)}, 0)`, context.type), context, '0'),
    cases: [['select deltaSumTimestamp(number, number) from numbers(5)', 4]],
  }),
  maxIntersections: overlaps('maxIntersections', 2),
  maxIntersectionsPosition: overlaps('maxIntersectionsPosition', 2),
  uniqUpToMerge: aggregate({
    args: [1, 1],
    params: [1, 1],
    paramKinds: ['count'],
    returns: () => scalar('UInt64'),
    summary: 'Number of distinct values up to a limit, from intermediate states.',
    clickhouse: { name: 'uniqUpToMerge', params: (context) => context.params.map((p) => p.sql) },
    duckdb: unsupported('no function of the language makes its states'),
    cases: [],
  }),
})

/** Listed among the aggregates, although it is not one. */
export const digestFunctions = scalars({
  md5: {
    args: 1,
    returns: (args) => scalar('String', isNullable(args[0]!)),
    summary: 'MD5 digest of a text, in upper-case hexadecimal.',
    duckdb: ([x]) => `upper(md5(${x!.sql}))`,
    clickhouse: ([x]) => `hex(MD5(${x!.sql}))`,
    cases: [["md5('a')", '0CC175B9C0F1B6A831C399E269772661']],
  },
})
