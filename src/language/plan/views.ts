import { tables } from '../catalog/tables.ts'
import type { TypedQuery } from '../resolver/typed.ts'
import { freshAliases, rewrite } from '../resolver/typed-walk.ts'
import type { Pass } from './context.ts'
import { reachedTables } from './reached-tables.ts'

/**
 * Attaches its query to a scan of a table that is a query, so that later passes see all tables that the statement reads.
 * Before: a scan of `sessions`. After: the same scan with `SELECT … FROM events GROUP BY $session_id` attached. A later pass replaces the scan by it.
 */
export const views: Pass = (query, { view }) => {
  const fresh = freshAliases(query)
  const withViews = (part: TypedQuery): TypedQuery =>
    rewrite(part, {
      source: (source) => {
        if (source.kind !== 'scan') return source
        const found = [...reachedTables(source)].flatMap(([path, { table, reads }]) => {
          const key = tables[table]!.isView
          if (!key) return []
          const fields = [...new Set([...reads.values()].map(({ field }) => field))]
          // Rows can be counted without reading any column.
          return [{ path, query: withViews(view(table, fields.length ? fields : [key], fresh)) }]
        })
        return found.length ? { ...source, views: found } : source
      },
    })
  return withViews(query)
}
