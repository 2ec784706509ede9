import { QueryError } from '../../../errors/errors.ts'
import { isNamed, isNullable, isText, isTime, type SqlType, tupleOf, typeName, unknownType } from '../../types/types.ts'
import { duckdbType } from '../cells/duckdb-types.ts'
import { once } from '../cells/duckdb-values.ts'
import { itemOf } from '../results.ts'
import type { Arg, Case, CellContext, FunctionRow, SqlCell, Take } from '../row.ts'
import type { ScalarSpec } from '../scalars.ts'
import { mappedType } from './lambda.ts'

// Helpers that rows of array functions share.

export type Returns = FunctionRow['returns']

/** ClickHouse's cell: the call as written, with lambdas in ClickHouse's syntax. */
export const asWritten =
  (name: string): SqlCell =>
  (args) =>
    `${name}(${args.map(clickHouseArg).join(', ')})`
export const clickHouseArg = (arg: Arg): string => (arg.lambda ? `(${arg.lambda.params.join(', ')}) -> ${arg.lambda.body}` : arg.sql)

/** The first array: the first argument, or the one after a lambda. */
const takesArrays = (args: readonly SqlType[]): readonly Take[] => (args[0]?.kind === 'lambda' ? ['array'] : ['array', 'text'])

export const arrayRow = (
  name: string,
  args: FunctionRow['args'],
  returns: Returns,
  summary: string,
  duckdb: SqlCell,
  cases: readonly Case[],
  more: Partial<ScalarSpec> = {},
): ScalarSpec => ({
  args,
  takes: takesArrays,
  returns,
  summary,
  // NULL has no items, nor a type from which the engine could tell.
  duckdb: (given, context) => (isNamed(given[given[0]?.lambda ? 1 : 0]?.type ?? unknownType, 'Nothing') ? 'NULL' : duckdb(given, context)),
  clickhouse: asWritten(name),
  cases,
  ...more,
})

/** The type to compute with: of the numbers among the items, or of the lambda's result. */
export function summed(name: string, args: readonly SqlType[]): SqlType {
  const item = mappedType(args)
  if (!isText(item) && !isTime(item) && item.kind !== 'tuple' && item.kind !== 'array') return item
  const use = isText(item) && args[0]?.kind === 'array' ? 'arrayMap(x -> toFloat(x), array)' : null
  throw new QueryError('type-mismatch', { name, needs: 'numbers', found: typeName(item), shown: null, use })
}

/** `body` once per position of a list; the list and the position have names. */
export const byPosition = (list: string, context: CellContext, body: (list: string, position: string) => string): string =>
  once(context, list, (l) => {
    const i = context.fresh()
    return `list_transform(range(1, len(${l}) + 1), lambda ${i}: ${body(l, i)})`
  })

/** The position of an item's first occurrence. */
export const isFirst = (list: string, position: string, item: SqlType): string =>
  isNullable(item)
    ? `NOT list_contains(${list}[1:${position} - 1], ${list}[${position}])`
    : `list_position(${list}, ${list}[${position}]) = ${position}`

/** Distinct items in order of first occurrence, without NULL. */
export const distinct = (list: string, item: SqlType, context: CellContext): string =>
  once(context, list, (l) => {
    const [x, i] = [context.fresh(), context.fresh()]
    const known = isNullable(item) ? `${x} IS NOT NULL AND ` : ''
    return `list_filter(${l}, lambda ${x}, ${i}: ${known}list_position(${l}, ${x}) = ${i})`
  })

/** Each item in a struct: the engine finds NULL in lists only inside of one. */
export const boxed = (list: string, context: CellContext): string => {
  const x = context.fresh()
  return `list_transform(${list}, lambda ${x}: {'v': ${x}})`
}
export const boxedType: SqlType = tupleOf([unknownType])

/** Casts all arrays to lists of one item type, for functions of several arrays. */
export const castTo = (arg: Arg, type: SqlType): string => `CAST(${arg.sql} AS ${duckdbType(type)})`

/** Zips several arrays into one array of tuples. */
export const together = (args: readonly Arg[]): { list: string; item: SqlType } =>
  args.length === 1
    ? { list: args[0]!.sql, item: itemOf(args[0]!.type) }
    : { list: `list_zip(${args.map((a) => a.sql).join(', ')})`, item: tupleOf(args.map((a) => itemOf(a.type))) }
