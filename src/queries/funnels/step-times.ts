import { QueryError } from '../../errors/errors.ts'
import { readAs, validationData } from '../../errors/validation.ts'
import { alias, and, call, field, from, literal, not, select } from '../../language/ast/build.ts'
import type { Query } from '../../language/ast/nodes.ts'
import { type Asking, insideField } from '../actor-source.ts'
import type { FunnelStepAsk, FunnelStepTime, FunnelStepTimes } from '../funnel-steps.ts'
import { along, given, type QueryContext } from '../kind.ts'
import { listedActors } from '../lists/listed-actors.ts'
import type { CompareFilter } from '../schemas.ts'
import { noSplit } from './breakdown.ts'
import { walkFunnel } from './collect.ts'
import type { ActorPoint } from './in-engine/actors.ts'
import { isReached, outcomes } from './in-engine/answers.ts'
import { element, more, never, over, whole } from './in-engine/terms.ts'
import { planFunnel } from './index.ts'
import { pointOfStep } from './point-of-step.ts'
import { actorKindOf, type FunnelScan } from './scan.ts'
import { type FunnelsQuery, funnelsSchema } from './schema.ts'
import { settingsOf } from './settings.ts'

type StepPoint = Extract<ActorPoint, { kind: 'step' }>

/** The actors of a step, whatever the funnel shows, and when they did it. */
export function* funnelStepTimes({ source, funnelStep, previous, attrs }: FunnelStepAsk, env: QueryContext): Asking<FunnelStepTimes> {
  const read = readAs(funnelsSchema, source)
  if ('misfit' in read)
    throw new QueryError(
      'validation-failed',
      validationData({ ...read.misfit, path: [...attrs.source.split('__'), ...read.misfit.path] }, ['query']),
    )
  const point = pointOfStep(funnelStep, settingsOf(read.data))
  if (typeof point === 'string') throw new QueryError('validation-failed', { message: point, attr: attrs.step })
  return yield* insideField(attrs.source, env, (inner) => timesOf(read.data, point, previous ?? null, inner))
}

function* timesOf(query: FunnelsQuery, point: StepPoint, before: CompareFilter | null, env: QueryContext): Asking<FunnelStepTimes> {
  if (actorKindOf(query) === 'expression')
    throw new QueryError('validation-failed', {
      message: 'A funnel that aggregates by an expression has no persons to list.',
      attr: 'funnelsFilter__funnelAggregateByHogQL',
    })
  const planned = yield* planFunnel({ ...query, compareFilter: before }, env)
  const scan: FunnelScan = { ...planned.scan, range: planned.previous ?? planned.scan.range, breakdown: noSplit }
  const found = yield* along<Pick<FunnelStepTimes, 'query' | 'rows'>>({
    label: 'times of a step',
    engine: () => given({ query: inEngine(scan, point, env), rows: null }),
    *rows() {
      const rows = yield* foundHere(scan, point, env)
      return { query: listOf(rows), rows }
    },
  })
  return { group: query.aggregation_group_type_index ?? null, window: scan.settings.window, ...found }
}

function listOf(rows: readonly FunnelStepTime[]): Query {
  const times = (name: 'reached_at' | 'before_at') => rows.map((row) => String(row[name]))
  const texts = listedActors(
    rows.map(({ actor }) => actor),
    { reached_text: times('reached_at'), before_text: times('before_at') },
  )
  return select({
    columns: [
      field('actor'),
      alias(call('toInt', field('reached_text')), 'reached_at'),
      alias(call('toInt', field('before_text')), 'before_at'),
    ],
    from: from(texts, 'found'),
  })
}

function inEngine(scan: FunnelScan, { reached, missed }: StepPoint, env: QueryContext): Query {
  const steps = call('arraySlice', field('times'), literal(1), literal(reached))
  const before = over('arrayFilter', ['t'], (t) => more(t, whole(never)), steps)
  const reachedAt = element(field('times'), reached + 1)
  return select({
    columns: [
      field('actor'),
      alias(reachedAt, 'reached_at'),
      alias(call('if', call('empty', before), reachedAt, element(before, -1)), 'before_at'),
    ],
    from: from(outcomes(scan, null, { steps: scan.settings.steps, periods: null }, env), 'found'),
    where: missed === null ? isReached(reached, scan) : and(isReached(reached, scan), not(isReached(missed, scan))),
  })
}

function* foundHere(scan: FunnelScan, { reached, missed }: StepPoint, env: QueryContext): Asking<readonly FunnelStepTime[]> {
  const rows: FunnelStepTime[] = []
  yield* walkFunnel(scan, env, { steps: scan.settings.steps, periods: null }, ({ columns, actor }) => (outcome) => {
    const { events } = outcome
    if (events[reached]! < 0 || (missed !== null && events[missed]! >= 0)) return
    let before = reached - 1
    while (before >= 0 && events[before]! < 0) before--
    const time = (step: number) => columns.time[events[step]!]!
    rows.push({ actor: actor(outcome.actor), reached_at: time(reached), before_at: time(before < 0 ? reached : before) })
  })
  return rows
}
