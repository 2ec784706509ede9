import type { SeriesValue } from '../../../core/folds/series/accumulators.ts'
import { and, call, literal } from '../../../language/ast/build.ts'
import type { Call, Expr } from '../../../language/ast/nodes.ts'
import { lookup } from '../../../language/functions/registry.ts'

// What a statement asks of the events of a group, as the lists of the core count it.

/** An aggregate of a statement. */
export interface Measure {
  readonly value:
    | { readonly kind: 'events' | 'persons' }
    | { readonly kind: 'numbers'; readonly number: Expr; readonly reduction: Reduction }
  /** Of the events of the group, those that it counts; null: all. */
  readonly condition: Expr | null
}
type Reduction = Extract<Extract<SeriesValue, { kind: 'numbers' }>['reduction'], string>

const reductions: Readonly<Record<string, Reduction>> = { sum: 'sum', avg: 'avg', min: 'min', max: 'max' }
const counting: ReadonlySet<string> = new Set(['uniq', 'uniqExact'])

const isPerson = (expr: Expr | undefined): boolean =>
  expr?.kind === 'field' && (expr.chain.join('.') === 'person_id' || expr.chain.join('.') === 'person.id')

/** Statements let a number that is none (NaN) spoil a sum, the lists leave it out: as an infinite one it is seen in the result. */
const spoiling = (value: Expr): Expr => {
  const number = call('toFloat', value)
  return call('if', call('isNaN', number), literal(Number.POSITIVE_INFINITY), number)
}

export const isAggregate = ({ name }: Call): boolean => {
  const kind = lookup(name)?.row.kind
  return kind === 'aggregate' || kind === 'window'
}

/** Null: the lists count no such thing. */
export function measureOf(aggregate: Call): Measure | null {
  const { params, args, distinct, orderBy, filter, ignoreNulls, over } = aggregate
  if (params || orderBy.length > 0 || ignoreNulls || over) return null
  const name = lookup(aggregate.name)?.name ?? ''
  const [base, isIf] = name.endsWith('If') ? [name.slice(0, -2), true] : [name, false]
  const condition = isIf ? args.at(-1) : undefined
  const conditions = [...(condition ? [condition] : []), ...(filter ? [filter] : [])]
  const found = measured(base, isIf ? args.slice(0, -1) : args, distinct)
  if (!found || (isIf && !condition)) return null
  if (found.condition) conditions.push(found.condition)
  return { value: found.value, condition: conditions.length > 0 ? and(...conditions) : null }
}

function measured(name: string, args: readonly Expr[], distinct: boolean): Measure | null {
  const [first] = args
  if (name === 'count' && !distinct) {
    const isOfRows = args.length === 0 || (args.length === 1 && first!.kind === 'star')
    if (isOfRows) return { value: { kind: 'events' }, condition: null }
    return args.length === 1 ? { value: { kind: 'events' }, condition: call('isNotNull', first!) } : null
  }
  if (args.length !== 1) return null
  if (counting.has(name) || (name === 'count' && distinct)) return isPerson(first) ? { value: { kind: 'persons' }, condition: null } : null
  const reduction = Object.hasOwn(reductions, name) ? reductions[name] : undefined
  if (!reduction || distinct) return null
  return { value: { kind: 'numbers', number: spoiling(first!), reduction }, condition: null }
}
