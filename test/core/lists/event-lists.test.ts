import fc from 'fast-check'
import { expect, test } from 'vitest'
import { EventLists } from '../../../src/core/lists/event-lists.ts'
import { ListColumn } from '../../../src/core/lists/list-column.ts'
import { assertGenerated } from '../../harness/assert-generated.ts'

interface ListedEvent {
  readonly time: number
  readonly event: number
  readonly seq: number
}

const batchOf = (events: readonly (readonly [person: number, time: number, event: number])[], seq = 0) => ({
  person: Int32Array.from(events, ([person]) => person),
  time: Float64Array.from(events, ([, time]) => time),
  event: Int32Array.from(events, ([, , event]) => event),
  seq: Float64Array.from(events, (_, i) => seq + 1 + i),
})

const listsOf = ({ persons, start, end, time, event, seq }: EventLists) =>
  new Map(
    Array.from({ length: persons }, (_, person): [number, ListedEvent[]] => [
      person,
      Array.from({ length: end[person]! - start[person]! }, (_, i) => ({
        time: time[start[person]! + i]!,
        event: event[start[person]! + i]!,
        seq: seq[start[person]! + i]!,
      })),
    ]).filter(([, list]) => list.length > 0),
  )

const byTime = (list: readonly ListedEvent[]) => [...list].sort((a, b) => a.time - b.time)

const added = fc.array(fc.tuple(fc.nat(6), fc.nat(9), fc.nat(1000)), { minLength: 1, maxLength: 30 })
const commands = fc.array(
  fc.oneof(
    { weight: 3, arbitrary: added.map((events) => ({ events })) },
    { weight: 1, arbitrary: fc.tuple(fc.nat(6), fc.nat(6)).map(([merged, survivor]) => ({ merged, survivor })) },
  ),
  { maxLength: 40 },
)

test('lists contain all added events in order of time, after any sequence of operations', () =>
  assertGenerated(
    fc.asyncProperty(commands, fc.boolean(), async (drawn, isExpected) => {
      const lists = new EventLists()
      const column = new ListColumn('numbers', 0)
      lists.attach(column)
      if (isExpected) lists.expect(Int32Array.of(40, 0, 0, 1, 0, 0))
      const model = new Map<number, readonly ListedEvent[]>()
      let events = 0
      for (const command of drawn) {
        if ('events' in command) {
          lists.add(batchOf(command.events, events))
          // Values of the new events only: those of the others must have moved along.
          const indexes = lists.indexesAfter(events, events + command.events.length)
          const values = Float64Array.from(command.events, ([, time, event]) => time * 1000 + event)
          column.write({ values }, indexes.subarray(1))
          for (const [person, time, event] of command.events)
            model.set(person, [...(model.get(person) ?? []), { time, event, seq: ++events }])
        } else if (command.merged !== command.survivor) {
          const { merged, survivor } = command
          lists.merge(merged, survivor)
          if (model.has(merged)) model.set(survivor, [...byTime(model.get(survivor) ?? []), ...byTime(model.get(merged)!)])
          model.delete(merged)
        }
        for (const [person, list] of model) model.set(person, byTime(list))
        expect(listsOf(lists)).toEqual(new Map([...model].sort(([a], [b]) => a - b)))
        expect(lists.events).toBe(events)
        // Whoever reads the columns without the lists skips free entries.
        expect(lists.time.subarray(0, lists.used).filter((at) => !Number.isNaN(at))).toHaveLength(events)
        for (const [person] of model)
          for (let i = lists.start[person]!; i < lists.end[person]!; i++)
            expect(column.numbers![column.values[i]!]).toBe(lists.time[i]! * 1000 + lists.event[i]!)
      }
    }),
    { numRuns: 200 },
  ))

test('gaps of moved lists are compacted', () => {
  const lists = new EventLists()
  const rounds = 400
  for (let i = 0; i < rounds; i++) lists.add(batchOf(Array.from({ length: 50 }, (_, person) => [person, i, person])))
  expect(lists.events).toBe(50 * rounds)
  expect(lists.time.length).toBeLessThan(2 * 50 * rounds)
  expect(lists.time.filter((at) => !Number.isNaN(at))).toHaveLength(50 * rounds)
})

test('a list whose events arrive in reverse order is sorted', () => {
  const lists = new EventLists()
  const count = 50_000
  for (let from = 0; from < count; from += 5_000)
    lists.add(batchOf(Array.from({ length: 5_000 }, (_, i) => [1, count - from - i, from + i])))
  const [list] = listsOf(lists).values()
  expect(list!.map(({ time }) => time)).toEqual(Array.from({ length: count }, (_, i) => i + 1))
})
