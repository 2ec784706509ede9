import { nameUuid } from '../../../lib/ids/name-uuid.ts'
import { isUuid } from '../../../lib/ids/time-ordered-uuid.ts'
import type { KnownEvent, NamesAsked } from '../../../project.ts'
import { check } from '../../../service/accounts/fields.ts'
import { noNote } from '../../../service/accounts/projects/definition-notes.ts'
import { definitionSchema, type EventDefinitionAnswer } from '../../answers/event-definitions.ts'
import { pageSchema } from '../../answers/pages.ts'
import { activityOf } from '../activity.ts'
import { failures } from '../errors.ts'
import { maybeTime } from '../present.ts'
import { defineRecords } from '../records.ts'
import { pageWith, paging } from '../requests/pages.ts'
import { repeatable } from '../requests/query-parameter.ts'
import { type ProjectVisit, Reply } from '../resource.ts'
import {
  askedOne,
  askedPage,
  givenNames,
  ignoredIn,
  listParameters,
  type Noted,
  type Notes,
  notesInput,
  notesOf,
  presentNote,
  removeDefinition,
  writeNote,
} from './definition-fields.ts'

const namespace = '5f1f0d5e-6d39-4a0c-9d53-1f6b4f4c8f2a'
const idOf = (projectId: number, name: string): string => nameUuid(namespace, `${projectId}:${name}`)

interface Definition {
  readonly id: string
  readonly name: string
  readonly count: number
  readonly first: Date | null
  readonly last: Date | null
}

const present = async (visit: ProjectVisit, { definition, note }: Noted<Definition>): Promise<EventDefinitionAnswer> => {
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

const idsOf = (projectId: number): NamesAsked['ids'] => ({ namespace, prefix: `${projectId}:` })

const known = (projectId: number, notes: Notes, { name, count, first_seen, last_seen }: KnownEvent): Noted<Definition> => {
  const id = idOf(projectId, name)
  return { definition: { id, name, count, first: first_seen, last: last_seen }, note: notes.get(id) ?? noNote }
}

const one = async (visit: ProjectVisit): Promise<Noted<Definition>> => {
  const { app, project } = visit
  const wanted = visit.params.id ?? ''
  const notes = await notesOf(visit)
  const data = await app.project(project.id)
  const find = async (by: Pick<NamesAsked, 'names' | 'onlyIds'>) =>
    (await data.eventNames(askedOne(notes, { ids: idsOf(project.id), ...by }))).page[0]
  const found = (await find({ names: [wanted] })) ?? (isUuid(wanted) ? await find({ onlyIds: [wanted] }) : undefined)
  if (!found) throw failures.notFound()
  return known(project.id, notes, found)
}

const types: Readonly<Record<string, Pick<NamesAsked, 'begins' | 'beginsNot'>>> = {
  all: {},
  event: {},
  event_custom: { beginsNot: ['$'] },
  event_posthog: { begins: ['$'] },
}
const typeIn = ({ query }: ProjectVisit): Pick<NamesAsked, 'begins' | 'beginsNot'> => {
  const given = query.get('event_type') || 'all'
  if (!Object.hasOwn(types, given)) throw failures.invalid(`event_type must be one of ${Object.keys(types).join(', ')}.`, 'event_type')
  return types[given]!
}

const change = async (visit: ProjectVisit) => {
  await writeNote(visit, 'EventDefinition', await one(visit), check(notesInput, visit.body))
  return one(visit)
}

export const eventDefinitions = defineRecords({
  name: 'event_definitions',
  summary: 'Names of received events: how often and when they were seen, and their descriptions',
  path: '/api/projects/:project_id/event_definitions',
  reach: 'project',
  object: 'event_definition',
  answer: definitionSchema,
  present,
  rows: ({ row, retrieve, update, remove }) => [
    row({
      method: 'GET',
      name: 'list',
      summary: 'Event names, the most frequent first',
      queryParameters: {
        ...listParameters,
        event_type: '`event_custom`: names without `$`; `event_posthog`: names with it; `all`, or `event`: any',
        names: repeatable('A JSON list of names, or comma-separated names'),
        ...paging,
      },
      answer: pageSchema(definitionSchema),
      handle: async (visit) => {
        const { app, project } = visit
        const ofType = typeIn(visit)
        const names = givenNames(visit, 'names')
        const notes = await notesOf(visit)
        const given = { ids: idsOf(project.id), ...ofType, ...(names ? { names } : {}) }
        const asked = askedPage(visit, notes, { by: 'count', isDescending: true }, given)
        const { count, page } = await (await app.project(project.id)).eventNames(asked)
        const shown = await Promise.all(page.map((each) => present(visit, known(project.id, notes, each))))
        return new Reply(200, pageWith(shown, count, visit), ignoredIn(visit))
      },
    }),
    retrieve({
      summary: 'One event name, by its id or by the name itself',
      handle: async (visit) => one(visit),
    }),
    update({
      summary: 'Changes the description, the tags, and whether it is verified or hidden',
      body: notesInput,
      handle: change,
    }),
    remove({
      summary: 'Removes its description and tags. It is listed again once such an event arrives; stored events stay',
      handle: async (visit) => removeDefinition(visit, 'EventDefinition', await one(visit)),
    }),
    row(activityOf('EventDefinition', ({ params }) => params.id ?? '', 'of removed ones, by id')),
  ],
})
