import { QueryError } from '../../../errors/errors.ts'
import { likelyTypes, parseType } from '../../types/parse.ts'
import {
  isFloat,
  isNamed,
  isNullable,
  isNumeric,
  notNull,
  nullable,
  type ScalarName,
  type SqlType,
  scalar,
  tupleOf,
} from '../../types/types.ts'
import { asJson, orDefaultWhereNull } from '../cells/clickhouse-values.ts'
import { duckdbType } from '../cells/duckdb-types.ts'
import { argOf, asNumber, defaultOf, once, toText, unlessNull } from '../cells/duckdb-values.ts'
import { jsonAs, jsonAt, jsonMember } from '../cells/json-values.ts'
import { leastBytes, type MadeCall, type Makes, parts, textTimes, times } from '../makes.ts'
import { whenAll } from '../results.ts'
import { type Arg, type CellContext, differing, type FunctionRow, type SqlCell, unsupported } from '../row.ts'
import { type ScalarSpec, scalars } from '../scalars.ts'
import { duckdbCast } from './conversion.ts'
import { duckdbWhole } from './whole-casts.ts'

// Functions that take the name of a type, and values as JSON.

function namedType(arg: Arg | undefined): SqlType {
  const type = typeof arg?.constant === 'string' ? parseType(arg.constant) : null
  if (type) return type
  if (typeof arg?.constant !== 'string')
    throw new QueryError('invalid-query', { message: 'The name of a type must be given as a text constant.' })
  throw new QueryError('wrong-type', { message: `Unknown type: ${arg.constant}`, candidates: likelyTypes(arg.constant) })
}
const last = (args: readonly Arg[]): SqlType => namedType(args.at(-1))

const quoted = (text: string): string => `CAST(to_json(${text}) AS VARCHAR)`

/** A value as ClickHouse writes it as JSON: slashes escaped, infinite numbers as text. */
export function jsonText(value: Arg, context: CellContext): string {
  const { type, sql } = value
  const item = (text: string, of: SqlType): string =>
    isNullable(of) ? `coalesce(${jsonText(argOf(text, of), context)}, 'null')` : jsonText(argOf(text, of), context)
  if (type.kind === 'array') {
    const name = context.fresh()
    return `'[' || array_to_string(list_transform(${sql}, lambda ${name}: ${item(name, type.item)}), ',') || ']'`
  }
  if (type.kind === 'map') {
    const name = context.fresh()
    const key = quoted(toText(argOf(`${name}.key`, type.key), context))
    return `'{' || array_to_string(list_transform(map_entries(${sql}), lambda ${name}: ${key} || ':' || ${item(`${name}.value`, type.value)}), ',') || '}'`
  }
  if (type.kind === 'tuple')
    return once(
      context,
      sql,
      (t) => `'[' || array_to_string([${type.items.map((of, i) => item(`struct_extract_at(${t}, ${i + 1})`, of)).join(', ')}], ',') || ']'`,
    )
  if (isNamed(type, 'Bool')) return `CAST(${asNumber(value)} AS VARCHAR)`
  if (isFloat(type))
    return once(context, toText(value, context), (t) => `CASE WHEN ${t} IN ('inf', '-inf', 'nan') THEN 'null' ELSE ${t} END`)
  if (isNumeric(type)) return toText(value, context)
  return `replace(${quoted(toText(value, context))}, '/', '\\/')`
}

/** A cast that fails, for generated trees only. */
const strict = (name: ScalarName): ScalarSpec => ({
  args: 1,
  returns: whenAll(name),
  summary: `Internal: the value as ${name}; fails if it is not one.`,
  duckdb: ([x], context) => duckdbWhole(x!, name, context),
  clickhouse: `to${name}`,
  cases: [[`_to${name}('5')`, 5]],
})

const members = (args: readonly Arg[]): Parameters<typeof jsonAt>[1] => args.slice(1, -1)
const filledJson = (json: Arg): string => (isNullable(json.type) ? `ifNull(${json.sql}, '')` : json.sql)
const passed =
  (name: string): SqlCell =>
  (args, context) => {
    const call = (keys: readonly string[]) =>
      `${name}(${[filledJson(args[0]!), ...keys, context.literal(String(args.at(-1)!.constant))].join(', ')})`
    return isNullable(context.type)
      ? call(members(args).map(({ sql }) => sql))
      : orDefaultWhereNull(context.type, members(args), context, call)
  }

/** The widest item of the arrays in a type: in JSON an item may take two letters. */
const widestItem = (type: SqlType): number =>
  type.kind === 'array'
    ? Math.max(leastBytes(type.item), widestItem(type.item))
    : type.kind === 'map'
      ? leastBytes(tupleOf([type.key, type.value])) + widestItem(type.value)
      : type.kind === 'tuple'
        ? leastBytes(type) + Math.max(0, ...type.items.map(widestItem))
        : 8
const ofJson = ({ type }: MadeCall): Makes => times(2 + widestItem(type), 2 + widestItem(type) / 4)

const cast: Pick<FunctionRow, 'returns'>['returns'] = (_, { args }) => nullable(namedType(args[1]))

export const namedCastFunctions = scalars({
  accurateCastOrNull: {
    args: 2,
    returns: cast,
    summary: 'Casts to the named type; NULL if the value does not fit.',
    makes: times(8),
    duckdb: (args, context) => duckdbCast(args[0]!, notNull(namedType(args[1])), context),
    cases: [
      ["accurateCastOrNull('5', 'Int64')", 5],
      ["accurateCastOrNull(300, 'UInt8')", null],
      ["accurateCastOrNull(1.5, 'Int32')", null],
      ["accurateCastOrNull(5, 'String')", '5'],
    ],
    differences: [
      differing("accurateCastOrNull('0.1', 'Float32') + 0.0", 0.1, 0.10000000149011612, 'a Float32 has 64 bits on DuckDB, like a Float64'),
    ],
  },
  accurateCast: {
    args: 2,
    returns: ([x], { args }) => (isNullable(x!) ? nullable(namedType(args[1])) : namedType(args[1])),
    summary: 'Casts to the named type; fails if the value does not fit.',
    makes: times(8),
    duckdb: ([x, type], context) =>
      once(context, x!.sql, (v) => {
        const value = duckdbCast({ ...x!, sql: v }, notNull(namedType(type)), context)
        return `CASE WHEN ${v} IS NOT NULL THEN coalesce(${value}, ${context.refuse("'The value does not fit the type'")}) END`
      }),
    clickhouse: ([x, type], context) => {
      const name = String(type!.constant)
      return `accurateCast(${x!.sql}, ${context.literal(isNullable(x!.type) ? `Nullable(${name})` : name)})`
    },
    cases: [
      ["accurateCast('5', 'Int64')", 5],
      ["accurateCast(5, 'Int8')", 5],
    ],
  },
  defaultValueOfTypeName: {
    args: 1,
    returns: (_, { args }) => namedType(args[0]),
    summary: 'The default value of the named type.',
    duckdb: ([type]) => `CAST(${defaultOf(namedType(type))} AS ${duckdbType(namedType(type))})`,
    cases: [
      ["defaultValueOfTypeName('Int64')", 0],
      ["defaultValueOfTypeName('String')", ''],
      ["defaultValueOfTypeName('Array(Int64)')", []],
      ["defaultValueOfTypeName('Nullable(Int64)')", null],
    ],
  },
  dynamicType: {
    args: 1,
    returns: () => scalar('String'),
    summary: 'The type of the value in a Dynamic column.',
    duckdb: unsupported('there are no values whose type differs from row to row'),
    clickhouse: unsupported('there are no values whose type differs from row to row'),
    cases: [],
  },
  toJSONString: {
    args: 1,
    returns: whenAll('String'),
    summary: 'The value as JSON.',
    // A control character takes six letters.
    makes: ({ args }) => times(6 * textTimes([args[0]!.type]), 2 * textTimes([args[0]!.type])),
    duckdb: ([x], context) => jsonText(x!, context),
    clickhouse: ([x], context) => asJson(x!, context),
    cases: [
      ['toJSONString([1, 2])', '[1,2]'],
      ["toJSONString('a/b\"c')", '"a\\/b\\"c"'],
      ['toJSONString(2.0)', '2'],
      ["toJSONString((1, 'a'))", '[1,"a"]'],
      ["toJSONString(['a', null])", '["a",null]'],
      ["toJSONString(map('a', 1))", '{"a":1}'],
      ["toJSONString(toDate('2024-01-01'))", '"2024-01-01"'],
      ['toJSONString(1 = 1)', '1'],
      ["toJSONString([toDateTime('2024-01-01 10:00:00')])", '["2024-01-01 10:00:00.000000"]'],
      ['toJSONString([1.5, nan])', '[1.5,null]'],
      ['toJSONString(null)', null],
    ],
  },
  JSONExtract: {
    args: [2, null],
    returns: (_, { args }) => (members(args).some(({ type }) => isNullable(type)) ? nullable(last(args)) : last(args)),
    makes: ofJson,
    scratch: parts(),
    summary: 'The value at a path, cast to the type named in the last argument; the default of the type if it does not fit.',
    duckdb: (args, context) => {
      const value = jsonAs(jsonAt(args[0]!.sql, members(args), context), last(args), context)
      return isNullable(context.type) ? unlessNull(members(args), value) : value
    },
    clickhouse: passed('JSONExtract'),
    cases: [
      ["JSONExtract('{\"a\":[1,2]}', 'a', 'Array(Int64)')", [1, 2]],
      ["JSONExtract('{\"a\":\"x\"}', 'a', 'String')", 'x'],
      ["JSONExtract('{\"a\":\"x\"}', 'a', 'Int64')", 0],
      ["JSONExtract('{\"a\":\"x\"}', 'a', 'Nullable(Int64)')", null],
      ["JSONExtract('{\"a\":5}', 'a', 'String')", '5'],
      ["JSONExtract('{\"a\":300}', 'a', 'UInt8')", 0],
      ["JSONExtract('{\"a\":1.9}', 'a', 'Int64')", 1],
      ["JSONExtract('{\"a\":true}', 'a', 'Bool')", 1],
      ["JSONExtract('{\"a\":[1,\"x\",null]}', 'a', 'Array(Nullable(String))')", ['1', 'x', null]],
      ["JSONExtract('{\"a\":{\"x\":1}}', 'a', 'Map(String, Int64)')", { x: 1 }],
      ["JSONExtract('[1,\"a\"]', 'Tuple(Int64, String)')", [1, 'a']],
      ["JSONExtract('[1,\"a\"]', 'Tuple(a Int64, b String)')", [1, 'a']],
      ['JSONExtract(\'{"b":"x","a":1}\', \'Tuple(a Int64, b String)\')', [1, 'x']],
      ['JSONExtract(\'{"b":"x","a":1}\', \'Tuple(String, Int64)\')', ['x', 1]],
      ["JSONExtract('{\"c\":{\"n\":1}}', 'c', 'Tuple(n Int64, tags Array(String))')", [1, []]],
      ['JSONExtract(\'[{"b":"x"},{"b":"y"}]\', \'Array(Tuple(b String))\').b', ['x', 'y']],
      ["JSONExtract('{}', 'b', 'Nullable(String)')", null],
      ["JSONExtract('x', 'Array(String)')", []],
      ["JSONExtract('{\"a\":1}', null, 'Int64')", null],
      ["JSONExtract('{\"a\":1}', null, 'Array(Int64)')", []],
      ["JSONExtract('{\"a\":1}', toNullable('a'), 'Int64')", 1],
    ],
  },
  JSONExtractKeysAndValues: {
    args: [1, 3],
    returns: (_, { args }) => ({ kind: 'array', item: tupleOf([scalar('String'), last(args)]) }),
    makes: ofJson,
    scratch: parts(),
    summary: 'Keys and values of the object at a path; values that are not of the type named in the last argument are left out.',
    duckdb: (args, context) =>
      once(context, jsonAt(args[0]!.sql, members(args), context), (v) => {
        const [key, pair] = [context.fresh(), context.fresh()]
        const value = jsonAs(jsonMember(v, key), nullable(last(args)), context)
        return `list_filter(list_transform(coalesce(json_keys(${v}), []), lambda ${key}: row(${key}, ${value})), lambda ${pair}: struct_extract_at(${pair}, 2) IS NOT NULL)`
      }),
    clickhouse: passed('JSONExtractKeysAndValues'),
    cases: [
      ['JSONExtractKeysAndValues(\'{"a":1,"b":"x"}\', \'Int64\')', [['a', 1]]],
      [
        'JSONExtractKeysAndValues(\'{"a":1,"b":"x"}\', \'String\')',
        [
          ['a', '1'],
          ['b', 'x'],
        ],
      ],
    ],
  },
  _toInt8: strict('Int8'),
  _toInt32: strict('Int32'),
  _toInt64: strict('Int64'),
  _toUInt8: strict('UInt8'),
  _toUInt64: strict('UInt64'),
  _toUInt128: strict('UInt128'),
  _toDate: {
    args: 1,
    returns: whenAll('Date'),
    summary: 'Internal: the value as a date; fails if it is not one.',
    duckdb: ([x]) => `CAST(${x!.sql} AS DATE)`,
    clickhouse: 'toDate',
    cases: [["_toDate('2024-01-02')", '2024-01-02']],
  },
})
