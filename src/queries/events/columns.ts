import { alias, call, field, order, star } from '../../language/ast/build.ts'
import type { Expr, OrderItem } from '../../language/ast/nodes.ts'
import { rewrite, walk } from '../../language/ast/walk.ts'
import { displayName } from '../answers/display-name.ts'
import { hasAggregate, isCount, withoutAlias, withoutLabel } from '../columns.ts'
import type { ProjectSettings, QueryContext } from '../kind.ts'
import { columnOf, orderOf } from '../origin.ts'
import { qualified } from '../qualified.ts'

/** The value in one column of the answer. */
export type EventColumn =
  /** The whole event, its person, or the name of its person: objects built from several columns of the statement. */
  | { readonly kind: 'event' | 'person' | 'name'; readonly text: string; readonly label: string }
  | { readonly kind: 'value'; readonly text: string; readonly label: string; readonly expr: Expr }

const objects: ReadonlyMap<string, 'event' | 'person' | 'name'> = new Map([
  ['*', 'event'],
  ['person', 'person'],
  ['person_display_name', 'name'],
])

export const columnsOf = (labels: readonly string[], env: QueryContext): EventColumn[] =>
  labels.map((label, i) => {
    const text = withoutLabel(label)
    const kind = objects.get(text)
    return kind ? { kind, text, label } : { kind: 'value', text, label, expr: columnOf(label, `select__${i}`, env) }
  })

/** Does the column aggregate events? */
export const folds = (column: EventColumn): boolean => column.kind === 'value' && hasAggregate(column.expr)

export const aliasesOf = (columns: readonly EventColumn[]): ReadonlySet<string> =>
  new Set(columns.flatMap((column) => (column.kind === 'value' && column.expr.kind === 'alias' ? [column.expr.name] : [])))

/** Aliases of columns that aggregate events. */
export const foldedNames = (columns: readonly EventColumn[]): ReadonlySet<string> => aliasesOf(columns.filter(folds))

export function mentions(expr: Expr, names: ReadonlySet<string>): boolean {
  let found = false
  walk(expr, (node) => {
    if (node.kind === 'field' && node.chain.length === 1 && names.has(node.chain[0]!)) found = true
    return node.kind !== 'subquery'
  })
  return found
}

// The parts of an object. Their names cannot be those of a statement's own columns.

const uuid = call('toString', field('uuid'))
const personNumber = field('@person_no')
const distinctId = field('distinct_id')

const partsOf: Readonly<Record<'event' | 'person' | 'name', (project: ProjectSettings) => Readonly<Record<string, Expr>>>> = {
  event: () => ({
    '@uuid': uuid,
    '@event': field('event'),
    '@properties': call('toString', field('properties')),
    '@timestamp': field('timestamp'),
    '@distinct_id': distinctId,
    '@elements_chain': field('elements_chain'),
    '@created_at': field('created_at'),
    '@person_mode': field('person_mode'),
  }),
  person: () => ({ '@person_no': personNumber, '@distinct_id': distinctId }),
  name: (project) => ({
    '@display_name': displayName(project, ['person', 'properties'], distinctId),
    '@person_id': call('toString', field('person', 'id')),
    '@distinct_id': distinctId,
  }),
}

/** The columns of the statement, each once: the selected ones by index, then the parts of objects. */
export function selected(columns: readonly EventColumn[], project: ProjectSettings): Expr[] {
  const taken = new Set<string>()
  const values = columns.flatMap((column, i) => {
    if (column.kind !== 'value') return []
    // An alias stays, so that conditions, the order and later columns can use it.
    const own = column.expr.kind === 'alias' && !taken.has(column.expr.name) ? column.expr.name : null
    if (own) taken.add(own)
    return [own ? column.expr : alias(withoutAlias(column.expr), `@column_${i}`)]
  })
  const parts = Object.assign({}, ...columns.flatMap((column) => (column.kind === 'value' ? [] : [partsOf[column.kind](project)])))
  const aliases = aliasesOf(columns)
  return [
    ...values,
    ...Object.entries(parts as Record<string, Expr>).map(([name, expr]) => alias(qualified(expr, 'events', aliases), name)),
  ]
}

/** An object is ordered by its key. */
const keyOf = (kind: 'event' | 'person' | 'name', project: ProjectSettings): Expr =>
  kind === 'event' ? uuid : kind === 'person' ? distinctId : displayName(project, ['person', 'properties'], distinctId)

/** As requested; else the largest count or first aggregate, else the newest if the time is shown, else by the first column. */
export const orderItems = (
  orders: readonly string[] | null | undefined,
  columns: readonly EventColumn[],
  env: QueryContext,
): OrderItem[] =>
  orders?.length
    ? orders.map((text, i) => orderOfEvents(orderOf(text, `orderBy__${i}`, env), env.project))
    : [defaultOrder(columns, env.project)]

function orderOfEvents(item: OrderItem, project: ProjectSettings): OrderItem {
  const expr = rewrite(item.expr, (node) => {
    const kind = node.kind === 'field' && node.chain.length === 1 ? objects.get(node.chain[0]!) : undefined
    return kind ? keyOf(kind, project) : node.kind === 'star' && node.table.length === 0 ? uuid : node
  })
  return { ...item, expr }
}

function defaultOrder(columns: readonly EventColumn[], project: ProjectSettings): OrderItem {
  const values = columns.flatMap((column) => (column.kind === 'value' ? [column.expr] : []))
  const folding = values.find(isCount) ?? values.find(hasAggregate)
  if (folding) return order(withoutAlias(folding), 'desc')
  if (columns.some((column) => column.text === 'timestamp')) return order(field('timestamp'), 'desc')
  const first = columns[0]!
  return order(first.kind === 'value' ? withoutAlias(first.expr) : keyOf(first.kind, project))
}

/** The column as written in a statement. */
export const asWritten = (column: EventColumn): Expr =>
  column.kind === 'value' ? column.expr : column.kind === 'event' ? star() : field(column.text)
