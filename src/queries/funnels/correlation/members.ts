import { QueryError } from '../../../errors/errors.ts'
import { alias, call, field, from, literal, select } from '../../../language/ast/build.ts'
import type { Query } from '../../../language/ast/nodes.ts'
import { type Asking, insideField } from '../../actor-source.ts'
import { along, given, type QueryContext } from '../../kind.ts'
import { listedActors } from '../../lists/listed-actors.ts'
import { noComparison, type Period } from '../../time/comparison.ts'
import { type FunnelPoint, testOf } from '../actors.ts'
import { noSplit } from '../breakdown.ts'
import { walkFunnel } from '../collect.ts'
import { type ActorPoint, isAt } from '../in-engine/actors.ts'
import { isReached, outcomes } from '../in-engine/answers.ts'
import { element, when } from '../in-engine/terms.ts'
import { planFunnel } from '../index.ts'
import { pointOfStep } from '../point-of-step.ts'
import { actorKindOf, type FunnelScan } from '../scan.ts'
import type { FunnelsQuery } from '../schema.ts'
import { settingsOf } from '../settings.ts'
import type { Split } from './odds.ts'

/** The actors of the funnel who are compared. */
export interface Members {
  readonly scan: FunnelScan
  readonly group: number | null
  /**
   * Columns `actor`, `converted` (1 or 0), `first_at` and `ends_at`: between these times, both excluded, an actor was in the funnel. Those who did not
   * convert were in it until their window was over.
   */
  readonly query: Query
  /** How many there are; null: only the engine knows. */
  readonly totals: Split | null
}

export function* membersOf(point: FunnelPoint, env: QueryContext): Asking<Members> {
  const query = point.source
  const refused = (message: string, attr: string) =>
    new QueryError('validation-failed', { message, attr: `${env.fieldPrefix ?? ''}source__${attr}` })
  if (actorKindOf(query) === 'expression')
    throw refused('A funnel that aggregates by an expression has no persons to compare.', 'source__funnelsFilter__funnelAggregateByHogQL')
  const depths = point.funnelCustomSteps
  const at: ActorPoint | string = depths?.length ? { kind: 'depths', depths } : pointOfStep(point.funnelStep ?? 1, settingsOf(query))
  if (typeof at === 'string') throw refused(at, 'funnelStep')
  const members = yield* insideField('source__source', env, (inner) => gathered(query, at, point.compare ?? 'current', inner))
  if (!members) throw refused(noComparison, 'compare')
  return members
}

/** Null: the funnel has no comparison period. */
function* gathered(query: FunnelsQuery, at: ActorPoint, period: Period, env: QueryContext): Asking<Members | null> {
  const planned = yield* planFunnel(query, env)
  const range = period === 'previous' ? planned.previous : planned.scan.range
  if (!range) return null
  const scan: FunnelScan = { ...planned.scan, range, breakdown: noSplit }
  const list = yield* along<Pick<Members, 'query' | 'totals'>>({
    label: 'members of a funnel',
    engine: () => given({ query: inEngine(scan, at, env), totals: null }),
    rows: () => foundHere(scan, at, env),
  })
  return { scan, group: query.aggregation_group_type_index ?? null, ...list }
}

function inEngine(scan: FunnelScan, at: ActorPoint, env: QueryContext): Query {
  const { steps, window } = scan.settings
  const [first, last] = [element(field('times'), 1), element(field('times'), steps)]
  return select({
    columns: [
      field('actor'),
      alias(when(isReached(steps - 1, scan), literal(1), literal(0)), 'converted'),
      alias(first, 'first_at'),
      alias(when(isReached(steps - 1, scan), last, call('plus', first, literal(window))), 'ends_at'),
    ],
    from: from(outcomes(scan, null, { steps, periods: null }, env), 'found'),
    where: isAt(at, scan),
  })
}

function* foundHere(scan: FunnelScan, at: ActorPoint, env: QueryContext): Asking<Pick<Members, 'query' | 'totals'>> {
  const { steps, window } = scan.settings
  const isThere = testOf(at, scan)
  const actors: (number | string)[] = []
  let successes = 0
  const texts: Record<'converted_text' | 'first_text' | 'ends_text', string[]> = { converted_text: [], first_text: [], ends_text: [] }
  yield* walkFunnel(scan, env, { steps, periods: null }, ({ columns, actor }) => (outcome) => {
    if (!isThere(outcome)) return
    const time = (step: number) => columns.time[outcome.events[step]!]!
    const isConverted = outcome.events[steps - 1]! >= 0
    actors.push(actor(outcome.actor))
    if (isConverted) successes++
    texts.converted_text.push(isConverted ? '1' : '0')
    texts.first_text.push(String(time(0)))
    texts.ends_text.push(String(isConverted ? time(steps - 1) : time(0) + window))
  })
  const number = (name: keyof typeof texts, as: string) => alias(call('toInt', field(name)), as)
  const query = select({
    columns: [field('actor'), number('converted_text', 'converted'), number('first_text', 'first_at'), number('ends_text', 'ends_at')],
    from: from(listedActors(actors, texts), 'found'),
  })
  return { query, totals: { successes, failures: actors.length - successes } }
}
