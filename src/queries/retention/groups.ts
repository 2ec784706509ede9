import type { Table } from 'apache-arrow'
import { QueryError } from '../../errors/errors.ts'
import { allowFound } from '../answers/cells.ts'
import { codesOf, doubles, integers, TextCodes } from '../answers/vectors.ts'
import { along, type QueryContext, type QueryRun } from '../kind.ts'
import { otherValue } from '../series/breakdown-values.ts'
import { listedRetention } from './listed.ts'
import type { RetentionGroup, RetentionPlan } from './plan.ts'
import { type CohortSplit, partColumn, retentionCounts } from './statement.ts'

export const cohortsOf = ({ breakdown }: RetentionPlan): readonly CohortSplit[] =>
  breakdown.cohorts.length > 0 ? breakdown.cohorts : [null]
export const cohortText = (cohort: number | 'all'): string => (cohort === 'all' ? '0' : String(cohort))

/** All groups, in no particular order. */
export function* groupsOf(plan: RetentionPlan, env: QueryContext): QueryRun<readonly RetentionGroup[]> {
  if (plan.rows === 0) return []
  mustBeThere(plan, env)
  const groups: RetentionGroup[] = []
  for (const cohort of cohortsOf(plan)) {
    const found = yield* along<readonly RetentionGroup[]>({
      label: cohort === null ? 'retention' : `retention, cohort ${cohort}`,
      lists: () => listedRetention(plan, cohort, env),
      statement: () => ({ query: retentionCounts(plan, cohort), read: (table) => readGroups(table, plan) }),
    })
    groups.push(...(cohort === null ? found : found.map((group) => ({ ...group, parts: [cohortText(cohort)] }))))
  }
  return plan.isCumulative ? groups.map((group) => ({ ...group, counts: atLeast(group.counts, plan) })) : groups
}

function mustBeThere({ breakdown: { cohorts }, query }: RetentionPlan, env: QueryContext): void {
  const missing = cohorts.findIndex((id) => id !== 'all' && !env.cohort(id))
  if (missing < 0) return
  const attr = query.breakdownFilter?.breakdowns?.length
    ? `breakdownFilter__breakdowns__${missing}__property`
    : 'breakdownFilter__breakdown'
  throw new QueryError('validation-failed', { message: `There is no cohort ${cohorts[missing]}.`, attr })
}

function readGroups(table: Table, { rows, columns, parts, value }: RetentionPlan): RetentionGroup[] {
  const [rowAt, columnOf, actors] = [integers(table, 'row_number'), integers(table, 'value_number'), doubles(table, 'actors')]
  const amounts = value && doubles(table, 'amount')
  const words = parts.map(() => new TextCodes())
  const codes = words.map((code, i) => codesOf(table, partColumn(i), code))
  const groups = new Map<string, RetentionGroup>()
  for (let at = 0; at < table.numRows; at++) {
    const key = codes.map((column) => column[at]).join()
    let group = groups.get(key)
    if (!group) {
      const cells = rows * columns
      allowFound(groups.size + 1, amounts ? 2 * cells : cells)
      group = {
        parts: words.map((word, i) => word.values[codes[i]![at]!]!),
        counts: new Float64Array(cells),
        amounts: amounts && new Float64Array(cells),
      }
      groups.set(key, group)
    }
    const cell = rowAt[at]! * columns + columnOf[at]!
    group.counts[cell] = actors[at]!
    if (amounts) group.amounts![cell] = amounts[at]!
  }
  return [...groups.values()]
}

/** From actors by the last value that they reach to actors who reach it or a later one. */
function atLeast(counts: Float64Array, { rows, columns }: RetentionPlan): Float64Array {
  const sums = counts.slice()
  for (let row = 0; row < rows; row++)
    for (let value = columns - 2; value >= 0; value--) sums[row * columns + value]! += sums[row * columns + value + 1]!
  return sums
}

/** Actors in all rows together. */
const totalOf = ({ counts }: RetentionGroup, { rows, columns }: RetentionPlan): number => {
  let total = 0
  for (let row = 0; row < rows; row++) total += counts[row * columns]!
  return total
}

function compareTexts(a: readonly string[], b: readonly string[]): number {
  const i = a.findIndex((part, k) => part !== b[k])
  return i < 0 ? 0 : a[i]! < b[i]! ? -1 : 1
}

/** The largest groups, and the sum of all others. */
export function limitedGroups(groups: readonly RetentionGroup[], plan: RetentionPlan): readonly RetentionGroup[] {
  const ranked = groups
    .map((group) => ({ group, total: totalOf(group, plan) }))
    .sort((a, b) => b.total - a.total || compareTexts(a.group.parts, b.group.parts))
    .map(({ group }) => group)
  const { limit, isOtherHidden } = plan.breakdown
  const rest = ranked.slice(limit)
  if (rest.length === 0 || isOtherHidden) return ranked.slice(0, limit)
  const sum = (of: (group: RetentionGroup) => Float64Array) =>
    rest[0]!.counts.map((_, i) => rest.reduce((all, group) => all + of(group)[i]!, 0))
  const other: RetentionGroup = {
    parts: rest[0]!.parts.map(() => otherValue),
    counts: sum(({ counts }) => counts),
    amounts: plan.value && sum(({ amounts }) => amounts!),
  }
  return [...ranked.slice(0, limit), other]
}
