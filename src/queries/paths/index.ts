import type { FunnelSteps } from '../funnel-steps.ts'
import type { QueryKind } from '../kind.ts'
import { scaledUp } from '../series/sampling.ts'
import { type PeriodLabel, periodLabel, type ShownRanges, shownRanges } from '../time/comparison.ts'
import { edgesOf } from './edges.ts'
import { type CountedEdge, type PathsPlan, pathsPeriods, planPaths } from './plan.ts'
import { pathsSchema } from './schema.ts'

/** How often one item followed another one at a step of a path. */
export interface PathEdge extends PeriodLabel {
  /** The number of the step and its item: `1_/home`. */
  readonly source: string
  readonly target: string
  /** The number of paths. */
  readonly value: number
  /** Milliseconds. */
  readonly average_conversion_time: number
}

export interface PathsAnswer extends ShownRanges {
  /** The heaviest edges first; those of the current period before those of the previous one. */
  readonly results: readonly PathEdge[]
  /** There are more edges than the limit, in one of the periods. */
  readonly hasMore: boolean
  /** Edges that are left out because the ones that lead to them are. */
  readonly unconnected: number
}

export const pathsKind = (funnelSteps: FunnelSteps): QueryKind<'PathsQuery', typeof pathsSchema, PathsAnswer> => ({
  kind: 'PathsQuery',
  isCached: true,
  schema: pathsSchema,
  *run(query, env) {
    const ranges = yield* pathsPeriods(query, env)
    const periods: PeriodOfPaths[] = []
    for (const range of ranges) {
      const plan = yield* planPaths(query, range, env, funnelSteps)
      periods.push(pathsOf(yield* edgesOf(plan, env), plan))
    }
    return {
      results: periods.flatMap(({ edges }, i) => {
        const label = periodLabel(ranges[i]!.period, ranges.length > 1)
        return edges.map(({ source, target, paths, took }) => ({
          source,
          target,
          value: scaledUp(paths, query.samplingFactor),
          average_conversion_time: took / paths / 1000,
          ...label,
        }))
      }),
      hasMore: periods.some(({ hasMore }) => hasMore),
      unconnected: periods.reduce((sum, { unconnected }) => sum + unconnected, 0),
      ...shownRanges(ranges),
    }
  },
})

interface PeriodOfPaths extends Pick<PathsAnswer, 'hasMore' | 'unconnected'> {
  readonly edges: readonly CountedEdge[]
}

function pathsOf(edges: readonly CountedEdge[], plan: PathsPlan): PeriodOfPaths {
  const heaviest = edges.slice(0, plan.edges)
  const connected = connectedEdges(heaviest)
  return { edges: connected, hasMore: edges.length > plan.edges, unconnected: heaviest.length - connected.length }
}

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
