import { isoInstant } from '../dates.ts'
import type { FunnelSteps } from '../funnel-steps.ts'
import { defineQueryKind, type QueryKind } from '../kind.ts'
import { scaledUp } from '../sampling.ts'
import { edgesOf } from './edges.ts'
import { type CountedEdge, planPaths } from './plan.ts'
import { type PathsQuery, pathsSchema } from './schema.ts'

/** How often one item followed another one at a step of a path. */
export interface PathEdge {
  /** The number of the step and its item: `1_/home`. */
  readonly source: string
  readonly target: string
  /** The number of paths. */
  readonly value: number
  /** Milliseconds. */
  readonly average_conversion_time: number
}

export interface PathsAnswer {
  /** The heaviest edges first. */
  readonly results: readonly PathEdge[]
  /** There are more edges than the limit. */
  readonly hasMore: boolean
  /** Edges that are left out because the ones that lead to them are. */
  readonly unconnected: number
  readonly resolved_date_range: { readonly date_from: string; readonly date_to: string }
}

export const pathsKind = (funnelSteps: FunnelSteps): QueryKind<PathsQuery, PathsAnswer> =>
  defineQueryKind({
    kind: 'PathsQuery',
    isCached: true,
    schema: pathsSchema,
    *run(query, env) {
      const plan = yield* planPaths(query, env, funnelSteps)
      const edges = yield* edgesOf(plan, env)
      const heaviest = edges.slice(0, plan.edges)
      const connected = connectedEdges(heaviest)
      const { from, to, calendar } = plan.range
      return {
        results: connected.map(({ source, target, paths, took }) => ({
          source,
          target,
          value: scaledUp(paths, query.samplingFactor),
          average_conversion_time: took / paths / 1000,
        })),
        hasMore: edges.length > plan.edges,
        unconnected: heaviest.length - connected.length,
        resolved_date_range: { date_from: isoInstant(from, calendar.zone), date_to: isoInstant(to, calendar.zone) },
      }
    },
  })

/** Edges that can be reached from a first step. */
function connectedEdges(edges: readonly CountedEdge[]): readonly CountedEdge[] {
  const stepOf = ({ source }: CountedEdge) => Number.parseInt(source, 10)
  const reached = new Set<string>()
  const connected = new Set<CountedEdge>()
  for (const edge of [...edges].sort((a, b) => stepOf(a) - stepOf(b))) {
    if (stepOf(edge) > 1 && !reached.has(edge.source)) continue
    reached.add(edge.target)
    connected.add(edge)
  }
  return edges.filter((edge) => connected.has(edge))
}
