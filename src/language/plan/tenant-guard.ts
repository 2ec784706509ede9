import { InternalError } from '../../errors/errors.ts'
import { tables } from '../catalog/tables.ts'
import { rewrite } from '../resolver/typed-walk.ts'
import type { Pass } from './context.ts'

/**
 * Restricts every table to the project. A printer refuses a scan without this restriction.
 * Before: a scan of `events`. After: a scan of `events` of project 7.
 */
export const tenantGuard: Pass = (query, { projectId }) =>
  rewrite(query, {
    source: (source) => {
      if (source.kind !== 'scan') return source
      if (!Object.hasOwn(tables, source.table) || tables[source.table]!.isView)
        throw new InternalError(`${source.table} is not a table of a project`)
      return { ...source, project: projectId }
    },
  })
