import { QueryError } from '../../errors/errors.ts'
import { alias, call, field, from, literal, select } from '../../language/ast/build.ts'
import type { Expr, Query } from '../../language/ast/nodes.ts'
import { type Micros, minute } from '../../lib/time/zone.ts'
import type { FunnelSteps } from '../funnel-steps.ts'
import type { QueryContext, QueryRun } from '../kind.ts'
import type { CompareFilter } from '../schemas.ts'
import { person } from '../scope.ts'
import { allOf, queryFilters } from '../series/series-condition.ts'
import { type PeriodRange, periodRanges } from '../time/comparison.ts'
import { isIncluded, itemOf, pointOf } from './items.ts'
import type { FunnelPathsFilter, PathsFilter, PathsQuery } from './schema.ts'

// What a query for paths counts, before it is decided where.

export interface PathsPlan extends PeriodRange {
  readonly query: PathsQuery
  readonly actor: Expr
  readonly group: number | null
  /** Conditions on events besides their time. */
  readonly events: Expr
  /** The text of an event in a path; '' if it has none. */
  readonly item: Expr
  /** Items that are left out; the empty one is one of them. */
  readonly excluded: readonly string[]
  /** Two events so far apart belong to different paths. */
  readonly gap: Micros
  /** Paths begin with the first of these items. */
  readonly start: string | null
  /** And end with the first of these. */
  readonly end: string | null
  /** Items of a path. */
  readonly steps: number
  readonly edges: number
  /** When the events of each actor count; null: in the whole range. */
  readonly spans: ActorSpans | null
}

/** Times are included. */
export interface ActorSpans {
  /** Columns `actor`, `begins_at` and `ends_at`. */
  readonly query: Query
  /** The same, if known here. */
  readonly rows: readonly ActorSpan[] | null
}
export interface ActorSpan {
  readonly actor: number | string
  readonly from: Micros
  readonly to: Micros
}

export interface CountedEdge {
  /** `1_/home` */
  readonly source: string
  readonly target: string
  readonly paths: number
  /** Microseconds of all paths together. */
  readonly took: number
}

const sessionGap = 30 * minute
const defaultSteps = 5
const defaultEdges = 50

export const filterOf = ({ pathsFilter }: PathsQuery): PathsFilter => pathsFilter ?? {}

export const pathsPeriods = (query: PathsQuery, env: QueryContext): QueryRun<readonly PeriodRange[]> => periodRanges(query, 'day', env)

export function* planPaths(
  query: PathsQuery,
  { period, range }: PeriodRange,
  env: QueryContext,
  funnelSteps: FunnelSteps,
): QueryRun<PathsPlan> {
  const filter = filterOf(query)
  const group = query.aggregation_group_type_index ?? null
  const actor = group === null ? person : field(`$group_${group}`)
  const previous = period === 'previous' ? query.compareFilter! : null
  const funnel = query.funnelPathsFilter ? yield* spansOf(query.funnelPathsFilter, group, previous, env, funnelSteps) : null
  return {
    query,
    period,
    range,
    actor,
    group,
    events: allOf(queryFilters(query, env), isIncluded(filter), group === null ? literal(true) : call('notEquals', actor, literal(''))),
    item: itemOf(filter, env),
    excluded: ['', ...(filter.excludeEvents ?? [])],
    gap: funnel?.window ?? sessionGap,
    start: pointOf(filter.startPoint),
    end: pointOf(filter.endPoint),
    steps: filter.stepLimit ?? defaultSteps,
    edges: filter.edgeLimit ?? defaultEdges,
    spans: funnel?.spans ?? null,
  }
}

const always = 2 ** 53 - 1
type Moment = 'reached_at' | 'before_at'
/** Null: no limit. */
const bounds: Readonly<Record<FunnelPathsFilter['funnelPathType'], { readonly from: Moment | null; readonly to: Moment | null }>> = {
  funnel_path_before_step: { from: null, to: 'reached_at' },
  funnel_path_between_steps: { from: 'before_at', to: 'reached_at' },
  funnel_path_after_step: { from: 'reached_at', to: null },
}

/** Before, between or after the steps of a funnel. */
function* spansOf(
  { funnelPathType: type, funnelSource, funnelStep }: FunnelPathsFilter,
  group: number | null,
  previous: CompareFilter | null,
  env: QueryContext,
  funnelSteps: FunnelSteps,
): QueryRun<{ readonly spans: ActorSpans; readonly window: Micros }> {
  const wrong = (message: string, attr: string) => new QueryError('validation-failed', { message, attr: `funnelPathsFilter__${attr}` })
  if (type === 'funnel_path_between_steps' && (funnelStep === 1 || funnelStep === -2))
    throw wrong('There is no step before the first one: choose a later step.', 'funnelStep')
  const attrs = { source: 'funnelPathsFilter__funnelSource', step: 'funnelPathsFilter__funnelStep' }
  const times = yield* funnelSteps({ source: funnelSource, funnelStep: funnelStep ?? null, previous, attrs }, env)
  if (times.group !== group)
    throw wrong(
      'The funnel and the paths must count the same actors: set aggregation_group_type_index in both.',
      'funnelSource__aggregation_group_type_index',
    )
  const { from: begin, to: end } = bounds[type]
  // After a drop-off: what they did once the time for the funnel was over.
  const wait = type === 'funnel_path_after_step' && (funnelStep ?? 0) < 0 ? times.window : 0
  const query = select({
    columns: [
      field('actor'),
      alias(begin === null ? literal(-always) : call('plus', field(begin), literal(wait)), 'begins_at'),
      alias(end === null ? literal(always) : field(end), 'ends_at'),
    ],
    from: from(times.query, 'moments'),
  })
  const rows = times.rows?.map(
    (row): ActorSpan => ({ actor: row.actor, from: begin === null ? -always : row[begin] + wait, to: end === null ? always : row[end] }),
  )
  return { spans: { query, rows: rows ?? null }, window: times.window }
}
