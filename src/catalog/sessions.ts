import { alias, call, field, groupBy, select, table } from '../ast/build.ts'
import type { Query } from '../ast/nodes.ts'

export function sessionsQuery(fields: readonly string[], _bounceSeconds: number): Query {
  return select({
    columns: fields.map((name) => alias(call('any', field(name)), name)),
    from: table('events'),
    groupBy: groupBy(field('$session_id')),
  })
}
