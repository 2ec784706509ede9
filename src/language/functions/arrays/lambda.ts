import { QueryError } from '../../../errors/errors.ts'
import { isNamed, type SqlType, unknownType } from '../../types/types.ts'
import { asNumber } from '../cells/duckdb-values.ts'
import { itemOf } from '../results.ts'
import type { Arg, CellContext, FunctionRow } from '../row.ts'

// How lambdas over one or several arrays are printed for DuckDB, whose lambdas take one array.

/** The list to iterate over, the name of its item, and the lambda's body in terms of it. */
export interface Each {
  readonly list: string
  readonly name: string
  readonly body: string
}

/** The lambda's parameters bound to printed values, outermost first. */
const bindAll = (params: readonly string[], values: readonly string[], body: string): string =>
  params.reduceRight(
    (inner, param, i) => (values[i] === param ? inner : `list_transform([${values[i]}], lambda ${param}: ${inner})[1]`),
    body,
  )

export function each(lambda: Arg, arrays: readonly Arg[], context: CellContext): Each {
  const { params, body } = lambda.lambda!
  if (arrays.length === 1) return { list: arrays[0]!.sql, name: params[0]!, body }
  const name = context.fresh()
  const values = params.map((_, i) => `struct_extract_at(${name}, ${i + 1})`)
  return { list: `list_zip(${arrays.map((a) => a.sql).join(', ')})`, name, body: bindAll(params, values, body) }
}

/** Like `each`, with any number of values instead of the items of arrays. */
export function applied({ lambda }: Arg, values: readonly string[]): string {
  if (!lambda) throw new QueryError('wrong-type', { message: 'The first argument must be a lambda' })
  return bindAll(lambda.params, values, lambda.body)
}

/** A printed value as a condition that is never NULL. */
export const truth = (sql: string, type: SqlType): string =>
  isNamed(type, 'Bool') && type.kind === 'scalar' && !type.nullable ? sql : `coalesce(CAST(${sql} AS BOOLEAN), false)`
export const condition = (lambda: Arg, each: Each): string => truth(each.body, lambda.lambda!.type)

/** `f(lambda, array, …)` or `f(array)`: the value for each item. */
export function mapped(args: readonly Arg[], context: CellContext): { list: string; item: SqlType } {
  const [first, ...arrays] = args as [Arg, ...Arg[]]
  if (!first.lambda) return { list: first.sql, item: itemOf(first.type) }
  const e = each(first, arrays, context)
  return { list: `list_transform(${e.list}, lambda ${e.name}: ${e.body})`, item: first.lambda.type }
}

/** Items of a printed list as numbers. */
export const numbers = ({ list, item }: { list: string; item: SqlType }, context: CellContext): string => {
  if (!isNamed(item, 'Bool')) return list
  const name = context.fresh()
  return `list_transform(${list}, lambda ${name}: ${asNumber({ sql: name, type: item })})`
}

/** The first argument is a lambda over the items of the others; with `isOptional` it may be missing. */
export const lambdaFirst: NonNullable<FunctionRow['lambdas']> = (args) => args.map((_, i) => (i === 0 ? args.slice(1).map(itemOf) : null))

/** The type of an item after an optional lambda. */
export const mappedType = (args: readonly SqlType[]): SqlType => (args[0]?.kind === 'lambda' ? args[0].result : itemOf(args[0]))
/** The first array among the arguments. */
export const firstArray = (args: readonly SqlType[]): SqlType =>
  args[0]?.kind === 'lambda' ? (args[1] ?? unknownType) : (args[0] ?? unknownType)
