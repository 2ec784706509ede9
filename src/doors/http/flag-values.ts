import type { FlagReason, FlagValue } from '../../service/flags/evaluate.ts'
import type { FlagAnswer } from '../../service/flags/open-flags.ts'

// Values of flags as client libraries read them.

const words: Readonly<Record<FlagReason, string>> = {
  condition_match: 'Matched condition set',
  no_condition_match: 'No matching condition set',
  out_of_rollout_bound: 'Out of rollout bound',
  no_group_type: 'No group type',
}
const described = ({ reason, condition }: FlagValue): string =>
  reason === 'condition_match' ? `${words[reason]} ${(condition ?? 0) + 1}` : words[reason]

/** Clients read it as JSON. */
const payloadText = ({ payload }: FlagValue): string | null =>
  payload === null || payload === undefined ? null : typeof payload === 'string' ? payload : JSON.stringify(payload)

const shownValue = ({ isEnabled, variant }: FlagValue): boolean | string => (isEnabled ? (variant ?? true) : false)

const detailsOf = (one: FlagValue) => ({
  key: one.flag.key,
  enabled: one.isEnabled,
  variant: one.variant,
  reason: {
    code: one.reason,
    condition_index: one.reason === 'condition_match' || one.reason === 'out_of_rollout_bound' ? one.condition : null,
    description: described(one),
  },
  metadata: { id: one.flag.id, version: one.flag.version, description: null, payload: payloadText(one) },
})

const byKey = <T>(values: readonly FlagValue[], of: (one: FlagValue) => T): Record<string, T> =>
  Object.fromEntries(values.map((one) => [one.flag.key, of(one)]))

const payloadsOf = (values: readonly FlagValue[]) =>
  byKey(
    values.filter((one) => payloadText(one) !== null),
    (one) => payloadText(one),
  )

/** Of `/flags/?v=2` and `/decide/?v=4`. */
export const newestAnswer = ({ values, hasErrors }: FlagAnswer, now: Date) => ({
  flags: byKey(values, detailsOf),
  errorsWhileComputingFlags: hasErrors,
  requestId: crypto.randomUUID(),
  evaluatedAt: now.getTime(),
})

/** Of `/decide` before that, by its version. */
export function olderAnswer(version: string, { values, hasErrors }: FlagAnswer): object {
  const on = values.filter(({ isEnabled }) => isEnabled)
  if (version === '1') return { featureFlags: on.map(({ flag }) => flag.key) }
  if (version === '2') return { featureFlags: byKey(on, shownValue) }
  return { featureFlags: byKey(values, shownValue), featureFlagPayloads: payloadsOf(values), errorsWhileComputingFlags: hasErrors }
}

export const reasonsOf = (values: readonly FlagValue[]) =>
  byKey(values, (one) => ({ value: shownValue(one), evaluation: { reason: one.reason, condition_index: one.condition } }))

/** As OpenFeature's protocol for remote evaluation says it. A flag with variants that is off has no value: the program uses its own. */
export function remoteValue(one: FlagValue) {
  const { flag, isEnabled, variant, payload } = one
  const condition = flag.filters.groups[one.condition ?? -1]
  const isSplit = variant !== null || (condition?.rollout_percentage ?? 100) < 100
  const hasVariants = (flag.filters.multivariate?.variants.length ?? 0) > 0
  return {
    key: flag.key,
    ...((isEnabled || !hasVariants) && { value: shownValue(one) }),
    reason: isEnabled ? (isSplit ? 'SPLIT' : 'TARGETING_MATCH') : 'DEFAULT',
    ...(variant !== null && { variant }),
    metadata: { version: flag.version, ...(payload !== null && payload !== undefined && { payload: payloadText(one) }) },
  }
}
