import type { QueryKind } from '../kind.ts'
import { isBrokenDown } from '../series/breakdown.ts'
import { scaledUp } from '../series/sampling.ts'
import { type PeriodLabel, periodLabel, type ShownRanges, shownRanges } from '../time/comparison.ts'
import { isoInstant } from '../time/dates.ts'
import { groupsOf, limitedGroups } from './groups.ts'
import { meanOf, type RetentionMean } from './mean.ts'
import { bracketsOf, periodOf, planRetention, type RetentionGroup, type RetentionPlan } from './plan.ts'
import { retentionSchema } from './schema.ts'

/** The actors who started in one interval. */
export interface RetentionRow extends PeriodLabel {
  /** `Day 0` for the first interval of the range. */
  readonly label: string
  /** When the interval starts. */
  readonly date: string
  /** Value 0 counts those who started, the others those who returned so many intervals later. */
  readonly values: readonly RetentionValue[]
  /** Null without a breakdown. */
  readonly breakdown_value: string | readonly string[] | null
}

export interface RetentionValue {
  readonly count: number
  /** `Day 1`, or a bracket such as `Day 1-3`. */
  readonly label: string
  /** The sum of the property, or the average per actor. */
  readonly aggregation_value?: number
}

export interface RetentionAnswer extends ShownRanges {
  /** Of the current period, then of the previous one if there is a comparison. */
  readonly results: readonly RetentionRow[]
  /** With `meanRetentionCalculation`: percentages over all rows. */
  readonly mean?: readonly RetentionMean[]
}

export const retention: QueryKind<'RetentionQuery', typeof retentionSchema, RetentionAnswer> = {
  kind: 'RetentionQuery',
  isCached: true,
  schema: retentionSchema,
  *run(query, env) {
    const plans = yield* planRetention(query, env)
    const mean = query.retentionFilter?.meanRetentionCalculation
    const [results, means]: [RetentionRow[], RetentionMean[]] = [[], []]
    for (const plan of plans) {
      const found = yield* groupsOf(plan, env)
      const groups = isBrokenDown(plan.breakdown) ? limitedGroups(found, plan) : [found[0] ?? emptyGroup(plan)]
      const label = periodLabel(plan.period, plans.length > 1)
      for (const group of groups) {
        const breakdown_value = nameOf(group, plan)
        results.push(...rowsOf(group, plan).map((row) => ({ ...row, breakdown_value, ...label })))
        if (mean && mean !== 'none') means.push({ breakdown_value, values: meanOf(group, mean, plan), ...label })
      }
    }
    return {
      results,
      ...(mean && mean !== 'none' && { mean: means }),
      ...shownRanges(plans),
    }
  },
}

const emptyGroup = ({ rows, columns, value }: RetentionPlan): RetentionGroup => ({
  parts: [],
  counts: new Float64Array(rows * columns),
  amounts: value && new Float64Array(rows * columns),
})

/** The value of the breakdown as the answer shows it. */
const nameOf = ({ parts }: RetentionGroup, { breakdown }: RetentionPlan): RetentionRow['breakdown_value'] =>
  !isBrokenDown(breakdown) ? null : parts.length === 1 ? parts[0]! : parts

/** Names of the values: intervals after the start, or brackets of them. */
function valueLabels({ query, columns, offsets }: RetentionPlan): readonly string[] {
  const period = periodOf(query.retentionFilter)
  if (bracketsOf(query.retentionFilter).length === 0) return Array.from({ length: columns }, (_, i) => `${period} ${i}`)
  const brackets = offsets.slice(0, -1).map((first, i) => {
    const last = offsets[i + 1]! - 1
    return first === last ? `${period} ${first}` : `${period} ${first}-${last}`
  })
  return [`${period} 0`, ...brackets]
}

function rowsOf(group: RetentionGroup, plan: RetentionPlan): Pick<RetentionRow, 'label' | 'date' | 'values'>[] {
  const { query, edges, columns, range } = plan
  const labels = valueLabels(plan)
  const isAverage = query.retentionFilter?.aggregationType === 'avg'
  return edges.slice(0, -1).map((start, row) => ({
    label: `${periodOf(query.retentionFilter)} ${row}`,
    date: isoInstant(start, range.calendar.zone),
    values: labels.map((label, value): RetentionValue => {
      const cell = row * columns + value
      const actors = group.counts[cell]!
      const count = scaledUp(actors, query.samplingFactor)
      if (!group.amounts) return { count, label }
      const sum = group.amounts[cell]!
      const amount = isAverage ? (actors === 0 ? 0 : sum / actors) : scaledUp(sum, query.samplingFactor)
      return { count, aggregation_value: amount, label }
    }),
  }))
}
