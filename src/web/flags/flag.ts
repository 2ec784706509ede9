import type { FeatureFlagAnswer } from '../../doors/answers/feature-flags.ts'
import type { Filter } from '../insights/query.ts'
import { FieldError } from '../lib/error-fields.ts'
import { counted } from '../lib/format.ts'

// A flag as its form has it.

export interface Condition {
  readonly properties: readonly Filter[]
  readonly share: number
  /** Empty: by share. */
  readonly variant: string
  /** A property has no value yet: without it the condition would be one for more people. */
  readonly isIncomplete?: boolean
}
export interface Variant {
  readonly key: string
  readonly share: number
  readonly payload: string
}
export interface Draft {
  readonly conditions: readonly Condition[]
  readonly variants: readonly Variant[]
  /** Of a flag without variants, as JSON. */
  readonly payload: string
}

interface Filters {
  readonly groups?: readonly {
    readonly properties?: readonly Filter[]
    readonly rollout_percentage?: number | null
    readonly variant?: string | null
  }[]
  readonly multivariate?: { readonly variants: readonly { readonly key: string; readonly rollout_percentage: number }[] } | null
  readonly payloads?: Readonly<Record<string, unknown>> | null
  readonly aggregation_group_type_index?: number | null
}

export const everybody: Condition = { properties: [], share: 100, variant: '' }
export const emptyDraft: Draft = { conditions: [everybody], variants: [], payload: '' }

const payloadText = (payload: unknown): string => (payload == null ? '' : typeof payload === 'string' ? payload : JSON.stringify(payload))

/** Null: the form has no fields for it. */
export function draftOf({ filters }: Pick<FeatureFlagAnswer, 'filters'>): Draft | null {
  const { groups = [], multivariate, payloads, aggregation_group_type_index } = filters as Filters
  const isPlain = groups.every(({ properties = [] }) => properties.every(({ type }) => type === 'person' || type === 'cohort'))
  if (aggregation_group_type_index != null || !isPlain) return null
  return {
    conditions: groups.map(({ properties = [], rollout_percentage, variant }) => ({
      properties,
      share: rollout_percentage ?? 100,
      variant: variant ?? '',
    })),
    variants: (multivariate?.variants ?? []).map(({ key, rollout_percentage: share }) => ({
      key,
      share,
      payload: payloadText(payloads?.[key]),
    })),
    payload: payloadText(payloads?.true),
  }
}

function payloadIn(text: string, of: string): Readonly<Record<string, string>> {
  if (text.trim() === '') return {}
  try {
    JSON.parse(text)
  } catch (cause) {
    throw new FieldError('filters', `The payload of ${of} is not JSON: ${(cause as Error).message}`)
  }
  return { [of]: text.trim() }
}

/** As the API takes it. Clients read payloads as JSON. */
export function filtersOf({ conditions, variants, payload }: Draft): object {
  const open = conditions.findIndex(({ isIncomplete }) => isIncomplete === true)
  if (open >= 0) throw new FieldError('filters', `Condition ${open + 1} has a property without a value. Choose one, or remove it.`)
  const payloads =
    variants.length > 0 ? Object.assign({}, ...variants.map((one) => payloadIn(one.payload, one.key))) : payloadIn(payload, 'true')
  return {
    groups: conditions.map(({ properties, share, variant }) => ({
      properties,
      rollout_percentage: share,
      variant: variants.some(({ key }) => key === variant) ? variant : null,
    })),
    multivariate: variants.length > 0 ? { variants: variants.map(({ key, share }) => ({ key, rollout_percentage: share })) } : null,
    payloads,
  }
}

/** Even parts, in whole percents. */
export const evenShares = (count: number): readonly number[] =>
  Array.from({ length: count }, (_, i) => Math.floor((100 * (i + 1)) / count) - Math.floor((100 * i) / count))

export const summaryOf = (flag: FeatureFlagAnswer): string => {
  const { groups = [], multivariate } = flag.filters as Filters
  if (groups.length === 0) return 'nobody'
  const variants = multivariate?.variants.length ?? 0
  const shares = groups.map(
    ({ properties = [], rollout_percentage }) =>
      `${rollout_percentage ?? 100}% of ${properties.length === 0 ? 'everybody' : 'those who match'}`,
  )
  return `${shares.slice(0, 2).join(', ')}${shares.length > 2 ? ` and ${shares.length - 2} more` : ''}${variants > 0 ? `, ${counted(variants, 'variant')}` : ''}`
}
