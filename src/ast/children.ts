import type { Node, NodeOf } from './nodes.ts'

// Which fields of a node hold nodes, in order of visit. A node, or a field with nodes, left out of this table does not compile.

/** True when a value of type T can hold a node, directly, in lists or in plain parts such as a window's frame. */
type Holds<T> = T extends Node
  ? true
  : T extends readonly (infer Item)[]
    ? Holds<Item>
    : T extends object
      ? { [P in keyof T]-?: Holds<NonNullable<T[P]>> }[keyof T]
      : never

type ChildKey<N> = { [P in keyof N]-?: true extends Holds<NonNullable<N[P]>> ? P : never }[keyof N]
type ChildTable = { readonly [K in Node['kind']]: { readonly [P in ChildKey<NodeOf<K>>]: true } }

const table: ChildTable = {
  // expressions
  literal: {},
  field: {},
  access: { object: true, index: true },
  call: { params: true, args: true, orderBy: true, filter: true, over: true },
  cast: { expr: true },
  lambda: { body: true },
  array: { items: true },
  tuple: { items: true },
  dict: { entries: true },
  dictEntry: { key: true, value: true },
  star: { replace: true },
  columns: { items: true },
  placeholder: {},
  alias: { expr: true },
  between: { expr: true, low: true, high: true },
  in: { expr: true, set: true },
  subquery: { query: true },
  namedArgument: { value: true },
  positional: {},
  tag: {},
  // parts of expressions
  orderItem: { expr: true, fill: true },
  orderFill: { from: true, to: true, step: true },
  windowName: {},
  frameBound: { offset: true },
  window: { partitionBy: true, orderBy: true, frame: true },
  namedWindow: { window: true },
  // sources
  sample: { size: true, offset: true },
  table: { args: true, sample: true },
  querySource: { query: true, sample: true },
  values: { rows: true },
  catalog: { described: true },
  exprSource: { expr: true },
  join: { left: true, right: true, on: true, using: true },
  pivot: { source: true, aggregates: true, columns: true, groupBy: true },
  unpivot: { source: true, value: true, name: true, columns: true },
  // queries
  cte: { body: true },
  arrayJoin: { items: true },
  groupBy: { items: true, sets: true },
  limitBy: { limit: true, offset: true, by: true },
  limit: { limit: true, offset: true },
  setting: { value: true },
  select: {
    with: true,
    distinctOn: true,
    columns: true,
    from: true,
    arrayJoin: true,
    prewhere: true,
    where: true,
    groupBy: true,
    having: true,
    qualify: true,
    windows: true,
    orderBy: true,
    limitBy: true,
    limit: true,
    settings: true,
  },
  set: { with: true, left: true, right: true, orderBy: true, limit: true },
}

/** Names of the fields that hold nodes. */
export const children = Object.fromEntries(Object.entries(table).map(([kind, keys]) => [kind, Object.keys(keys)])) as unknown as Readonly<
  Record<Node['kind'], readonly string[]>
>
