import { rewrite, walk } from '../resolver/typed-walk.ts'
import type { Pass } from './context.ts'

/**
 * Removes reads of a scan that nothing uses.
 * Before: a scan of `event` and `@event_id` where only the number is compared. After: a scan of `@event_id`.
 */
export const unusedReads: Pass = (query) => {
  const used = new Map<string, Set<string>>()
  walk(query, {
    expr: (expr) => {
      if (expr.kind !== 'column') return
      const names = used.get(expr.source)
      if (names) names.add(expr.name)
      else used.set(expr.source, new Set([expr.name]))
    },
  })
  return rewrite(query, {
    source: (source) => {
      if (source.kind !== 'scan') return source
      const reads = source.reads.filter((read) => used.get(source.alias)?.has(read.name))
      return reads.length === source.reads.length ? source : { ...source, reads }
    },
  })
}
