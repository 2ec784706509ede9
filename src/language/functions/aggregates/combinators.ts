import type { SqlType, StateType } from '../../types/types.ts'
import { arrayOf, isNullable, mapOf, nullable, tupleOf, unknownType } from '../../types/types.ts'
import { defaultOf } from '../cells/duckdb-values.ts'
import { itemOf } from '../results.ts'
import { type Arg, type Arity, type Cell, type CellContext, isUnsupported, type SqlCell, takesOf, unsupported } from '../row.ts'
import {
  type AggregateFamily,
  type AggregateRow,
  aggregateOf,
  clickHouseCall,
  countOf,
  type ListFold,
  rowsCall,
  withFilter,
  withoutDistinct,
} from './aggregate.ts'

// `sumIf`, `avgArrayOrNull`, `maxArgMin` … are derived from the plain aggregates: each suffix is a function from a row to a row.

/** An aggregate with its suffixes so far. Each suffix extends ClickHouse's name. */
interface Made extends AggregateRow {
  readonly suffix: string
}

/** A map is one argument, however many arguments the plain aggregate has. */
const single = ([least, most]: Arity): Arity => [least, most === null ? 1 : most]
const oneState = ([least]: Arity): Arity => [Math.min(least, 1), 1]
const wider = ([least, most]: Arity, by: number): Arity => [least + by, most === null ? null : most + by]
const typed = (type: SqlType, context: CellContext): CellContext => ({ ...context, type })

function make(
  row: Made,
  suffix: string,
  change: Pick<AggregateRow, 'args' | 'returns' | 'summary' | 'ofList' | 'keeps' | 'takes' | 'shape'> & {
    readonly duckdb: Cell
    readonly clickhouse?: SqlCell
  },
): Made {
  const all = row.suffix + suffix
  const { duckdb, clickhouse, ...rest } = change
  const engine = row.clickhouse
  return {
    kind: 'aggregate',
    ...(row.params ? { params: row.params } : {}),
    ...(row.paramKinds ? { paramKinds: row.paramKinds } : {}),
    ...(row.isVolatile ? { isVolatile: true } : {}),
    ...(row.keeps === undefined ? {} : { keeps: row.keeps }),
    ...(row.makes ? { makes: row.makes } : {}),
    ...(row.shape ? { shape: row.shape } : {}),
    ...(row.ordersItems ? { ordersItems: row.ordersItems } : {}),
    ...(row.alsoTakes ? { alsoTakes: row.alsoTakes } : {}),
    ...(row.sideBySide ? { sideBySide: row.sideBySide } : {}),
    ...rest,
    suffix: all,
    clickhouse: engine,
    cases: [],
    sql: {
      duckdb,
      clickhouse: clickhouse ?? (engine ? clickHouseCall(engine, all) : unsupported('ClickHouse does not have this form of it')),
    },
  }
}

/** `sumIf(x, condition)`: the plain aggregate with a filter. */
function addIf(row: Made): Made {
  const cell = (inner: Cell): Cell =>
    isUnsupported(inner) ? inner : (args, context) => inner(args.slice(0, -1), withFilter(context, args.at(-1)!.sql))
  return make(row, 'If', {
    args: wider(row.args, 1),
    takes: (args) => [...takesOf(row, args.slice(0, -1)), 'boolean'],
    returns: (types, { args, params, orderBy }) =>
      row.returns(types.slice(0, -1), { args: args.slice(0, -1), params, ...(orderBy ? { orderBy } : {}) }),
    summary: `${row.summary} Only rows where the last argument holds.`,
    duckdb: cell(row.sql.duckdb),
    clickhouse: isUnsupported(row.sql.clickhouse) ? undefined : (cell(row.sql.clickhouse) as SqlCell),
  })
}

function addOrNull(row: Made): Made {
  const inner = row.sql.duckdb
  return make(row, 'OrNull', {
    args: row.args,
    takes: row.takes,
    returns: (args, context) => nullable(row.returns(args, context)),
    summary: `${row.summary} NULL when there are no values.`,
    // Arrays and maps are never NULL
    duckdb: isUnsupported(inner)
      ? inner
      : (args, context) =>
          context.type.kind === 'scalar'
            ? `CASE WHEN ${countOf(args, context)} > 0 THEN ${inner(args, context)} END`
            : inner(args, context),
  })
}

function addOrDefault(row: Made): Made {
  const inner = row.sql.duckdb
  return make(row, 'OrDefault', {
    args: row.args,
    takes: row.takes,
    returns: row.returns,
    summary: `${row.summary} The default of the type (0, '') when there are no values.`,
    duckdb: isUnsupported(inner)
      ? inner
      : (args, context) =>
          isNullable(context.type) || context.type.kind !== 'scalar'
            ? inner(args, context)
            : `CASE WHEN ${countOf(args, context)} > 0 THEN ${inner(args, context)} ELSE ${defaultOf(context.type)} END`,
  })
}

/** The list, the type of its items, and what the aggregate makes of them. */
const keptOfFold = 4
const noList = 'this aggregate cannot be applied to a list'
type Change = Pick<AggregateRow, 'args' | 'returns' | 'summary' | 'takes' | 'shape'>

/** Folds a list that is built from the rows of the group. */
function folded(
  row: Made,
  suffix: string,
  change: Change,
  cell: (fold: ListFold, args: readonly Arg[], context: CellContext) => string,
): Made {
  const fold = row.ofList
  return make(row, suffix, {
    ...change,
    keeps: keptOfFold,
    duckdb: fold ? (args, context) => cell(fold, args, context) : unsupported(noList),
  })
}

/** Folds the group's arrays or maps: collected from rows, or given as a list. */
function foldedEach(row: Made, suffix: string, change: Change, body: (fold: ListFold) => ListFold): Made {
  const fold = row.ofList && body(row.ofList)
  return make(row, suffix, {
    ...change,
    keeps: 2 * keptOfFold,
    ...(fold ? { ofList: fold } : {}),
    duckdb: fold ? (args, context) => fold(arrays(args[0]!, context), args[0]!.type, context) : unsupported(noList),
  })
}

/** All arrays of a group concatenated; NULL for no rows. */
const arrays = (arg: Arg, context: CellContext): string => rowsCall('list', [arg.sql], withoutDistinct(context))

const addArray = (row: Made): Made =>
  folded(
    row,
    'Array',
    {
      args: row.args,
      shape: 'array',
      returns: ([first, ...others], context) => row.returns([itemOf(first), ...others], context),
      summary: `${row.summary} Over the items of arrays.`,
    },
    (fold, args, context) => {
      const list = `flatten(${arrays(args[0]!, context)})`
      return fold(aggregateOf(context).distinct ? `list_distinct(${list})` : list, itemOf(args[0]!.type), context)
    },
  )

const addForEach = (row: Made): Made =>
  foldedEach(
    row,
    'ForEach',
    {
      args: row.args,
      shape: 'array',
      returns: ([first, ...others], context) => arrayOf(row.returns([itemOf(first), ...others], context)),
      summary: `${row.summary} Separately for the first items of the arrays, the second, and so on.`,
    },
    (fold) => (list, type, context) => {
      const [position, array, one] = [context.fresh(), context.fresh(), context.fresh()]
      const inner = context.type.kind === 'array' ? context.type.item : unknownType
      const longest = `coalesce(list_max(list_transform(${list}, lambda ${array}: len(${array}))), 0)`
      // Collects one item of each array, not the arrays themselves, which would be copied for every position.
      const found = `list_transform(${list}, lambda ${array}: {'has': len(${array}) >= ${position}, 'item': ${array}[${position}]})`
      const items = `list_transform(list_filter(${found}, lambda ${one}: ${one}.has), lambda ${one}: ${one}.item)`
      return `list_transform(range(1, ${longest} + 1), lambda ${position}: ${fold(items, itemOf(type), typed(inner, context))})`
    },
  )

const addMap = (row: Made): Made =>
  foldedEach(
    row,
    'Map',
    {
      args: single(row.args),
      shape: 'map',
      returns: ([first, ...others], context) =>
        first?.kind === 'map' ? mapOf(first.key, row.returns([first.value, ...others], context)) : unknownType,
      summary: `${row.summary} Separately for each key of maps.`,
    },
    (fold) => (list, map, context) => foldMaps(fold, list, map, context),
  )

/** Aggregates the values of each key in a printed list of maps. */
function foldMaps(fold: ListFold, maps: string, map: SqlType, context: CellContext): string {
  const [key, entry] = [context.fresh(), context.fresh()]
  const entries = `flatten(list_transform(${maps}, lambda ${entry}: map_entries(${entry})))`
  const [value, inner] = [map.kind === 'map' ? map.value : unknownType, context.type.kind === 'map' ? context.type.value : unknownType]
  const items = `list_transform(list_filter(${entries}, lambda ${entry}: ${entry}.key = ${key}), lambda ${entry}: ${entry}.value)`
  const keys = `list_sort(list_distinct(list_transform(${entries}, lambda ${entry}: ${entry}.key)))`
  return `coalesce(map_from_entries(list_transform(${keys}, lambda ${key}: (${key}, ${fold(items, value, typed(inner, context))}))), MAP {})`
}

const addArg =
  (which: 'Min' | 'Max') =>
  (row: Made): Made =>
    folded(
      row,
      `Arg${which}`,
      {
        args: wider(row.args, 1),
        takes: (args) => [...takesOf(row, args.slice(0, -1)), 'number'],
        returns: (args, context) => row.returns(args.slice(0, -1), context),
        summary: `${row.summary} Only rows where the last argument is ${which === 'Min' ? 'smallest' : 'largest'}.`,
      },
      (fold, args, context) => {
        const pair = context.fresh()
        const key = args.at(-1)!
        const value = args.length > 1 ? args[0]!.sql : '1'
        // A row without a value takes no part, so the edge is that of the others.
        const valued = args.slice(0, -1).reduce((c, { sql, type }) => (isNullable(type) ? withFilter(c, `${sql} IS NOT NULL`) : c), context)
        const rows = rowsCall('list', [`{'v': ${value}, 'k': ${key.sql}}`], withoutDistinct(valued))
        const edge = rowsCall(which.toLowerCase(), [key.sql], withoutDistinct(valued))
        const list = `list_transform(list_filter(${rows}, lambda ${pair}: ${pair}.k = ${edge}), lambda ${pair}: ${pair}.v)`
        return fold(list, args.length > 1 ? args[0]!.type : unknownType, context)
      },
    )

function addDistinct(row: Made): Made {
  const inner = row.sql.duckdb
  return make(row, 'Distinct', {
    args: row.args,
    takes: row.takes,
    returns: row.returns,
    summary: `${row.summary} Each distinct value once.`,
    duckdb: isUnsupported(inner)
      ? inner
      : (args, context) => inner(args, { ...context, aggregate: { ...aggregateOf(context), distinct: true } }),
  })
}

/** On DuckDB a state is the list of its input values, as tuples if there are several arguments. */
function addState(row: Made): Made {
  const isSet = row.clickhouse?.name === 'uniqExact'
  return make(row, 'State', {
    args: row.args,
    takes: row.takes,
    returns: (args): StateType => ({ kind: 'state', aggregate: `${row.clickhouse?.name ?? ''}${row.suffix}`, args }),
    summary: `The intermediate state of: ${row.summary}`,
    ofList: (list) => list,
    keeps: 1,
    duckdb: row.ofList
      ? (args, context) => {
          const value = args.length === 1 ? args[0]!.sql : args.length === 0 ? '1' : `row(${args.map((a) => a.sql).join(', ')})`
          const whole = args.reduce((c, a) => (isNullable(a.type) ? withFilter(c, `${a.sql} IS NOT NULL`) : c), context)
          const rows = { ...whole, aggregate: { ...aggregateOf(whole), distinct: isSet } }
          return `coalesce(${rowsCall('list', [value], rows)}, [])`
        }
      : unsupported(noList),
  })
}
const addMerge = (row: Made): Made =>
  folded(
    row,
    'Merge',
    {
      args: oneState(row.args),
      returns: ([state, ...others], context) => row.returns(state?.kind === 'state' ? state.args : [unknownType, ...others], context),
      summary: `From intermediate states: ${row.summary}`,
    },
    (fold, args, context) => {
      const [state] = args
      const values = state?.type.kind === 'state' ? state.type.args : []
      return fold(`flatten(${arrays(state!, context)})`, values.length > 1 ? tupleOf(values) : (values[0] ?? unknownType), context)
    },
  )

const suffixes = {
  If: addIf,
  Array: addArray,
  Map: addMap,
  State: addState,
  Merge: addMerge,
  ForEach: addForEach,
  OrDefault: addOrDefault,
  OrNull: addOrNull,
  ArgMin: addArg('Min'),
  ArgMax: addArg('Max'),
  Distinct: addDistinct,
} as const
type Suffix = keyof typeof suffixes

/** Which suffixes may follow which. */
const shaping: readonly Suffix[] = ['Array', 'Map', 'State', 'Merge', 'ForEach', 'ArgMin', 'ArgMax']
const chains: readonly (readonly Suffix[])[] = [
  ['If'],
  ['Distinct'],
  ['Distinct', 'If'],
  ...(['OrDefault', 'OrNull'] as const).flatMap((or): Suffix[][] => [[or], [or, 'If']]),
  ...shaping.flatMap((shape): Suffix[][] => [
    [shape],
    [shape, 'If'],
    [shape, 'OrDefault'],
    [shape, 'OrDefault', 'If'],
    [shape, 'OrNull'],
    [shape, 'OrNull', 'If'],
  ]),
]

/** Most aggregates have -If only, common ones have more suffixes, and a few have states. */
const daily: readonly (readonly Suffix[])[] = [['OrNull'], ['OrNull', 'If'], ['OrDefault'], ['OrDefault', 'If']]
const distinct: readonly (readonly Suffix[])[] = [['Distinct'], ['Distinct', 'If']]
const overLists: readonly (readonly Suffix[])[] = [['Array'], ['Array', 'If'], ['ForEach'], ['ForEach', 'If']]
const states: readonly (readonly Suffix[])[] = [['State'], ['State', 'If'], ['Merge'], ['Merge', 'If']]
const further: Readonly<Record<string, readonly (readonly Suffix[])[]>> = {
  any: [...daily, ...overLists],
  anyLast: daily,
  argMin: [...daily, ...states],
  argMax: [...daily, ...states],
  avg: [
    ['Map', 'Merge'],
    ['Map', 'Merge', 'If'],
    ['Map', 'State'],
  ],
  groupArray: [...daily, ...distinct],
  groupUniqArray: daily,
  quantile: [...daily, ...distinct, ...overLists],
  quantiles: states,
  sum: [
    ['ForEach', 'State'],
    ['ForEach', 'Merge'],
  ],
  count: [['Map', 'State']],
  sumMap: [...daily, ['State'], ['Merge'], ['Merge', 'If']],
  minMap: [...daily, ['State']],
  maxMap: [...daily, ['State']],
  uniq: [...daily, ...overLists, ...states, ['Map'], ['Map', 'State'], ['Map', 'Merge'], ['Map', 'Merge', 'If']],
  uniqExact: [...daily, ...overLists, ...states],
}

const fullBases: ReadonlySet<string> = new Set(['avg', 'sum', 'min', 'max', 'count', 'countDistinct', 'median'])

/** All suffixed forms of the family's aggregates that have no row of their own. */
export function withCombinators(family: AggregateFamily): AggregateFamily {
  const made: Record<string, AggregateRow> = {}
  for (const [base, row] of Object.entries(family)) {
    if (!row.clickhouse) continue
    const wanted = [...(fullBases.has(base) ? chains : [['If'] as const]), ...(further[base] ?? [])]
    for (const chain of wanted) {
      const name = base + chain.join('')
      // sumMap has its own row, from which its further suffixes are derived
      if (Object.hasOwn(family, base + chain[0]) || Object.hasOwn(made, name)) continue
      const { suffix: _, ...result } = chain.reduce<Made>((r, s) => suffixes[s](r), { ...row, suffix: '' })
      made[name] = { ...result, cases: [] }
    }
  }
  return made
}
