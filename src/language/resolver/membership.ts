import type { In } from '../ast/nodes.ts'
import { isProperty, readBeside } from '../types/property-values.ts'
import { isNamed, isNumeric, scalar, tupleOf } from '../types/types.ts'
import { builtCall } from './calls.ts'
import { correlatedIn, type ResolvedSubquery } from './correlation.ts'
import { comparableColumns } from './property-columns.ts'
import { comparable, isPropertyExpr, keyOf, readAs } from './property-values.ts'
import type { Session } from './session.ts'
import type { InNode, TypedExpr } from './typed.ts'

// `x IN (…)`. A property is compared with each value by that value's type: with numbers as a number, with texts as text.

export interface Sought {
  readonly expr: TypedExpr
  readonly node: Pick<In, 'not' | 'span'>
}

const inNode = (expr: TypedExpr, set: InNode['set'], { not, span }: Sought['node']): InNode => ({
  kind: 'in',
  expr,
  not,
  set,
  type: scalar('Bool'),
  span,
})

const partsOf = (expr: TypedExpr): readonly TypedExpr[] => (expr.kind === 'tuple' ? expr.items : [expr])
const whole = (expr: TypedExpr, parts: readonly TypedExpr[]): TypedExpr =>
  expr.kind === 'tuple' ? { ...expr, items: parts, type: tupleOf(parts.map(({ type }) => type)) } : parts[0]!

export function inQueryNode(session: Session, { expr, node }: Sought, { query, outer }: ResolvedSubquery): TypedExpr {
  const compared = comparableColumns(session, partsOf(expr), query, node.span)
  if (outer.length) return correlatedIn(session, { ...compared, outer }, node)
  return inNode(whole(expr, compared.sought), { query: compared.query }, node)
}

export function inArray({ expr, node }: Sought, value: TypedExpr): TypedExpr {
  const item = value.type.kind === 'array' ? value.type.item : null
  return inNode(item ? readAs(expr, readBeside(item)) : expr, { value }, node)
}

const isText = ({ type }: TypedExpr): boolean => isNamed(type, 'String')
/** Texts and numbers are compared as with `=`. */
function amongAlike(expr: TypedExpr, items: readonly TypedExpr[], node: Sought['node']): TypedExpr {
  const isOther = (item: TypedExpr) => (isText(expr) && isNumeric(item.type)) || (isNumeric(expr.type) && isText(item))
  const others = items.filter(isOther)
  if (others.length === 0) return inNode(expr, { items }, node)
  const alike = items.filter((item) => !isOther(item))
  const found = [
    ...(alike.length > 0 ? [inNode(expr, { items: alike }, { ...node, not: false })] : []),
    ...others.map((item) => builtCall('equals', [expr, item], node.span)),
  ]
  const any = found.length === 1 ? found[0]! : builtCall('or', found, node.span)
  return node.not ? builtCall('not', [any], node.span) : any
}

/** Items of different types form different sets: `x IN (1, 'a')` compares with 1 as a number and with 'a' as text. */
export function inItems({ expr, node }: Sought, items: readonly TypedExpr[]): TypedExpr {
  if (!partsOf(expr).some(isPropertyExpr) && !items.some((item) => partsOf(item).some(isPropertyExpr))) return amongAlike(expr, items, node)
  const sets = new Map<string, { sought: TypedExpr; items: TypedExpr[] }>()
  for (const item of items) {
    const pairs = partsOf(expr).map((part, i) => comparable(part, partsOf(item)[i] ?? item))
    const kinds = partsOf(item).map(({ type }) =>
      isNamed(type, 'Nothing') ? 'any' : isProperty(type) ? `property ${type.property.numbers}` : readBeside(type),
    )
    const set = sets.get(kinds.join()) ?? {
      sought: whole(
        expr,
        pairs.map(([a]) => a),
      ),
      items: [],
    }
    set.items.push(
      whole(
        item,
        pairs.map(([, b]) => b),
      ),
    )
    sets.set(kinds.join(), set)
  }
  if (sets.size === 0) return inNode(whole(expr, partsOf(expr).map(keyOf)), { items }, node)
  const found = [...sets.values()].map((set) => inNode(set.sought, { items: set.items }, { ...node, not: false }))
  const any = found.length === 1 ? found[0]! : builtCall('or', found, node.span)
  return node.not ? (found.length === 1 ? { ...found[0]!, not: true } : builtCall('not', [any], node.span)) : any
}
