import { z } from 'zod'

// A value that a schema takes, read from the schema itself: what is required, and where nothing is, the first field there is.

interface Schema {
  readonly type?: string | readonly string[]
  readonly enum?: readonly unknown[]
  readonly const?: unknown
  readonly anyOf?: readonly Schema[]
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
  readonly items?: Schema
  readonly minimum?: number
  readonly minLength?: number
}

/** What a schema does not say in a way that can be read: by the name of the field. `n` makes it new. */
export type Known = Readonly<Record<string, (n: number) => unknown>>

let count = 0

const sampleOf = (schema: Schema, field: string, known: Known): unknown => {
  const given = known[field]
  if (given) return given(++count)
  if (schema.const !== undefined) return schema.const
  if (schema.enum) return schema.enum[0]
  if (schema.anyOf) return sampleOf(schema.anyOf.find(({ type }) => type !== 'null')!, field, known)
  switch (schema.type) {
    case 'object': {
      const { properties = {}, required = [] } = schema
      const names = required.length > 0 ? required : Object.keys(properties).slice(0, 1)
      return Object.fromEntries(names.map((name) => [name, sampleOf(properties[name]!, name, known)]))
    }
    case 'array':
      return [sampleOf(schema.items ?? {}, field, known)]
    case 'integer':
    case 'number':
      return Math.max(schema.minimum ?? 1, 1)
    case 'boolean':
      return true
    case 'string':
      return `${field} ${++count}`.padEnd(schema.minLength ?? 0, 'x')
    default:
      return null
  }
}

export const sample = (schema: z.ZodType, known: Known = {}): unknown =>
  sampleOf(z.toJSONSchema(schema, { io: 'output', unrepresentable: 'any' }) as Schema, '', known)

/** For every text in the value: the value with another text there. */
export function* withOtherTexts(value: unknown, text: string): Generator<unknown> {
  if (typeof value === 'string') yield text
  else if (Array.isArray(value)) {
    for (const [i, one] of value.entries())
      for (const other of withOtherTexts(one, text)) yield value.map((old, at) => (at === i ? other : old))
  } else if (value !== null && typeof value === 'object')
    for (const [name, one] of Object.entries(value)) for (const other of withOtherTexts(one, text)) yield { ...value, [name]: other }
}
