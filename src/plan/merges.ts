import { rewrite } from '../resolver/typed-walk.ts'
import type { Pass } from './context.ts'

/** Tables keep the number that a person had when the row was written. Where someone has been merged, numbers are read through the merges. */
export const merges: Pass = (query, { store }) =>
  store.hasMerges ? rewrite(query, { source: (source) => (source.kind === 'scan' ? { ...source, withMerges: true } : source) }) : query
