/** Equal numbers for trees that mean the same, at any position. */
export type IdOf = (node: object) => number

/** A place in a text, and the table row of a function that is named anyway. */
const meaningless: ReadonlySet<string> = new Set(['span', 'row'])

/** Their type follows from the rest of them: a property read as a text is one expression with that property. */
const typed: ReadonlySet<unknown> = new Set(['call', 'column', 'json'])

/**
 * The identity of expressions: what is grouped by is found again in the select list by it, the same arrayJoin is one, equal conditions are looked
 * at once. A node is looked at once however often it is used, and told by the numbers of its parts.
 */
export function identities(): IdOf {
  const known = new WeakMap<object, number>()
  const numbers = new Map<string, number>()
  const layouts = new Map<string, readonly string[]>()

  /** The same for objects whose fields were written in another order. */
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
