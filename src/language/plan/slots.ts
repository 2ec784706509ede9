import { rewrite } from '../resolver/typed-walk.ts'
import type { Pass } from './context.ts'

/**
 * A property with a slot is read from the slot.
 * Before: the text at `properties.plan`. After: the column `s3`, which holds texts.
 */
export const slots: Pass = (query, { capabilities, store }) => {
  if (!capabilities.hasSlots) return query
  return rewrite(query, {
    source: (source) => {
      if (source.kind !== 'scan') return source
      const reads = source.reads.map((read) => {
        const key = read.json?.path.length === 1 ? read.json.path[0] : undefined
        const slot = read.json && typeof key === 'string' ? store.slot(source.table, read.field, key, read.json.as) : undefined
        return slot ? { ...read, slot } : read
      })
      return reads.every((read, i) => read === source.reads[i]) ? source : { ...source, reads }
    },
  })
}
