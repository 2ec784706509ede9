import type { Span } from '../../errors/span.ts'
import type { CatalogSource } from '../ast/nodes.ts'
import { tables } from '../catalog/tables.ts'
import { arrayOf, type SqlType, scalar, shownTypeName } from '../types/types.ts'
import { type Binding, columnsBinding } from './bindings.ts'
import { constant } from './constants.ts'
import { columnOf } from './property-columns.ts'
import { shownProperty } from './property-values.ts'
import type { Session } from './session.ts'
import { type ArrayNode, emptySelect, type TypedExpr, type TypedQuery } from './typed.ts'

// `SHOW TABLES` and `DESCRIBE` answer from Waymark's own catalog, not from the engine's.

const text = scalar('String')

export function bindTables(session: Session, source: CatalogSource): Binding {
  const names = Object.keys(tables).filter((name) => !tables[name]!.internal)
  return bindRows(session, source, {
    name: [...names, ...(session.context.viewNames ?? []), ...Object.keys(session.context.project.attached?.tables ?? {}).sort()],
  })
}

export function bindDescribed(session: Session, source: CatalogSource, described: Binding): Binding {
  const columns = columnsOf(described, source.span)
  const { timezone } = session.context.project
  return bindRows(session, source, {
    name: columns.map(({ name }) => name),
    type: columns.map(({ type }) => shownTypeName(type, timezone)),
  })
}

/** Parallel lists: the rows of one array keep their order on every engine. */
function bindRows(session: Session, { alias: name, span }: CatalogSource, lists: Readonly<Record<string, readonly string[]>>): Binding {
  const alias = session.alias(name ?? 'catalog')
  const items = Object.entries(lists).map(([column, values]) => ({ name: column, expr: textList(values, span) }))
  const columns = Object.keys(lists).map((column) => ({ name: column, alias: column, type: text }))
  const rows = session.alias('rows')
  const query: TypedQuery = {
    ...emptySelect,
    columns: columns.map((column) => ({ ...column, expr: columnOf(rows, column, span) })),
    from: { kind: 'unnest', alias: rows, input: null, left: false, items, span },
    span,
  }
  return columnsBinding(name, alias, columns, () => ({ kind: 'derived', alias, query }), span)
}

const textList = (values: readonly string[], span: Span): ArrayNode => ({
  kind: 'array',
  items: values.map((value) => constant(value, span, text)),
  type: arrayOf(text),
  span,
})

/** Columns with their own names, and the types that an answer shows. Fields that lead to another table are left out. */
function columnsOf(described: Binding, span: Span): readonly { readonly name: string; readonly type: SqlType }[] {
  const fields = 'table' in described ? tables[described.table as string]!.fields : null
  const columns: readonly { readonly name: string; readonly expr: TypedExpr }[] = fields
    ? Object.keys(fields)
        .filter((name) => !name.startsWith('@') && fields[name]!.kind !== 'lazy')
        .map((name) => ({ name, expr: described.follow([name], span).expr }))
    : described.star()
  return columns.map(({ name, expr }) => ({ name, type: shownProperty(expr, true).type }))
}
