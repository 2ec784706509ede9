import type { TypedQuery } from '../resolver/typed.ts'
import type { PropertyName } from '../types/property-info.ts'
import { isFloat, isNamed } from '../types/types.ts'
import { eachSource, rewrite } from './rewrite.ts'

/** A property that a statement reads as numbers or times. */
export interface PropertyUse extends PropertyName {
  readonly as: 'Numeric' | 'DateTime'
}

export function propertyUses(query: TypedQuery): readonly PropertyUse[] {
  const found = new Map<string, PropertyUse>()
  let hasProperties = false
  eachSource(query, (source) => {
    if (source.kind === 'scan' && source.reads.some(({ json }) => json)) hasProperties = true
  })
  if (!hasProperties) return []
  rewrite(query, {
    expr: (expr) => {
      const of = expr.type.kind === 'scalar' ? expr.type.property?.of : undefined
      const as = isFloat(expr.type) ? 'Numeric' : isNamed(expr.type, 'DateTime64') ? 'DateTime' : null
      if (of && as) for (const name of of) found.set(JSON.stringify([name.scope, name.name, as]), { ...name, as })
      return expr
    },
  })
  return [...found.values()]
}
