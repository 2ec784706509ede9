import type { QueryCaller } from '../../../service/asking/asking.ts'
import type { ProjectVisit } from '../resource.ts'

/** The user of the request, as the caller of a query. */
export const queryCallerOf = ({ app, project, caller, request }: ProjectVisit): QueryCaller => ({
  name: `user ${caller.user.id}`,
  get signal() {
    return request.signal // made when asked for, and answers that are kept do not ask
  },
  acquire: (waiting) =>
    app.concurrency.take(
      {
        projectId: project.id,
        organizationId: project.organization_id,
        userId: caller.user.id,
        via: caller.via === 'key' ? 'key' : 'session',
      },
      waiting,
    ),
})
