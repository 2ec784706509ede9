import { expect, test } from 'vitest'
import { checkAnswer } from '../../../src/service/notifications/alert-value.ts'

// What an alert says about the values of a breakdown is read by people.

test.each([
  [{ label: '$$_posthog_breakdown_null_$$', breakdown_value: '$$_posthog_breakdown_null_$$', action: { name: 'visit' } }, ' of (none)'],
  [
    { label: 'visit - $$_posthog_breakdown_other_$$', breakdown_value: '$$_posthog_breakdown_other_$$', action: { name: 'visit' } },
    ' of visit - Other',
  ],
  [{ label: 'Formula (A / B)', breakdown_value: 'Chrome', action: null }, ' of Chrome'],
  [{ label: 'visit' }, ' of visit'],
  [{}, ''],
])('%j', (row, name) => {
  const rule = {
    condition: 'absolute_value',
    threshold: { type: 'absolute', bounds: { upper: 1 } },
    config: { series_index: 0, check_ongoing_interval: true },
  } as const
  const { breaches } = checkAnswer({ results: [{ ...row, data: [5], days: ['2026-01-05'] }] }, rule, { kind: 'TrendsQuery' })
  expect(breaches).toEqual([`The value${name} is 5, above the upper threshold of 1.`])
})
