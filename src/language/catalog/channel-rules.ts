import { and, call, equals, literal, not, or } from '../ast/build.ts'
import type { Expr } from '../ast/nodes.ts'

// Rules of a request that name the channel of a session, before the usual ones do.

export const channelFields = ['utm_source', 'utm_medium', 'utm_campaign', 'referring_domain', 'url', 'hostname', 'pathname'] as const
export type ChannelField = (typeof channelFields)[number]
export const channelOperators = ['exact', 'is_not', 'is_set', 'is_not_set', 'icontains', 'not_icontains', 'regex', 'not_regex'] as const
export type ChannelOperator = (typeof channelOperators)[number]

export interface ChannelCondition {
  readonly key: ChannelField
  readonly op: ChannelOperator
  /** Any of several. */
  readonly value?: string | readonly string[] | null | undefined
}
export interface ChannelRule {
  readonly items: readonly ChannelCondition[]
  readonly combiner: 'AND' | 'OR'
  readonly channel_type: string
}

/** The channel by the first rule that holds, or null. A field without a value matches no operator but the negated ones. */
export const ruledChannel = (rules: readonly ChannelRule[], read: (name: ChannelField) => Expr): Expr =>
  call('multiIf', ...rules.flatMap((rule) => [ruleHolds(rule, read), literal(rule.channel_type)]), literal(null))

function ruleHolds({ items, combiner }: ChannelRule, read: (name: ChannelField) => Expr): Expr {
  const conditions = items.filter(({ value }) => !Array.isArray(value) || value.length > 0).map((item) => holds(item, read(item.key)))
  if (conditions.length === 0) return literal(true)
  return combiner === 'OR' ? or(...conditions) : and(...conditions)
}

function holds({ op, value }: ChannelCondition, given: Expr): Expr {
  if (op === 'is_set') return call('isNotNull', given)
  if (op === 'is_not_set') return call('isNull', given)
  const values = [value ?? []].flat() as readonly string[]
  return or(...values.map((one) => compared(op, given, one)))
}

const pattern = (value: string) => literal(`%${value.replace(/[\\%_]/g, '\\$&')}%`)
function compared(op: Exclude<ChannelOperator, 'is_set' | 'is_not_set'>, given: Expr, value: string): Expr {
  const text = call('ifNull', given, literal(''))
  const isGiven = call('isNotNull', given)
  switch (op) {
    case 'exact':
      return and(isGiven, equals(text, literal(value)))
    case 'is_not':
      return not(and(isGiven, equals(text, literal(value))))
    case 'icontains':
      return and(isGiven, call('ilike', text, pattern(value)))
    case 'not_icontains':
      return not(and(isGiven, call('ilike', text, pattern(value))))
    case 'regex':
      return and(isGiven, call('match', text, literal(value)))
    case 'not_regex':
      return not(and(isGiven, call('match', text, literal(value))))
  }
}
