import { alias, call, field, inQuery, literal, or, order, select, table } from '../../language/ast/build.ts'
import type { Expr, OrderItem } from '../../language/ast/nodes.ts'
import { rewrite } from '../../language/ast/walk.ts'
import { displayName } from '../answers/display-name.ts'
import { hasAggregate, isCount, withoutAlias, withoutLabel } from '../columns.ts'
import type { QueryContext } from '../kind.ts'
import { columnOf, orderOf } from '../origin.ts'
import type { ActorTable } from './source.ts'

/** The value in one column of the answer. */
export type ActorColumn =
  /** The whole actor, read by its id after the page is known. */
  | { readonly kind: 'actor'; readonly text: string }
  | { readonly kind: 'display'; readonly text: string }
  | { readonly kind: 'constant'; readonly text: string; readonly value: number | readonly never[] }
  | { readonly kind: 'value'; readonly text: string; readonly expr: Expr }

const actorNames = new Set(['person', 'actor', 'group'])

export function columnsOf(labels: readonly string[], source: ActorTable, env: QueryContext): ActorColumn[] {
  return labels.map((text, i): ActorColumn => {
    const plain = withoutLabel(text)
    if (actorNames.has(plain)) return { kind: 'actor', text }
    if (plain === 'person_display_name') return { kind: 'display', text }
    if (/^\w+\.\$delete$/.test(plain)) return { kind: 'constant', text, value: 1 }
    if (plain === 'matched_recordings') return { kind: 'constant', text, value: [] }
    return { kind: 'value', text, expr: inScope(columnOf(text, `select__${i}`, env), source, env) }
  })
}

/** `person.properties.email` and `properties.email` are the same; columns that only the source has are read from it; `id` is the actor's. */
const inScope = (expr: Expr, source: ActorTable, env: QueryContext): Expr =>
  rewrite(expr, (node) => {
    if (node.kind !== 'field') return node
    const chain = actorNames.has(node.chain[0]!) && node.chain.length > 1 ? node.chain.slice(1) : node.chain
    if (chain.length === 1 && source.columns.includes(chain[0]!)) return field('source', chain[0]!)
    if (chain.length === 1 && chain[0] === 'id') return actorId(source)
    if (chain.length === 1 && (chain[0] === 'person_display_name' || actorNames.has(chain[0]!))) return nameOf(source, env)
    return chain === node.chain ? node : { ...node, chain }
  })

/** Texts sort the same on every engine, uuids do not. */
export const actorId = (source: ActorTable): Expr => (source.group === null ? call('toString', field('persons', 'id')) : source.actor)

export const nameOf = (source: ActorTable, env: QueryContext): Expr =>
  source.group === null
    ? displayName(env.project, ['persons', 'properties'], actorId(source), env.viewer?.personProperties)
    : call('coalesce', call('toString', field('groups', 'properties', 'name')), source.actor)

export const isFolded = (columns: readonly ActorColumn[]): boolean =>
  columns.some((column) => column.kind === 'value' && hasAggregate(column.expr))

/** ORDER BY may use the alias of a column. */
const withAliases = (expr: Expr, columns: readonly ActorColumn[]): Expr =>
  rewrite(expr, (node) => {
    if (node.kind !== 'field' || node.chain.length !== 1) return node
    for (const column of columns)
      if (column.kind === 'value' && column.expr.kind === 'alias' && column.expr.name === node.chain[0]) return column.expr.expr
    return node
  })

/** The largest count or aggregate first, else the newest, else by the first column. */
export function orderItems(
  orders: readonly string[] | null | undefined,
  columns: readonly ActorColumn[],
  source: ActorTable,
  env: QueryContext,
): OrderItem[] {
  if (orders?.length)
    return orders.map((text, i) => {
      const item = orderOf(text, `orderBy__${i}`, env)
      return { ...item, expr: inScope(withAliases(item.expr, columns), source, env) }
    })
  const values = columns.flatMap((column) => (column.kind === 'value' ? [column.expr] : []))
  const first = values.find(isCount) ?? values.find(hasAggregate)
  if (first) return [order(withoutAlias(first), 'desc')]
  if (columns.some((column) => column.kind === 'value' && withoutLabel(column.text) === 'created_at'))
    return [order(field('created_at'), 'desc')]
  const leading = columns[0]
  if (!leading || leading.kind === 'constant') return []
  return [order(leading.kind === 'value' ? withoutAlias(leading.expr) : leading.kind === 'display' ? nameOf(source, env) : actorId(source))]
}

/** Contained in the email, the name, the id or any distinct id, ignoring case. A viewer searches what it may read. */
export function searchCondition(text: string, source: ActorTable, { viewer }: QueryContext): Expr {
  const contains = (expr: Expr): Expr =>
    call('greater', call('positionCaseInsensitiveUTF8', call('toString', expr), literal(text)), literal(0))
  if (source.group !== null) return or(contains(source.actor), contains(field('groups', 'properties', 'name')))
  const searched = ['email', 'name'].filter((name) => !viewer || viewer.personProperties.has(name))
  const inRecord = [...searched.map((name) => contains(field('persons', 'properties', name))), contains(field('persons', 'id'))]
  if (viewer) return or(...inRecord)
  const owners = select({
    columns: [alias(field('@person_no'), 'owner')],
    from: table('person_distinct_ids'),
    where: contains(field('distinct_id')),
  })
  return or(...inRecord, inQuery(field('persons', '@person_no'), owners))
}
