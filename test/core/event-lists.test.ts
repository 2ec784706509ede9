import fc from 'fast-check'
import { expect, test } from 'vitest'
import { EventLists } from '../../src/core/event-lists.ts'
import { assertGenerated } from '../harness/assert-generated.ts'

interface ListedEvent {
  readonly time: number
  readonly event: number
}

const batchOf = (events: readonly (readonly [person: number, time: number, event: number])[]) => ({
  person: Int32Array.from(events, ([person]) => person),
  time: Float64Array.from(events, ([, time]) => time),
  event: Int32Array.from(events, ([, , event]) => event),
})

const listsOf = ({ persons, start, end, time, event }: EventLists) =>
  new Map(
    Array.from({ length: persons }, (_, person): [number, ListedEvent[]] => [
      person,
      Array.from({ length: end[person]! - start[person]! }, (_, i) => ({
        time: time[start[person]! + i]!,
        event: event[start[person]! + i]!,
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
      if (isExpected) lists.expect(Int32Array.of(0, 3, 5), Int32Array.of(40, 1, 0))
      const model = new Map<number, readonly ListedEvent[]>()
      let events = 0
      for (const command of drawn) {
        if ('events' in command) {
          lists.add(batchOf(command.events))
          events += command.events.length
          for (const [person, time, event] of command.events) model.set(person, [...(model.get(person) ?? []), { time, event }])
        } else if (command.merged !== command.survivor) {
          const { merged, survivor } = command
          lists.merge(merged, survivor)
          if (model.has(merged)) model.set(survivor, [...byTime(model.get(survivor) ?? []), ...byTime(model.get(merged)!)])
          model.delete(merged)
        }
        for (const [person, list] of model) model.set(person, byTime(list))
        expect(listsOf(lists)).toEqual(new Map([...model].sort(([a], [b]) => a - b)))
        expect(lists.events).toBe(events)
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
})

test('a list whose events arrive in reverse order is sorted', () => {
  const lists = new EventLists()
  const count = 50_000
  for (let from = 0; from < count; from += 5_000)
    lists.add(batchOf(Array.from({ length: 5_000 }, (_, i) => [1, count - from - i, from + i])))
  const [list] = listsOf(lists).values()
  expect(list!.map(({ time }) => time)).toEqual(Array.from({ length: count }, (_, i) => i + 1))
})
