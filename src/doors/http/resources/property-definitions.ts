import * as z from 'zod'
import type { PropertyTypeInput } from '../../../events/ingestion/decoding/inputs.ts'
import { coreBeginning, coreProperties, internalBeginnings, internalProperties } from '../../../language/catalog/internal-properties.ts'
import type { PropertyScope } from '../../../language/catalog/removals.ts'
import { nameUuid } from '../../../lib/ids/name-uuid.ts'
import { isUuid } from '../../../lib/ids/time-ordered-uuid.ts'
import type { KnownProperty, NamesAsked } from '../../../project.ts'
import { check } from '../../../service/accounts/fields.ts'
import { noNote } from '../../../service/accounts/projects/definition-notes.ts'
import { pageSchema } from '../../answers/pages.ts'
import { type DeletionAnswer, deletionSchema } from '../../answers/persons.ts'
import { definitionSchema, detailSchema, kinds, type PropertyDefinitionAnswer, propertyTypes } from '../../answers/property-definitions.ts'
import { holds } from '../access/access.ts'
import { activityOf } from '../activity.ts'
import { failures } from '../errors.ts'
import { maybeTime } from '../present.ts'
import { answerTo } from '../queries/ask.ts'
import { pageWith, paging } from '../requests/pages.ts'
import { repeatable } from '../requests/query-parameter.ts'
import { defineResource, type ProjectVisit, Reply } from '../resource.ts'
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
import { presentDeletion } from './person-deletions.ts'

const namespace = '0c1b7f64-8f0e-4c1d-b6a4-3c6f4f7b7d11'
export const propertyDefinitionId = (projectId: number, scope: string, name: string): string =>
  nameUuid(namespace, `${projectId}:${scope}:${name}`)

const input = notesInput.extend({ property_type: z.enum(propertyTypes).optional() })

interface Known
  extends Pick<
    PropertyDefinitionAnswer,
    'id' | 'name' | 'type' | 'group_type_index' | 'property_type' | 'is_numerical' | 'count' | 'counts'
  > {
  readonly first: Date | null
  readonly last: Date | null
}

const known = (projectId: number, { scope, name, counts, property_type, first_seen, last_seen }: KnownProperty): Known => {
  const count = Object.values(counts).reduce((sum, one) => sum + one, 0)
  const group = /^group_(\d)$/.exec(scope)
  return {
    id: propertyDefinitionId(projectId, scope, name),
    name,
    type: group ? 'group' : (scope as 'event' | 'person'),
    group_type_index: group ? Number(group[1]) : null,
    property_type,
    is_numerical: property_type ? property_type === 'Numeric' : count > 0 && counts.numeric === count,
    count,
    counts,
    first: first_seen,
    last: last_seen,
  }
}

const present = async (
  visit: ProjectVisit,
  { definition, note }: Noted<Known>,
  seen: ReadonlySet<string> | null,
): Promise<PropertyDefinitionAnswer> => {
  const { first, last, ...fields } = definition
  return {
    ...fields,
    ...(await presentNote(visit, note)),
    created_at: maybeTime(first),
    last_seen_at: maybeTime(last),
    is_seen_on_filtered_events: seen?.has(definition.name) ?? null,
  }
}

const idsOf = (projectId: number): NamesAsked['ids'] => ({ namespace, prefix: `${projectId}:` })

const noted = (projectId: number, notes: Notes, property: KnownProperty): Noted<Known> => {
  const definition = known(projectId, property)
  return { definition, note: notes.get(definition.id) ?? noNote }
}

const one = async (visit: ProjectVisit): Promise<Noted<Known>> => {
  const { app, project } = visit
  const wanted = visit.params.id ?? ''
  if (!isUuid(wanted)) throw failures.notFound()
  const notes = await notesOf(visit)
  const asked = askedOne(notes, { ids: idsOf(project.id), onlyIds: [wanted] })
  const [found] = (await (await app.project(project.id)).propertyNames(asked)).page
  if (!found) throw failures.notFound()
  return noted(project.id, notes, found)
}

/** The events that are looked at. */
const latestEvents = 10_000

/** The properties that the latest events of these names have. */
async function seenOn(visit: ProjectVisit, names: readonly string[]): Promise<ReadonlySet<string>> {
  const latest = `select toString(properties) as text from events where has({names}, event) order by timestamp desc limit ${latestEvents}`
  const query = `select groupUniqArrayArray(JSONExtractKeys(text)) from (${latest})`
  const { results } = (await answerTo(visit, { kind: 'HogQLQuery', query, values: { names } })) as { results: [string[]][] }
  return new Set(results[0]?.[0] ?? [])
}

const flagBeginning = '$feature/'

/** As they are stored. `index`: of one group type. */
function scopesOf(type: string, index: string | null | undefined): readonly string[] {
  if (type === 'group') return [0, 1, 2, 3, 4].filter((one) => (index ?? String(one)) === String(one)).map((one) => `group_${one}`)
  return kinds.some((kind) => kind === type) && (index ?? null) === null ? [type] : []
}

/** How each kind is read. */
const sources: Readonly<Record<(typeof kinds)[number], (index: number | null) => string>> = {
  event: () => 'events',
  person: () => 'persons',
  group: (index) => `(select * from groups where index = ${index})`,
}

async function topValues(visit: ProjectVisit, { type, name, group_type_index }: Known) {
  const statement = `select properties[{name}] as value, count() as n from ${sources[type](group_type_index)} where value is not null group by value order by n desc, value limit 10`
  const query = { kind: 'HogQLQuery', query: statement, values: { name } }
  const { results } = (await answerTo(visit, query)) as { results: [unknown, number][] }
  return results.map(([value, count]) => ({ value, count }))
}

async function deleteValues(visit: ProjectVisit, found: Noted<Known>): Promise<DeletionAnswer> {
  const { app, project, caller } = visit
  const { id, name, type, group_type_index: index } = found.definition
  const scope = (type === 'group' ? `group_${index}` : type) as PropertyScope
  const asked = { asked_by: 'property', cohort_id: null, asked: 1, with_events: false, is_complete: true, property: `${scope} ${name}` }
  const receipt = await app.accounts.deletions.begin(caller.user, project, asked)
  const { events, persons } = await (await app.project(project.id)).removeProperty(scope, name)
  const forgotten = Object.fromEntries(Object.keys(found.note.fields).map((field) => [field, null]))
  await app.accounts.definitionNotes.write(project.id, id, { description: '', fields: forgotten }, caller.user)
  const counts = { events, persons, distinct_ids: 0, not_found: 0 }
  return presentDeletion(visit, await app.accounts.deletions.finishProperty(caller.user, project, receipt, counts, { id, name }))
}

export const propertyDefinitions = defineResource({
  name: 'property_definitions',
  summary: 'Properties that were received or declared: the kinds of their values, their types and their descriptions',
  path: '/api/projects/:project_id/property_definitions',
  reach: 'project',
  object: 'property_definition',
  rows: (row) => [
    row({
      method: 'GET',
      name: 'list',
      summary:
        'Properties by name; with `event_names`, those that these events have come first. Properties that carry instructions for Waymark (`$set`, `$groups`, …) are not listed',
      queryParameters: {
        ...listParameters,
        type: 'event (when not given), person or group',
        group_type_index: 'For groups: the group type',
        is_numerical: '`true` or `false`',
        is_feature_flag: '`true`: only flags (`$feature/…`); `false`: only others',
        properties: repeatable('Only these names: a JSON list, or comma-separated'),
        excluded_properties: repeatable('Without these names, in the same form'),
        exclude_core_properties:
          '`true`: only properties of the application itself, without those that clients and campaigns set (`$…`, `utm_…`)',
        event_names: repeatable('A JSON list of names of events, for `is_seen_on_filtered_events`; needs `query:read`'),
        filter_by_event_names: '`true`: only properties that these events have',
        ...paging,
      },
      answer: pageSchema(definitionSchema),
      handle: async (visit) => {
        const { query } = visit
        const type = query.get('type') ?? 'event'
        const [index, numerical, flags] = ['group_type_index', 'is_numerical', 'is_feature_flag'].map((name) => query.get(name))
        const [only, without, events] = ['properties', 'excluded_properties', 'event_names'].map((name) => givenNames(visit, name))
        if (events && !holds(visit, 'query:read')) throw failures.missingScope('query:read')
        const seen = events && type === 'event' ? await seenOn(visit, events) : null
        const isTrue = (text: string | null | undefined): boolean | null => (text === 'true' ? true : text === 'false' ? false : null)
        const isOnlySeen = seen !== null && query.get('filter_by_event_names') === 'true'
        const names = isOnlySeen ? [...seen].filter((one) => only?.includes(one) !== false) : only
        const isOfFlags = isTrue(flags)
        const withoutCore = query.get('exclude_core_properties') === 'true'
        const isNumerical = isTrue(numerical)
        // What is neither true nor false is the value of no property.
        const isNothing = (numerical !== null && isNumerical === null) || (flags !== null && isOfFlags === null)
        const { app, project } = visit
        const notes = await notesOf(visit)
        const asked = askedPage(
          visit,
          notes,
          { by: 'name', isDescending: false },
          {
            ids: idsOf(project.id),
            scopes: isNothing ? [] : scopesOf(type, index),
            without: [...(without ?? []), ...(type === 'event' ? internalProperties : []), ...(withoutCore ? coreProperties : [])],
            beginsNot: [
              ...(type === 'event' ? internalBeginnings : []),
              ...(withoutCore ? [coreBeginning] : []),
              ...(isOfFlags === false ? [flagBeginning] : []),
            ],
            ...(isOfFlags ? { begins: [flagBeginning] } : {}),
            ...(isNumerical === null ? {} : { isNumerical }),
            ...(names ? { names } : {}),
            ...(seen ? { first: [...seen] } : {}),
          },
        )
        const { count, page } = await (await app.project(project.id)).propertyNames(asked)
        const shown = await Promise.all(page.map((each) => present(visit, noted(project.id, notes, each), seen)))
        return new Reply(200, pageWith(shown, count, visit), ignoredIn(visit))
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
        const top_values = holds(visit, 'query:read') ? await topValues(visit, found.definition) : null
        return { ...(await present(visit, found, null)), top_values }
      },
    }),
    row({
      method: 'PATCH',
      path: ':id',
      name: 'update',
      summary:
        'Declares the type as which queries read it from then on, or changes the description, the tags, and whether it is verified or hidden',
      body: input,
      answer: definitionSchema,
      handle: async (visit) => {
        const before = await one(visit)
        const { type, name, group_type_index, property_type: known } = before.definition
        const { property_type = known, ...notes } = check(input, visit.body)
        if (property_type !== null && property_type !== known) {
          const row = { type, name, property_type, ...(type === 'group' ? { group_type_index } : {}) } as PropertyTypeInput
          await (await visit.app.project(visit.project.id)).definePropertyTypes([row])
        }
        const types = { before: { property_type: known }, after: { property_type } }
        await writeNote(visit, 'PropertyDefinition', before, notes, types)
        return present(visit, await one(visit), null)
      },
    }),
    row({
      method: 'DELETE',
      path: ':id',
      name: 'remove',
      summary: 'Removes its description and tags. It is listed again once another value arrives; stored values and the type stay',
      handle: async (visit) => removeDefinition(visit, 'PropertyDefinition', await one(visit)),
    }),
    row({
      method: 'POST',
      path: ':id/delete_values',
      name: 'delete_values',
      summary:
        'Deletes the property from all stored events, persons or groups, with its type and description ([records.md](records.md#deleting)). Of persons and groups also from the events that set it. Cannot be undone',
      level: 'admin',
      answer: deletionSchema,
      handle: async (visit) => deleteValues(visit, await one(visit)),
    }),
    row(activityOf('PropertyDefinition', ({ params }) => params.id ?? '', 'of removed ones')),
  ],
})
