import { type VisitNumbers, type VisitsParams, visitBits, visitsFold } from '../../core/folds/visits.ts'
import { and, call, field, literal } from '../../language/ast/build.ts'
import { isSessionId, usualBounceSeconds } from '../../language/catalog/sessions.ts'
import { type ListedFold, listFold, type QueryContext } from '../kind.ts'
import { AskedColumns, askedBits, bitsOf } from '../lists/listed-columns.ts'
import { longestSession } from '../lists/made-sessions.ts'
import { type Refusal, refuse } from '../refusals.ts'
import { inSample } from '../scope.ts'
import { allOf } from '../series/series-condition.ts'
import type { Period } from '../time/comparison.ts'
import { countedNames, isNamed, isPage, type WebPlan } from './plan.ts'

/** What is counted in a period; null: there is nothing to count. */
export type OverviewNumbers = (period: Period, name: string) => number | null

/** The sessions of a site over the lists of the core, by the persons whose they are. */
export function listedOverview(plan: WebPlan, env: QueryContext): ListedFold<OverviewNumbers> | Refusal {
  if (plan.sessions.fields.length > 0) return refuse('sessions-near-period')
  // The lists hold sessions by their ids.
  if (plan.hasMade) return refuse('sessions-without-id')
  const ranges = (
    [
      ['current', plan.current],
      ['previous', plan.previous],
    ] as const
  ).flatMap(([period, range]) => (range ? [{ period, range }] : []))
  const columns = new AskedColumns()
  const id = field('$session_id')
  const session = columns.ids(call('if', isSessionId(id), id, literal('')))
  const actors = { column: session.index, except: '', isOwned: true }
  const counted = allOf(countedNames(plan, isPage), plan.filters)
  const bits = askedBits(
    [
      { condition: inSample(plan.sample), bits: visitBits.ofSession },
      { condition: counted, bits: visitBits.counted },
      { condition: isNamed('$pageview', '$screen', '$autocapture'), bits: visitBits.action },
      ...(plan.goal ? [{ condition: and(counted, plan.goal), bits: visitBits.goal }] : []),
    ],
    columns,
    env,
  )
  const near = ranges.flatMap(({ range }) => [range.firstEvent - longestSession, range.to + longestSession])
  return {
    names: bits.names,
    columns: columns.asks,
    actors,
    fold: listFold<VisitsParams, VisitNumbers, OverviewNumbers>({
      fold: visitsFold,
      params: (listed) => ({
        bits: bitsOf(bits, listed),
        sessions: listed.columns[actors.column]!.values,
        owners: listed.owners!,
        near: Float64Array.from(near),
        periods: Float64Array.from(ranges.flatMap(({ range }) => [range.firstEvent, range.to])),
        bounceSeconds: env.sessions?.bounceSeconds ?? usualBounceSeconds,
        persons: listed.lists.persons,
      }),
      *take(found, _, { persons }) {
        const numbers = new Map<Period, ReturnType<typeof numbersOf>>()
        for (const [i, { period }] of ranges.entries()) {
          numbers.set(period, numbersOf(found, i, persons))
          yield
        }
        return (period, name) => numbers.get(period)![name] ?? null
      },
    }),
  }
}

function numbersOf(found: VisitNumbers, period: number, persons: number): Readonly<Record<string, number | null>> {
  const sizeOf = (set: Uint8Array) => set.subarray(period * persons, (period + 1) * persons).reduce((sum, one) => sum + one, 0)
  const sessions = found.sessions[period]!
  const share = (part: number, whole: number) => (whole === 0 ? null : part / whole)
  return {
    visitors: sizeOf(found.visitors),
    converted: sizeOf(found.converted),
    sessions,
    views: found.counted[period]!,
    conversions: found.goals[period]!,
    duration: share(found.seconds[period]!, sessions),
    bounces: share(found.bounces[period]!, found.withAction[period]!),
  }
}
