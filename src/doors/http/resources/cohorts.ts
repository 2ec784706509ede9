import * as z from 'zod'
import { tokenLength } from '../../../limits/bounds.ts'
import { fieldLimits } from '../../../limits/limits.ts'
import type { StoredCohort } from '../../../project.ts'
import type { ActorsResponse } from '../../../queries/actors/index.ts'
import { check, flag, jsonList, jsonObject, listOf, text } from '../../../service/accounts/fields.ts'
import type { DefinitionState } from '../../../service/accounts/projects/definition-log.ts'
import { type CohortAnswer, cohortSchema, personSchema } from '../../answers/cohorts.ts'
import { pageSchema } from '../../answers/pages.ts'
import { activityOf } from '../activity.ts'
import { presentAuthor, time } from '../present.ts'
import { answerTo } from '../queries/ask.ts'
import { defineRecords } from '../records.ts'
import { pageBounds, pageWith, paging } from '../requests/pages.ts'
import { searched, searchParameter } from '../requests/search.ts'
import type { ProjectVisit } from '../resource.ts'
import { definitionId, deletedField } from './actions.ts'

const memberId = z.string().max(tokenLength)
const cohortInput = z.object({
  name: text({ max: 400 }),
  description: text({ blank: true }).nullish(),
  is_static: flag().optional(),
  filters: jsonObject('definition')
    .nullish()
    .meta({ description: 'The condition of a dynamic cohort: `{"properties": {"type": "AND", "values": […]}}`' }),
  groups: jsonList('definition').nullish().meta({ description: 'The older way to write `filters`' }),
  person_ids: listOf(memberId, 'ids').nullish().meta({ description: 'Members of a static cohort, by their uuids' }),
  distinct_ids: listOf(memberId, 'ids').nullish().meta({ description: 'Members of a static cohort' }),
  csv: z
    .string()
    .max(fieldLimits.body.most)
    .nullish()
    .meta({ description: 'Members of a static cohort: the column `person_id` or `distinct_id`, else distinct ids in the first column' }),
  csv_column: text({ max: 400 })
    .nullish()
    .meta({ description: 'The column of the CSV. Default: those names, or the name of the property' }),
  match_property: text({ max: 400 }).nullish().meta({
    description:
      'A property of persons, such as `email`: `values` or the column of the CSV are values of it. Case counts, except in addresses of mail',
  }),
  values: listOf(memberId, 'ids').nullish().meta({ description: 'Members of a static cohort, by the values of `match_property`' }),
  query: z
    .union([z.string().max(fieldLimits.statement.most), jsonObject('query')])
    .nullish()
    .meta({ description: 'Members of a static cohort: a statement, by its first column, or any query that has actors' }),
})
const creating = cohortInput.extend({ id: z.int().positive().optional().meta({ description: 'Used if no other record has it' }) })
const changing = cohortInput.partial().extend(deletedField)
const csvParameters = { name: 'The name, when the body is `text/csv`' }

const dataOf = ({ app, project }: ProjectVisit) => app.project(project.id)

/** Members are computed on demand, so the calculating state is never visible. */
const present = async (visit: ProjectVisit, cohorts: readonly StoredCohort[]): Promise<CohortAnswer[]> => {
  const states = await (await dataOf(visit)).cohorts.states(cohorts.map((one) => one.id))
  return Promise.all(
    cohorts.map(async (cohort) => {
      const state = states.get(cohort.id)
      return {
        id: cohort.id,
        name: cohort.name,
        description: cohort.description ?? '',
        is_static: cohort.is_static,
        filters: cohort.filters ?? null,
        count: state?.count ?? 0,
        last_calculation: state?.calculatedAt ? time(new Date(state.calculatedAt)) : null,
        is_calculating: false as const,
        errors_calculating: state?.failure ? 1 : 0,
        deleted: false,
        created_at: time(new Date(cohort.created_at)),
        updated_at: time(new Date(cohort.updated_at)),
        created_by: await presentAuthor(visit.app.accounts, cohort.created_by_id ?? null),
        ...(cohort.matching && { matching: { ...cohort.matching, unmatched_values: [...cohort.matching.unmatched_values] } }),
      }
    }),
  )
}
const presentOne = async (visit: ProjectVisit, cohort: StoredCohort) => (await present(visit, [cohort]))[0]!

const idOf = ({ params }: ProjectVisit): number => definitionId(params.id)
const find = async (visit: ProjectVisit) => (await dataOf(visit)).cohorts.retrieve(idOf(visit))

const noted = ({ id, name, description, is_static, filters, members_at }: StoredCohort): DefinitionState => ({
  id,
  name,
  fields: { name, description: description ?? '', is_static, filters, members_at },
})

const change = async (visit: ProjectVisit, before: StoredCohort, fields: object) => {
  const after = await (await dataOf(visit)).cohorts.update(before.id, fields)
  await visit.app.accounts.definitionLog.note(visit.caller.user, visit.project, 'Cohort', noted(before), noted(after))
  return after
}

const removeOne = async (visit: ProjectVisit) => {
  const gone = await find(visit)
  await (await dataOf(visit)).cohorts.remove(gone.id)
  await visit.app.accounts.definitionLog.note(visit.caller.user, visit.project, 'Cohort', noted(gone), null)
}

/** A CSV body has the cohort's name in the URL, and is always static. */
const written = (visit: ProjectVisit): unknown => {
  const fields = visit.body as Readonly<Record<string, unknown>>
  if (fields === null || typeof fields !== 'object' || typeof fields.csv !== 'string') return fields
  const name = visit.query.get('name')
  return { ...(name === null ? {} : { name }), is_static: true, ...fields }
}

export const cohorts = defineRecords({
  name: 'cohorts',
  summary: 'Sets of persons, by a list or by a condition ([cohorts.md](cohorts.md))',
  path: '/api/projects/:project_id/cohorts',
  reach: 'project',
  object: 'cohort',
  answer: cohortSchema,
  present: presentOne,
  presentAll: present,
  rows: ({ row, create, retrieve, replace, remove }) => [
    row({
      method: 'GET',
      name: 'list',
      summary: 'Cohorts by id, each with its number of members as of now',
      answer: pageSchema(cohortSchema),
      queryParameters: { ...searchParameter, ...paging },
      handle: async (visit) => {
        const all = searched(visit, await (await dataOf(visit)).cohorts.list())
        const { limit, offset } = pageBounds(visit.query)
        return pageWith(await present(visit, all.slice(offset, offset + limit)), all.length, visit)
      },
    }),
    create({
      summary:
        'Creates a cohort: dynamic by `filters`; static by `person_ids`, `distinct_ids`, `values` of a property, `query` or `csv`, which may be a file of a form or the whole body',
      body: creating,
      takesCsv: true,
      queryParameters: csvParameters,
      handle: async (visit) => {
        const made = await (await dataOf(visit)).cohorts.create(check(creating, written(visit)), visit.caller.user.id)
        await visit.app.accounts.definitionLog.note(visit.caller.user, visit.project, 'Cohort', null, noted(made))
        return made
      },
    }),
    retrieve({
      summary: 'One cohort; `errors_calculating` is 1 when its condition refers to something that no longer exists',
      handle: find,
    }),
    row({
      method: 'PATCH',
      path: ':id',
      name: 'update',
      summary: 'Changes the given fields; given members replace the previous ones',
      body: changing,
      takesCsv: true,
      queryParameters: csvParameters,
      answer: cohortSchema,
      handle: async (visit) => {
        const { deleted, ...fields } = check(changing, written(visit))
        if (!deleted) return presentOne(visit, await change(visit, await find(visit), fields))
        const gone = await presentOne(visit, await find(visit))
        await removeOne(visit)
        return { ...gone, deleted: true }
      },
    }),
    replace({
      summary: 'Like PATCH, but fields that are not sent get their defaults; a static cohort keeps its members unless others are given',
      body: cohortInput,
      takesCsv: true,
      queryParameters: csvParameters,
      handle: async (visit) => {
        const before = await find(visit)
        const given = check(cohortInput, written(visit))
        return change(visit, before, { description: null, filters: null, is_static: before.is_static, ...given })
      },
    }),
    remove({
      summary: 'Removes a cohort; its members remain as persons',
      handle: removeOne,
    }),
    row(activityOf('Cohort', idOf, 'of removed ones')),
    row({
      method: 'GET',
      path: ':id/persons',
      name: 'persons',
      summary: 'Its members as of now, newest first',
      answer: pageSchema(personSchema),
      queryParameters: paging,
      limits: ['api', 'query'],
      handle: async (visit) => {
        const { id } = await find(visit)
        const data = await dataOf(visit)
        const { limit, offset } = pageBounds(visit.query)
        const query = {
          kind: 'ActorsQuery',
          select: ['actor', 'created_at'],
          properties: [{ type: 'cohort', key: 'id', value: id }],
          orderBy: ['created_at DESC', 'id'],
          limit,
          offset,
        }
        const { results } = (await answerTo(visit, query)) as ActorsResponse
        return pageWith(
          results.map(([person]) => person),
          await data.cohorts.count(id),
          visit,
        )
      },
    }),
  ],
})
