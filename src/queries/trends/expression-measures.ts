import type { Reduction } from '../../core/folds/series/reduce.ts'
import { call, callWith, field, literal } from '../../language/ast/build.ts'
import type { Call, Expr } from '../../language/ast/nodes.ts'
import { own } from '../../lib/own.ts'
import { type Refusal, refuse } from '../refusals.ts'
import { allOf } from '../series/series-condition.ts'

// An expression over aggregates, as the numbers that folds count and what is computed of them. The engine computes it, over one row per cell.

/** What one fold counts of the events that meet a condition. */
export interface Measure {
  readonly condition: Expr
  readonly value: 'events' | 'persons' | { readonly number: Expr; readonly reduction: Reduction }
}

export interface MeasuredExpression {
  readonly measures: readonly Measure[]
  /** The expression is the first measure, and nothing more. */
  readonly isPlain: boolean
  /** The expression over cells, whose measures are the texts of these fields; an empty text is none. */
  readonly overCells: Expr
}

export const measureField = (i: number): string => `measure_${i}`

const always = literal(true)
export const everyEvent: Measure = { condition: always, value: 'events' }

export function measuresOf(expr: Expr): MeasuredExpression | Refusal {
  const measures: Measure[] = []
  const problems: Refusal[] = []
  const measured = (node: Expr): Expr => {
    if (node.kind === 'literal') return node
    if (node.kind !== 'call') problems.push(refuse('expression-not-a-call'))
    else {
      const measure = measureOf(node)
      if (measure) return overCell(node, measure, measures.push(measure) - 1)
      if (operators.has(node.name) && isBare(node) && !node.distinct) return { ...node, args: node.args.map(measured) }
      problems.push(refuse('expression-without-fold', node.name))
    }
    return node
  }
  const overCells = measured(expr)
  if (problems.length > 0) return problems[0]!
  if (measures.length === 0) return refuse('expression-of-nothing')
  return { measures, overCells, isPlain: expr.kind === 'call' && measureOf(expr) !== null }
}

/** Numbers of cells are whole or decimal, and these treat both in the same way. */
const operators: ReadonlySet<string> = new Set([
  'plus',
  'minus',
  'multiply',
  'divide',
  'negate',
  'toFloat',
  'round',
  'abs',
  'nullIf',
  'coalesce',
])

const isBare = ({ params, orderBy, filter, ignoreNulls, over }: Call): boolean =>
  params === null && orderBy.length === 0 && filter === null && !ignoreNulls && over === null

const sums: Readonly<Record<string, Reduction>> = { sum: 'sum', avg: 'avg' }
const others: Readonly<Record<string, Reduction>> = { min: 'min', max: 'max', median: 0.5 }

function measureOf(node: Call): Measure | null {
  const { name, args, distinct, params } = node
  if (name === 'quantile') {
    const [level] = params ?? []
    const isLevel = params?.length === 1 && level?.kind === 'literal' && typeof level.value === 'number'
    if (!isLevel || args.length !== 1 || distinct || !isBare({ ...node, params: null }) || !isNumber(args[0]!)) return null
    return { condition: always, value: { number: args[0]!, reduction: level.value as number } }
  }
  if (!isBare(node)) return null
  if (name === 'count' && args.length === 0 && !distinct) return everyEvent
  if (args.length === 1 && isPerson(args[0]!) && (distinct ? name === 'count' : name === 'uniq' || name === 'uniqExact'))
    return { condition: always, value: 'persons' }
  if (distinct) return null
  if (name === 'count' && args.length === 1) return { condition: call('isNotNull', args[0]!), value: 'events' }
  if (name === 'countIf' && args.length === 1) return { condition: args[0]!, value: 'events' }
  const isConditional = name.endsWith('If') && args.length === 2
  if (!isConditional && args.length !== 1) return null
  const [value, condition = always] = args as [Expr, Expr?]
  const plain = isConditional ? name.slice(0, -2) : name
  if ((plain === 'uniq' || plain === 'uniqExact') && isPerson(value)) return { condition, value: 'persons' }
  const reduction = own(sums, plain) ?? own(others, plain)
  if (reduction === undefined || !(isNumber(value) || (own(sums, plain) !== undefined && isProperty(value)))) return null
  return { condition, value: { number: value, reduction } }
}

const isPerson = (expr: Expr): boolean =>
  expr.kind === 'field' && (expr.chain.join('.') === 'person_id' || expr.chain.join('.') === 'person.id')

const isProperty = (expr: Expr): boolean => expr.kind === 'field' && expr.chain.length >= 2 && expr.chain.at(-2) === 'properties'

/** A number whatever it is computed of. The least of texts would be a text. */
const numeric: ReadonlySet<string> = new Set(['toFloat', 'toInt', 'plus', 'minus', 'multiply', 'divide', 'length', 'abs'])
const isNumber = (expr: Expr): boolean =>
  (expr.kind === 'literal' && typeof expr.value === 'number') || (expr.kind === 'call' && numeric.has(expr.name) && isBare(expr))

/** The aggregate of a cell's only row, so that the engine decides what it is without any number. */
function overCell(node: Call, { value }: Measure, i: number): Expr {
  const text = field(measureField(i))
  if (typeof value === 'string') return call('toInt', call('any', text))
  const number = call('toFloat', call('nullIf', text, literal('')))
  return { ...callWith(node.name, { params: node.params, args: node.args.length === 2 ? [number, always] : [number] }), span: node.span }
}

/** Whether a cell has a number to reduce; null: it always has one. */
export const hasNumber = ({ condition, value }: Measure): Measure | null =>
  typeof value === 'string' ? null : { condition: allOf(condition, call('isNotNull', call('toFloat', value.number))), value: 'events' }
