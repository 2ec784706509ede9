import { Readable } from 'node:stream'
import * as z from 'zod'
import { propertiesOf } from '../../../events/ingestion/decoding/imports.ts'
import type { PersonInput } from '../../../events/ingestion/decoding/inputs.ts'
import { isTooLarge } from '../../../events/ingestion/properties/property-size.ts'
import type { PersonChange } from '../../../events/ingestion/work.ts'
import { namesFirst } from '../../../lib/ids/anonymous-id.ts'
import { isUuid } from '../../../lib/ids/time-ordered-uuid.ts'
import { tokenLength, withinJson } from '../../../limits/bounds.ts'
import type { PersonVersion } from '../../../project.ts'
import type { ActorsResponse } from '../../../queries/actors/index.ts'
import { anyJson, check, flag, integer, jsonObject, listOf, text } from '../../../service/accounts/fields.ts'
import { pageSchema } from '../../answers/pages.ts'
import {
  deletionSchema,
  doneSchema,
  idsShown,
  type PersonAnswer,
  type PersonCohortsAnswer,
  personCohortsSchema,
  personSchema,
} from '../../answers/persons.ts'
import { valuesSchema } from '../../answers/property-definitions.ts'
import { holds } from '../access/access.ts'
import { activityOf, activityOfAll } from '../activity.ts'
import { failures } from '../errors.ts'
import { answerTo, download } from '../queries/ask.ts'
import { byUuids, givenFilters } from '../queries/list-parameters.ts'
import { recordValues, valuesParameters } from '../queries/property-values.ts'
import { queryCallerOf } from '../queries/query-caller.ts'
import { pageBounds, pageWith, paging } from '../requests/pages.ts'
import { defineResource, type ProjectVisit, Reply, type Row, type RowMaker } from '../resource.ts'
import { mostDeleted, onceEach, portions, removePersons, type Selected, uuidsIn } from './person-deletions.ts'

/** Distinct ids, and members of a cohort, that are looked up at a time. */
const idsLookedUp = 1_000
const membersRead = 10_000
const noUuid = ''
const mostMerged = 1_000
const mostSplit = 10_000
const mostImported = 1_000
const cohortsOfStatement = 50
const mostNames = 10_000
/** Entries of the activity log read at a time. */
const changesRead = 1_000
/** Versions of a person, and groups, that are read at a time. A version has at most half a megabyte. */
const versionsRead = 50
const groupsRead = 200
const utf8 = new TextEncoder()
/** What a key needs besides `person:read`. */
const scopesOfEverything = ['query:read', 'activity_log:read'] as const
const eventsOfPerson = `select 'event' as type, uuid, event, timestamp, distinct_id, properties, elements_chain, created_at
  from events where person_id = {uuid} order by timestamp, uuid`

/** An id that is looked up. */
const givenId = z.string().max(tokenLength)
const propertiesInput = z.object({ properties: jsonObject('body').meta({ description: 'Properties to set; the others stay' }) })
const propertyInput = z.object({ key: text({ max: 10_000 }), value: anyJson('body') })
const unsetInput = z.object({ $unset: text({ max: 10_000 }) })
const splitInput = z.object({
  main_distinct_id: text({ max: 200 }).nullish().meta({
    description:
      'The distinct id that stays with the person and its properties; all others are split off. Default: its first id, without properties',
  }),
  distinct_ids_to_split: listOf(givenId, 'ids').nullish().meta({ description: 'Only these are split off' }),
})
const mergeInput = z.object({
  ids: listOf(givenId, 'ids').meta({ description: `Uuids of the persons to merge into it, at most ${mostMerged}` }),
})
const bulkInput = z.object({
  ids: listOf(givenId, 'ids')
    .nullish()
    .meta({ description: `Uuids, at most ${mostDeleted}` }),
  distinct_ids: listOf(givenId, 'ids')
    .nullish()
    .meta({ description: `Instead of \`ids\`, at most ${mostDeleted}` }),
  cohort: integer()
    .nullish()
    .meta({ description: `Instead of \`ids\`: the members of this cohort, the first ${mostDeleted} of them` }),
  delete_events: flag().optional(),
})
const importInput = z.object({
  persons: z
    .array(
      // Other fields are refused by name, with the rows.
      withinJson(
        z.looseObject({
          distinct_ids: listOf(z.union([givenId, z.number()]), 'ids').meta({
            description: 'At least one; who has one of them already is added to',
          }),
          properties: jsonObject('body').nullish().meta({ description: 'Properties to set; the others stay' }),
          created_at: text({ max: 100 }).nullish().meta({ description: 'The earliest counts. Default: now' }),
          is_identified: flag().optional(),
        }),
        'body',
      ),
    )
    .max(mostImported)
    .meta({ description: `At most ${mostImported}` }),
})
const importedSchema = z.object({ ids: z.array(z.string()).meta({ description: 'Uuids, in the order of the rows' }) })
const eventsToo = { delete_events: '`true`: also deletes all its events, which cannot be undone' }

interface Actor extends Omit<PersonAnswer, 'uuid' | 'name' | 'type'> {}
interface Shown {
  readonly display_name: string
}

const dataOf = ({ app, project }: ProjectVisit) => app.project(project.id)
const isTrue = (text: string | null) => /^(true|1)$/i.test(text ?? '')

const present = ([actor, display]: readonly unknown[], most = Number.POSITIVE_INFINITY): PersonAnswer => {
  const { id, properties, created_at, is_identified, ...rest } = actor as Actor
  const distinct_ids = namesFirst(rest.distinct_ids) // engines return them in any order
  return {
    id,
    uuid: id,
    type: 'person',
    name: (display as Shown).display_name === id ? (distinct_ids[0] ?? id) : (display as Shown).display_name,
    distinct_ids: distinct_ids.slice(0, most),
    properties,
    created_at,
    is_identified,
  }
}

interface Selection {
  readonly search?: string | null
  readonly filters?: readonly object[]
  readonly given?: unknown
}
const asked = ({ search = null, filters = [], given = [] }: Selection) => ({
  kind: 'ActorsQuery' as const,
  search,
  properties: given,
  fixedProperties: filters,
})

const personsOf = async (visit: ProjectVisit, selection: Selection, bounds: { limit: number; offset: number }) => {
  const query = {
    ...asked(selection),
    select: ['actor', 'person_display_name', 'created_at'],
    orderBy: ['created_at DESC', 'id'],
    ...bounds,
  }
  return ((await answerTo(visit, query)) as ActorsResponse).results
}

const countOf = async (visit: ProjectVisit, selection: Selection): Promise<number> => {
  const { results } = (await answerTo(visit, { ...asked(selection), select: ['count()'] })) as ActorsResponse
  return Number(results[0]?.[0] ?? 0)
}

const membersOf = async (visit: ProjectVisit, given: string) => {
  const id = /^\d{1,9}$/.test(given) ? Number(given) : null
  const cohort = id !== null && (await (await dataOf(visit)).cohorts.list()).find((one) => one.id === id)
  if (!cohort) throw failures.invalid(`There is no cohort ${JSON.stringify(given)} in this project.`, 'cohort')
  return { type: 'cohort', key: 'id', value: id, operator: 'in' }
}

const byDistinctIds = (ids: readonly string[]) => ({ type: 'person', key: 'distinct_id', value: ids, operator: 'exact' })

/** The cohorts that a person is in now. */
async function cohortsWith(visit: ProjectVisit, uuid: string): Promise<PersonCohortsAnswer['results']> {
  const { cohorts } = await dataOf(visit)
  const all = await cohorts.list()
  const states = await cohorts.states(all.map((cohort) => cohort.id))
  const sound = all.filter((cohort) => !states.get(cohort.id)?.failure)
  const found: PersonCohortsAnswer['results'] = []
  for (let at = 0; at < sound.length; at += cohortsOfStatement) {
    const some = sound.slice(at, at + cohortsOfStatement)
    const columns = some.map((cohort) => `id in cohort ${cohort.id}`).join(', ')
    const query = { kind: 'HogQLQuery', query: `select ${columns} from persons where toString(id) = {uuid}`, values: { uuid } }
    const { results } = (await answerTo(visit, query)) as { results: unknown[][] }
    for (const [i, { id, name, is_static }] of some.entries())
      if (Number(results[0]?.[i])) found.push({ id, name, is_static, count: states.get(id)?.count ?? 0 })
  }
  return found
}

/** Lines of events with their properties as JSON, not as a text of JSON. */
async function* eventLines(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array, void, undefined> {
  const decoder = new TextDecoder()
  let rest = ''
  for await (const piece of bytes) {
    const lines = (rest + decoder.decode(piece, { stream: true })).split('\n')
    rest = lines.pop()!
    const whole = lines.map((line) => {
      const { properties, ...event } = JSON.parse(line) as { readonly properties: string }
      return `${JSON.stringify(event).slice(0, -1)},"properties":${properties}}\n`
    })
    if (whole.length > 0) yield utf8.encode(whole.join(''))
  }
}

/** Everything that is stored about a person, a JSON text a line. */
async function* everythingAbout(visit: ProjectVisit, person: PersonAnswer, events: ReadableStream<Uint8Array>) {
  try {
    yield* recordsAbout(visit, person)
    yield* eventLines(events)
  } finally {
    // Of a client that left before the first event.
    if (!events.locked) await events.cancel()
  }
}

async function* recordsAbout(visit: ProjectVisit, person: PersonAnswer) {
  const line = (type: string, value: object) => utf8.encode(`${JSON.stringify({ type, ...value })}\n`)
  yield line('person', person)
  for (const { id, name, is_static } of await cohortsWith(visit, person.uuid)) yield line('cohort', { id, name, is_static })
  const { activity } = visit.app.accounts.context.store.read
  const about = { project_id: visit.project.id, scope: 'Person' as const, item_id: person.uuid }
  for (let offset = 0; ; offset += changesRead) {
    const changes = await activity.find(about, { newestFirst: 'created_at', limit: changesRead, offset })
    for (const { activity: change, detail, created_at } of changes) yield line('change', { activity: change, detail, created_at })
    if (changes.length < changesRead) break
  }
  const data = await dataOf(visit)
  for (let after: PersonVersion | null = null; ; ) {
    const page: readonly PersonVersion[] = await data.personHistory({ person: person.uuid, after, limit: versionsRead })
    for (const { changedAt, properties } of page)
      yield line('history', { changed_at: changedAt?.toISOString() ?? null, properties: JSON.parse(properties) })
    after = page.at(-1) ?? after
    if (page.length < versionsRead) break
  }
  for (const { index } of await data.groupTypes()) for await (const group of groupsOf(visit, person.uuid, index)) yield line('group', group)
}

/** The groups of one type that the events of a person name, as far as they have properties. */
async function* groupsOf(visit: ProjectVisit, uuid: string, index: number) {
  const field = `$group_${index}`
  const query = `select key, created_at, properties from groups where index = ${index} and key > {after}
    and key in (select ${field} from events where person_id = {uuid} and ${field} != '') order by key limit ${groupsRead}`
  for (let after = ''; ; ) {
    const asked = { kind: 'HogQLQuery' as const, query, values: { uuid, after } }
    const { results } = (await answerTo(visit, asked)) as { results: [string, string, unknown][] }
    for (const [key, created_at, properties] of results)
      yield { index, key, created_at, properties: typeof properties === 'string' ? JSON.parse(properties) : properties }
    if (results.length < groupsRead) return
    after = results.at(-1)![0]
  }
}

const noPerson = 'There is no person with this uuid or distinct id.'

/** By its uuid, or else by a distinct id. */
const find = async (visit: ProjectVisit): Promise<PersonAnswer> => {
  const id = visit.params.id ?? ''
  const one = { limit: 1, offset: 0 }
  const [known] = isUuid(id) ? await personsOf(visit, { filters: [byUuids([id.toLowerCase()])] }, one) : []
  const found = known ?? (await personsOf(visit, { filters: [byDistinctIds([id])] }, one))[0]
  if (!found) throw failures.notFound(noPerson)
  return present(found)
}

/** Only uuids: a person may have hundreds of thousands of ids. */
const uuidsOf = async (visit: ProjectVisit, filter: object, limit: number): Promise<string[]> => {
  const query = { ...asked({ filters: [filter] }), select: ['id'], orderBy: ['created_at DESC', 'id'], limit, offset: 0 }
  return ((await answerTo(visit, query)) as ActorsResponse).results.map((row) => String(row[0]))
}

const findUuid = async (visit: ProjectVisit): Promise<string> => {
  const id = visit.params.id ?? ''
  const [known] = isUuid(id) ? await uuidsOf(visit, byUuids([id.toLowerCase()]), 1) : []
  const found = known ?? (await uuidsOf(visit, byDistinctIds([id]), 1))[0]
  if (!found) throw failures.notFound(noPerson)
  return found
}

const change = async (visit: ProjectVisit, changes: readonly PersonChange[]): Promise<readonly boolean[]> =>
  (await dataOf(visit)).changePersons(changes)

/** Changes one person, which may be deleted or merged by somebody else meanwhile. */
const changeOne = async (visit: ProjectVisit, changed: PersonChange): Promise<PersonAnswer> => {
  const [isThere] = await change(visit, [changed])
  if (!isThere) throw failures.notFound()
  return find({ ...visit, params: { ...visit.params, id: changed.person } })
}

const write = async (visit: ProjectVisit, person: PersonAnswer, set: Readonly<Record<string, unknown>>, unset: readonly string[]) => {
  const stored = propertiesOf(set, 'properties')
  const after = await changeOne(visit, { change: 'write', person: person.uuid, set: stored, unset })
  if (isTooLarge(stored, after.properties))
    throw failures.invalid('The properties of the person would be too large. Remove others first.', 'properties')
  const names = [...Object.keys(stored), ...unset]
  await visit.app.accounts.definitionLog.persons(visit.caller.user, visit.project, {
    activity: 'updated',
    persons: [person.uuid],
    changes: [{ field: 'properties', after: names }],
  })
  return after
}

/** The persons of distinct ids. Events without a person have ids, too. */
async function ofDistinctIds(visit: ProjectVisit, given: readonly string[]): Promise<Selected> {
  const ids = [...new Set(given)]
  const persons = new Map<string, number>()
  for (const some of portions(ids, idsLookedUp)) {
    const query = `select toString(person_id), count() from person_distinct_ids where distinct_id in {some} group by person_id limit ${idsLookedUp}`
    const { results } = (await answerTo(visit, { kind: 'HogQLQuery', query, values: { some } })) as { results: [string, number][] }
    for (const [uuid, count] of results) persons.set(uuid, (persons.get(uuid) ?? 0) + Number(count))
  }
  return { by: 'distinct_ids', count: ids.length, persons }
}

/** The members that a cohort has now, the first ones of a large one. */
async function ofCohort(visit: ProjectVisit, cohort: number): Promise<Selected> {
  const filter = await membersOf(visit, String(cohort))
  const uuids: string[] = []
  for (let after = noUuid; uuids.length <= mostDeleted; after = uuids.at(-1)!) {
    const query = {
      kind: 'HogQLQuery' as const,
      query: `select toString(id) from persons where id in cohort ${filter.value} and toString(id) > {after} order by toString(id) limit ${membersRead}`,
      values: { after },
    }
    const { results } = (await answerTo(visit, query)) as { results: [string][] }
    for (const [uuid] of results) uuids.push(uuid)
    if (results.length < membersRead) break
  }
  const some = uuids.slice(0, mostDeleted)
  return { by: 'cohort', cohort, count: some.length, isComplete: some.length === uuids.length, persons: onceEach(some) }
}

async function chosen(visit: ProjectVisit): Promise<{ selected: Selected; withEvents: boolean }> {
  const { ids, distinct_ids, cohort, delete_events } = check(bulkInput, visit.body)
  const withEvents = delete_events ?? isTrue(visit.query.get('delete_events'))
  const given = [ids, distinct_ids, cohort].filter((one) => one != null)
  if (given.length === 0) throw failures.required('ids')
  if (given.length > 1) throw failures.invalid('Only one of `ids`, `distinct_ids` and `cohort` can be given.', 'ids')
  if (ids) {
    const uuids = uuidsIn(ids, mostDeleted)
    return { selected: { by: 'ids', count: uuids.length, persons: onceEach(uuids) }, withEvents }
  }
  if (cohort != null) return { selected: await ofCohort(visit, cohort), withEvents }
  if (distinct_ids!.length > mostDeleted) throw failures.invalid(`At most ${mostDeleted} persons at a time.`, 'distinct_ids')
  return { selected: await ofDistinctIds(visit, distinct_ids!), withEvents }
}

const leaving = (person: PersonAnswer, body: unknown): readonly string[] | null => {
  const { main_distinct_id: main, distinct_ids_to_split: wanted } = check(splitInput, body ?? {})
  const own = new Set(person.distinct_ids)
  const named = new Set(wanted)
  const strange = [...(main == null ? [] : [main]), ...named].find((id) => !own.has(id))
  if (strange !== undefined)
    throw failures.invalid(
      `The person has no distinct id ${JSON.stringify(strange)}.`,
      main === strange ? 'main_distinct_id' : 'distinct_ids_to_split',
    )
  if (main != null && named.has(main))
    throw failures.invalid('The main distinct id stays with the person: it cannot be split off.', 'distinct_ids_to_split')
  if (wanted && named.size === own.size) throw failures.invalid('One distinct id must stay with the person.', 'distinct_ids_to_split')
  const ids = wanted ? [...named] : main == null ? null : person.distinct_ids.filter((id) => id !== main)
  if ((ids ?? person.distinct_ids.slice(1)).length > mostSplit)
    throw failures.invalid(`At most ${mostSplit} distinct ids can be split off at a time: list them.`, 'distinct_ids_to_split')
  return ids
}

const listRows = (row: RowMaker<'project'>): readonly Row[] => [
  row({
    method: 'GET',
    name: 'list',
    summary: 'Persons, the newest first',
    queryParameters: {
      search: 'Part of the email, the name, the uuid or a distinct id, ignoring case',
      distinct_id: 'Only the person with this distinct id',
      email: 'Only persons with this email',
      properties: 'A JSON list of filters, as in queries',
      cohort: 'Only members of the cohort with this id',
      ...paging,
    },
    answer: pageSchema(personSchema),
    handle: async (visit) => {
      const { query } = visit
      const bounds = pageBounds(query)
      const [distinctId, email] = [query.get('distinct_id'), query.get('email')]
      const filters: object[] = [
        ...(distinctId ? [byDistinctIds([distinctId])] : []),
        ...(email ? [{ type: 'person', key: 'email', value: [email], operator: 'exact' }] : []),
      ]
      const cohort = query.get('cohort')
      if (cohort) filters.push(await membersOf(visit, cohort))
      const selection: Selection = { search: query.get('search') || null, filters, given: givenFilters(visit, 'person') }
      const rows = await personsOf(visit, selection, bounds)
      const isAll = bounds.offset === 0 && rows.length < bounds.limit
      const count = isAll ? rows.length : await countOf(visit, selection)
      return pageWith(
        rows.map((one) => present(one, idsShown)),
        count,
        visit,
      )
    },
  }),
  row({
    method: 'GET',
    path: 'values',
    name: 'values',
    summary: 'The values of a property, the most frequent first; elements of lists are counted separately',
    queryParameters: valuesParameters,
    answer: valuesSchema,
    handle: (visit) => recordValues(visit, 'persons'),
  }),
  row({
    method: 'GET',
    path: 'properties',
    name: 'properties',
    summary: `The names of the properties that persons have, and how many persons have each: the most frequent ones first, at most ${mostNames}`,
    answer: z.array(z.object({ name: z.string(), count: z.int() })),
    handle: async (visit) => {
      const keys = 'select arrayJoin(JSONExtractKeys(toString(properties))) as name from persons'
      const query = `select name, count() as n from (${keys}) group by name order by n desc, name limit ${mostNames}`
      const { results } = (await answerTo(visit, { kind: 'HogQLQuery', query })) as { results: [string, number][] }
      return results.map(([name, count]) => ({ name, count: Number(count) }))
    },
  }),
  row({
    method: 'GET',
    path: 'cohorts',
    name: 'cohorts',
    summary: 'The cohorts that a person is in now',
    queryParameters: { person_id: 'Its uuid or a distinct id' },
    answer: personCohortsSchema,
    handle: async (visit) => {
      const id = visit.query.get('person_id')
      if (!id) throw failures.required('person_id')
      const { uuid } = await find({ ...visit, params: { ...visit.params, id } })
      return { results: await cohortsWith(visit, uuid) }
    },
  }),
  row(activityOfAll('Person', 'persons', { name: 'all_activity', limits: ['api'] })),
]

/** Changes of properties. */
const propertyRows = (row: RowMaker<'project'>): readonly Row[] => [
  ...(['PATCH', 'POST'] as const).map((method) =>
    row({
      method,
      path: ':id',
      name: method === 'PATCH' ? 'update' : 'update_by_post',
      summary: 'Sets properties; those that are not named stay',
      body: propertiesInput,
      answer: personSchema,
      handle: async (visit) => write(visit, await find(visit), check(propertiesInput, visit.body).properties, []),
    }),
  ),
  row({
    method: 'POST',
    path: ':id/update_property',
    name: 'update_property',
    summary: 'Sets one property',
    body: propertyInput,
    answer: doneSchema,
    handle: async (visit) => {
      const { key, value = null } = check(propertyInput, visit.body)
      return { success: true, person: await write(visit, await find(visit), { [key]: value }, []) }
    },
  }),
  row({
    method: 'POST',
    path: ':id/delete_property',
    name: 'delete_property',
    summary: 'Removes one property',
    body: unsetInput,
    answer: doneSchema,
    handle: async (visit) => {
      const { $unset } = check(unsetInput, visit.body)
      return { success: true, person: await write(visit, await find(visit), {}, [$unset]) }
    },
  }),
]

/** Which distinct ids a person has. */
const identityRows = (row: RowMaker<'project'>): readonly Row[] => [
  row({
    method: 'POST',
    path: ':id/split',
    name: 'split',
    summary: 'Splits distinct ids off into persons of their own, which take their events with them',
    body: splitInput,
    answer: doneSchema,
    handle: async (visit) => {
      const person = await find(visit)
      const ids = leaving(person, visit.body)
      const after = await changeOne(visit, { change: 'split', person: person.uuid, ids })
      await visit.app.accounts.definitionLog.persons(visit.caller.user, visit.project, {
        activity: 'split',
        persons: [person.uuid],
        changes: [{ field: 'distinct_ids', after: after.distinct_ids }],
      })
      return { success: true, person: after }
    },
  }),
  row({
    method: 'POST',
    path: ':id/merge',
    name: 'merge',
    summary: 'Merges other persons into this one, whose properties take precedence',
    body: mergeInput,
    answer: doneSchema,
    handle: async (visit) => {
      const person = await find(visit)
      const sources = uuidsIn(check(mergeInput, visit.body).ids, mostMerged)
      if (sources.includes(person.uuid)) throw failures.invalid('A person cannot be merged into itself.', 'ids')
      const found = sources.length > 0 ? await countOf(visit, { filters: [byUuids(sources)] }) : 0
      if (found < sources.length) throw failures.invalid('Some of these persons do not exist.', 'ids')
      const after = await changeOne(visit, { change: 'merge', person: person.uuid, sources })
      await visit.app.accounts.definitionLog.persons(visit.caller.user, visit.project, {
        activity: 'merged',
        persons: [person.uuid],
        changes: [{ field: 'persons', after: sources }],
      })
      return { success: true, person: after }
    },
  }),
]

export const persons = defineResource({
  name: 'persons',
  summary: 'The persons of a project ([records.md](records.md))',
  path: '/api/projects/:project_id/persons',
  reach: 'project',
  object: 'person',
  limits: ['api', 'query'],
  rows: (row) => [
    ...listRows(row),
    row({
      method: 'POST',
      path: 'bulk_delete',
      name: 'bulk_delete',
      summary: 'Deletes persons, given by a list or a cohort, with or without their events; the answer is a receipt',
      body: bulkInput,
      queryParameters: eventsToo,
      status: 202,
      answer: deletionSchema,
      handle: async (visit) => {
        const { selected, withEvents } = await chosen(visit)
        return removePersons(visit, selected, withEvents)
      },
    }),
    row({
      method: 'POST',
      path: 'import',
      name: 'import',
      summary:
        'Makes persons, who need no events, or adds to those who are known by one of the ids; who is named in one row becomes one person. The same rows again change nothing',
      body: importInput,
      answer: importedSchema,
      handle: async (visit) => {
        const { persons: rows } = check(importInput, visit.body)
        const { ids } = await (await dataOf(visit)).importPersons(rows as readonly PersonInput[])
        return { ids }
      },
    }),
    row({
      method: 'GET',
      path: ':id',
      name: 'retrieve',
      summary: 'One person, by its uuid or a distinct id',
      answer: personSchema,
      handle: find,
    }),
    row({
      method: 'GET',
      path: ':id/everything',
      name: 'everything',
      summary:
        'Everything that is stored about a person, as lines of JSON: the person, its cohorts, changes by users, the history of its properties, its groups, and its events',
      handle: async (visit) => {
        const missing = scopesOfEverything.find((scope) => !holds(visit, scope))
        if (missing) throw failures.missingScope(missing)
        const person = await find(visit)
        const query = { kind: 'HogQLQuery', query: eventsOfPerson, values: { uuid: person.uuid } }
        const request = { query, format: null, client_query_id: null }
        const events = await download(visit.app, visit.project, request, queryCallerOf(visit), {
          format: 'jsonl',
          breakOff: visit.breakOff,
        })
        const lines = everythingAbout(visit, person, events.body)
        return new Reply(200, Readable.toWeb(Readable.from(lines, { objectMode: false })), {
          'content-type': 'application/x-ndjson',
          'content-disposition': `attachment; filename="person-${person.uuid}.jsonl"`,
        })
      },
    }),
    ...propertyRows(row),
    ...identityRows(row),
    row({
      method: 'DELETE',
      path: ':id',
      name: 'remove',
      summary: 'Deletes a person; its events stay without a person, unless they are deleted too; the answer is a receipt',
      queryParameters: eventsToo,
      status: 202,
      answer: deletionSchema,
      handle: async (visit) => {
        const persons = onceEach([await findUuid(visit)])
        return removePersons(visit, { by: 'ids', count: 1, persons }, isTrue(visit.query.get('delete_events')))
      },
    }),
    row(activityOf('Person', ({ params }) => (params.id ?? '').toLowerCase(), 'of deleted ones, by uuid', { limits: ['api'] })),
  ],
})
