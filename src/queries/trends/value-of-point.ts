import { literal, not, or } from '../../language/ast/build.ts'
import type { Expr } from '../../language/ast/nodes.ts'
import type { Asking } from '../actor-source.ts'
import { normalizedUrlText } from '../filters/path-cleaning.ts'
import type { QueryContext } from '../kind.ts'
import { memberOf } from '../scope.ts'
import { type Breakdown, isBrokenDown } from '../series/breakdown.ts'
import { otherValue } from '../series/breakdown-values.ts'
import { allOf } from '../series/series-condition.ts'
import { partEquals } from './breakdown.ts'
import { answerUnits } from './index.ts'
import { limitGroups } from './ranking.ts'
import type { TrendsQuery } from './schema.ts'
import type { Unit } from './unit.ts'

/** The events with the value of the breakdown that a point of a chart has. */
export type ValueOfPoint =
  | { readonly kind: 'all' }
  | { readonly kind: 'condition'; readonly condition: Expr }
  | {
      readonly kind: 'values'
      /** Texts of the parts of the breakdown: one of these lists, or none of them. */
      readonly lists: readonly (readonly string[])[]
      readonly isNot: boolean
      /** The same as a condition. */
      readonly condition: Expr
    }

/** Other includes all values without a row of their own. */
export function* valueOfPoint(
  asked: string | number | readonly (string | number)[] | null | undefined,
  unit: Unit,
  query: TrendsQuery,
  env: QueryContext,
  breakdown: Breakdown,
): Asking<ValueOfPoint> {
  if (asked == null || !isBrokenDown(breakdown)) return { kind: 'all' }
  const values = Array.isArray(asked) ? (asked as readonly (string | number)[]) : [asked as string | number]
  if (breakdown.cohorts.length) {
    if (values.some((value) => value === 'all' || Number(value) === 0)) return { kind: 'all' }
    return { kind: 'condition', condition: or(...values.map((value) => memberOf(Number(value)))) }
  }
  // A page may be asked for in any form, as its events name it.
  const texts = values.map((value, i) => (breakdown.parts[i]?.normalizeUrl ? normalizedUrlText(String(value)) : String(value)))
  if (!texts.includes(otherValue)) return { kind: 'values', lists: [texts], isNot: false, condition: isValue(texts, breakdown, env) }
  const [answer] = yield* answerUnits([unit], query, env, breakdown)
  const shown = limitGroups(answer?.groups ?? [], breakdown).filter((group) => !group.parts.includes(otherValue))
  const lists = shown.map(({ parts }) => parts)
  return { kind: 'values', lists, isNot: true, condition: not(or(...lists.map((list) => isValue(list, breakdown, env)))) }
}

const isValue = (values: readonly string[], breakdown: Breakdown, env: QueryContext): Expr =>
  allOf(
    ...breakdown.parts.map((part, i) =>
      values[i] === undefined ? literal(true) : (partEquals(part, values[i], breakdown, env) ?? literal(true)),
    ),
  )
