import { z } from 'zod'
import { check } from '../../accounts/fields.ts'
import { nameUuid } from '../../lib/name-uuid.ts'
import { runInSlices } from '../../lib/run-in-slices.ts'
import { isUuid } from '../../lib/time-ordered-uuid.ts'
import { activityPage, activityParameters, activitySchema } from '../activity.ts'
import { failures } from '../errors.ts'
import { pageBounds, pageSchema, pageWith, paging } from '../pages.ts'
import { maybeTime, timeSchema, uuidSchema } from '../present.ts'
import { repeatable } from '../query-parameter.ts'
import { defineResource, type ProjectVisit, Reply } from '../resource.ts'
import {
  chosen,
  givenNames,
  ignoredIn,
  listParameters,
  type Noted,
  notesInput,
  notesSchema,
  presentNote,
  removeDefinition,
  withNotes,
  writeNote,
} from './definition-fields.ts'

const namespace = '5f1f0d5e-6d39-4a0c-9d53-1f6b4f4c8f2a'
const idOf = (projectId: number, name: string): string => nameUuid(namespace, `${projectId}:${name}`)

const definitionSchema = z.object({
  id: uuidSchema,
  name: z.string(),
  ...notesSchema,
  count: z.int().meta({ description: 'How many such events have arrived' }),
  created_at: timeSchema.nullable().meta({ description: 'The time of the earliest one' }),
  last_seen_at: timeSchema.nullable(),
  is_action: z.literal(false),
  owner: z.null(),
})

interface Definition {
  readonly id: string
  readonly name: string
  readonly count: number
  readonly first: Date | null
  readonly last: Date | null
}

const present = async (visit: ProjectVisit, { definition, note }: Noted<Definition>): Promise<z.infer<typeof definitionSchema>> => {
  const { id, name, count, first, last } = definition
  return {
    id,
    name,
    ...(await presentNote(visit, note)),
    count,
    created_at: maybeTime(first),
    last_seen_at: maybeTime(last),
    is_action: false,
    owner: null,
  }
}

const all = async (visit: ProjectVisit): Promise<Noted<Definition>[]> => {
  const { app, project } = visit
  const events = await (await app.project(project.id)).events()
  return withNotes(
    visit,
    events.map(({ name, count, first_seen, last_seen }) => ({
      get id() {
        return idOf(project.id, name)
      },
      name,
      count,
      first: first_seen,
      last: last_seen,
    })),
  )
}

function* withId(definitions: readonly Noted<Definition>[], wanted: string): Generator<void, Noted<Definition> | undefined> {
  for (const [i, noted] of definitions.entries()) {
    if (i % 500 === 0) yield
    if (noted.definition.id === wanted) return noted
  }
  return undefined
}

const one = async (visit: ProjectVisit): Promise<Noted<Definition>> => {
  const wanted = visit.params.id
  const definitions = await all(visit)
  const found =
    definitions.find(({ definition: { name } }) => name === wanted) ??
    (isUuid(wanted ?? '') ? await runInSlices(withId(definitions, wanted!), 20) : undefined)
  if (!found) throw failures.notFound()
  return found
}

const types: Readonly<Record<string, (name: string) => boolean>> = {
  all: () => true,
  event: () => true,
  event_custom: (name) => !name.startsWith('$'),
  event_posthog: (name) => name.startsWith('$'),
}
const typeIn = ({ query }: ProjectVisit): ((name: string) => boolean) => {
  const given = query.get('event_type') || 'all'
  if (!Object.hasOwn(types, given)) throw failures.invalid(`event_type must be one of ${Object.keys(types).join(', ')}.`, 'event_type')
  return types[given]!
}

const update = async (visit: ProjectVisit) => {
  await writeNote(visit, 'EventDefinition', await one(visit), check(notesInput, visit.body))
  return present(visit, await one(visit))
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
      queryParameters: {
        ...listParameters,
        event_type: '`event_custom`: names without `$`; `event_posthog`: names with it; `all`, or `event`: any',
        names: repeatable('A JSON list of names, or names with commas between them'),
        ...paging,
      },
      answer: pageSchema(definitionSchema),
      handle: async (visit) => {
        const isOfType = typeIn(visit)
        const names = givenNames(visit, 'names')
        const found = chosen(visit, await all(visit), { byDefault: 'count' }).filter(
          ({ definition: { name } }) => isOfType(name) && (names === null || names.includes(name)),
        )
        const { limit, offset } = pageBounds(visit.query)
        const shown = await Promise.all(found.slice(offset, offset + limit).map((each) => present(visit, each)))
        return new Reply(200, pageWith(shown, found.length, visit), ignoredIn(visit))
      },
    }),
    row({
      method: 'GET',
      path: ':id',
      name: 'retrieve',
      summary: 'One event name, by its id or by the name itself',
      answer: definitionSchema,
      handle: async (visit) => present(visit, await one(visit)),
    }),
    row({
      method: 'PATCH',
      path: ':id',
      name: 'update',
      summary: 'Changes the description, the tags, and whether it is verified or hidden',
      body: notesInput,
      answer: definitionSchema,
      handle: update,
    }),
    row({
      method: 'DELETE',
      path: ':id',
      name: 'remove',
      summary: 'Forgets what was written about it, and lists it again once such an event arrives; stored events stay',
      handle: async (visit) => removeDefinition(visit, 'EventDefinition', await one(visit)),
    }),
    row({
      method: 'GET',
      path: ':id/activity',
      name: 'activity',
      summary: 'Who changed it and how, the newest first; also of one that was removed, by its id',
      scope: 'activity_log:read',
      queryParameters: activityParameters,
      answer: activitySchema,
      handle: (visit) => activityPage(visit, { project_id: visit.project.id, scope: 'EventDefinition', item_id: visit.params.id ?? '' }),
    }),
  ],
})
