import type { Span } from '../../errors/span.ts'
import { type ChildField, type ChildTable, childFields } from '../../lib/tree.ts'
import type { AttachedTable } from '../catalog/attached.ts'
import type { FunctionRow } from '../functions/row.ts'
import type { SqlType } from '../types/types.ts'
import type { TypedExpr, TypedNode, TypedQuery, TypedSource } from './typed.ts'

// The fields of each typed node kind that hold nodes. A new kind, or a new field with nodes, does not compile without a row here.

type TableOf<Listed extends TypedNode> = ChildTable<TypedNode, SqlType | Span | FunctionRow | AttachedTable, Listed>

const order = { expr: true, fill: { from: true, to: true } } as const

const expressions: TableOf<TypedExpr> = {
  constant: {},
  column: {},
  parameter: {},
  json: { expr: true },
  call: {
    params: true,
    args: true,
    orderBy: order,
    filter: true,
    over: { partitionBy: true, orderBy: order, frame: { start: { offset: true }, end: { offset: true } } },
  },
  cast: { expr: true },
  lambda: { body: true },
  array: { items: true },
  tuple: { items: true },
  in: { expr: true, set: { items: true, query: true, value: true } },
  scalarQuery: { query: true },
  exists: { outer: true, query: true },
  arrayJoin: { expr: true },
}

const sources: TableOf<TypedSource> = {
  scan: { views: { query: true } },
  derived: { query: true },
  cteRef: {},
  rows: { rows: true },
  tableFunction: { args: true },
  attached: {},
  join: { left: true, right: true, on: true },
  unnest: { input: true, items: { expr: true } },
}

const queries: TableOf<TypedQuery> = {
  select: {
    ctes: { query: true },
    from: true,
    columns: { expr: true },
    distinctOn: true,
    where: true,
    groupBy: { items: true, sets: true },
    having: true,
    qualify: true,
    orderBy: order,
    limitBy: { by: true },
  },
  set: { ctes: { query: true }, left: true, right: true, orderBy: order },
}

export const typedChildren: Readonly<Record<TypedNode['kind'], readonly ChildField[]>> = childFields({
  ...expressions,
  ...sources,
  ...queries,
})

export const isSource = (node: TypedNode): node is TypedSource => Object.hasOwn(sources, node.kind)

/** An expression, neither a source nor a query. */
export const isExpr = (node: TypedNode): node is TypedExpr => Object.hasOwn(expressions, node.kind)
