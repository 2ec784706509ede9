import * as z from 'zod'
import { check, integer } from '../../../service/accounts/fields.ts'
import type { SavedQuery } from '../../../service/accounts/records.ts'
import { columnsOf, viewChange, viewInput } from '../../../service/saved/views.ts'
import { activitySchema } from '../../answers/activity.ts'
import { pageSchema } from '../../answers/pages.ts'
import { type ViewAnswer, viewSchema } from '../../answers/saved-queries.ts'
import { activityPage, activityParameters } from '../activity.ts'
import { presentAuthor, time } from '../present.ts'
import { queryCallerOf } from '../queries/query-caller.ts'
import { pageBounds, pageWith, paging } from '../requests/pages.ts'
import { defineResource, type ProjectVisit } from '../resource.ts'

/** Clients tell these kinds of columns apart. */
const kinds: readonly (readonly [RegExp, string])[] = [
  [/^Array/, 'array'],
  [/^(Tuple|Map|JSON|Object)/, 'json'],
  [/^U?Int/, 'integer'],
  [/^(Float|Decimal)/, 'float'],
  [/^DateTime/, 'datetime'],
  [/^Date/, 'date'],
  [/^Bool/, 'boolean'],
  [/^(String|UUID|FixedString|Enum)/, 'string'],
]
const kindOf = (type: string): string => {
  const bare = type.replace(/^(?:Nullable|LowCardinality)\((.*)\)$/, '$1')
  return kinds.find(([pattern]) => pattern.test(bare))?.[1] ?? 'unknown'
}

const present = async ({ app }: ProjectVisit, view: SavedQuery): Promise<ViewAnswer> => ({
  id: view.id,
  name: view.name,
  query: { kind: 'HogQLQuery', query: view.query },
  columns: columnsOf(view).map(({ name, type }) => ({
    key: name,
    name,
    type: kindOf(type),
    sql_type: type,
    schema_valid: true,
    fields: null,
    table: null,
    chain: null,
  })),
  created_by: await presentAuthor(app.accounts, view.created_by_id),
  created_at: time(view.created_at),
  updated_at: time(view.updated_at),
  deleted: false,
  status: null,
  sync_frequency: null,
  last_run_at: null,
  latest_error: null,
  is_materialized: false,
})

const placeOf = ({ by, project }: ProjectVisit) => ({ by, project })
const idOf = ({ params }: ProjectVisit): string => params.id!.toLowerCase()

const levelInput = z.object({ level: integer(1, 100).nullish().meta({ description: 'How many steps away; default all' }) })
const levelOf = ({ body }: ProjectVisit): number => check(levelInput, body ?? {}).level ?? 100

export const savedQueries = defineResource({
  name: 'warehouse_saved_queries',
  summary: 'Views: saved statements that can be read as tables ([saved.md](saved.md#views))',
  path: '/api/projects/:project_id/warehouse_saved_queries',
  reach: 'project',
  object: 'warehouse_view',
  rows: (row) => [
    row({
      method: 'GET',
      name: 'list',
      summary: 'Views in order of their names',
      answer: pageSchema(viewSchema),
      queryParameters: { ...paging, search: 'Text in the name or the statement' },
      handle: async (visit) => {
        const search = visit.query.get('search')
        const condition = search ? { search: [{ text: search, in: ['name', 'query'] as const }] } : {}
        const { rows, count } = await visit.app.saved.views.list(visit.project, { condition, ...pageBounds(visit.query) })
        return pageWith(await Promise.all(rows.map((one) => present(visit, one))), count, visit)
      },
    }),
    row({
      method: 'POST',
      name: 'create',
      summary: 'A new view; its statement is checked, and the types of its columns are known from then on',
      body: viewInput,
      status: 201,
      answer: viewSchema,
      limits: ['api', 'query'],
      handle: async (visit) => present(visit, await visit.app.saved.views.create(placeOf(visit), visit.body, queryCallerOf(visit))),
    }),
    row({
      method: 'GET',
      path: ':id',
      name: 'retrieve',
      summary: 'One view',
      answer: viewSchema,
      handle: async (visit) => present(visit, await visit.app.saved.views.find(visit.project, idOf(visit))),
    }),
    row({
      method: 'PATCH',
      path: ':id',
      name: 'update',
      summary: 'Changes the fields that are given; refused if a view that reads this one could not be read any more',
      body: viewChange,
      answer: viewSchema,
      limits: ['api', 'query'],
      handle: async (visit) =>
        present(visit, await visit.app.saved.views.update(placeOf(visit), idOf(visit), visit.body, queryCallerOf(visit))),
    }),
    row({
      method: 'PUT',
      path: ':id',
      name: 'replace',
      summary: 'The same with all fields',
      body: viewInput,
      answer: viewSchema,
      limits: ['api', 'query'],
      handle: async (visit) => {
        const given = check(viewInput, visit.body)
        return present(visit, await visit.app.saved.views.update(placeOf(visit), idOf(visit), given, queryCallerOf(visit)))
      },
    }),
    row({
      method: 'DELETE',
      path: ':id',
      name: 'remove',
      summary: 'Removes a view; refused while other views read it',
      handle: (visit) => visit.app.saved.views.remove(placeOf(visit), idOf(visit)),
    }),
    row({
      method: 'POST',
      path: ':id/ancestors',
      name: 'ancestors',
      summary: 'The names of the tables and views that it reads',
      scope: 'warehouse_view:read',
      body: levelInput,
      answer: z.object({ ancestors: z.array(z.string()) }),
      handle: async (visit) => {
        const { views } = visit.app.saved
        return { ancestors: await views.ancestors(visit.project, await views.find(visit.project, idOf(visit)), levelOf(visit)) }
      },
    }),
    row({
      method: 'POST',
      path: ':id/descendants',
      name: 'descendants',
      summary: 'The names of the views that read it',
      scope: 'warehouse_view:read',
      body: levelInput,
      answer: z.object({ descendants: z.array(z.string()) }),
      handle: async (visit) => {
        const { views } = visit.app.saved
        return { descendants: await views.descendants(visit.project, await views.find(visit.project, idOf(visit)), levelOf(visit)) }
      },
    }),
    row({
      method: 'GET',
      path: ':id/activity',
      name: 'activity',
      summary: 'Who changed it and how, the newest first; also of one that was removed',
      scope: 'activity_log:read',
      queryParameters: activityParameters,
      answer: activitySchema,
      handle: async (visit) =>
        activityPage(visit, { project_id: visit.project.id, scope: 'DataWarehouseSavedQuery', item_id: idOf(visit) }),
    }),
  ],
})
