import * as z from 'zod'
import { propertiesOf } from '../../../events/ingestion/decoding/imports.ts'
import { isTooLarge } from '../../../events/ingestion/properties/property-size.ts'
import { namesFirst } from '../../../lib/ids/anonymous-id.ts'
import { nameUuid } from '../../../lib/ids/name-uuid.ts'
import { isUuid } from '../../../lib/ids/time-ordered-uuid.ts'
import { fieldLimits } from '../../../limits/limits.ts'
import type { NamesAsked } from '../../../project.ts'
import type { ActorsResponse } from '../../../queries/actors/index.ts'
import { anyJson, check, integer, jsonObject, text } from '../../../service/accounts/fields.ts'
import { noNote } from '../../../service/accounts/projects/definition-notes.ts'
import { activitySchema } from '../../answers/activity.ts'
import { type GroupAnswer, type GroupTypeAnswer, groupSchema, type RelatedAnswer, relatedSchema, typeSchema } from '../../answers/groups.ts'
import { pageSchema } from '../../answers/pages.ts'
import { valuesSchema } from '../../answers/property-definitions.ts'
import { activityPage, activityParameters } from '../activity.ts'
import { failures } from '../errors.ts'
import { answerTo } from '../queries/ask.ts'
import { byUuids } from '../queries/list-parameters.ts'
import { recordValues, valuesParameters } from '../queries/property-values.ts'
import { pageBounds, pageWith, paging } from '../requests/pages.ts'
import { defineResource, type ProjectVisit, type Row, type RowMaker } from '../resource.ts'

const namespace = '4d0e3f1b-0f0f-4b8e-9b51-7a5a5f0b8c61'
const groupTypeLimit = 5

// Group types

const name = text({ max: 400, blank: true }).nullish()
const typeInput = z.object({ group_type_index: integer(0, groupTypeLimit - 1), name_singular: name, name_plural: name })
const typesInput = z.array(typeInput).max(fieldLimits.list.most)

const givenTypes = (body: unknown): z.infer<typeof typesInput> => {
  if (!Array.isArray(body)) throw failures.parse('Expected a list of objects with `group_type_index`, `name_singular` and `name_plural`.')
  if (body.length > groupTypeLimit) throw failures.parse(`There are at most ${groupTypeLimit} group types.`)
  return body.map((item) => check(typeInput, item))
}

/** Of each group type. */
const mostProperties = 2_000
const mostFrequent = (projectId: number, index: number): NamesAsked => ({
  ids: { namespace, prefix: `${projectId}:` },
  scopes: [`group_${index}`],
  order: [{ by: 'count', isDescending: true }],
  limit: mostProperties,
  offset: 0,
})

const noteOf = (projectId: number, index: number): string => nameUuid(namespace, `${projectId}:${index}`)

const typesOf = async ({ app, project }: ProjectVisit): Promise<GroupTypeAnswer[]> => {
  const [types, notes] = await Promise.all([
    app.project(project.id).then((data) => data.groupTypes()),
    app.accounts.definitionNotes.of(project.id),
  ])
  return types
    .map(({ name: group_type, index: group_type_index }) => {
      const { fields } = notes.get(noteOf(project.id, group_type_index)) ?? noNote
      const nameOf = (field: string) => (typeof fields[field] === 'string' ? (fields[field] as string) : null)
      return { group_type, group_type_index, name_singular: nameOf('name_singular'), name_plural: nameOf('name_plural') }
    })
    .sort((a, b) => a.group_type_index - b.group_type_index)
}

const groupTypes = defineResource({
  name: 'groups_types',
  summary: 'The types of groups, numbered by their first use ([records.md](records.md#groups))',
  path: '/api/projects/:project_id/groups_types',
  reach: 'project',
  object: 'group',
  rows: (row) => [
    row({
      method: 'GET',
      name: 'list',
      summary: 'The group types by their index; the list has no pages',
      answer: z.array(typeSchema),
      handle: typesOf,
    }),
    row({
      method: 'PATCH',
      path: 'update_metadata',
      name: 'update',
      summary: 'Sets the names under which types are shown. Events keep the type itself',
      body: typesInput,
      answer: z.array(typeSchema),
      handle: async (visit) => {
        const { accounts } = visit.app
        const before = await typesOf(visit)
        const given = givenTypes(visit.body)
        const strange = given.find(({ group_type_index: index }) => !before.some((one) => one.group_type_index === index))
        if (strange) throw failures.invalid(`There is no group type ${strange.group_type_index}.`, 'group_type_index')
        for (const { group_type_index: index, ...names } of given) {
          const fields = Object.fromEntries(Object.entries(names).map(([field, value]) => [field, value || null]))
          await accounts.definitionNotes.write(visit.project.id, noteOf(visit.project.id, index), { fields }, visit.caller.user)
          const { group_type, name_singular, name_plural } = before.find((one) => one.group_type_index === index)!
          const state = (of: object) => ({ id: index, name: group_type, fields: { ...of } })
          await accounts.definitionLog.note(
            visit.caller.user,
            visit.project,
            'GroupType',
            state({ name_singular, name_plural }),
            state({ name_singular, name_plural, ...fields }),
          )
        }
        return typesOf(visit)
      },
    }),
  ],
})

// Groups

const groupInput = z.object({
  group_type_index: integer(0, 4),
  group_key: text({ max: 400 }),
  group_properties: jsonObject().nullish(),
})
const setInput = z.object({ key: text({ max: 10_000 }), value: anyJson('body') })
const unsetInput = z.object({ $unset: text({ max: 10_000 }) })
const typeParameter = { group_type_index: 'The group type, 0 to 4' }
const groupParameters = { ...typeParameter, group_key: 'The group' }

const relatedDays = 90
const mostRelated = 100

const indexIn = (visit: ProjectVisit): number => {
  const given = visit.query.get('group_type_index')
  if (given === null || given === '')
    throw failures.invalid('group_type_index is required: the group type, a whole number from 0 to 4.', 'group_type_index')
  if (!/^[0-4]$/.test(given)) throw failures.invalid('group_type_index must be a whole number from 0 to 4.', 'group_type_index')
  return Number(given)
}
const keyIn = (visit: ProjectVisit): string => visit.query.get('group_key') || failing(failures.required('group_key'))
const failing = (error: Error): never => {
  throw error
}

const rowsOf = async <R extends readonly unknown[]>(visit: ProjectVisit, query: string, values: object): Promise<readonly R[]> =>
  ((await answerTo(visit, { kind: 'HogQLQuery', query, values })) as { results: readonly R[] }).results

const columns = 'index, key, toString(properties), created_at'
type GroupRow = readonly [index: number, key: string, properties: string, createdAt: string]
const present = ([index, key, properties, created_at]: GroupRow): GroupAnswer => ({
  group_type_index: Number(index),
  group_key: key,
  group_properties: JSON.parse(properties || '{}') as GroupAnswer['group_properties'],
  created_at,
})

const find = async (visit: ProjectVisit, index: number, key: string): Promise<GroupAnswer> => {
  const [row] = await rowsOf<GroupRow>(visit, `select ${columns} from groups where index = {index} and key = {key}`, { index, key })
  if (!row) throw failures.notFound('There is no group with this key.')
  return present(row)
}

const write = async (visit: ProjectVisit, set: Readonly<Record<string, unknown>>, unset: readonly string[]): Promise<GroupAnswer> => {
  const [index, key] = [indexIn(visit), keyIn(visit)]
  await find(visit, index, key)
  const stored = propertiesOf(set, 'value')
  await (await visit.app.project(visit.project.id)).changeGroup({ group_type_index: index, group_key: key, set: stored, unset })
  const after = await find(visit, index, key)
  if (isTooLarge(stored, after.group_properties))
    throw failures.invalid('The properties of the group would be too large. Remove others first.', 'value')
  const state = (names: readonly string[]) => ({ id: `${index}:${key}`, name: key, fields: { properties: names } })
  await visit.app.accounts.definitionLog.note(
    visit.caller.user,
    visit.project,
    'Group',
    state([]),
    state([...Object.keys(stored), ...unset]),
  )
  return after
}

const recent = `timestamp > now() - interval ${relatedDays} day`

const relatedPersons = async (visit: ProjectVisit, index: number, key: string): Promise<RelatedAnswer[]> => {
  const owners = `select distinct toString(person_id) from events where ${recent} and $group_${index} = {key} limit ${mostRelated}`
  const uuids = (await rowsOf<[string]>(visit, owners, { key })).map(([uuid]) => uuid)
  if (uuids.length === 0) return []
  const query = {
    kind: 'ActorsQuery',
    select: ['actor', 'created_at'],
    fixedProperties: [byUuids(uuids)],
    orderBy: ['created_at DESC', 'id'],
    limit: mostRelated,
  }
  const { results } = (await answerTo(visit, query)) as ActorsResponse
  return results.flatMap(([actor]) => {
    const { id, properties, created_at, ...rest } = actor as unknown as RelatedAnswer
    const distinct_ids = namesFirst(rest.distinct_ids)
    return created_at
      ? [{ type: 'person' as const, id, group_type_index: null, group_key: null, distinct_ids, properties, created_at }]
      : []
  })
}

const relatedGroups = async (visit: ProjectVisit, of: number, where: string, values: object): Promise<RelatedAnswer[]> => {
  const keys = `select distinct $group_${of} from events where ${recent} and $group_${of} != '' and ${where} limit ${mostRelated}`
  const rows = await rowsOf<GroupRow>(
    visit,
    `select ${columns} from groups where index = ${of} and key in (${keys}) order by created_at desc, key`,
    values,
  )
  return rows.map(present).map(({ group_key, group_properties, created_at }) => ({
    type: 'group',
    id: group_key,
    group_type_index: of,
    group_key,
    distinct_ids: [],
    properties: group_properties,
    created_at,
  }))
}

const create = async (visit: ProjectVisit): Promise<GroupAnswer> => {
  const { group_type_index: index, group_key: key, group_properties } = check(groupInput, visit.body)
  if (!(await typesOf(visit)).some((one) => one.group_type_index === index))
    throw failures.invalid(`The project has no group type ${index}: a type is created by its first event or group.`, 'group_type_index')
  const [known] = await rowsOf<GroupRow>(visit, `select ${columns} from groups where index = {index} and key = {key}`, { index, key })
  if (known) throw failures.invalid('A group with this key already exists', 'group_key')
  const stored = propertiesOf(group_properties ?? {}, 'group_properties')
  await (await visit.app.project(visit.project.id)).changeGroup({ group_type_index: index, group_key: key, set: stored, unset: [] })
  const made = await find(visit, index, key)
  await visit.app.accounts.definitionLog.note(visit.caller.user, visit.project, 'Group', null, {
    id: `${index}:${key}`,
    name: key,
    fields: { properties: Object.keys(stored) },
  })
  return made
}

const recordRows = (row: RowMaker<'project'>): readonly Row[] => [
  row({
    method: 'GET',
    name: 'list',
    summary: 'Groups of a type, the newest first',
    queryParameters: {
      ...typeParameter,
      search: 'Part of the key or of the name, ignoring case',
      ...paging,
    },
    answer: pageSchema(groupSchema),
    handle: async (visit) => {
      const index = indexIn(visit)
      const { limit, offset } = pageBounds(visit.query)
      const search = visit.query.get('search') ?? ''
      const contains = (value: string) => `positionCaseInsensitiveUTF8(toString(${value}), {search}) > 0`
      const conditions = ['index = {index}', ...(search ? [`(${contains('key')} or ${contains('properties.name')})`] : [])]
      const where = conditions.join(' and ')
      const values = { index, search }
      const rows = await rowsOf<GroupRow>(
        visit,
        `select ${columns} from groups where ${where} order by created_at desc, index, key limit ${limit} offset ${offset}`,
        values,
      )
      const isAll = offset === 0 && rows.length < limit
      const count = isAll
        ? rows.length
        : Number((await rowsOf<[number]>(visit, `select count() from groups where ${where}`, values))[0]![0])
      return pageWith(rows.map(present), count, visit)
    },
  }),
  row({
    method: 'POST',
    name: 'create',
    summary: 'Creates a group of a known type; 400 if its key is taken',
    body: groupInput,
    status: 201,
    answer: groupSchema,
    handle: create,
  }),
  row({
    method: 'GET',
    path: 'find',
    name: 'find',
    summary: 'One group by its key',
    queryParameters: groupParameters,
    answer: groupSchema,
    handle: (visit) => find(visit, indexIn(visit), keyIn(visit)),
  }),
]

const propertyRows = (row: RowMaker<'project'>): readonly Row[] => [
  row({
    method: 'GET',
    path: 'property_definitions',
    name: 'property_definitions',
    summary: `The names of properties by group type, the most frequent first, at most ${mostProperties} of a type`,
    limits: ['api'],
    answer: z.record(z.string(), z.array(z.object({ name: z.string(), count: z.int() }))),
    handle: async ({ app, project }) => {
      const found: Record<string, { name: string; count: number }[]> = {}
      const data = await app.project(project.id)
      for (let index = 0; index < groupTypeLimit; index++) {
        const { page } = await data.propertyNames(mostFrequent(project.id, index))
        if (page.length === 0) continue
        found[index] = page.map(({ name, counts }) => ({ name, count: Object.values(counts).reduce((sum, one) => sum + one, 0) }))
      }
      return found
    },
  }),
  row({
    method: 'GET',
    path: 'property_values',
    name: 'property_values',
    summary: 'The values of a property, the most frequent first; elements of lists are counted separately',
    queryParameters: { ...typeParameter, ...valuesParameters },
    answer: valuesSchema,
    handle: (visit) => recordValues(visit, `(select * from groups where index = ${indexIn(visit)})`),
  }),
  row({
    method: 'POST',
    path: 'update_property',
    name: 'update_property',
    summary: 'Sets one property',
    queryParameters: groupParameters,
    body: setInput,
    answer: groupSchema,
    handle: (visit) => {
      const { key, value = null } = check(setInput, visit.body)
      return write(visit, { [key]: value }, [])
    },
  }),
  row({
    method: 'POST',
    path: 'delete_property',
    name: 'delete_property',
    summary: 'Removes one property',
    queryParameters: groupParameters,
    body: unsetInput,
    answer: groupSchema,
    handle: (visit) => write(visit, {}, [check(unsetInput, visit.body).$unset]),
  }),
]

const groups = defineResource({
  name: 'groups',
  summary: 'Groups and their properties ([records.md](records.md#groups))',
  path: '/api/projects/:project_id/groups',
  reach: 'project',
  object: 'group',
  limits: ['api', 'query'],
  rows: (row) => [
    ...recordRows(row),
    row({
      method: 'GET',
      path: 'related',
      name: 'related',
      summary: `The persons and groups that share events with this one from the last ${relatedDays} days, at most ${mostRelated} of a type`,
      queryParameters: {
        ...typeParameter,
        group_type_index: 'The group type; without it, `id` is a person',
        id: 'The key of the group, or the uuid of the person',
      },
      answer: z.array(relatedSchema),
      handle: async (visit) => {
        const id = visit.query.get('id') || failing(failures.required('id'))
        const isPerson = !visit.query.get('group_type_index')
        if (isPerson && !isUuid(id)) throw failures.invalid('A person is identified by its uuid.', 'id')
        const index = isPerson ? null : indexIn(visit)
        const where = isPerson ? 'toString(person_id) = {id}' : `$group_${index} = {id}`
        const found = index === null ? [] : await relatedPersons(visit, index, id)
        for (const { group_type_index } of await typesOf(visit))
          if (group_type_index !== index)
            found.push(...(await relatedGroups(visit, group_type_index, where, { id: isPerson ? id.toLowerCase() : id })))
        return found
      },
    }),
    ...propertyRows(row),
    row({
      method: 'GET',
      path: 'activity',
      name: 'activity',
      summary: 'Changes of a group and who made them, newest first',
      scope: 'activity_log:read',
      limits: ['api'],
      queryParameters: { ...groupParameters, ...activityParameters },
      answer: activitySchema,
      handle: (visit) => {
        const item = visit.query.get('group_key') === null ? {} : { item_id: `${indexIn(visit)}:${keyIn(visit)}` }
        return activityPage(visit, { project_id: visit.project.id, scope: 'Group', ...item })
      },
    }),
  ],
})

export const groupResources = [groupTypes, groups]
