import { z } from 'zod'
import { check, text } from '../../accounts/fields.ts'
import type { PropertyTypeInput } from '../../ingestion/inputs.ts'
import { nameUuid } from '../../lib/name-uuid.ts'
import type { KnownProperty } from '../../project.ts'
import { holds } from '../access.ts'
import { failures } from '../errors.ts'
import { pageSchema } from '../pages.ts'
import { maybeTime, timeSchema, uuidSchema } from '../present.ts'
import { answerTo } from '../queries/ask.ts'
import { defineResource, type ProjectVisit } from '../resource.ts'

const namespace = '0c1b7f64-8f0e-4c1d-b6a4-3c6f4f7b7d11'
export const propertyDefinitionId = (projectId: number, scope: string, name: string): string =>
  nameUuid(namespace, `${projectId}:${scope}:${name}`)

const propertyTypes = ['Numeric', 'String', 'Boolean', 'DateTime'] as const
const kinds = ['event', 'person', 'group'] as const

const definitionSchema = z.object({
  id: uuidSchema,
  name: z.string(),
  type: z.enum(kinds),
  group_type_index: z.int().nullable(),
  property_type: z.enum(propertyTypes).nullable().meta({ description: 'As it was declared; null: each value is what it is' }),
  is_numerical: z.boolean().meta({ description: 'Declared as a number, or all values that were sent are numbers' }),
  description: z.string(),
  count: z.int().meta({ description: 'How many values were sent' }),
  counts: z.object({
    numeric: z.int(),
    numeric_text: z.int().meta({ description: 'Texts that read as a number' }),
    text: z.int(),
    boolean: z.int(),
    time: z.int(),
    other: z.int(),
  }),
  created_at: timeSchema.nullable(),
  last_seen_at: timeSchema.nullable(),
  tags: z.array(z.string()),
})
type Definition = z.infer<typeof definitionSchema>
const detailSchema = definitionSchema.extend({
  top_values: z
    .array(z.object({ value: z.unknown(), count: z.int() }))
    .nullable()
    .meta({ description: 'The ten most frequent values; null for keys without `query:read`' }),
})
const input = z.object({
  property_type: z.enum(propertyTypes).optional(),
  description: text({ max: 4000, blank: true }).optional(),
})

const present = (projectId: number, notes: ReadonlyMap<string, string>, property: KnownProperty): Definition => {
  const { scope, name, counts } = property
  const id = propertyDefinitionId(projectId, scope, name)
  const count = Object.values(counts).reduce((sum, one) => sum + one, 0)
  const group = /^group_(\d)$/.exec(scope)
  return {
    id,
    name,
    type: group ? 'group' : (scope as 'event' | 'person'),
    group_type_index: group ? Number(group[1]) : null,
    property_type: property.property_type,
    is_numerical: property.property_type ? property.property_type === 'Numeric' : count > 0 && counts.numeric === count,
    description: notes.get(id) ?? '',
    count,
    counts,
    created_at: maybeTime(property.first_seen),
    last_seen_at: maybeTime(property.last_seen),
    tags: [],
  }
}

const all = async ({ app, project }: ProjectVisit) => {
  const [properties, notes] = await Promise.all([
    app.project(project.id).then((data) => data.properties()),
    app.accounts.definitionNotes.of(project.id),
  ])
  return properties.map((property) => present(project.id, notes, property))
}

const one = async (visit: ProjectVisit): Promise<Definition> => {
  const found = (await all(visit)).find(({ id }) => id === visit.params.id)
  if (!found) throw failures.notFound()
  return found
}

/** How each kind is read. */
const sources: Readonly<Record<(typeof kinds)[number], (index: number | null) => string>> = {
  event: () => 'events',
  person: () => 'persons',
  group: (index) => `(select * from groups where index = ${index})`,
}

async function topValues(visit: ProjectVisit, { type, name, group_type_index }: Definition) {
  const statement = `select properties[{name}] as value, count() as n from ${sources[type](group_type_index)} where value is not null group by value order by n desc, value limit 10`
  const query = { kind: 'HogQLQuery', query: statement, values: { name } }
  const { results } = (await answerTo(visit, query)) as { results: [unknown, number][] }
  return results.map(([value, count]) => ({ value, count }))
}

export const propertyDefinitions = defineResource({
  name: 'property_definitions',
  summary: 'The properties that have been seen or declared: the kinds of their values, their types, and what somebody wrote about them',
  path: '/api/projects/:project_id/property_definitions',
  reach: 'project',
  object: 'property_definition',
  rows: (row) => [
    row({
      method: 'GET',
      name: 'list',
      summary: 'Properties, those with the most values first',
      queryParameters: {
        search: 'Only names that contain this text',
        type: 'event (when not given), person or group',
        group_type_index: 'Of groups: which group type',
        is_numerical: 'true: only numbers',
      },
      answer: pageSchema(definitionSchema),
      isPaged: true,
      handle: async (visit) => {
        const wanted = visit.query.get('search')?.toLowerCase() ?? ''
        const type = visit.query.get('type') ?? 'event'
        const index = visit.query.get('group_type_index')
        return (await all(visit)).filter(
          (one) =>
            one.type === type &&
            (index === null || String(one.group_type_index) === index) &&
            (visit.query.get('is_numerical') !== 'true' || one.is_numerical) &&
            one.name.toLowerCase().includes(wanted),
        )
      },
    }),
    row({
      method: 'GET',
      path: ':id',
      name: 'retrieve',
      summary: 'One property, with its most frequent values',
      answer: detailSchema,
      handle: async (visit) => {
        const found = await one(visit)
        return { ...found, top_values: holds(visit, 'query:read') ? await topValues(visit, found) : null }
      },
    }),
    row({
      method: 'PATCH',
      path: ':id',
      name: 'update',
      summary: 'Declares the type, which queries read it by from then on, or changes the description',
      body: input,
      answer: definitionSchema,
      handle: async (visit) => {
        const before = await one(visit)
        const { property_type = before.property_type, description = before.description } = check(input, visit.body)
        const { accounts } = visit.app
        const { user } = visit.caller
        const { id, name, type, group_type_index } = before
        if (property_type !== null && property_type !== before.property_type) {
          const row = { type, name, property_type, ...(type === 'group' ? { group_type_index } : {}) } as PropertyTypeInput
          await (await visit.app.project(visit.project.id)).definePropertyTypes([row])
        }
        if (description !== before.description) await accounts.definitionNotes.describe(visit.project.id, id, description, user)
        const state = (fields: Pick<Definition, 'property_type' | 'description'>) => ({ id, name, fields })
        await accounts.definitionLog.note(
          user,
          visit.project,
          'PropertyDefinition',
          state({ property_type: before.property_type, description: before.description }),
          state({ property_type, description }),
        )
        return one(visit)
      },
    }),
  ],
})
