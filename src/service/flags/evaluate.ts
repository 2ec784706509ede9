import { createHash } from 'node:crypto'
import type { FlagCondition, FlagFilters, FlagProperty } from './definition.ts'
import { type Properties, propertyHolds } from './matching.ts'

// Which value a flag has for somebody. Pure: the same flag and the same facts give the same value, here and in the client libraries that compute it themselves.

export interface EvaluatedFlag {
  readonly id: number
  readonly key: string
  readonly version: number
  readonly filters: FlagFilters
}

/** Who is asked for, and what is known. */
export interface Subject {
  readonly distinctId: string
  readonly person: Properties
  /** Ids of the cohorts that the person is in. */
  readonly cohorts: ReadonlySet<number>
  /** By the index of the type: the key of the group, and its properties. */
  readonly groups: ReadonlyMap<number, { readonly key: string; readonly properties: Properties }>
}

export type FlagReason = 'condition_match' | 'no_condition_match' | 'out_of_rollout_bound' | 'no_group_type'

export interface FlagValue {
  readonly flag: EvaluatedFlag
  readonly isEnabled: boolean
  readonly variant: string | null
  readonly reason: FlagReason
  /** Of the condition that decided, from 0. */
  readonly condition: number | null
  readonly payload: unknown
}

const digits = 15
const whole = Number(0xfffffffffffffffn)

/** Where somebody is between 0 and 1: evenly, always at the same place for one flag, and at unrelated places for others. */
export const placeOf = (flag: string, id: string, salt = ''): number =>
  Number(BigInt(`0x${createHash('sha1').update(`${flag}.${id}${salt}`).digest('hex').slice(0, digits)}`)) / whole

/** The parts of the variants lie one behind the other. */
export function variantAt(
  variants: readonly { readonly key: unknown; readonly rollout_percentage: number }[],
  place: number,
): string | null {
  let from = 0
  for (const { key, rollout_percentage } of variants) {
    const to = from + rollout_percentage / 100
    if (place >= from && place < to) return String(key)
    from = to
  }
  return null
}

function holds(one: FlagProperty, subject: Subject, group: Properties | null, now: Date): boolean {
  if (one.type === 'cohort') {
    const isIn = subject.cohorts.has(Number(one.value))
    return one.negation === true || one.operator === 'not_in' ? !isIn : isIn
  }
  if (one.type !== 'group') return propertyHolds(one, group ?? subject.person, now)
  const own = subject.groups.get(one.group_type_index ?? -1)?.properties
  return propertyHolds(one, own ?? group ?? {}, now)
}

type Met = 'met' | 'properties' | 'share'

function met(
  flag: EvaluatedFlag,
  { properties, rollout_percentage }: FlagCondition,
  id: string,
  subject: Subject,
  group: Properties | null,
  now: Date,
): Met {
  if (!properties.every((one) => holds(one, subject, group, now))) return 'properties'
  const share = rollout_percentage ?? 100
  return share >= 100 || placeOf(flag.key, id) <= share / 100 ? 'met' : 'share'
}

export function evaluate(flag: EvaluatedFlag, subject: Subject, now: Date): FlagValue {
  const { groups, multivariate, payloads, aggregation_group_type_index: index } = flag.filters
  const off = (reason: FlagReason, condition: number | null = null): FlagValue => ({
    flag,
    isEnabled: false,
    variant: null,
    reason,
    condition,
    payload: null,
  })
  const group = index == null ? null : (subject.groups.get(index) ?? null)
  if (index != null && group === null) return off('no_group_type')
  const id = group?.key ?? subject.distinctId
  const variants = multivariate?.variants ?? []
  let nearest: FlagValue = off('no_condition_match')
  for (const [i, one] of groups.entries()) {
    const found = met(flag, one, id, subject, group?.properties ?? null, now)
    if (found === 'properties') {
      if (nearest.condition === null) nearest = off('no_condition_match', i)
      continue
    }
    if (found === 'share') {
      if (nearest.reason !== 'out_of_rollout_bound') nearest = off('out_of_rollout_bound', i)
      continue
    }
    const named = variants.find(({ key }) => key === one.variant)
    const variant = named ? String(named.key) : variantAt(variants, placeOf(flag.key, id, 'variant'))
    const payload = payloads?.[variant ?? 'true'] ?? null
    return { flag, isEnabled: true, variant, reason: 'condition_match', condition: i, payload }
  }
  return nearest
}

/** What has to be read of the store before flags can be evaluated. */
export interface Needed {
  readonly person: boolean
  readonly cohorts: readonly number[]
  /** Indices of the types of groups whose properties are read. */
  readonly groups: readonly number[]
}

export function neededBy(flags: readonly EvaluatedFlag[], given: Properties, givenGroups: ReadonlyMap<number, Properties>): Needed {
  let person = false
  const cohorts = new Set<number>()
  const groups = new Set<number>()
  for (const { filters } of flags)
    for (const { properties } of filters.groups)
      for (const one of properties) {
        const index =
          one.type === 'group' ? (one.group_type_index ?? filters.aggregation_group_type_index) : filters.aggregation_group_type_index
        if (one.type === 'cohort') cohorts.add(Number(one.value))
        else if (index != null) {
          if (!Object.hasOwn(givenGroups.get(index) ?? {}, one.key as string)) groups.add(index)
        } else if (!Object.hasOwn(given, one.key as string)) person = true
      }
  return { person, cohorts: [...cohorts], groups: [...groups] }
}
