/** Kinds that a viewer may ask itself. All of them read events by statements alone. */
export const ownKinds = [
  'TrendsQuery',
  'FunnelsQuery',
  'RetentionQuery',
  'StickinessQuery',
  'PathsQuery',
  'WebOverviewQuery',
  'WebStatsTableQuery',
  'SqlLikeQuery',
  'HogQLQuery',
] as const

/** Of what others have asked for it, also lifecycles, which read when a person was first seen. */
export const viewerKinds = [...ownKinds, 'LifecycleQuery'] as const
export type ViewerKind = (typeof viewerKinds)[number]
