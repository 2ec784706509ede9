import type { TokenType } from 'chevrotain'
import * as t from './tokens.ts'

// How tightly operators bind: a smaller level binds tighter. `1 + null ?? 2 + 3` is `ifNull(1 + null, 2 + 3)`.
// BETWEEN comes before NOT, AND and OR as in SQL, so that `a BETWEEN 1 AND 2 AND b` is a conjunction.

export const level = {
  negate: 2,
  multiply: 3,
  add: 4,
  compare: 5,
  isNull: 6,
  nullish: 7,
  between: 8,
  not: 9,
  and: 10,
  or: 11,
  ternary: 12,
} as const

export interface OperatorRow {
  /** The function that the operator calls. */
  readonly name: string
  readonly level: number
  /** `a AND b AND c` is one call. */
  readonly isChain?: true
  /** The call is wrapped in `not`. */
  readonly isNegated?: true
  /** The pattern on the right ignores case. */
  readonly ignoresCase?: true
}

const rows: readonly (readonly [TokenType, OperatorRow])[] = [
  [t.Asterisk, { name: 'multiply', level: level.multiply }],
  [t.Slash, { name: 'divide', level: level.multiply }],
  [t.Percent, { name: 'modulo', level: level.multiply }],
  [t.Plus, { name: 'plus', level: level.add }],
  [t.Minus, { name: 'minus', level: level.add }],
  [t.Concat, { name: 'concat', level: level.add, isChain: true }],
  [t.Equals, { name: 'equals', level: level.compare }],
  [t.DoubleEquals, { name: 'equals', level: level.compare }],
  [t.NotEquals, { name: 'notEquals', level: level.compare }],
  [t.Differs, { name: 'notEquals', level: level.compare }],
  [t.Less, { name: 'less', level: level.compare }],
  [t.LessOrEquals, { name: 'lessOrEquals', level: level.compare }],
  [t.Greater, { name: 'greater', level: level.compare }],
  [t.GreaterOrEquals, { name: 'greaterOrEquals', level: level.compare }],
  [t.Like, { name: 'like', level: level.compare }],
  [t.Ilike, { name: 'ilike', level: level.compare }],
  [t.Tilde, { name: 'match', level: level.compare }],
  [t.EqualsTilde, { name: 'match', level: level.compare }],
  [t.NotTilde, { name: 'match', level: level.compare, isNegated: true }],
  [t.TildeStar, { name: 'match', level: level.compare, ignoresCase: true }],
  [t.EqualsTildeStar, { name: 'match', level: level.compare, ignoresCase: true }],
  [t.NotTildeStar, { name: 'match', level: level.compare, ignoresCase: true, isNegated: true }],
  [t.Nullish, { name: 'ifNull', level: level.nullish }],
  [t.And, { name: 'and', level: level.and, isChain: true }],
  [t.Or, { name: 'or', level: level.or, isChain: true }],
]

export const binaryOperators: ReadonlyMap<TokenType, OperatorRow> = new Map(rows)

export const notLike: OperatorRow = { name: 'notLike', level: level.compare }
export const notIlike: OperatorRow = { name: 'notILike', level: level.compare }
/** Comparisons never return null here, so IS DISTINCT FROM is an ordinary comparison. */
export const isDistinctFrom: OperatorRow = { name: 'notEquals', level: level.compare }
export const isNotDistinctFrom: OperatorRow = { name: 'equals', level: level.compare }

/** Not a binary operator. */
export const noLevel = 99
const wordLevels = new Map<TokenType, number>([
  [t.In, level.compare],
  [t.Between, level.between],
  [t.Is, level.isNull],
  [t.Question, level.ternary],
  ...rows.map(([type, row]) => [type, row.level] as const),
])
/** The level of the operator that starts with these two tokens. */
export const levelOf = (first: TokenType, second: TokenType): number =>
  first === t.Not ? (afterNot.has(second) ? wordLevels.get(second)! : noLevel) : (wordLevels.get(first) ?? noLevel)
const afterNot = new Set<TokenType>([t.In, t.Like, t.Ilike, t.Between])
