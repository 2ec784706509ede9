import { QueryError } from '../../errors/errors.ts'
import { alias, call, equals, field, from, join, literal, select, table } from '../../language/ast/build.ts'
import type { Expr, Query, Source } from '../../language/ast/nodes.ts'
import { type ActorList, type AnyActorSource, type Asking, checkSource, insideSource } from '../actor-source.ts'
import type { QueryContext } from '../kind.ts'
import { queryOf } from '../origin.ts'

/** The source of actors: `people` or `groups` names the table with their fields. */
export interface ActorTable {
  readonly from: Source
  /** A person's number, or a group's key. */
  readonly actor: Expr
  readonly group: number | null
  /** Columns that only the source has. */
  readonly columns: readonly string[]
}

const sqlKinds = new Set(['HogQLQuery', 'SqlLikeQuery'])

export function* tableOf(
  source: { readonly kind: string } | null | undefined,
  sources: readonly AnyActorSource[],
  mayRead: (column: string) => boolean,
  env: QueryContext,
): Asking<ActorTable> {
  if (!source) return { from: table('persons'), actor: field('persons', '@person_no'), group: null, columns: [] }
  if (sqlKinds.has(source.kind)) return sqlTable(source, env)
  const { known, point } = checkSource(source, sources)
  const list = yield* insideSource(env, (inner) => known.actors(point, inner, mayRead))
  if (list.group !== null) return groups(list.query, list.group, list.columns, field('source', 'actor'))
  return env.viewer ? people(withoutNumbers(list, mayRead), list.columns, hiddenActor) : people(list.query, list.columns, 'actor')
}

const people = (query: Query, columns: readonly string[], name: string): ActorTable => ({
  from: join(from(query, 'source'), table('@people', 'persons'), equals(field('source', name), field('persons', '@person_no'))),
  actor: field('source', name),
  group: null,
  columns,
})

/** No text of a viewer can name it: numbers of persons count those of others too. */
const hiddenActor = '@person_no'
const withoutNumbers = ({ query, columns }: ActorList, mayRead: (column: string) => boolean): Query =>
  select({
    columns: [alias(field('listed', 'actor'), hiddenActor), ...columns.filter(mayRead).map((name) => field('listed', name))],
    from: from(query, 'listed'),
  })

const groups = (query: Query, index: number, columns: readonly string[], key: Expr): ActorTable => ({
  from: join(
    from(query, 'source'),
    table('groups'),
    call('and', equals(key, field('groups', 'key')), equals(field('groups', 'index'), literal(index))),
    'left',
  ),
  actor: key,
  group: index,
  columns,
})

/** The column of a statement that identifies actors: an alias for this purpose, or the first column that looks like an id. */
function sqlTable(source: { readonly kind: string; readonly query?: unknown }, env: QueryContext): ActorTable {
  if (typeof source.query !== 'string')
    throw new QueryError('validation-failed', { message: 'The source has no `query`.', attr: 'source__query' })
  const query = queryOf(source.query, 'source__query', env)
  const names = columnNames(query)
  const column = ['group_key', 'actor_id', 'person_id'].find((name) => names.includes(name)) ?? names.find((name) => /id/i.test(name))
  if (!column)
    throw new QueryError('validation-failed', {
      message: 'The source must select a column with the actor: person_id, actor_id or group_key.',
      attr: 'source__query',
    })
  const others = names.filter((name) => name !== column)
  const key = field('source', column)
  if (column === 'group_key')
    return {
      from: join(from(query, 'source'), table('groups'), equals(key, field('groups', 'key'))),
      actor: key,
      group: 0,
      columns: others,
    }
  return {
    from: join(from(query, 'source'), table('persons'), equals(call('toString', key), call('toString', field('persons', 'id')))),
    actor: field('persons', '@person_no'),
    group: null,
    columns: others,
  }
}

function columnNames(query: Query): string[] {
  const first = query.kind === 'set' ? columnNames(query.left) : null
  if (first) return first
  if (query.kind !== 'select') return []
  return query.columns.flatMap((column) => {
    if (column.kind === 'alias') return [column.name]
    return column.kind === 'field' ? [column.chain.at(-1)!] : []
  })
}
