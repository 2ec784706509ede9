import type { IdOf } from '../ast/identity.ts'
import { hasAggregate, hasArrayJoin } from '../resolver/shape.ts'
import type { ArrayJoinNode, TypedSelect, TypedSource } from '../resolver/typed.ts'
import { rewrite } from '../resolver/typed-walk.ts'
import { partsOf } from './parts-of.ts'

/** Moves the calls of one select to items of its FROM. */
export function unnestCalls(select: TypedSelect, fresh: (wanted: string) => string, idOf: IdOf): TypedSelect {
  if (!partsOf(select).some(hasArrayJoin)) return select
  const found = new Map<number, { readonly node: ArrayJoinNode; readonly alias: string }>()
  const replaced = rewrite(
    { ...select, ctes: [], from: null },
    {
      expr: (expr) => {
        if (expr.kind !== 'arrayJoin' || hasAggregate(expr.expr)) return expr
        const id = idOf(expr.expr)
        const item = found.get(id) ?? { node: expr, alias: fresh('item') }
        found.set(id, item)
        return { kind: 'column', source: item.alias, name: 'item', type: expr.type, span: expr.span }
      },
    },
  ) as TypedSelect
  if (found.size === 0) return select
  const from = [...found.values()].reduce<TypedSource | null>(
    (input, { node, alias }) => ({
      kind: 'unnest',
      alias,
      input,
      left: false,
      items: [{ name: 'item', expr: node.expr }],
      span: node.span,
    }),
    select.from,
  )
  return { ...replaced, ctes: select.ctes, from }
}
