import fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  countAt,
  countedIn,
  countOfHourBefore,
  countOfPastHour,
  type Hours,
  hourMs,
  hourOf,
  knownBefore,
  meanBefore,
  mostHours,
} from '../../../src/service/watching/hours.ts'

// Counts of hours against a list of all arrivals.

const arrivals = fc.array(fc.record({ after: fc.integer({ min: 0, max: 30 * hourMs }), events: fc.integer({ min: 1, max: 50 }) }), {
  minLength: 1,
  maxLength: 60,
})

test('counts, means and what is known are those of the arrivals', () => {
  fc.assert(
    fc.property(arrivals, fc.integer({ min: 0, max: 40 * hourMs }), (given, later) => {
      let hours: Hours = { latest: 0, counts: [] }
      let time = 400_000 * hourMs
      const all: { readonly at: number; readonly events: number }[] = []
      for (const { after, events } of given) {
        time += after
        all.push({ at: time, events })
        hours = countedIn(hours, hourOf(time), events)
      }
      const now = hourOf(time + later)
      const first = Math.max(hourOf(all[0]!.at), hourOf(time) - mostHours + 1)
      const naive = (hour: number) =>
        hour < first ? 0 : all.filter(({ at }) => hourOf(at) === hour).reduce((sum, one) => sum + one.events, 0)
      for (let hour = first - 2; hour <= now; hour++) expect(countAt(hours, hour), `hour ${hour - first}`).toBe(naive(hour))
      expect(hours.counts.length).toBeLessThanOrEqual(mostHours)
      const known = Math.max(0, now - first)
      expect(knownBefore(hours, now)).toBe(known)
      const week = Array.from({ length: Math.min(known, 168) }, (_, i) => naive(now - 1 - i))
      expect(meanBefore(hours, now)).toBe(week.length === 0 ? null : week.reduce((sum, one) => sum + one, 0) / week.length)
      const at = time + later
      const share = at / hourMs - now
      expect(countOfHourBefore(hours, at)).toBeCloseTo(naive(now) + (1 - share) * naive(now - 1))
      expect(countOfPastHour(hours, at)).toBeCloseTo(share * naive(now) + (1 - share) * naive(now - 1))
    }),
  )
})
