import type { ArrayJoin } from '../ast/nodes.ts'
import { unknownType } from '../types/types.ts'
import { checkArray, entriesOf } from './arrays.ts'
import { columnsBinding } from './bindings.ts'
import { attempt } from './expressions.ts'
import { checkClause } from './grouping.ts'
import type { Scope } from './scope.ts'
import type { Session } from './session.ts'
import type { OutputColumn, TypedSource } from './typed.ts'

export function resolveArrayJoin(
  session: Session,
  arrayJoin: ArrayJoin,
  scope: Scope,
  build: () => TypedSource | null,
): () => TypedSource | null {
  const alias = session.alias('items')
  const items = arrayJoin.items.map((item) => {
    const array = item.kind === 'alias' ? item.expr : item
    const name = item.kind === 'alias' ? item.name : item.kind === 'field' ? item.chain.at(-1)! : session.nameOf(item)
    const expr = entriesOf(attempt(session, array, scope))
    checkClause(session, 'ARRAY JOIN', expr)
    session.attempt(
      () => checkArray('ARRAY JOIN', expr, array),
      () => undefined,
    )
    return { name, expr }
  })
  const columns = items.map(
    ({ name, expr }): OutputColumn => ({
      name,
      alias: name,
      type: expr.type.kind === 'array' ? expr.type.item : unknownType,
    }),
  )
  // An item without an alias replaces the array under the array's name.
  for (const source of scope.sources) {
    const { has } = source
    source.has = (name) => !columns.some((c) => c.name === name) && has(name)
  }
  const binding = columnsBinding(null, alias, columns, () => ({ kind: 'rows', alias, names: [], rows: [] }), arrayJoin.span)
  scope.sources.push(binding)
  return () => ({ kind: 'unnest', alias, input: build(), left: arrayJoin.left, items, span: arrayJoin.span })
}
