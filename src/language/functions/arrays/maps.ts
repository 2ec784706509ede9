import { QueryError } from '../../../errors/errors.ts'
import {
  arrayOf,
  isNamed,
  isNullable,
  type MapType,
  mapOf,
  type SqlType,
  scalar,
  tupleOf,
  typeName,
  unknownType,
} from '../../types/types.ts'
import { sumType } from '../aggregates/usual.ts'
import { likeText } from '../cells/duckdb-like.ts'
import { duckdbType, sumOnDuckdb } from '../cells/duckdb-types.ts'
import { defaultOf, once, sideBySide, unlessNull } from '../cells/duckdb-values.ts'
import { inside } from '../makes.ts'
import { commonType, itemOf, oneType } from '../results.ts'
import { type Arg, type Case, type CellContext, call, type FunctionRow, type SqlCell } from '../row.ts'
import { type ScalarSpec, scalars } from '../scalars.ts'
import { applied, truth } from './lambda.ts'
import { clickHouseArg } from './rows.ts'

// Maps. Lambdas take a key and a value.

const keyTypeOf = (type: SqlType | undefined): SqlType => (type?.kind === 'map' ? type.key : unknownType)
const valueTypeOf = (type: SqlType | undefined): SqlType => (type?.kind === 'map' ? type.value : unknownType)

const mapRow = (
  name: string,
  args: FunctionRow['args'],
  returns: FunctionRow['returns'],
  summary: string,
  duckdb: SqlCell,
  cases: readonly Case[],
  more: Partial<ScalarSpec> = {},
): ScalarSpec => ({
  args,
  returns,
  summary,
  duckdb,
  clickhouse: (given) => `${name}(${given.map(clickHouseArg).join(', ')})`,
  cases,
  ...more,
})
const withLambda: Partial<ScalarSpec> = {
  lambdas: (args) => args.map((_, i) => (i === 0 ? [keyTypeOf(args[1]), valueTypeOf(args[1])] : null)),
}

/** `body` for each entry, with the lambda's two parameters bound to key and value. */
const overEntries = (verb: 'list_transform' | 'list_filter', lambda: Arg, map: Arg, context: CellContext): string => {
  const entry = context.fresh()
  const body = applied(lambda, [`${entry}.key`, `${entry}.value`])
  return `${verb}(map_entries(${map.sql}), lambda ${entry}: ${verb === 'list_filter' ? truth(body, lambda.lambda!.type) : body})`
}
const keysLike = (map: Arg, pattern: Arg, context: CellContext): string => {
  const entry = context.fresh()
  return `list_filter(map_entries(${map.sql}), lambda ${entry}: ${likeText('LIKE', `${entry}.key`, pattern, context)})`
}

// --- sums of maps --------------------------------------------------------------------------------

const isPair = (type: SqlType | undefined): boolean => type?.kind === 'tuple'
/** A map, or a tuple of keys and values. */
const asMap = (type: SqlType): MapType =>
  type.kind === 'tuple' ? mapOf(itemOf(type.items[0]), itemOf(type.items[1])) : mapOf(keyTypeOf(type), valueTypeOf(type))
const isSummed = (type: SqlType): boolean =>
  type.kind === 'map' ||
  type.kind === 'unknown' ||
  (type.kind === 'tuple' && type.items.length === 2 && type.items.every(({ kind }) => kind === 'array'))
const sumOfMaps = (name: string, types: readonly SqlType[]): SqlType => {
  const other = types.find((type) => !isSummed(type) || isPair(type) !== isPair(types[0]))
  if (other) {
    const expected = 'maps, or tuples of an array of keys and an array of values'
    throw new QueryError('wrong-type', { message: `'${name}' needs ${expected}, but got ${types.map(typeName).join(' and ')}`, expected })
  }
  const maps = types.map(asMap)
  const sum = mapOf(commonType(maps.map((m) => m.key)), sumType(commonType(maps.map((m) => m.value))))
  return isPair(types[0]) ? tupleOf([arrayOf(sum.key), arrayOf(sum.value)]) : sum
}

/** For an array of keys and one of values. */
const entriesOfPair = (pair: Arg, name: string, context: CellContext): string =>
  once(context, pair.sql, (p) => sideBySide(name, [`struct_extract_at(${p}, 1)`, `struct_extract_at(${p}, 2)`], context))

const combined =
  (name: 'mapAdd' | 'mapSubtract', sign: 1 | -1): SqlCell =>
  (args, context) => {
    const entries = args.map((arg, i) => {
      const isAdded = sign === 1 || i === 0
      if (isAdded && !isPair(arg.type)) return `map_entries(${arg.sql})`
      const entry = context.fresh()
      const [key, value] = isPair(arg.type)
        ? [`struct_extract_at(${entry}, 1)`, `struct_extract_at(${entry}, 2)`]
        : [`${entry}.key`, `${entry}.value`]
      const list = isPair(arg.type) ? entriesOfPair(arg, name, context) : `map_entries(${arg.sql})`
      return `list_transform(${list}, lambda ${entry}: {'key': ${key}, 'value': ${isAdded ? '' : '-'}${value}})`
    })
    const [key, entry] = [context.fresh(), context.fresh()]
    const value = asMap(context.type).value
    return once(context, `list_concat(${entries.join(', ')})`, (all) => {
      const keys = `list_sort(list_distinct(list_transform(${all}, lambda ${entry}: ${entry}.key)))`
      const sum = `CAST(list_sum(list_transform(list_filter(${all}, lambda ${entry}: ${entry}.key = ${key}), lambda ${entry}: ${entry}.value)) AS ${sumOnDuckdb(value)})`
      if (isPair(context.type)) return once(context, keys, (k) => `row(${k}, list_transform(${k}, lambda ${key}: ${sum}))`)
      return `map_from_entries(list_transform(${keys}, lambda ${key}: (${key}, ${sum})))`
    })
  }

/** Every integer key from the first to the last (or the given maximum), with the default value in the gaps. */
function populated(args: readonly Arg[], context: CellContext): string {
  const isArrays = args[0]!.type.kind === 'array'
  const map = isArrays ? `map(${args[0]!.sql}, ${args[1]!.sql})` : args[0]!.sql
  const most = args[isArrays ? 2 : 1]
  const value = isArrays ? itemOf(args[1]!.type) : valueTypeOf(args[0]!.type)
  const key = context.fresh()
  return once(context, map, (m) => {
    const last = most ? `CAST(${most.sql} AS BIGINT)` : `list_max(map_keys(${m}))`
    const first = `list_min(map_keys(${m}))`
    // Keys and values are built as arrays before they become a map.
    const bytes = `(CAST(${last} AS DOUBLE) - CAST(${first} AS DOUBLE) + 1) * 64`
    const keys = context.within(bytes, `range(${first}, (${last} + 1))`)
    const filled = `coalesce(map_extract_value(${m}, CAST(${key} AS ${duckdbType(isArrays ? itemOf(args[0]!.type) : keyTypeOf(args[0]!.type))})), ${defaultOf(value)})`
    if (isArrays) return `row(${keys}, list_transform(${keys}, lambda ${key}: ${filled}))`
    return `map_from_entries(list_transform(${keys}, lambda ${key}: (${key}, ${filled})))`
  })
}

export const mapFunctions = scalars({
  map: {
    args: [0, null],
    returns: (types) =>
      mapOf(
        oneType(
          types.filter((_, i) => i % 2 === 0),
          'The keys of a map',
        ),
        oneType(
          types.filter((_, i) => i % 2 === 1),
          'The values of a map',
        ),
      ),
    summary: 'Creates a map from alternating keys and values; the same as `{k: v}`.',
    duckdb: (args) => {
      const [keys, values] = [args.filter((_, i) => i % 2 === 0), args.filter((_, i) => i % 2 === 1)]
      return args.length ? `map([${keys.map((k) => k.sql).join(', ')}], [${values.map((v) => v.sql).join(', ')}])` : 'MAP {}'
    },
    cases: [
      ["map('a', 1, 'b', 2)", { a: 1, b: 2 }],
      ["length(map('a', 1))", 1],
    ],
  },
  mapAdd: mapRow(
    'mapAdd',
    [2, null],
    (types) => sumOfMaps('mapAdd', types),
    'The sums of the values with the same key.',
    combined('mapAdd', 1),
    [
      ["mapAdd(map('a', 1), map('a', 2, 'b', 1))", { a: 3, b: 1 }],
      ['mapAdd(([1], [2]), ([1], [3]))', [[1], [5]]],
    ],
    {
      differences: [
        {
          expression: "mapAdd(map('a', null), map('a', 2))",
          duckdb: { value: { a: 2 } },
          clickhouse: { refused: 'Values to be summed are expected to be Numeric' },
          reason: 'ClickHouse does not add values that may be NULL; DuckDB skips NULL',
        },
      ],
    },
  ),
  mapSubtract: mapRow(
    'mapSubtract',
    [2, null],
    (types) => sumOfMaps('mapSubtract', types),
    'The differences of the values with the same key.',
    combined('mapSubtract', -1),
    [["mapSubtract(map('a', 3), map('a', 1))", { a: 2 }]],
    {
      differences: [
        {
          expression: "mapSubtract(map('a', 1), map('a', 2))",
          duckdb: { value: { a: -1 } },
          clickhouse: { value: { a: '18446744073709551615' } },
          reason: 'the values have an unsigned type, where ClickHouse wraps around',
        },
      ],
    },
  ),
  mapApply: mapRow(
    'mapApply',
    [2, 2],
    ([lambda]) => {
      const pair = lambda?.kind === 'lambda' ? lambda.result : undefined
      return pair?.kind === 'tuple' ? mapOf(pair.items[0] ?? unknownType, pair.items[1] ?? unknownType) : unknownType
    },
    'A map of the pairs that the lambda returns for keys and values.',
    ([lambda, map], context) => `map_from_entries(${overEntries('list_transform', lambda!, map!, context)})`,
    [["mapApply((k, v) -> (k, v * 2), map('a', 1))", { a: 2 }]],
    withLambda,
  ),
  mapFilter: mapRow(
    'mapFilter',
    [2, 2],
    ([, map]) => map!,
    'The entries for which the lambda holds.',
    ([lambda, map], context) => `map_from_entries(${overEntries('list_filter', lambda!, map!, context)})`,
    [["mapFilter((k, v) -> v > 1, map('a', 1, 'b', 2))", { b: 2 }]],
    withLambda,
  ),
  mapExists: mapRow(
    'mapExists',
    [1, null],
    () => scalar('Bool'),
    'Whether the lambda holds for an entry.',
    ([lambda, map], context) => `(len(${overEntries('list_filter', lambda!, map!, context)}) > 0)`,
    [
      ["mapExists((k, v) -> v > 1, map('a', 1, 'b', 2))", 1],
      ["mapExists((k, v) -> k = 'z', map('a', 1))", 0],
    ],
    withLambda,
  ),
  mapContains: mapRow(
    'mapContains',
    [2, 2],
    () => scalar('Bool'),
    'Whether the map has the key.',
    ([m, k]) => (isNullable(k!.type) ? `coalesce(map_contains(${m!.sql}, ${k!.sql}), false)` : `map_contains(${m!.sql}, ${k!.sql})`),
    [
      ["mapContains(map('a', 1), 'a')", 1],
      ["mapContains(map('a', 1), 'b')", 0],
      ["mapContains(map('a', 1), null)", 0],
    ],
  ),
  mapContainsKeyLike: mapRow(
    'mapContainsKeyLike',
    [2, 2],
    ([, p]) => scalar('Bool', isNullable(p!)),
    'Whether a key matches the pattern (% any text, _ one letter).',
    ([m, p], context) => unlessNull([p!], `(len(${keysLike(m!, p!, context)}) > 0)`),
    [
      ["mapContainsKeyLike(map('abc', 1), 'a%')", 1],
      ["mapContainsKeyLike(map('abc', 1), null)", null],
      ["mapContainsKeyLike(map('abc', 1), toNullable('b%'))", 0],
    ],
  ),
  mapExtractKeyLike: mapRow(
    'mapExtractKeyLike',
    [2, 2],
    ([m]) => m!,
    'The entries whose key matches the pattern.',
    ([m, p], context) => `map_from_entries(${keysLike(m!, p!, context)})`,
    [["mapExtractKeyLike(map('abc', 1, 'x', 2), 'a%')", { abc: 1 }]],
  ),
  mapFromArrays: mapRow(
    'mapFromArrays',
    [2, 2],
    ([k, v]) => mapOf(itemOf(k), itemOf(v)),
    'A map of an array of keys and an array of values.',
    ([k, v]) => `map(${k!.sql}, ${v!.sql})`,
    [["mapFromArrays(['a', 'b'], [1, 2])", { a: 1, b: 2 }]],
    {
      sideBySide: [0],
      differences: [
        {
          expression: "mapFromArrays(['a', 'a'], [1, 2])['a']",
          duckdb: { refused: 'Map keys must be unique' },
          clickhouse: { value: 1 },
          reason: 'a map of ClickHouse may have a key twice, and returns the first of its values',
        },
      ],
    },
  ),
  mapKeys: mapRow('mapKeys', [1, 1], ([m]) => arrayOf(keyTypeOf(m)), 'The keys.', call('map_keys'), [
    ["mapKeys(map('a', 1, 'b', 2))", ['a', 'b']],
  ]),
  mapValues: mapRow('mapValues', [1, 1], ([m]) => arrayOf(valueTypeOf(m)), 'The values.', call('map_values'), [
    ["mapValues(map('a', 1, 'b', 2))", [1, 2]],
  ]),
  mapPopulateSeries: mapRow(
    'mapPopulateSeries',
    [1, 3],
    (types) => {
      const [a, b] = types
      if (a?.kind === 'map' || a?.kind === 'unknown') return a
      if (a?.kind === 'array' && b?.kind === 'array') return tupleOf([a, b])
      const expected = 'a map, or an array of keys and an array of values'
      throw new QueryError('wrong-type', {
        message: `'mapPopulateSeries' needs ${expected}, but got ${types.map(typeName).join(', ')}`,
        expected,
      })
    },
    'Fills in the integer keys between the first and the last (or given) one, with the value 0.',
    populated,
    [
      ['mapPopulateSeries(map(1, 10, 3, 30))', { 1: 10, 2: 0, 3: 30 }],
      ['mapPopulateSeries(map(1, 10), 3)', { 1: 10, 2: 0, 3: 0 }],
      [
        'mapPopulateSeries([1, 3], [10, 30])',
        [
          [1, 2, 3],
          [10, 0, 30],
        ],
      ],
    ],
    {
      makes: inside,
      differences: [
        {
          expression: 'mapPopulateSeries(map(1, null), 2)',
          duckdb: { value: { 1: null, 2: null } },
          clickhouse: { refused: 'key argument should be of signed or unsigned integer type' },
          reason: 'ClickHouse does not fill gaps between values that may be NULL; DuckDB fills them with NULL',
        },
      ],
    },
  ),
  mapUpdate: mapRow(
    'mapUpdate',
    [2, 2],
    (types) => {
      const other = types.find((type) => type.kind !== 'map' && type.kind !== 'unknown' && !isNamed(type, 'Nothing'))
      if (other)
        throw new QueryError('wrong-type', {
          message: `'mapUpdate' needs two maps, but got ${types.map(typeName).join(' and ')}`,
          expected: 'two maps',
        })
      const maps = types.filter((type) => type.kind === 'map')
      return mapOf(commonType(maps.map(keyTypeOf)), commonType(maps.map(valueTypeOf)))
    },
    'The first map, updated with the entries of the second.',
    call('map_concat'),
    [["mapUpdate(map('a', 1), map('a', 5, 'b', 6))", { a: 5, b: 6 }]],
  ),
})
