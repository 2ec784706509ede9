import fc from 'fast-check'
import { expect, test } from 'vitest'
import { countRolling } from '../../../../src/core/kernels/trends/rolling.ts'
import { assertGenerated } from '../../../harness/assert-generated.ts'

const rows = fc.array(fc.record({ fine: fc.nat(19), actor: fc.nat(6), group: fc.nat(2) }), { maxLength: 60 })
// Windows that move on: each begins and ends no earlier than the one before.
const windows = fc.array(fc.record({ ends: fc.nat(3), length: fc.integer({ min: 1, max: 8 }) }), { maxLength: 12 }).map((steps) => {
  let [end, begin] = [-1, 0]
  return steps.map(({ ends, length }) => {
    end += ends
    begin = Math.max(begin, end - length + 1)
    return { begin, end }
  })
})

test('counts each actor once in every window it was seen in, as a set per window does', () => {
  assertGenerated(
    fc.property(rows, windows, fc.boolean(), (events, ranges, isGrouped) => {
      const fineCount = 20
      const first = new Int32Array(fineCount)
      const last = new Int32Array(fineCount)
      for (let fine = 0; fine < fineCount; fine++) {
        first[fine] = ranges.filter((w) => w.end < fine).length
        last[fine] = ranges.filter((w) => w.begin <= fine).length - 1
      }
      const counts = countRolling({
        fine: Int32Array.from(events, (e) => e.fine),
        actor: Int32Array.from(events, (e) => e.actor),
        group: isGrouped ? Int32Array.from(events, (e) => e.group) : null,
        actors: 7,
        groups: isGrouped ? 3 : 1,
        first,
        last,
        windows: ranges.length,
      })
      const expected = (isGrouped ? [0, 1, 2] : [null]).map((group) =>
        ranges.map(({ begin, end }) => {
          const seen = events.filter((e) => (group === null || e.group === group) && e.fine >= begin && e.fine <= end)
          return new Set(seen.map((e) => e.actor)).size
        }),
      )
      expect(counts.map((c) => [...c])).toEqual(expected)
    }),
    { numRuns: 500 },
  )
})
