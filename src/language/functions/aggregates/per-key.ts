import { QueryError } from '../../../errors/errors.ts'
import { arrayOf, isNamed, isNumeric, mapOf, notNull, type SqlType, tupleOf, typeName } from '../../types/types.ts'
import { sumOnDuckdb } from '../cells/duckdb-types.ts'
import { asNumber, defaultOf, once, sideBySide } from '../cells/duckdb-values.ts'
import { byKey } from '../cells/list-groups.ts'
import type { Case } from '../row.ts'
import { type AggregateRow, aggregate, aggregates, type ListFold, rowsCall, withoutDistinct } from './aggregate.ts'
import { sumType } from './usual.ts'

// Sums and extremes per key: in maps, or in parallel arrays.

type Name = 'sumMap' | 'minMap' | 'maxMap'

interface Shape {
  readonly isMap: boolean
  readonly key: SqlType
  readonly values: readonly SqlType[]
}

/** Over a map, an array of keys and arrays of values, or a tuple of such arrays. */
function shapeOf(name: Name, types: readonly SqlType[]): Shape {
  const [first] = types
  if (first?.kind === 'map' && types.length === 1) return { isMap: true, key: first.key, values: [first.value] }
  const arrays = first?.kind === 'tuple' && types.length === 1 ? first.items : types
  const items = arrays.flatMap((type) => (type.kind === 'array' ? [type.item] : []))
  const [key, ...values] = items
  if (!key || values.length === 0 || items.length < arrays.length)
    throw new QueryError('wrong-type', {
      message: `'${name}' needs a map, or an array of keys and arrays of values, but got ${types.map(typeName).join(', ')}`,
      expected: `${name}(map) or ${name}(keys, values)`,
    })
  return { isMap: false, key, values }
}

function resultOf(name: Name, value: SqlType): SqlType {
  if (name !== 'sumMap') return value
  if (!isNumeric(value) && value.kind !== 'unknown' && !isNamed(value, 'Nothing'))
    throw new QueryError('wrong-type', {
      message: `'sumMap' needs numbers as values, but got ${typeName(value)}`,
      expected: 'numbers',
    })
  return sumType(value)
}

/** `sumMap(map)` answers a map, `sumMap(keys, values)` a tuple of sorted keys and values. */
const perKey = (name: Name, engine: string, word: string, cases: readonly Case[], more: Partial<AggregateRow> = {}): AggregateRow => {
  /** Over a list of maps, or of tuples of keys and values. */
  const fold: ListFold = (list, item, context) => {
    const { isMap, key, values } = shapeOf(name, [item])
    const [each, entry, record] = [context.fresh(), context.fresh(), context.fresh()]
    const parts = values.map((_, i) => `struct_extract_at(${each}, ${i + 2})`)
    const entriesOf = isMap ? `map_entries(${each})` : sideBySide(name, [`struct_extract_at(${each}, 1)`, ...parts], context)
    const entries = `coalesce(flatten(list_transform(${list}, lambda ${each}: ${entriesOf})), [])`
    const foldOf = (type: SqlType, i: number, same: string): string => {
      const result = resultOf(name, type)
      const value = asNumber({ sql: `struct_extract_at(${entry}, ${i + 2})`, type })
      const folded = `CAST(${engine}(list_transform(${same}, lambda ${entry}: ${value})) AS ${sumOnDuckdb(result)})`
      return isMap ? folded : `coalesce(${folded}, ${defaultOf(notNull(result))})`
    }
    const records = byKey(
      entries,
      key,
      context,
      (same) => `row(struct_extract_at(${same}[1], 1), ${values.map((type, i) => foldOf(type, i, same)).join(', ')})`,
    )
    if (isMap) return `map_from_entries(${records})`
    // For arrays, ClickHouse leaves out keys whose sums are all 0.
    const known = values.map((_, i) => `struct_extract_at(${record}, ${i + 2}) <> 0`).join(' OR ')
    const kept = name === 'sumMap' ? `list_filter(${records}, lambda ${record}: ${known})` : records
    const part = (from: string, i: number) => `list_transform(${from}, lambda ${record}: struct_extract_at(${record}, ${i}))`
    return once(context, kept, (r) => `row(${[part(r, 1), ...values.map((_, i) => part(r, i + 2))].join(', ')})`)
  }
  return aggregate({
    args: [1, null],
    returns: (types) => {
      const { isMap, key, values } = shapeOf(name, types)
      const results = values.map((value) => resultOf(name, value))
      return isMap ? mapOf(key, results[0]!) : tupleOf([arrayOf(key), ...results.map((result) => arrayOf(notNull(result)))])
    },
    keeps: 8,
    summary: `${word} of the values of each key: of maps, or of an array of keys and arrays of values. Keys may be of any type; arrays of different lengths are refused.`,
    clickhouse: name,
    duckdb: (args, context) => {
      const item = args.length > 1 ? tupleOf(args.map((a) => a.type)) : args[0]!.type
      const value = args.length > 1 ? `row(${args.map((a) => a.sql).join(', ')})` : args[0]!.sql
      return fold(rowsCall('list', [value], withoutDistinct(context)), item, context)
    },
    ofList: fold,
    sideBySide: [0],
    ...(name === 'sumMap' ? {} : { ordersItems: true }),
    cases,
    ...more,
  })
}

const uuids = "['61f0c404-5cb3-11e7-907b-a6006ad3dba0', '01f0c404-5cb3-11e7-907b-a6006ad3dba0']"
const halves = "['00000000-0000-0000-0000-000000000002', '10000000-0000-0000-0000-000000000001']"
const pairs = "from (select arrayJoin([(['b', 'a'], [1, 2]), (['c', 'b'], [3, 4])]) as r)"
const withNulls = "from (select arrayJoin([([NULL, 'b'], [1, 2]), (['a', NULL], [5, 6])]) as r)"

export const perKeyFunctions = aggregates({
  sumMap: perKey(
    'sumMap',
    'list_sum',
    'Sums',
    [
      ["select sumMap(x) from (select arrayJoin([map('a', 1), map('a', 2, 'b', 5)]) as x)", { a: 3, b: 5 }],
      ['select sumMap([1, 2], [3, 0])', [[1], [3]]],
      [
        `select sumMap(r.1, r.2) ${pairs}`,
        [
          ['a', 'b', 'c'],
          [2, 5, 3],
        ],
      ],
      [
        `select sumMap(r) ${pairs}`,
        [
          ['a', 'b', 'c'],
          [2, 5, 3],
        ],
      ],
      [`select (sumMap(r.1, r.2) as sums).2 ${pairs}`, [2, 5, 3]],
      [
        `select arrayZip((sumMap(r.1, r.2) as sums).1, sums.2) ${pairs}`,
        [
          ['a', 2],
          ['b', 5],
          ['c', 3],
        ],
      ],
      [
        'select sumMap(g.1, g.2) from (select groupArray((toString(number % 3), number)) as g from numbers(6))',
        [
          ['0', '1', '2'],
          [3, 5, 7],
        ],
      ],
      [
        "select sumMap(['b', 'a', 'c'], [0, 2, 0], [1.5, 0, 0])",
        [
          ['a', 'b'],
          [2, 0],
          [0, 1.5],
        ],
      ],
      [
        `select sumMap(r.1, r.2) ${withNulls}`,
        [
          [null, 'a', 'b'],
          [7, 5, 2],
        ],
      ],
      [
        "select sumMap([toDate('2024-01-02'), toDate('2024-01-01')], [1, 2])",
        [
          ['2024-01-01', '2024-01-02'],
          [2, 1],
        ],
      ],
      ["select sumMap([toDateTime('2024-01-02 03:04:05')], [1])", [['2024-01-02T03:04:05Z'], [1]]],
      [`select sumMap(arrayMap(x -> toUUID(x), ${uuids}), [1, 2]).2`, [2, 1]],
      [
        'select sumMap([2.5, -1, 2.5], [1, 2, 3])',
        [
          [-1, 2.5],
          [2, 4],
        ],
      ],
      [
        "select sumMap([(2, 'b'), (1, 'z'), (2, 'b')], [1, 2, 3])",
        [
          [
            [1, 'z'],
            [2, 'b'],
          ],
          [2, 4],
        ],
      ],
      ['select sumMap([1, 2, 1], [NULL, NULL, 5])', [[1], [5]]],
      [
        'select sumMap([true, false], [true, true])',
        [
          [0, 1],
          [1, 1],
        ],
      ],
      [
        'select sumMap([number % 7], [1]) from numbers(15)',
        [
          [0, 1, 2, 3, 4, 5, 6],
          [3, 2, 2, 2, 2, 2, 2],
        ],
      ],
      ['select sumMap([number], [1]) from numbers(0)', [[], []]],
    ],
    {
      differences: [
        {
          expression: `select sumMap(arrayMap(x -> toUUID(x), ${halves}), [1, 2]).2`,
          duckdb: { value: [1, 2] },
          clickhouse: { value: [2, 1] },
          reason: 'ClickHouse orders UUIDs by their second half first, and DuckDB by their text',
        },
      ],
    },
  ),
  minMap: perKey('minMap', 'list_min', 'Smallest', [
    ["select minMap(x) from (select arrayJoin([map('a', 1), map('a', 2, 'b', 5)]) as x)", { a: 1, b: 5 }],
    [
      'select minMap([1, 2], [3, 0])',
      [
        [1, 2],
        [3, 0],
      ],
    ],
    [
      `select minMap(r.1, r.2) ${pairs}`,
      [
        ['a', 'b', 'c'],
        [2, 1, 3],
      ],
    ],
    [
      `select minMap(r.1, r.2) ${withNulls}`,
      [
        [null, 'a', 'b'],
        [1, 5, 2],
      ],
    ],
    ["select minMap(['a', 'a'], ['y', 'x'], [2, 1])", [['a'], ['x'], [1]]],
    [
      "select minMap(['a', 'b'], [NULL, 1])",
      [
        ['a', 'b'],
        [0, 1],
      ],
    ],
  ]),
  maxMap: perKey('maxMap', 'list_max', 'Largest', [
    ["select maxMap(x) from (select arrayJoin([map('a', 1), map('a', 2, 'b', 5)]) as x)", { a: 2, b: 5 }],
    [
      `select maxMap(r.1, r.2) ${pairs}`,
      [
        ['a', 'b', 'c'],
        [2, 4, 3],
      ],
    ],
    ["select maxMap(['a', 'a'], [toDate('2024-01-01'), toDate('2024-01-02')])", [['a'], ['2024-01-02']]],
  ]),
})
