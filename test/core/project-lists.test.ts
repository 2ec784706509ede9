import { expect, test } from 'vitest'
import type { EventLists } from '../../src/core/event-lists.ts'
import type { EventBatch, ListSource } from '../../src/core/ports.ts'
import { ProjectLists } from '../../src/core/project-lists.ts'
import { deferred } from '../../src/lib/deferred.ts'
import { MemoryShare } from '../../src/lib/memory-share.ts'

/** A store of events [person, time], whose log has one record for each. */
function storeOf(events: [person: number, time: number][], merges = new Map<number, number>()) {
  const read: number[] = []
  const counted: number[] = []
  let failure: Error | null = null
  const source: ListSource = {
    async counts() {
      counted.push(events.length)
      const persons = [...new Set(events.map(([person]) => person))]
      const counts = persons.map((person) => events.filter(([one]) => one === person).length)
      return { person: Int32Array.from(persons), events: Int32Array.from(counts) }
    },
    async eventsAfter(seq, take) {
      read.push(seq)
      const rest = events.slice(seq)
      const batch: EventBatch = {
        person: Int32Array.from(rest, ([person]) => person),
        time: Float64Array.from(rest, ([, time]) => time),
        event: new Int32Array(rest.length),
      }
      take(batch)
      if (failure) throw failure
      return events.length
    },
    mergesMark: async () => JSON.stringify([...merges]),
    merges: async () => new Map(merges),
  }
  return {
    source,
    events,
    merges,
    read,
    counted,
    fail(error: Error | null) {
      failure = error
    },
  }
}

type Store = ReturnType<typeof storeOf>
const plenty = () => new ProjectLists(new MemoryShare(1e9))
const timesOf = ({ persons, start, end, time }: EventLists) =>
  Object.fromEntries(
    Array.from({ length: persons }, (_, person) => [person, [...time.subarray(start[person], end[person])]] as const).filter(
      ([, times]) => times.length > 0,
    ),
  )
const ask = async (lists: ProjectLists, { source, events }: ReturnType<typeof storeOf>) =>
  (await lists.use(source, events.length, async (found) => timesOf(found)))?.answer

test('an update of the lists reads only new events', async () => {
  const store = storeOf([
    [1, 10],
    [2, 20],
  ])
  const lists = plenty()
  expect(await ask(lists, store)).toEqual({ 1: [10], 2: [20] })
  expect(await ask(lists, store)).toEqual({ 1: [10], 2: [20] })
  store.events.push([1, 5], [3, 30])
  expect(await ask(lists, store)).toEqual({ 1: [5, 10], 2: [20], 3: [30] })
  expect(store.read).toEqual([0, 2])
})

test('merges join lists, also those of earlier merges, and of later events with the merged number', async () => {
  const store = storeOf([
    [1, 10],
    [2, 20],
    [3, 5],
  ])
  const lists = plenty()
  await ask(lists, store)
  store.merges.set(2, 1)
  store.events.push([2, 15])
  expect(await ask(lists, store)).toEqual({ 1: [10, 15, 20], 3: [5] })
  store.merges.set(1, 3).set(2, 3)
  store.events.push([2, 1])
  expect(await ask(lists, store)).toEqual({ 3: [1, 5, 10, 15, 20] })
  expect(store.read).toEqual([0, 3, 4])
})

test('a reverted merge rebuilds the lists', async () => {
  const store = storeOf(
    [
      [1, 10],
      [2, 20],
    ],
    new Map([[2, 1]]),
  )
  const lists = plenty()
  expect(await ask(lists, store)).toEqual({ 1: [10, 20] })
  store.merges.clear()
  store.events.push([3, 1])
  expect(await ask(lists, store)).toEqual({ 1: [10], 2: [20], 3: [1] })
})

test('lists do not change while they are read, and each reader gets at least the record it needs', async () => {
  const store = storeOf([[1, 10]])
  const lists = plenty()
  const hold = deferred<void>()
  const reading = deferred<void>()
  const first = lists.use(store.source, 1, async (found) => {
    reading.resolve()
    await hold.promise
    return timesOf(found)
  })
  await reading.promise
  store.events.push([1, 20])
  const second = ask(lists, store)
  const old = lists.use(store.source, 1, async (found) => timesOf(found)) // waits for the change
  await new Promise((resolve) => setImmediate(resolve))
  expect(store.read).toEqual([0])
  hold.resolve()
  expect((await first)?.answer).toEqual({ 1: [10] })
  expect(await second).toEqual({ 1: [10, 20] })
  expect((await old)?.answer).toEqual({ 1: [10, 20] })
})

test('lists that were read only in part are rebuilt', async () => {
  const store = storeOf([[1, 10]])
  const lists = plenty()
  store.fail(new Error('no memory'))
  await expect(ask(lists, store)).rejects.toThrow('no memory')
  store.fail(null)
  expect(await ask(lists, store)).toEqual({ 1: [10] })
  store.events.push([1, 20])
  store.fail(new Error('interrupted'))
  await expect(ask(lists, store)).rejects.toThrow('interrupted')
  store.fail(null)
  expect(await ask(lists, store)).toEqual({ 1: [10, 20] })
})

test('an error of a reader is rethrown, and does not affect other readers', async () => {
  const store = storeOf([[1, 10]])
  const lists = plenty()
  const broken = lists.use(store.source, 1, async () => {
    throw new Error('cancelled')
  })
  await expect(broken).rejects.toThrow('cancelled')
  store.events.push([1, 20])
  expect(await ask(lists, store)).toEqual({ 1: [10, 20] })
})

test('projects share one memory budget: the least recently used lists are evicted, and lists that do not fit are dropped', async () => {
  const [one, another, third] = Array.from({ length: 3 }, () => storeOf([[1, 10]])) as [Store, Store, Store]
  const memory = new MemoryShare(60_000) // fits two
  const lists = new Map([one, another, third].map((store) => [store, new ProjectLists(memory)]))
  const asked = (store: Store) => ask(lists.get(store)!, store)
  for (const store of [one, another, one, third, one]) expect(await asked(store)).toEqual({ 1: [10] })
  expect([one, another, third].map(({ read }) => read.length)).toEqual([1, 1, 1])
  expect(await asked(another)).toEqual({ 1: [10] })
  expect([one, another, third].map(({ read }) => read.length)).toEqual([1, 2, 1])

  const large = storeOf(Array.from({ length: 5_000 }, (_, i) => [i, i]))
  expect(await ask(new ProjectLists(memory), large)).toBeUndefined()
  expect(await asked(another)).toEqual({ 1: [10] })
  expect(another.read.length).toBe(2)
})

test('lists that are being read are not evicted', async () => {
  const memory = new MemoryShare(40_000) // fits one
  const [first, second] = [new ProjectLists(memory), new ProjectLists(memory)]
  const store = storeOf([[1, 10]])
  const hold = deferred<void>()
  const reading = deferred<void>()
  const held = first.use(store.source, 1, async (found) => {
    reading.resolve()
    await hold.promise
    return timesOf(found)
  })
  await reading.promise
  expect(await ask(second, store)).toBeUndefined()
  hold.resolve()
  expect((await held)?.answer).toEqual({ 1: [10] })
  expect(await ask(second, store)).toEqual({ 1: [10] })
  expect(memory.taken).toBeLessThan(40_000)
  second.close()
  first.close()
  expect(memory.taken).toBe(0)
})

test('events that are too many for the budget are counted once, and not at all without a budget', async () => {
  const large = storeOf(Array.from({ length: 5_000 }, (_, i) => [i, i]))
  for (const [most, counts] of [
    [40_000, 1],
    [0, 0],
  ] as const) {
    large.counted.length = 0
    const lists = new ProjectLists(new MemoryShare(most))
    for (let i = 0; i < 3; i++) expect(await ask(lists, large)).toBeUndefined()
    expect(large.counted).toHaveLength(counts)
  }
})

test('an update that is cancelled before it changes anything keeps the lists', async () => {
  const store = storeOf([[1, 10]])
  const lists = plenty()
  await ask(lists, store)
  store.events.push([1, 20])
  const cancelled: ListSource = { ...store.source, eventsAfter: () => Promise.reject(new Error('cancelled')) }
  await expect(lists.use(cancelled, 2, async () => undefined)).rejects.toThrow('cancelled')
  expect(await ask(lists, store)).toEqual({ 1: [10, 20] })
  expect(store.read).toEqual([0, 1])
})
