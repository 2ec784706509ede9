import { z } from 'zod'
import { wrapperKinds } from '../queries/asked-query.ts'
import { queryExamples } from '../queries/examples.ts'
import { actorSources, queryKinds } from '../queries/registry.ts'

// The queries in the description of the API, from the schemas that check them.

type Schema = Readonly<Record<string, unknown>>

const examples: Readonly<Record<string, unknown>> = queryExamples
const refTo = (name: string): Schema => ({ $ref: `#/components/schemas/${name}` })

/** What callers may send. `kind` is one word, also where kinds share a schema. */
function described(schema: z.ZodType, kind: string): Schema {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any', target: 'draft-2020-12' }) as Schema
  return { ...rest, properties: { ...(rest.properties as object), kind: { const: kind } } }
}

/** A schema of each kind by its name, and `Query` for any of them. */
export function querySchemas(): Readonly<Record<string, Schema>> {
  const kinds = Object.keys(queryKinds).map((kind): [string, Schema] => [
    kind,
    { ...described(queryKinds[kind]!.schema, kind), ...(examples[kind] ? { examples: [examples[kind]] } : {}) },
  ])
  const wrappers = wrapperKinds.map((kind): [string, Schema] => [
    kind,
    {
      type: 'object',
      description: 'How the answer of the source is shown; the answer is that of the source.',
      properties: { kind: { const: kind }, source: refTo('Query') },
      required: ['kind', 'source'],
    },
  ])
  const points = [...new Set(actorSources.map(({ wrapper }) => wrapper))].map((wrapper): [string, Schema] => [
    wrapper,
    {
      description: 'The actors of a point of a chart: the `source` of an ActorsQuery.',
      anyOf: actorSources.filter((source) => source.wrapper === wrapper).map(({ schema }) => described(schema, wrapper)),
    },
  ])
  const answered = [...kinds, ...wrappers]
  const query = { oneOf: answered.map(([kind]) => refTo(kind)), discriminator: { propertyName: 'kind' } }
  return { Query: query, ...Object.fromEntries([...answered, ...points]) }
}
