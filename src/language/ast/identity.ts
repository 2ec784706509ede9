/** Assigns equal numbers to trees with the same meaning, at any position. */
export type IdOf = (node: object) => number

/** Ignored fields: the position, and the row of a function, which its name identifies. */
const meaningless: ReadonlySet<string> = new Set(['span', 'row'])

/** Nodes whose type follows from their other fields: a property that is read as text equals that property. */
const typed: ReadonlySet<unknown> = new Set(['call', 'column', 'json'])

/**
 * The identity of expressions. It finds GROUP BY expressions in the select list, joins equal arrayJoin calls, and makes equal conditions be checked
 * once. Each node is visited once, however often it is used, and is identified by the numbers of its children.
 */
export function identities(): IdOf {
  const known = new WeakMap<object, number>()
  const numbers = new Map<string, number>()
  const layouts = new Map<string, readonly string[]>()

  /** The same for objects whose fields have another order. */
  const keysOf = (node: object): readonly string[] => {
    const written = Object.keys(node)
    const layout = written.join()
    let keys = layouts.get(layout)
    if (!keys) {
      keys = written.filter((key) => !meaningless.has(key)).sort()
      layouts.set(layout, keys)
    }
    return keys
  }
  const shown = (value: unknown): string => {
    switch (typeof value) {
      case 'string':
        return `${value.length}'${value}`
      case 'object':
        return value === null ? 'null' : `#${idOf(value)}`
      case 'bigint':
        return `${value}n`
      default:
        return Object.is(value, -0) ? '-0' : String(value)
    }
  }
  const described = (node: object): string => {
    if (Array.isArray(node)) return `[${node.map(shown).join()}`
    const fields = node as Readonly<Record<string, unknown>>
    let text = ''
    const followsType = typed.has(fields.kind)
    for (const key of keysOf(node))
      if (fields[key] !== undefined && !(followsType && key === 'type')) text += `${key}:${shown(fields[key])},`
    return text
  }
  const idOf: IdOf = (node) => {
    const done = known.get(node)
    if (done !== undefined) return done
    const text = described(node)
    const id = numbers.get(text) ?? numbers.size
    numbers.set(text, id)
    known.set(node, id)
    return id
  }
  return idOf
}
