import type { Node, NodeOf } from './nodes.ts'

// Which fields of a node hold nodes, in order of visit: `true` for a node or lists of them, the same again for a plain part such as a window's frame. A node,
// or a field with nodes, left out of this table does not compile.

/** True when a value of type T can hold a node, directly, in lists or in plain parts such as a window's frame. */
type Holds<T> = T extends Node
  ? true
  : T extends readonly (infer Item)[]
    ? Holds<Item>
    : T extends object
      ? { [P in keyof T]-?: Holds<NonNullable<T[P]>> }[keyof T]
      : never

type ChildKey<N> = { [P in keyof N]-?: true extends Holds<NonNullable<N[P]>> ? P : never }[keyof N]
type Fields<T> = { readonly [P in ChildKey<T>]: PartsOf<NonNullable<T[P]>> }
type PartsOf<T> = T extends Node ? true : T extends readonly (infer Item)[] ? PartsOf<Item> : T extends object ? Fields<T> : never
type ChildTable = { readonly [K in Node['kind']]: Fields<NodeOf<K>> }

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
  window: { partitionBy: true, orderBy: true, frame: { start: true, end: true } },
  namedWindow: { window: true },
  // sources
  sample: { size: true, offset: true },
  table: { args: true, sample: true },
  querySource: { query: true, sample: true },
  values: { rows: true },
  catalog: { described: true },
  exprSource: { expr: true },
  join: { left: true, right: true, on: true, using: true },
  pivot: { source: true, aggregates: true, columns: { expr: true, values: true }, groupBy: true },
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

/** A field that holds nodes; `parts`: the fields of the plain parts in it. */
export interface ChildField {
  readonly key: string
  readonly parts: readonly ChildField[] | null
}
interface Table {
  readonly [key: string]: true | Table
}
const fieldsIn = (of: Table): readonly ChildField[] =>
  Object.entries(of).map(([key, parts]) => ({ key, parts: parts === true ? null : fieldsIn(parts) }))

/** The fields that hold nodes. */
export const children = Object.fromEntries(Object.entries(table).map(([kind, fields]) => [kind, fieldsIn(fields)])) as unknown as Readonly<
  Record<Node['kind'], readonly ChildField[]>
>
