import { expect, test } from 'vitest'
import { retentionFold } from '../../../src/core/folds/retention.ts'
import { RowsByGroup } from '../../../src/core/folds/rows-by-group.ts'

const ordered = (groupOf: readonly number[], from = 0, to = groupOf.length, byGroup = new RowsByGroup()) =>
  byGroup
    .order(Int32Array.from(groupOf), from, to, Math.max(0, ...groupOf) + 1)
    .map(({ group, from: begin, to: end }) => [group, ...byGroup.rows.subarray(begin, end)])

test.each([
  ['no rows', [], []],
  ['one group', [0, 0, 0], [[0, 0, 1, 2]]],
  [
    'groups that alternate',
    [1, 0, 1, 0, 2],
    [
      [1, 0, 2],
      [0, 1, 3],
      [2, 4],
    ],
  ],
])('%s', (_, groupOf, expected) => {
  expect(ordered(groupOf)).toEqual(expected)
})

test('the next actor starts without the rows of the last one', () => {
  const byGroup = new RowsByGroup()
  const groupOf = [0, 1, 0, 1, 1, 0]
  expect(ordered(groupOf, 0, 3, byGroup)).toEqual([
    [0, 0, 2],
    [1, 1],
  ])
  expect(ordered(groupOf, 3, 6, byGroup)).toEqual([
    [1, 3, 4],
    [0, 5],
  ])
  expect(
    ordered(
      Array.from({ length: 500 }, (_, row) => row),
      0,
      500,
      byGroup,
    ),
  ).toHaveLength(500)
})

test('the rows of an actor are read once, however many values they have', () => {
  const events = 300
  let reads = 0
  const times = Float64Array.from({ length: events }, (_, i) => i)
  const counting = new Proxy(
    Int32Array.from({ length: events }, (_, i) => i),
    {
      get(target, key) {
        if (typeof key === 'string' && /^\d/.test(key)) reads++
        const value = Reflect.get(target, key, target) as unknown
        return typeof value === 'function' ? value.bind(target) : value
      },
    },
  )
  const byGroup = new RowsByGroup()
  byGroup.order(counting, 0, events, events)
  expect(reads).toBe(events)
  const column = { values: Int32Array.from(times.keys()), size: events, numbers: null }
  const steps = retentionFold.run(
    {
      start: Int32Array.of(0),
      end: Int32Array.of(events),
      time: times,
      event: new Uint8Array(events),
      seq: new Uint32Array(events),
      persons: 1,
      used: events,
      entry: null,
      extent: null,
      selection: null,
      pages: null,
    },
    {
      matching: {
        from: 0,
        to: events,
        scope: null,
        bits: { byEvent: Int32Array.of(3), others: 0, flags: [] },
        further: null,
        takesAll: false,
      },
      type: 'recurring',
      from: 0,
      ticks: Float64Array.of(0, events),
      rowOf: Int32Array.of(0, 0),
      rows: 1,
      columns: 1,
      width: 1,
      columnOf: new Int32Array(1),
      hasWindows: false,
      minimum: 1,
      isCumulative: false,
      splits: [{ column, of: 'event' }],
      number: null,
      isSame: true,
    },
    0,
    1,
  )
  let step = steps.next()
  while (!step.done) step = steps.next()
  expect(step.value!.counts).toEqual(new Float64Array(events).fill(1))
})
