// Breakdown values for "no value" and "other". Saved queries and clients know these texts.
export const nullValue = '$$_posthog_breakdown_null_$$'
export const otherValue = '$$_posthog_breakdown_other_$$'
export const nullLabel = 'None (i.e. no value)'
export const otherLabel = 'Other (i.e. all remaining values)'
