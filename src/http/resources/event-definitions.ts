import { z } from 'zod'
import { check, text } from '../../accounts/fields.ts'
import { nameUuid } from '../../lib/name-uuid.ts'
import type { KnownEvent } from '../../project.ts'
import { failures } from '../errors.ts'
import { pageSchema } from '../pages.ts'
import { maybeTime, timeSchema, uuidSchema } from '../present.ts'
import { defineResource, type ProjectVisit } from '../resource.ts'

const namespace = '5f1f0d5e-6d39-4a0c-9d53-1f6b4f4c8f2a'
const idOf = (projectId: number, name: string): string => nameUuid(namespace, `${projectId}:${name}`)

const definitionSchema = z.object({
  id: uuidSchema,
  name: z.string(),
  description: z.string(),
  count: z.int().meta({ description: 'How many such events are stored' }),
  created_at: timeSchema.nullable().meta({ description: 'The time of the earliest one' }),
  last_seen_at: timeSchema.nullable(),
  is_action: z.literal(false),
  tags: z.array(z.string()),
})
const input = z.object({ description: text({ max: 4000, blank: true }).optional() })

const present = (projectId: number, notes: ReadonlyMap<string, string>, event: KnownEvent): z.infer<typeof definitionSchema> => {
  const id = idOf(projectId, event.name)
  return {
    id,
    name: event.name,
    description: notes.get(id) ?? '',
    count: event.count,
    created_at: maybeTime(event.first_seen),
    last_seen_at: maybeTime(event.last_seen),
    is_action: false,
    tags: [],
  }
}

const all = async ({ app, project }: ProjectVisit) => {
  const [events, notes] = await Promise.all([
    app.project(project.id).then((data) => data.events()),
    app.accounts.definitionNotes.of(project.id),
  ])
  return events.map((event) => present(project.id, notes, event))
}

const one = async (visit: ProjectVisit) => {
  const wanted = visit.params.id
  const found = (await all(visit)).find(({ id, name }) => id === wanted || name === wanted)
  if (!found) throw failures.notFound()
  return found
}

export const eventDefinitions = defineResource({
  name: 'event_definitions',
  summary: 'The names of events that have been seen: how often, since when, and what somebody wrote about them',
  path: '/api/projects/:project_id/event_definitions',
  reach: 'project',
  object: 'event_definition',
  rows: (row) => [
    row({
      method: 'GET',
      name: 'list',
      summary: 'Event names, the most frequent first',
      queryParameters: { search: 'Only names that contain this text' },
      answer: pageSchema(definitionSchema),
      isPaged: true,
      handle: async (visit) => {
        const wanted = visit.query.get('search')?.toLowerCase() ?? ''
        return (await all(visit)).filter(({ name }) => name.toLowerCase().includes(wanted))
      },
    }),
    row({
      method: 'GET',
      path: ':id',
      name: 'retrieve',
      summary: 'One event name, by its id or by the name itself',
      answer: definitionSchema,
      handle: one,
    }),
    row({
      method: 'PATCH',
      path: ':id',
      name: 'update',
      summary: 'Changes the description',
      body: input,
      answer: definitionSchema,
      handle: async (visit) => {
        const before = await one(visit)
        const { description = before.description } = check(input, visit.body)
        const { accounts } = visit.app
        await accounts.definitionNotes.describe(visit.project.id, before.id, description, visit.caller.user)
        const { id, name } = before
        const state = (words: string) => ({ id, name, fields: { description: words } })
        await accounts.definitionLog.note(
          visit.caller.user,
          visit.project,
          'EventDefinition',
          state(before.description),
          state(description),
        )
        return { ...before, description }
      },
    }),
  ],
})
