import { arrayOf, isNullable, type SqlType, scalar, tupleOf } from '../../types/types.ts'
import { orDefaultWhereNull } from '../cells/clickhouse-values.ts'
import { once, tried, unlessNull } from '../cells/duckdb-values.ts'
import { jsonAt, jsonItems, jsonMember, jsonTextAt, rawOf, wholeOf } from '../cells/json-values.ts'
import { parts, times } from '../makes.ts'
import { whenAll } from '../results.ts'
import { type Arg, type Case, type CellContext, type Difference, type FunctionRow, type SqlCell, unsupported } from '../row.ts'
import { type ScalarSpec, scalars } from '../scalars.ts'

// Functions that read JSON texts. The path after the text consists of keys and indexes from 1. A missing value, or one of another type, becomes
// the default of the result's type.

/** NULL in the text or the path stays NULL; any other missing value becomes the default. */
const withDefault = (args: readonly Arg[], value: string, fallback: string): string => unlessNull(args, `coalesce(${value}, ${fallback})`)

type Reader = (args: readonly Arg[], context: CellContext) => string
const member = (
  _name: string,
  returns: FunctionRow['returns'],
  summary: string,
  fallback: string,
  read: Reader,
  cases: readonly Case[],
  differences: readonly Difference[] = [],
): ScalarSpec => ({
  args: [1, null],
  returns,
  summary,
  differences,
  duckdb: (args, context) => withDefault(args, read(args, context), fallback),
  cases,
})
const beyond64Bits: Difference = {
  expression: "JSONExtractRaw('{\"a\":18446744073709551616}', 'a')",
  duckdb: { value: '18446744073709551616' },
  clickhouse: { value: '' },
  reason: 'ClickHouse rejects JSON with a whole number beyond 64 bits; DuckDB keeps its digits',
}
const fractionOfNought: Difference = {
  expression: 'JSONExtractString(\'{"a":{"b":1.0}}\', \'a\')',
  duckdb: { value: '{"b":1.0}' },
  clickhouse: { value: '{"b":1}' },
  reason: 'within objects and arrays, DuckDB keeps the fraction of a whole number (1.0); JSONExtractRaw drops it on both',
}
const at: Reader = ([json, ...steps], context) => jsonAt(json!.sql, steps, context)
const textAt: Reader = ([json, ...steps], context) => jsonTextAt(json!.sql, steps, context)

/** Arrays cannot be NULL on ClickHouse: NULL reads as '', and a NULL key finds nothing. */
const list = (name: string, item: SqlType, summary: string, duckdb: SqlCell, cases: readonly Case[]): ScalarSpec => ({
  // An item has at least two letters and becomes a text.
  makes: times(10, 3),
  scratch: parts(),
  args: [1, null],
  returns: () => arrayOf(item),
  summary,
  duckdb,
  clickhouse: ([json, ...steps], context) =>
    orDefaultWhereNull(
      arrayOf(item),
      steps,
      context,
      (keys) => `${name}(${[isNullable(json!.type) ? `ifNull(${json!.sql}, '')` : json!.sql, ...keys].join(', ')})`,
    ),
  cases,
})

const whole =
  (type: string): Reader =>
  (args, context) =>
    once(context, textAt(args, context), (t) => wholeOf(t, type))

const kinds: Readonly<Record<string, string>> = {
  VARCHAR: 'String',
  ARRAY: 'Array',
  OBJECT: 'Object',
  BOOLEAN: 'Bool',
  DOUBLE: 'Double',
  BIGINT: 'Int64',
}
const kindOf: Reader = (args, context) =>
  once(context, at(args, context), (v) => {
    const named = Object.entries(kinds).map(([from, to]) => `WHEN '${from}' THEN '${to}'`)
    const unsigned = `WHEN 'UBIGINT' THEN CASE WHEN TRY_CAST(CAST(${v} AS VARCHAR) AS BIGINT) IS NULL THEN 'UInt64' ELSE 'Int64' END`
    return `CASE json_type(${v}) ${named.join(' ')} ${unsigned} ELSE 'Null' END`
  })

const pairs = (value: string, context: CellContext, read: (member: string) => string): string =>
  once(context, value, (v) => {
    const key = context.fresh()
    return `list_transform(coalesce(json_keys(${v}), []), lambda ${key}: row(${key}, ${read(jsonMember(v, key))}))`
  })

export const jsonFunctions = scalars({
  JSONExtractString: member(
    'JSONExtractString',
    whenAll('String'),
    'The text at a path; other values as JSON.',
    "''",
    textAt,
    [
      ['JSONExtractString(\'{"a":"x"}\', \'a\')', 'x'],
      ["JSONExtractString('{\"a\":1}', 'a')", '1'],
      ['JSONExtractString(\'{"a":{"b":1}}\', \'a\')', '{"b":1}'],
      ["JSONExtractString('{\"a\":null}', 'a')", ''],
      ["JSONExtractString('no JSON', 'a')", ''],
      ['JSONExtractString(\'"abc"\')', 'abc'],
      ['JSONExtractString(\'{"a":[{"b":"x"}]}\', \'a\', 1, \'b\')', 'x'],
      ['JSONExtractString(\'{"a":["x","y"]}\', \'a\', -1)', 'y'],
      ['JSONExtractString(\'{"a/b":"x", "~":"y"}\', \'a/b\')', 'x'],
      ["JSONExtractString(null, 'a')", null],
      ["JSONExtractString('[1]', '0')", ''],
      ["select JSONExtractString('[1]', k) from (select '0' as k)", ''],
      ['JSONExtractString(\'{"0":"x"}\', \'0\')', 'x'],
      ['JSONExtractString(\'{"a":"x"}\', null)', null],
      ['JSONExtractString(\'{"a":{"b":"x"}}\', \'a\', null)', null],
      ['select JSONExtractString(\'{"a":"x"}\', k) from (select arrayJoin([null]::Array(Nullable(String))) as k)', null],
    ],
    [fractionOfNought],
  ),
  JSONExtractInt: member(
    'JSONExtractInt',
    whenAll('Int64'),
    'The whole number at a path, truncated from a fraction or read from a text; else 0.',
    '0',
    whole('BIGINT'),
    [
      ["JSONExtractInt('{\"a\":-5}', 'a')", -5],
      ["JSONExtractInt('{\"a\":5.7}', 'a')", 5],
      ["JSONExtractInt('{\"a\":-5.7}', 'a')", -5],
      ["toString(JSONExtractInt('{\"a\":123456789012345678}', 'a'))", '123456789012345678'],
      ['JSONExtractInt(\'{"a":"5"}\', \'a\')', 5],
      ["JSONExtractInt('{\"a\":true}', 'a')", 0],
      ['JSONExtractInt(\'{"a":"5abc"}\', \'a\')', 0],
      ["JSONExtractInt('{\"a\":1e3}', 'a')", 1000],
      ["JSONExtractInt('{}', 'a')", 0],
      ['JSONExtractInt(\'{"a":1}\', null)', null],
    ],
  ),
  JSONExtractUInt: member(
    'JSONExtractUInt',
    whenAll('UInt64'),
    'The whole number at a path if it is not negative; else 0.',
    '0',
    whole('UBIGINT'),
    [
      ["JSONExtractUInt('{\"a\":5}', 'a')", 5],
      ["JSONExtractUInt('{\"a\":-5}', 'a')", 0],
      ['JSONExtractUInt(\'{"a":1}\', null)', null],
    ],
  ),
  JSONExtractFloat: member(
    'JSONExtractFloat',
    whenAll('Float64'),
    'The number at a path; else 0.',
    '0',
    (args, context) => `TRY_CAST(${textAt(args, context)} AS DOUBLE)`,
    [
      ["JSONExtractFloat('{\"a\":1.5}', 'a')", 1.5],
      ['JSONExtractFloat(\'{"a":"1.5"}\', \'a\')', 1.5],
      ['JSONExtractFloat(\'{"a":"x"}\', \'a\')', 0],
      ["JSONExtractFloat('{\"a\":true}', 'a')", 0],
      ['JSONExtractFloat(\'{"a":1.5}\', null)', null],
    ],
  ),
  JSONExtractBool: member(
    'JSONExtractBool',
    whenAll('Bool'),
    'Whether the value at a path is true or a nonzero number.',
    'false',
    (args, context) =>
      once(context, `CAST(${at(args, context)} AS VARCHAR)`, (v) => `(${v} = 'true' OR coalesce(TRY_CAST(${v} AS DOUBLE), 0) <> 0)`),
    [
      ["JSONExtractBool('{\"a\":true}', 'a')", 1],
      ["JSONExtractBool('{\"a\":1}', 'a')", 1],
      ['JSONExtractBool(\'{"a":"true"}\', \'a\')', 0],
      ["JSONExtractBool('{\"a\":false}', 'a')", 0],
      ['JSONExtractBool(\'{"a":true}\', null)', null],
    ],
  ),
  JSONExtractRaw: member(
    'JSONExtractRaw',
    whenAll('String'),
    'The JSON at a path, without spaces.',
    "''",
    (args, context) => rawOf(at(args, context), context),
    [
      ['JSONExtractRaw(\'{"a": {"b" : [1, 2.5, "x/y"]}}\', \'a\')', '{"b":[1,2.5,"x/y"]}'],
      ['JSONExtractRaw(\'{"a":"x"}\', \'a\')', '"x"'],
      ["JSONExtractRaw('{\"a\":1}', 'b')", ''],
      ["JSONExtractRaw('[1, 2]')", '[1,2]'],
      ["JSONExtractRaw('{\"a\":1e3}', 'a')", '1000'],
      ['JSONExtractRaw(\'{"a":1}\', null)', null],
      ['JSONExtractRaw(\'{"a":[1.0, "1.0,\\\\"2.0", -20.0, 1.05]}\', \'a\')', '[1,"1.0,\\"2.0",-20,1.05]'],
    ],
    [beyond64Bits],
  ),
  JSONExtractArrayRaw: list(
    'JSONExtractArrayRaw',
    scalar('String'),
    'The items of the array at a path, as JSON.',
    (args, context) => {
      const item = context.fresh()
      return `coalesce(list_transform(${jsonItems(at(args, context))}, lambda ${item}: ${rawOf(item, context)}), [])`
    },
    [
      ['JSONExtractArrayRaw(\'{"a":[1,"b",{"c": 1}]}\', \'a\')', ['1', '"b"', '{"c":1}']],
      ["JSONExtractArrayRaw('{\"a\":1}', 'a')", []],
      ["JSONExtractArrayRaw('x')", []],
      ['JSONExtractArrayRaw(\'{"a":[1]}\', null)', []],
    ],
  ),
  JSONExtractKeys: list(
    'JSONExtractKeys',
    scalar('String'),
    'The keys of the object at a path.',
    (args, context) => `coalesce(json_keys(${at(args, context)}), [])`,
    [
      ['JSONExtractKeys(\'{"a":1,"b":2}\')', ['a', 'b']],
      ["JSONExtractKeys('[1]')", []],
      ['JSONExtractKeys(\'{"a":{"b":1}}\', null)', []],
      ['select JSONExtractKeys(\'{"a":{"b":1}}\', k) from (select arrayJoin([null]::Array(Nullable(String))) as k)', []],
    ],
  ),
  JSONExtractKey: {
    args: [1, null],
    returns: whenAll('String'),
    summary: 'Not available on either engine.',
    duckdb: unsupported('ClickHouse does not have this function; use JSONExtractKeys'),
    clickhouse: unsupported('ClickHouse does not have this function; use JSONExtractKeys'),
    cases: [],
  },
  JSONExtractKeysAndValuesRaw: list(
    'JSONExtractKeysAndValuesRaw',
    tupleOf([scalar('String'), scalar('String')]),
    'Keys and values of the object at a path, the values as JSON.',
    (args, context) => pairs(at(args, context), context, (v) => rawOf(v, context)),
    [
      [
        'JSONExtractKeysAndValuesRaw(\'{"a":1,"b":"x"}\')',
        [
          ['a', '1'],
          ['b', '"x"'],
        ],
      ],
    ],
  ),
  JSONHas: member(
    'JSONHas',
    whenAll('Bool'),
    'Whether a value exists at a path, including null.',
    'false',
    (args, context) => `(${at(args, context)} IS NOT NULL)`,
    [
      ["JSONHas('{\"a\":null}', 'a')", 1],
      ["JSONHas('{\"a\":[1]}', 'a', 1)", 1],
      ["JSONHas('{\"a\":[1]}', 'a', 2)", 0],
      ["JSONHas('x', 'a')", 0],
      ["JSONHas(null, 'a')", null],
      ['JSONHas(\'{"a":1}\', null)', null],
    ],
  ),
  JSONLength: member(
    'JSONLength',
    whenAll('UInt64'),
    'Number of items or keys of the array or object at a path; else 0.',
    '0',
    (args, context) =>
      once(
        context,
        at(args, context),
        (v) => `CASE json_type(${v}) WHEN 'OBJECT' THEN len(json_keys(${v})) ELSE json_array_length(${v}) END`,
      ),
    [
      ["JSONLength('{\"a\":[1,2,3]}', 'a')", 3],
      ['JSONLength(\'{"a":1,"b":2}\')', 2],
      ["JSONLength('5')", 0],
      ["JSONLength('x')", 0],
      ['JSONLength(\'{"a":[1]}\', null)', null],
    ],
  ),
  JSONArrayLength: {
    args: [1, null],
    returns: () => scalar('UInt64', true),
    summary: 'Length of the array at a path; NULL if there is none.',
    duckdb: (args, context) =>
      once(context, at(args, context), (v) => `CASE WHEN json_type(${v}) = 'ARRAY' THEN json_array_length(${v}) END`),
    clickhouse: (args) => `JSONArrayLength(${args.length > 1 ? `JSONExtractRaw(${args.map((arg) => arg.sql).join(', ')})` : args[0]!.sql})`,
    cases: [
      ["JSONArrayLength('[1, 2]')", 2],
      ["JSONArrayLength('{}')", null],
      ["JSONArrayLength('{\"a\":[1]}', 'a')", 1],
    ],
  },
  JSONType: {
    ...member(
      'JSONType',
      whenAll('String'),
      'The type of the value at a path: String, Int64, UInt64, Double, Bool, Array, Object or Null.',
      "'Null'",
      kindOf,
      [
        ['JSONType(\'{"a":[1]}\')', 'Object'],
        ["JSONType('{\"a\":[1]}', 'a')", 'Array'],
        ["JSONType('{\"a\":1}', 'a')", 'Int64'],
        ["JSONType('{\"a\":1.5}', 'a')", 'Double'],
        ['JSONType(\'{"a":"s"}\', \'a\')', 'String'],
        ["JSONType('{\"a\":true}', 'a')", 'Bool'],
        ["JSONType('{\"a\":null}', 'a')", 'Null'],
        ["JSONType('{\"a\":1}', 'b')", 'Null'],
        ['JSONType(\'{"a":1}\', null)', null],
      ],
    ),
    clickhouse: (args) => `toString(JSONType(${args.map((arg) => arg.sql).join(', ')}))`,
  },
  JSON_VALUE: {
    args: [2, null],
    returns: whenAll('String'),
    summary: "The single value at a JSONPath ($.a.b[0]) as text; '' for anything else.",
    duckdb: ([json, path], context) =>
      withDefault(
        [json!, path!],
        once(
          context,
          tried(context, [json!.sql, path!.sql], (text, at) => `json_extract(${text}, ${at})`),
          (v) =>
            `CASE WHEN json_type(${v}) IN ('ARRAY', 'OBJECT') THEN '' WHEN json_type(${v}) = 'NULL' THEN 'null' ELSE json_extract_string(${v}, '$') END`,
        ),
        "''",
      ),
    cases: [
      ['JSON_VALUE(\'{"a":{"b":"x"}}\', \'$.a.b\')', 'x'],
      ["JSON_VALUE('{\"a\":[1,2]}', '$.a[0]')", '1'],
      ["JSON_VALUE('{\"a\":[1,2]}', '$.a')", ''],
      ["JSON_VALUE('{\"a\":true}', '$.a')", 'true'],
      ["JSON_VALUE('{\"a\":null}', '$.a')", 'null'],
      ["JSON_VALUE('x', '$.a')", ''],
      ['JSON_VALUE(\'{"a":1}\', null)', null],
    ],
  },
  isValidJSON: {
    args: 1,
    returns: whenAll('Bool'),
    summary: 'Whether the text is JSON.',
    duckdb: ([json]) => `json_valid(${json!.sql})`,
    cases: [
      ['isValidJSON(\'{"a":1}\')', 1],
      ["isValidJSON('x')", 0],
      ["isValidJSON('5')", 1],
    ],
  },
})
