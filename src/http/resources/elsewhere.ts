import type { ScopeObject } from '../../accounts/personal-keys.ts'
import { failures } from '../errors.ts'
import { pageSchema } from '../pages.ts'
import { freeSchema } from '../present.ts'
import { defineResource, type Resource } from '../resource.ts'

/** Lists that tools ask every project for. Waymark keeps none of these things: the lists are empty, no record is there, and making one is not a route. */
const lists: readonly { readonly path: string; readonly object: ScopeObject }[] = [
  { path: 'annotations', object: 'annotation' },
  { path: 'dashboards', object: 'dashboard' },
  { path: 'early_access_feature', object: 'early_access_feature' },
  { path: 'experiments', object: 'experiment' },
  { path: 'feature_flags', object: 'feature_flag' },
  { path: 'insights', object: 'insight' },
  { path: 'notebooks', object: 'notebook' },
  { path: 'session_recordings', object: 'session_recording' },
  { path: 'surveys', object: 'survey' },
]

export const elsewhere: readonly Resource[] = lists.map(({ path, object }) =>
  defineResource({
    name: path,
    summary: `${path.replaceAll('_', ' ')}: Waymark keeps none`,
    path: `/api/projects/:project_id/${path}`,
    reach: 'project',
    object,
    rows: (row) => [
      row({
        method: 'GET',
        name: 'list',
        summary: 'An empty list, for tools that ask',
        answer: pageSchema(freeSchema),
        isPaged: true,
        handle: async () => [],
      }),
      row({
        method: 'GET',
        path: ':id',
        name: 'retrieve',
        summary: 'No record is there',
        handle: async () => {
          throw failures.notFound()
        },
      }),
    ],
  }),
)
