import { noSpan } from '../../../errors/span.ts'
import { field } from '../../../language/ast/build.ts'
import type { Expr, Node, Placeholder } from '../../../language/ast/nodes.ts'
import { print } from '../../../language/ast/print.ts'
import { rewrite } from '../../../language/ast/walk.ts'
import type { Field } from '../ports.ts'

// The columns of an export's query as they are shown: text constants and property names are values, and the expressions have placeholders for them.

export interface ShownFields {
  readonly fields: readonly Field[]
  /** By the names of the placeholders. */
  readonly values: Readonly<Record<string, string>>
}

/** `properties.plan = 'pro'` becomes `equals(properties[{value_0}], {value_1})`. Equal texts share a placeholder. */
export function shownFields(columns: readonly { readonly expr: Expr; readonly alias: string }[]): ShownFields {
  const names = new Map<string, string>()
  const placeholder = (text: string): Placeholder => {
    const name = names.get(text) ?? `value_${names.size}`
    names.set(text, name)
    return { kind: 'placeholder', chain: [name], span: noSpan }
  }
  const withPlaceholders = (node: Node): Node => {
    if (node.kind === 'literal' && typeof node.value === 'string') return placeholder(node.value)
    if (node.kind !== 'field') return node
    const place = node.chain.indexOf('properties') + 1
    if (place === 0) return node
    const access = (object: Expr, key: string): Expr => {
      return { kind: 'access', object, index: placeholder(key), dotted: false, nullish: false, span: noSpan }
    }
    return node.chain.slice(place).reduce(access, field(...node.chain.slice(0, place)))
  }
  const fields = columns.map(({ expr, alias }) => ({ expression: print(rewrite(expr, withPlaceholders)), alias }))
  return { fields, values: Object.fromEntries([...names].map(([text, name]) => [name, text])) }
}
