import { codesOfValue, funnelFold, type Outcomes, valuesOf } from '../../core/folds/funnel.ts'
import type { FunnelSplit, ListedFunnel } from '../../core/folds/listed-funnel.ts'
import type { FunnelFold, Sink } from '../../core/kernels/funnels/fold.ts'
import type { Listed } from '../../core/lists/project-lists.ts'
import { literal } from '../../language/ast/build.ts'
import { type ListedFold, listFold, type QueryContext } from '../kind.ts'
import { AskedColumns, askedBits, bitsOf, groupActors, placed } from '../lists/listed-columns.ts'
import { type Refusal, refuse } from '../refusals.ts'
import { inSample, memberOf } from '../scope.ts'
import { allOf, queryFilters } from '../series/series-condition.ts'
import { actorKindOf, type BreakdownValues, type FunnelScan, type Reading, type Slice } from './scan.ts'

// A funnel over the lists of the core: no row is read from the store.

/** Breakdown values have 32-bit numbers. */
const mostValues = 2 ** 31
const outcomesBetweenPauses = 1 << 15

export interface FunnelParts {
  readonly scan: FunnelScan
  readonly cohort: number | 'all' | null
  readonly reading: Reading
  readonly funnel: FunnelFold
  readonly periods: Float64Array | null
  /** The sinks read the times of the steps. */
  readonly withTimes: boolean
}

/** Passes each outcome to the sink, with the codes of `values`. */
export function listed(
  { scan, cohort, reading, funnel: { goesBefore: _, ...funnel }, periods, withTimes }: FunnelParts,
  values: BreakdownValues,
  env: QueryContext,
  sinkOf: (slice: Slice) => Sink,
): ListedFold<void> | Refusal {
  const { query, range, breakdown, settings } = scan
  const actorKind = actorKindOf(query)
  if (actorKind === 'expression') return refuse('actors-by-expression')
  if (scan.withEvents) return refuse('no-uuids')
  const sample = inSample(query.samplingFactor)
  const columns = new AskedColumns({ hasPersons: actorKind === 'person' })
  const actors = actorKind === 'group' ? groupActors(query.aggregation_group_type_index!, columns) : null
  const steps = askedBits(
    reading.steps.map((condition, i) => ({ condition, bits: 1 << i })),
    columns,
    env,
  )
  const exclusions = reading.exclusions.length > 0 ? askedBits(reading.exclusions, columns, env) : null
  const firsts = askedBits(
    reading.firstTimes.map(({ condition }, i) => ({ condition, bits: 1 << i })),
    columns,
    env,
  )
  const filters = allOf(queryFilters(query, env), typeof cohort === 'number' ? memberOf(cohort) : literal(true), sample)
  const scope = filters.kind === 'literal' && filters.value === true ? null : askedBits([{ condition: filters, bits: 1 }], columns, env)
  const parts = breakdown.parts.map((part) => columns.codes(part))
  return {
    names: [...steps.names, ...(exclusions?.names ?? []), ...(scope?.names ?? [])],
    columns: columns.asks,
    actors,
    fold: listFold<ListedFunnel, Outcomes, void>({
      fold: funnelFold,
      params: (found) => ({
        matching: {
          from: range.from,
          to: range.to,
          scope: scope && bitsOf(scope, found),
          bits: bitsOf(steps, found),
          further: exclusions && bitsOf(exclusions, found),
          // Any event breaks a strict funnel.
          takesAll: settings.order === 'strict',
        },
        firstTimes:
          reading.firstTimes.length === 0
            ? null
            : { conditions: bitsOf(firsts, found), steps: reading.firstTimes.map(({ step }) => step), to: range.to },
        funnel,
        periods,
        splits: parts.map((part): FunnelSplit => ({ ...placed(part, found), ...orderOf(found.columns[part.index]!) })),
        withTimes,
      }),
      *take(outcomes, found, { splits }) {
        if (valuesOf(splits) > mostValues) return refuse('many-values')
        const texts = parts.map(({ index }) => found.columns[index]!.texts)
        const codes = new Map<number, number>([[-1, -1]])
        const codeOf = (value: number): number => {
          const known = codes.get(value)
          if (known !== undefined) return known
          const code = values.code(codesOfValue(splits, value).map((one, i) => (one < 0 ? '' : texts[i]![one]!)))
          codes.set(value, code)
          return code
        }
        const keys = actors && found.columns[actors.column]!.texts
        const actor = (index: number) => (keys ? keys[outcomes.person[index]!]! : outcomes.person[index]!)
        return yield* eachOutcome(outcomes, actor, funnel.steps, codeOf, sinkOf)
      },
    }),
  }
}

type TextOrder = Pick<FunnelSplit, 'rank' | 'empty'>
const textOrders = new WeakMap<Listed['columns'][number], TextOrder>()

/** The order of the texts by code, and the code of the empty text. Kept until the column has more texts. */
function orderOf(column: Listed['columns'][number]): TextOrder {
  const known = textOrders.get(column)
  const { texts } = column
  if (known?.rank.length === texts.length) return known
  const rank = new Int32Array(texts.length)
  const codes = Array.from(texts.keys()).sort((a, b) => (texts[a]! < texts[b]! ? -1 : 1))
  for (const [place, code] of codes.entries()) rank[code] = place
  const order = { rank, empty: texts.indexOf('') }
  textOrders.set(column, order)
  return order
}

/** The sinks find the times of the steps in columns of their own. */
function* eachOutcome(
  { person, value, depth, period, times }: Outcomes,
  actor: (index: number) => number | string,
  steps: number,
  codeOf: (value: number) => number,
  sinkOf: (slice: Slice) => Sink,
): Generator<void, void, void> {
  const nothing = new Int32Array(0)
  const columns = { actors: person.length, offsets: nothing, time: times, steps: nothing, exclusions: null, breakdown: null, origin: null }
  const sink = sinkOf({ columns, actor, uuid: () => '' })
  const events = new Int32Array(steps).fill(-1)
  const [hasValues, hasPeriods, hasTimes] = [value.length > 0, period.length > 0, times.length > 0]
  // Sinks read an outcome during their call only, so one object serves all.
  const outcome = { actor: 0, value: -1, depth: 0, events, period: -1 }
  for (let i = 0, at = 0, before = 0; i < person.length; i++) {
    const reached = depth[i]!
    if (hasTimes) {
      for (let step = 0; step < reached; step++) events[step] = Number.isNaN(times[at + step]!) ? -1 : at + step
      if (reached < before) events.fill(-1, reached, before)
      before = reached
      at += reached
    }
    outcome.actor = i
    outcome.depth = reached
    if (hasValues) outcome.value = codeOf(value[i]!)
    if (hasPeriods) outcome.period = period[i]!
    sink(outcome)
    if (i % outcomesBetweenPauses === outcomesBetweenPauses - 1) yield
  }
}
