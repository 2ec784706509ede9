import * as z from 'zod'
import { check, integer } from '../../../service/accounts/fields.ts'
import type { SavedQuery } from '../../../service/accounts/records.ts'
import { columnsOf, viewChange, viewInput } from '../../../service/saved/views.ts'
import { type ViewAnswer, viewSchema } from '../../answers/saved-queries.ts'
import { activityOf } from '../activity.ts'
import { presentAuthor, time } from '../present.ts'
import { queryCallerOf } from '../queries/query-caller.ts'
import { defineRecords } from '../records.ts'
import { pageBounds } from '../requests/pages.ts'
import type { ProjectVisit } from '../resource.ts'

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

const levelInput = z.object({
  level: integer(1, 100).nullish().meta({ description: 'Largest number of steps between them; default: all' }),
})
const levelOf = ({ body }: ProjectVisit): number => check(levelInput, body ?? {}).level ?? 100

export const savedQueries = defineRecords({
  name: 'warehouse_saved_queries',
  summary: 'Views: saved statements that can be read as tables ([saved.md](saved.md#views))',
  path: '/api/projects/:project_id/warehouse_saved_queries',
  reach: 'project',
  object: 'warehouse_view',
  answer: viewSchema,
  present,
  rows: ({ row, page, create, retrieve, update, replace, remove }) => [
    page({
      summary: 'Views by name',
      queryParameters: { search: 'Text in the name or the statement' },
      handle: async ({ app, project, query }) => {
        const search = query.get('search')
        const condition = search ? { search: [{ text: search, in: ['name', 'query'] as const }] } : {}
        return app.saved.views.list(project, { condition, ...pageBounds(query) })
      },
    }),
    create({
      summary: 'Creates a view; its statement is checked, and the types of its columns are stored',
      body: viewInput,
      limits: ['api', 'query'],
      handle: async (visit) => visit.app.saved.views.create(placeOf(visit), visit.body, queryCallerOf(visit)),
    }),
    retrieve({
      summary: 'One view',
      handle: async (visit) => visit.app.saved.views.find(visit.project, idOf(visit)),
    }),
    update({
      summary: 'Changes the fields that are given; refused if it would break a view that reads this one',
      body: viewChange,
      limits: ['api', 'query'],
      handle: async (visit) => visit.app.saved.views.update(placeOf(visit), idOf(visit), visit.body, queryCallerOf(visit)),
    }),
    replace({
      summary: 'Like PATCH, with all fields required',
      body: viewInput,
      limits: ['api', 'query'],
      handle: async (visit) => {
        const given = check(viewInput, visit.body)
        return visit.app.saved.views.update(placeOf(visit), idOf(visit), given, queryCallerOf(visit))
      },
    }),
    remove({
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
    row(activityOf('DataWarehouseSavedQuery', idOf, 'of removed ones')),
  ],
})
