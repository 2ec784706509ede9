import type { CallNode, TypedQuery } from '../resolver/typed.ts'
import { eachSource, walk } from '../resolver/typed-walk.ts'
import type { PropertyName } from '../types/property-info.ts'
import { isFloat, isNamed, isText, type SqlType } from '../types/types.ts'

/** A property that a statement reads as a number, time or boolean. */
export interface ReadUse extends PropertyName {
  readonly as: 'Numeric' | 'DateTime' | 'Boolean'
}
/** Its texts are items of a list, map or tuple that a function orders. */
export interface OrderUse extends PropertyName {
  readonly as: 'Order'
  readonly function: string
}
export type PropertyUse = ReadUse | OrderUse

/** The properties whose texts are parts of a value of this type. */
function partsOf(type: SqlType): readonly PropertyName[] {
  switch (type.kind) {
    case 'array':
      return [...textOf(type.item), ...partsOf(type.item)]
    case 'map':
      return [...textOf(type.value), ...partsOf(type.value)]
    case 'tuple':
      return type.items.flatMap((item) => [...textOf(item), ...partsOf(item)])
    default:
      return []
  }
}
const textOf = (type: SqlType): readonly PropertyName[] => (type.kind === 'scalar' && isText(type) ? (type.property?.of ?? []) : [])

/** The expressions that decide the order inside arguments: the result of a lambda, otherwise all items. */
function orderedParts({ row: { ordersItems }, args: [first, ...others] }: CallNode): readonly PropertyName[] {
  if (!ordersItems || !first) return []
  if (first.kind === 'lambda') return [...textOf(first.body.type), ...partsOf(first.body.type)]
  const isNamed = ordersItems === true || (first.kind === 'constant' && ordersItems.some((name) => name === first.value))
  return isNamed ? [first, ...others].flatMap(({ type }) => partsOf(type)) : []
}

export function propertyUses(query: TypedQuery): readonly PropertyUse[] {
  const found = new Map<string, PropertyUse>()
  const add = (use: PropertyUse) => found.set(JSON.stringify(use), use)
  let hasProperties = false
  eachSource(query, (source) => {
    if (source.kind === 'scan' && source.reads.some(({ json }) => json)) hasProperties = true
  })
  if (!hasProperties) return []
  walk(query, {
    expr: (expr) => {
      const of = expr.type.kind === 'scalar' ? expr.type.property?.of : undefined
      const as = isFloat(expr.type)
        ? 'Numeric'
        : isNamed(expr.type, 'DateTime64')
          ? 'DateTime'
          : isNamed(expr.type, 'Bool')
            ? 'Boolean'
            : null
      if (of && as) for (const name of of) add({ ...name, as })
      if (expr.kind === 'call') for (const name of orderedParts(expr)) add({ ...name, as: 'Order', function: expr.name })
    },
  })
  return [...found.values()]
}
