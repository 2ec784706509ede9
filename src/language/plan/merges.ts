import { rewrite } from '../resolver/typed-walk.ts'
import type { Pass } from './context.ts'

/** Rows keep the person number of the time when they were written. If any persons were merged, reads map numbers through the merges. */
export const merges: Pass = (query, { store }) =>
  store.hasMerges ? rewrite(query, { source: (source) => (source.kind === 'scan' ? { ...source, withMerges: true } : source) }) : query
