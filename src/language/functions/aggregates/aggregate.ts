import { arrayOf, isNamed, isNullable, notNull, nullable, type SqlType, scalar } from '../../types/types.ts'
import type { AggregateContext, Arg, Arity, Case, Cell, CellContext, FunctionRow, ReturnsContext, SqlCell } from '../row.ts'

// Building blocks for rows of aggregates. For DuckDB an aggregate is defined twice: over the rows of a group, and over a list. The suffixes
// (-Array, -ForEach, -Map, -ArgMin …) and arrayReduce are derived from the second definition.

/** The aggregate over the items of a printed list, and its value for an empty one. `item` is the type of the items. */
export type ListFold = (list: string, item: SqlType, context: CellContext) => string

export interface AggregateRow extends FunctionRow {
  readonly kind: 'aggregate'
  /** ClickHouse's name, which suffixes extend, and its printed parameters. */
  readonly clickhouse?: ClickHouseAggregate
  readonly ofList?: ListFold
}
interface ClickHouseAggregate {
  readonly name: string
  /** The implementation for other argument types. */
  readonly nameOver?: (value: SqlType) => string
  readonly params?: (context: CellContext) => readonly string[]
  readonly args?: (args: readonly Arg[]) => readonly string[]
}

export interface AggregateSpec {
  readonly args: Arity
  readonly takes?: FunctionRow['takes']
  readonly alsoTakes?: FunctionRow['alsoTakes']
  readonly params?: Arity
  readonly paramKinds?: FunctionRow['paramKinds']
  readonly returns: (args: readonly SqlType[], context: ReturnsContext) => SqlType
  readonly caseInsensitive?: true
  readonly isVolatile?: true
  readonly summary: string
  readonly clickhouse: string | ClickHouseAggregate | SqlCell
  readonly duckdb: Cell
  readonly ofList?: ListFold
  readonly makes?: FunctionRow['makes']
  readonly keeps?: number
  readonly sideBySide?: FunctionRow['sideBySide']
  readonly ordersItems?: FunctionRow['ordersItems']
  readonly cases: readonly Case[]
  readonly differences?: FunctionRow['differences']
}

export type AggregateFamily = Readonly<Record<string, AggregateRow>>
export const aggregates = <T extends Readonly<Record<string, AggregateRow>>>(family: T): AggregateFamily => family

export function aggregate(spec: AggregateSpec): AggregateRow {
  const { clickhouse, duckdb, ...rest } = spec
  const engine = typeof clickhouse === 'string' ? { name: clickhouse } : typeof clickhouse === 'function' ? undefined : clickhouse
  return {
    ...rest,
    ...(rest.ofList && rest.takes === 'number' ? { ofList: overNumbers(rest.ofList) } : {}),
    kind: 'aggregate',
    clickhouse: engine,
    sql: { duckdb, clickhouse: typeof clickhouse === 'function' ? clickhouse : clickHouseCall(engine!, '') },
  }
}

/** DuckDB has no arithmetic on BOOLEAN. */
const overNumbers =
  (fold: ListFold): ListFold =>
  (list, item, context) =>
    isNamed(item, 'Bool') ? fold(`CAST(${list} AS UTINYINT[])`, scalar('UInt8'), context) : fold(list, item, context)

/** The list that an aggregate with a suffix folds. */
function valueIn(type: SqlType): SqlType {
  if (type.kind === 'array') return valueIn(type.item)
  if (type.kind === 'map') return valueIn(type.value)
  return type.kind === 'state' && type.args[0] ? valueIn(type.args[0]) : type
}

/** The call of an aggregate with a suffix, e.g. `quantileExactInclusiveArray(0.5)(x)`. */
export const clickHouseCall =
  (engine: ClickHouseAggregate, suffix: string): SqlCell =>
  (args, context) => {
    const params = engine.params?.(context) ?? []
    const base = args[0] && engine.nameOver ? engine.nameOver(valueIn(args[0].type)) : engine.name
    const name = `${base}${suffix}${params.length ? `(${params.join(', ')})` : ''}`
    return rowsCall(name, engine.args?.(args) ?? args.map((a) => a.sql), context)
  }

const plain: AggregateContext = { distinct: false, orderBy: '', order: [], filter: '', ignoreNulls: false, over: '' }
export const aggregateOf = (context: CellContext): AggregateContext => context.aggregate ?? plain

/** `name(DISTINCT args ORDER BY …) FILTER (WHERE …) OVER (…)` */
export function rowsCall(name: string, args: readonly string[], context: CellContext): string {
  const { distinct, orderBy, filter, over } = aggregateOf(context)
  return `${name}(${distinct ? 'DISTINCT ' : ''}${args.join(', ')}${orderBy ? ` ORDER BY ${orderBy}` : ''})${filter ? ` FILTER (WHERE ${filter})` : ''}${over}`
}

export function withFilter(context: CellContext, condition: string): CellContext {
  const around = aggregateOf(context)
  return { ...context, aggregate: { ...around, filter: around.filter ? `(${around.filter}) AND (${condition})` : condition } }
}
export const withoutDistinct = (context: CellContext): CellContext => ({
  ...context,
  aggregate: { ...aggregateOf(context), distinct: false, orderBy: '', order: [] },
})

/** The items of a group as a DuckDB list without nulls; NULL when there are none. */
export const listOf = (item: string, context: CellContext): string => rowsCall('list', [item], withFilter(context, `${item} IS NOT NULL`))

/** The number of rows in which none of these arguments is NULL. */
export const countOf = (args: readonly Arg[], context: CellContext): string => {
  const nullables = args.filter((a) => isNullable(a.type))
  const counted = withoutDistinct(nullables.reduce((c, a) => withFilter(c, `${a.sql} IS NOT NULL`), context))
  return rowsCall('count', ['*'], counted)
}

/** The result may be NULL if any argument may. */
export const like = (type: SqlType, args: readonly SqlType[]): SqlType => (args.some(isNullable) ? nullable(type) : type)
export const floatLike = (args: readonly SqlType[]): SqlType => like(scalar('Float64'), args)
export const arrayOfItems = (args: readonly SqlType[]): SqlType => arrayOf(notNull(args[0]!))
