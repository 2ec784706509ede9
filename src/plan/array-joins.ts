import type { IdOf } from '../ast/identity.ts'
import { hasAggregate, hasArrayJoin } from '../resolver/shape.ts'
import type { ArrayJoinNode, TypedSelect, TypedSource } from '../resolver/typed.ts'
import { freshAliases, rewrite } from '../resolver/typed-walk.ts'
import type { Pass } from './context.ts'
import { partsOf } from './parts-of.ts'

/**
 * `arrayJoin(x)` multiplies rows before anything else happens to them, and the same call is the same item wherever it stands.
 * Before: `SELECT arrayJoin(a) AS x … WHERE x > 1`. After: `SELECT item … FROM …, unnest(a) WHERE item > 1`.
 * A call over an aggregate stays: its rows come after the grouping.
 */
export const arrayJoins: Pass = (query, { capabilities, idOf }) => {
  if (capabilities.hasArrayJoinCall) return query
  const fresh = freshAliases(query)
  return rewrite(query, { select: (select) => unnestCalls(select, fresh, idOf) })
}

/** The calls of one select as items of its FROM. */
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
