import { type RetentionParams, type RetentionPart, retentionFold } from '../../core/folds/retention.ts'
import { literal } from '../../language/ast/build.ts'
import { type ListedFold, listFold, type QueryContext } from '../kind.ts'
import { AskedColumns, askedBits, bitsOf, combinationTexts, groupActors, placed } from '../lists/listed-columns.ts'
import { refuse } from '../refusals.ts'
import { inSample, memberOf } from '../scope.ts'
import { allOf } from '../series/series-condition.ts'
import { hasFirst, type RetentionGroup, type RetentionPlan } from './plan.ts'
import type { CohortSplit } from './statement.ts'

/** A retention over the lists of the core. */
export function listedRetention(plan: RetentionPlan, cohort: CohortSplit, env: QueryContext): ListedFold<readonly RetentionGroup[]> {
  const { query, range, rows, type, value, isSame, group } = plan
  const columns = new AskedColumns({ hasPersons: group === null })
  const scope = allOf(plan.filters, cohort === null || cohort === 'all' ? literal(true) : memberOf(cohort), inSample(query.samplingFactor))
  const conditions = [
    { condition: allOf(plan.start, scope), bits: 1 },
    { condition: allOf(plan.returning, scope), bits: 2 },
    ...(type === 'first ever' ? [{ condition: allOf(plan.named, scope), bits: 4 }] : []),
  ]
  const bits = askedBits(conditions, columns, env)
  const splits = plan.parts.map((part) => columns.codes(part))
  const number = value && columns.numbers(value)
  return {
    names: bits.names,
    columns: columns.asks,
    actors: group === null ? null : groupActors(group, columns),
    fold: listFold<RetentionParams, RetentionPart, readonly RetentionGroup[]>({
      fold: retentionFold,
      params: (listed) => ({
        matching: {
          from: hasFirst(plan) ? Number.NEGATIVE_INFINITY : range.from,
          to: range.to,
          scope: null,
          bits: bitsOf(bits, listed),
          further: null,
          takesAll: false,
        },
        type,
        from: range.from,
        ticks: Float64Array.from(plan.ticks),
        rowOf: rowsOfTicks(plan),
        rows,
        columns: plan.columns,
        width: plan.width,
        columnOf: columnsOfOffsets(plan),
        hasWindows: plan.hasWindows,
        minimum: plan.minimum,
        isCumulative: plan.isCumulative,
        splits: splits.map((split) => placed(split, listed)),
        number: number && placed(number, listed),
        isSame,
      }),
      *take(part, { columns: read }) {
        if (!part) return refuse('many-values')
        const texts = splits.map(({ index }) => read[index]!.texts)
        const size = rows * plan.columns
        const groups = part.combinations.map((combination, i): RetentionGroup => {
          const [from, to] = [i * size, (i + 1) * size]
          return {
            parts: combinationTexts(combination, texts),
            counts: part.counts.subarray(from, to),
            amounts: part.amounts?.subarray(from, to) ?? null,
          }
        })
        return groups.filter(({ counts }) => counts.some((count) => count > 0))
      },
    }),
  }
}

function rowsOfTicks({ ticks, rowTicks }: RetentionPlan): Int32Array {
  const rows = new Int32Array(ticks.length)
  let row = 0
  for (let tick = 0; tick < rows.length; tick++) {
    while (row + 1 < rowTicks.length && rowTicks[row + 1]! <= tick) row++
    rows[tick] = row
  }
  return rows
}

function columnsOfOffsets({ offsets }: RetentionPlan): Int32Array {
  const columns = new Int32Array(offsets.at(-1)!)
  for (let column = 1; column < offsets.length; column++) columns.fill(column, offsets[column - 1]!, offsets[column]!)
  return columns
}
