// Trees of plain nodes. Each node has a kind, and a table lists the fields of each kind that hold nodes.

interface Kinded {
  readonly kind: string
}

/** True if a value of type T can hold a node: directly, in lists, or in plain parts such as a window's frame. Values of `Leaf` hold none. */
type Holds<T, Node, Leaf> = T extends Node
  ? true
  : T extends Leaf
    ? never
    : T extends readonly (infer Item)[]
      ? Holds<Item, Node, Leaf>
      : T extends object
        ? { [P in keyof T]-?: Holds<NonNullable<T[P]>, Node, Leaf> }[keyof T]
        : never

type ChildKey<T, Node, Leaf> = { [P in keyof T]-?: true extends Holds<NonNullable<T[P]>, Node, Leaf> ? P : never }[keyof T]
type Fields<T, Node, Leaf> = { readonly [P in ChildKey<T, Node, Leaf>]: AllOf<PartsOf<NonNullable<T[P]>, Node, Leaf>> }
type PartsOf<T, Node, Leaf> = T extends Node
  ? true
  : T extends readonly (infer Item)[]
    ? PartsOf<Item, Node, Leaf>
    : T extends object
      ? Fields<T, Node, Leaf>
      : never
/** A part with several forms needs a row with the fields of all of them. */
type AllOf<T> = (T extends unknown ? (part: T) => void : never) extends (part: infer All) => void ? All : never

/**
 * The fields of each node kind that hold nodes, in the order of visits: `true` for a node or lists of nodes, a nested table for a plain part. A kind, or
 * a field with nodes, that is missing from the table does not compile.
 */
export type ChildTable<Node extends Kinded, Leaf = never, Listed extends Kinded = Node> = {
  readonly [K in Listed['kind']]: Fields<Extract<Listed, { readonly kind: K }>, Node, Leaf>
}

/** A field that holds nodes; `parts`: the fields of the plain parts in it. */
export interface ChildField {
  readonly key: string
  readonly parts: readonly ChildField[] | null
}
type Rows = { readonly [key: string]: true | Rows }

const fieldsIn = (rows: Rows): readonly ChildField[] =>
  Object.entries(rows).map(([key, parts]) => ({ key, parts: parts === true ? null : fieldsIn(parts) }))

export const childFields = <Kind extends string>(table: { readonly [K in Kind]: object }): Readonly<Record<Kind, readonly ChildField[]>> =>
  Object.fromEntries(Object.entries<object>(table).map(([kind, rows]) => [kind, fieldsIn(rows as Rows)])) as Record<
    Kind,
    readonly ChildField[]
  >

/** The value of a field: a node, lists of nodes, plain parts with nodes in them, or nothing. */
type Held = Kinded | readonly Held[] | { readonly [key: string]: Held } | string | null | undefined
type Values = Readonly<Record<string, Held>>

/** Visits the direct child nodes in the order of the table. `field`: the name of the field that holds the child. */
export function eachChild<Node>(node: object, fields: readonly ChildField[], visit: (child: Node, field: string) => void): void {
  for (const field of fields) {
    const held = (node as Values)[field.key]
    if (held !== null && typeof held === 'object') eachHeld(held, field, visit)
  }
}

function eachHeld<Node>(held: Held, field: ChildField, visit: (child: Node, field: string) => void): void {
  if (held === null || typeof held !== 'object') return
  if (Array.isArray(held)) for (let i = 0; i < held.length; i++) eachHeld(held[i], field, visit)
  else if (field.parts === null) visit(held as Node, field.key)
  else eachChild(held, field.parts, visit)
}

/** The node with each of its children replaced. The same object if no child changes. */
export function mapChildren<Node extends object, Child>(node: Node, fields: readonly ChildField[], replace: (child: Child) => Child): Node {
  let changed: Record<string, Held> | null = null
  for (const { key, parts } of fields) {
    const before = (node as unknown as Values)[key]
    if (before === null || typeof before !== 'object') continue
    const after = mapHeld(before, parts, replace)
    if (after !== before) {
      changed ??= { ...(node as unknown as Values) }
      changed[key] = after
    }
  }
  return (changed as unknown as Node | null) ?? node
}

function mapHeld<Child>(held: Held, parts: ChildField['parts'], replace: (child: Child) => Child): Held {
  if (held === null || typeof held !== 'object') return held
  if (Array.isArray(held)) {
    const items = held as readonly Held[]
    let changed: Held[] | null = null
    for (let i = 0; i < items.length; i++) {
      const after = mapHeld(items[i], parts, replace)
      if (after !== items[i]) {
        changed ??= [...items]
        changed[i] = after
      }
    }
    return changed ?? held
  }
  return parts === null ? (replace(held as Child) as Held) : mapChildren(held, parts, replace)
}
