/** One side of a merge event. */
export type Side = 'unknown' | 'anonymous' | 'identified'

export type MergeOutcome =
  | 'nothing' // the same id twice
  | 'illegal'
  | 'create' // both ids are new: one person with both
  | 'add-target' // the source's person gets the target id
  | 'add-source' // the target's person gets the source id
  | 'same' // already one person
  | 'merge' // the source's person goes into the target's
  | 'refuse' // the source is identified already

export function mergeOutcome(merge: {
  readonly isSameId: boolean
  readonly isLegal: boolean
  readonly target: Side
  readonly source: Side
  readonly isSamePerson: boolean
  readonly isForced: boolean
}): MergeOutcome {
  if (merge.isSameId) return 'nothing'
  if (!merge.isLegal) return 'illegal'
  if (merge.target === 'unknown') return merge.source === 'unknown' ? 'create' : 'add-target'
  if (merge.source === 'unknown') return 'add-source'
  if (merge.isSamePerson) return 'same'
  return merge.source === 'identified' && !merge.isForced ? 'refuse' : 'merge'
}
