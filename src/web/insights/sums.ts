import { mathFacts } from '../../queries/series/maths.ts'
import type { Query } from '../lib/api.ts'
import type { AnswerRow } from './people-of.ts'
import { listIn, objectIn, type SeriesNode } from './query.ts'

// Which numbers of an answer add up.

export const addsUp = ({ math, math_property: property }: SeriesNode): boolean =>
  mathFacts(math).addsUp === true && property !== '$session_duration'

/** Whether the numbers of a series over the values of its breakdown, and over intervals, add up to its number. */
export const isSum = (query: Query, order: number): boolean => {
  const node = listIn<SeriesNode>(query, 'series')[order]
  return formulasIn(query) === 0 && node !== undefined && addsUp(node)
}

export const formulasIn = (query: Query): number => {
  const { formula, formulas, formulaNodes } = objectIn(query, 'trendsFilter')
  return [formula, formulas, formulaNodes].flat().filter(Boolean).length
}

export const keyOf = (row: AnswerRow) => JSON.stringify([row.order ?? 0, row.breakdown_value ?? null])
export const isOther = (row: AnswerRow) => [row.breakdown_value].flat().includes('$$_posthog_breakdown_other_$$')
