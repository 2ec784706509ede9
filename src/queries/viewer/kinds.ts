import { isObject } from '../../lib/is-object.ts'

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
  'ActorsQuery',
  'TeamTaxonomyQuery',
  'EventTaxonomyQuery',
] as const

/** Of what others have asked for it, also lifecycles, which read when a person was first seen. */
export const viewerKinds = [...ownKinds, 'LifecycleQuery'] as const
export type ViewerKind = (typeof viewerKinds)[number]

/** The kinds in a query: a list of people is also a query of the chart that it is behind. */
export function kindsIn({ kind, source }: { readonly kind: string; readonly source?: unknown }): readonly string[] {
  const point = kind === 'ActorsQuery' && isObject(source) ? source : {}
  const chart = isObject(point.source) ? point.source : point
  return typeof chart.kind === 'string' ? [kind, chart.kind] : [kind]
}
