import * as z from 'zod'
import { wrapperKinds } from '../../../queries/asked-query.ts'
import { queryExamples } from '../../../queries/examples.ts'
import { actorSources, queryKinds } from '../../../queries/registry.ts'

// The queries in the description of the API, from the schemas that check them.

type Schema = Readonly<Record<string, unknown>>

const examples: Readonly<Record<string, unknown>> = queryExamples
const uri = (name: string): string => `#/components/schemas/${name}`
const refTo = (name: string): Schema => ({ $ref: uri(name) })

/** What callers may send. A query inside another one is a reference. */
function described(schemas: ReadonlyMap<string, z.ZodType>): Readonly<Record<string, Schema>> {
  const registry = z.registry<{ readonly id: string }>()
  for (const [id, schema] of schemas) if (!registry.has(schema)) registry.add(schema, { id })
  const all = z.toJSONSchema(registry, { io: 'input', unrepresentable: 'any', target: 'draft-2020-12', uri })
  return Object.fromEntries(
    [...schemas].map(([name, schema]) => {
      const { $schema: _, $id: __, ...rest } = all.schemas[registry.get(schema)!.id] as Schema
      return [name, rest]
    }),
  )
}

/** A schema of each kind by its name, and `Query` for any of them. */
export function querySchemas(): Readonly<Record<string, Schema>> {
  const pointName = (wrapper: string, kind: string) => `${wrapper}Of${kind}`
  const all = described(
    new Map<string, z.ZodType>([
      ...Object.values(queryKinds).map(({ kind, schema }) => [kind, schema] as const),
      ...actorSources.map(({ wrapper, kind, schema }) => [pointName(wrapper, kind), schema] as const),
    ]),
  )
  // One word, also where kinds share a schema.
  const kinds = Object.keys(queryKinds).map((kind): [string, Schema] => [
    kind,
    { ...all[kind], properties: { ...(all[kind]!.properties as object), kind: { const: kind } }, examples: [examples[kind]] },
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
      anyOf: actorSources.filter((source) => source.wrapper === wrapper).map(({ kind }) => refTo(pointName(wrapper, kind))),
    },
  ])
  const answered = [...kinds, ...wrappers]
  const query = { oneOf: answered.map(([kind]) => refTo(kind)), discriminator: { propertyName: 'kind' } }
  return { Query: query, ...all, ...Object.fromEntries([...answered, ...points]) }
}
