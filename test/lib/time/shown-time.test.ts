import { expect, it } from 'vitest'
import { shownFrom, shownTime } from '../../../src/lib/time/shown-time.ts'

it.each([
  ['2026-05-14T09:30:00.000Z', '2026-05-14 09:30:00 UTC', '2026-05-14 09:30:00 UTC'],
  ['2026-05-14T09:30:00.001Z', '2026-05-14 09:30:00 UTC', '2026-05-14 09:30:01 UTC'],
  ['2026-12-31T23:59:59.999Z', '2026-12-31 23:59:59 UTC', '2027-01-01 00:00:00 UTC'],
])('%s', (iso, time, from) => {
  expect(shownTime(iso)).toBe(time)
  expect(shownFrom(iso)).toBe(from) // somebody who asks for the moment that was named gets it
})
