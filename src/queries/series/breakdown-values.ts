// Breakdown values for "no value" and "other". Saved queries and clients know these texts.
export const nullValue = '$$_posthog_breakdown_null_$$'
export const otherValue = '$$_posthog_breakdown_other_$$'
export const nullLabel = 'None (i.e. no value)'
export const otherLabel = 'Other (i.e. all remaining values)'

/** As people read it: `(none)`, `Other`, or the value itself; of several properties one after the other. */
export function breakdownName(parts: readonly string[]): string {
  if (parts.length > 0 && parts.every((part) => part === otherValue)) return 'Other'
  return parts.map((part) => (part === nullValue || part === '' ? '(none)' : part === otherValue ? 'Other' : part)).join(', ')
}

/** A text of an answer in which such values stand, such as the label of a row. */
export const readableBreakdown = (text: string): string =>
  text.includes('$$_posthog') ? text.replaceAll(nullValue, '(none)').replaceAll(otherValue, 'Other') : text
