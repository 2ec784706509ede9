import { check } from '../../../service/accounts/fields.ts'
import type { SavedFilter } from '../../../service/accounts/records.ts'
import { savedFilterChange, savedFilterInput } from '../../../service/saved/saved-filters.ts'
import { type SavedFilterAnswer, savedFilterSchema } from '../../answers/insights.ts'
import { activityOf } from '../activity.ts'
import { presentAuthor, time } from '../present.ts'
import { defineRecords } from '../records.ts'
import { pageBounds } from '../requests/pages.ts'
import type { ProjectVisit } from '../resource.ts'

const present = async ({ app }: ProjectVisit, one: SavedFilter): Promise<SavedFilterAnswer> => ({
  id: one.id,
  name: one.name,
  properties: one.properties,
  created_by: await presentAuthor(app.accounts, one.created_by_id),
  created_at: time(one.created_at),
  updated_at: time(one.updated_at),
})

const placeOf = ({ by, project }: ProjectVisit) => ({ by, project })
const idOf = ({ params }: ProjectVisit): string => params.id!.toLowerCase()

export const savedFilters = defineRecords({
  name: 'saved_filters',
  summary: 'Filters with a name, which insights and dashboards copy ([saved.md](saved.md#saved-filters))',
  path: '/api/projects/:project_id/saved_filters',
  reach: 'project',
  object: 'insight',
  answer: savedFilterSchema,
  present,
  rows: ({ row, page, create, retrieve, update, replace, remove }) => [
    page({
      summary: 'Saved filters by name',
      queryParameters: { search: 'Text in the name' },
      handle: async ({ app, project, query }) => {
        const search = query.get('search')
        const condition = search ? { search: [{ text: search, in: ['name'] as const }] } : {}
        return app.saved.filters.list(project, { condition, ...pageBounds(query) })
      },
    }),
    create({
      summary: 'Saves filters under a name',
      body: savedFilterInput,
      handle: async (visit) => visit.app.saved.filters.create(placeOf(visit), visit.body),
    }),
    retrieve({
      summary: 'One set of saved filters',
      handle: async (visit) => visit.app.saved.filters.find(visit.project, idOf(visit)),
    }),
    update({
      summary: 'Changes the given fields; what has copied the filters stays as it is',
      body: savedFilterChange,
      handle: async (visit) => visit.app.saved.filters.update(placeOf(visit), idOf(visit), visit.body),
    }),
    replace({
      summary: 'Like PATCH, with all fields required',
      body: savedFilterInput,
      handle: async (visit) => visit.app.saved.filters.update(placeOf(visit), idOf(visit), check(savedFilterInput, visit.body)),
    }),
    remove({
      summary: 'Removes saved filters; what has copied them stays as it is',
      handle: (visit) => visit.app.saved.filters.remove(placeOf(visit), idOf(visit)),
    }),
    row(activityOf('SavedFilter', idOf, 'of removed ones')),
  ],
})
