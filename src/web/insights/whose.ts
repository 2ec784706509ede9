import type { Whose } from '../lib/names.ts'

/** Whose property a filter or a breakdown takes. */
export interface Typed {
  readonly type: string
  readonly group_type_index?: number | null
}

/** Of which there are names to suggest. */
export function namedWhose({ type, group_type_index: index }: Typed): Whose {
  if (type === 'group') return `group:${index ?? 0}`
  return type === 'person' || type === 'session' ? type : 'event'
}
