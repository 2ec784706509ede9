import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { EventLists } from '../../../src/core/lists/event-lists.ts'
import type { ColumnSource, EventBatch, ListFiles, ListImage, ListSource } from '../../../src/core/lists/ports.ts'
import { type Listed, ProjectLists } from '../../../src/core/lists/project-lists.ts'
import type { Selection } from '../../../src/core/lists/selections.ts'
import { deferred } from '../../../src/lib/flow/deferred.ts'
import { MemoryShare } from '../../../src/lib/memory/memory-share.ts'

/** A store of events [person, time], whose log has one record for each. */
function storeOf(events: [person: number, time: number][], merges = new Map<number, number>()) {
  const read: number[] = []
  const counted: number[] = []
  const changed = { seq: 0 }
  let failure: Error | null = null
  const source: ListSource = {
    async counts() {
      counted.push(events.length)
      const persons = [...new Set(events.map(([person]) => person))]
      const counts = persons.map((person) => events.filter(([one]) => one === person).length)
      return { person: Int32Array.from(persons), events: Int32Array.from(counts) }
    },
    async events(seq, last, take) {
      read.push(seq)
      const rest = events.slice(seq, last)
      const batch: EventBatch = {
        person: Int32Array.from(rest, ([person]) => person),
        time: Float64Array.from(rest, ([, time]) => time),
        event: new Int32Array(rest.length),
        seq: Float64Array.from(rest, (_, i) => seq + 1 + i),
      }
      take(batch)
      if (failure) throw failure
    },
    fingerprint: async (seq) => JSON.stringify(events.slice(0, seq)),
    state: async () => ({ seq: events.length, events: events.length, mergesMark: JSON.stringify([...merges]), changedSeq: changed.seq }),
    marks: async () => ({ mergesMark: JSON.stringify([...merges]), changedSeq: changed.seq }),
    merges: async () => new Map(merges),
  }
  return {
    source,
    changed,
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
const noColumns: ColumnSource = {
  columns: [],
  ofEvents: async () => undefined,
  ofPersons: async () => undefined,
  ofKeys: async () => undefined,
}
const plenty = () => new ProjectLists(new MemoryShare(1e9))
const timesOf = ({ persons, start, end, time }: Listed['lists']) =>
  Object.fromEntries(
    Array.from({ length: persons }, (_, person) => [person, [...time.subarray(start[person], end[person])]] as const).filter(
      ([, times]) => times.length > 0,
    ),
  )
const ask = async (lists: ProjectLists, { source, events }: ReturnType<typeof storeOf>) =>
  (await lists.use(source, events.length, noColumns, async ({ lists: found }) => timesOf(found)))?.answer

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

test('events that were changed or removed rebuild the lists', async () => {
  const store = storeOf([
    [1, 10],
    [1, 20],
  ])
  const lists = plenty()
  expect(await ask(lists, store)).toEqual({ 1: [10, 20] })
  store.events[1] = [2, 20]
  store.events.push([3, 30])
  store.changed.seq = 3
  expect(await ask(lists, store)).toEqual({ 1: [10], 2: [20], 3: [30] })
  expect(await ask(lists, store)).toEqual({ 1: [10], 2: [20], 3: [30] })
  expect(store.read).toEqual([0, 0])
})

/** A number of each event, and a flag of each person. `meanwhile` is called before each read. */
const changingColumns = (
  store: Store,
  flags: Map<number, number>,
  meanwhile: (what: 'events' | 'persons', reads: number) => void,
): ColumnSource => {
  let reads = 0
  return {
    ...noColumns,
    columns: [
      { of: 'event', key: 'n', type: 'numbers' },
      { of: 'person', key: 'flag', type: 'flags' },
    ],
    async ofEvents(_, after, last, take) {
      meanwhile('events', ++reads)
      const rest = store.events.slice(after, last)
      await take(
        Float64Array.from(rest, (__, i) => after + 1 + i),
        [{ values: Float64Array.from(rest, ([, time]) => (time < 0 ? Number.NaN : time * 2)) }],
      )
    },
    async ofPersons(_, __, take) {
      meanwhile('persons', ++reads)
      await take(Float64Array.from(flags.keys()), [{ values: Uint8Array.from(flags.values()) }])
    },
  }
}
const askColumns = async (lists: ProjectLists, store: Store, seq: number, wanted: ColumnSource) =>
  (
    await lists.use(store.source, seq, wanted, async ({ lists: found, columns: [n, flag] }) =>
      Array.from({ length: found.persons }, (_, person) =>
        Array.from(found.time.subarray(found.start[person], found.end[person]), (time, i) => {
          const at = n!.values[found.start[person]! + i]!
          return [person, time, n!.numbers ? n!.numbers[at] : at, flag!.values[person]]
        }),
      ).flat(),
    )
  )?.answer

test('events that are removed while columns are read are in all of them or in none', async () => {
  const store = storeOf([
    [1, 10],
    [2, 20],
  ])
  const wanted = changingColumns(store, new Map([[1, 1]]), (_, reads) => {
    if (reads !== 1) return
    store.events[1] = [2, -1] // its values are gone
    store.changed.seq = 3
  })
  expect(await askColumns(plenty(), store, 2, wanted)).toEqual([
    [1, 10, 20, 1],
    [2, -1, Number.NaN, 0],
  ])
})

test('persons who are merged while their values are read have those of their survivor', async () => {
  const store = storeOf([
    [1, 10],
    [2, 20],
  ])
  const flags = new Map([[2, 1]])
  const wanted = changingColumns(store, flags, (what) => {
    if (what === 'events') return
    if (store.merges.size > 0) flags.set(1, 1) // the survivor has what the merged one had
    store.merges.set(2, 1)
  })
  expect(await askColumns(plenty(), store, 2, wanted)).toEqual([
    [1, 10, 20, 1],
    [1, 20, 40, 1],
  ])
})

test('where events are removed again and again, the lists are left', async () => {
  const store = storeOf([[1, 10]])
  const lists = plenty()
  const restless = changingColumns(store, new Map([[1, 1]]), () => void store.changed.seq++)
  expect(await askColumns(lists, store, 1, restless)).toBeUndefined()
  expect(store.read.length).toBe(4)
  expect(
    await askColumns(
      lists,
      store,
      1,
      changingColumns(store, new Map([[1, 1]]), () => undefined),
    ),
  ).toEqual([[1, 10, 20, 1]])
})

test('values of persons are as new as the lists, whatever record a query asked for', async () => {
  const store = storeOf([[1, 10]])
  const flags = new Map([[1, 1]])
  const lists = plenty()
  const wanted = changingColumns(store, flags, () => undefined)
  expect(await askColumns(lists, store, 1, wanted)).toEqual([[1, 10, 20, 1]])
  store.events.push([2, 30])
  flags.set(2, 1)
  await ask(lists, store) // another query moves the lists on
  expect(await askColumns(lists, store, 1, wanted)).toEqual([
    [1, 10, 20, 1],
    [2, 30, 60, 1],
  ])
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
  const first = lists.use(store.source, 1, noColumns, async ({ lists: found }) => {
    reading.resolve()
    await hold.promise
    return timesOf(found)
  })
  await reading.promise
  store.events.push([1, 20])
  const second = ask(lists, store)
  const old = lists.use(store.source, 1, noColumns, async ({ lists: found }) => timesOf(found)) // waits for the change
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
  const broken = lists.use(store.source, 1, noColumns, async () => {
    throw new Error('cancelled')
  })
  await expect(broken).rejects.toThrow('cancelled')
  store.events.push([1, 20])
  expect(await ask(lists, store)).toEqual({ 1: [10, 20] })
})

test('projects share one memory budget: the least recently used lists are evicted, and lists that do not fit are dropped', async () => {
  const [one, another, third] = Array.from({ length: 3 }, () => storeOf([[1, 10]])) as [Store, Store, Store]
  const memory = new MemoryShare(30_000) // fits two
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
  const memory = new MemoryShare(20_000) // fits one
  const [first, second] = [new ProjectLists(memory), new ProjectLists(memory)]
  const store = storeOf([[1, 10]])
  const hold = deferred<void>()
  const reading = deferred<void>()
  const held = first.use(store.source, 1, noColumns, async ({ lists: found }) => {
    reading.resolve()
    await hold.promise
    return timesOf(found)
  })
  await reading.promise
  expect(await ask(second, store)).toBeUndefined()
  hold.resolve()
  expect((await held)?.answer).toEqual({ 1: [10] })
  expect(await ask(second, store)).toEqual({ 1: [10] })
  expect(memory.taken).toBeLessThan(20_000)
  await second.close()
  await first.close()
  expect(memory.taken).toBe(0)
})

test('events that are too many for the budget are counted once, and not at all without a budget', async () => {
  const large = storeOf(Array.from({ length: 5_000 }, (_, i) => [i, i]))
  for (const [most, counts] of [
    [20_000, 1],
    [0, 0],
  ] as const) {
    large.counted.length = 0
    const lists = new ProjectLists(new MemoryShare(most))
    for (let i = 0; i < 3; i++) expect(await ask(lists, large)).toBeUndefined()
    expect(large.counted).toHaveLength(counts)
  }
})

/** The columns `digit` (a text) and `time`, of the events of such a store. */
const columnsOf = ({ events }: Store, ...keys: string[]) => {
  const reads: string[] = []
  const source: ColumnSource = {
    columns: keys.map((key) => ({ key, type: key === 'digit' ? 'codes' : 'numbers', of: 'event' })),
    ofPersons: async () => undefined,
    ofKeys: async () => undefined,
    async ofEvents(specs, seq, last, take) {
      reads.push(`${specs.map(({ key }) => key).join()} after ${seq}`)
      const rest = events.slice(seq, last)
      const records = Float64Array.from(rest, (_, i) => seq + 1 + i)
      const digits = [...new Set(rest.map(([, time]) => String(time % 10)))]
      take(
        records,
        specs.map(({ key }) =>
          key === 'digit'
            ? { values: Int32Array.from(rest, ([, time]) => digits.indexOf(String(time % 10))), texts: digits }
            : { values: Float64Array.from(rest, ([, time]) => time) },
        ),
      )
    },
  }
  return { source, reads }
}
const valuesOf = ({ lists, columns }: Listed) =>
  columns.map(({ values, texts, numbers }) =>
    [...Array(lists.persons).keys()].flatMap((person) =>
      Array.from(values.subarray(lists.start[person], lists.end[person]), (value) => (texts.length > 0 ? texts[value] : numbers![value])),
    ),
  )

test('columns are read once, follow new events and merges, and are read together where they are equally old', async () => {
  const store = storeOf([
    [2, 21],
    [1, 13],
    [1, 12],
  ])
  const lists = plenty()
  const answers = async (...keys: string[]) => {
    const { source, reads } = columnsOf(store, ...keys)
    const found = await lists.use(store.source, store.events.length, source, async (listed) => valuesOf(listed))
    return { values: found!.answer, reads }
  }
  expect(await answers('time')).toEqual({ values: [[12, 13, 21]], reads: ['time after 0'] })
  store.events.push([2, 20])
  expect(await answers('digit')).toEqual({ values: [['2', '3', '0', '1']], reads: ['digit after 0'] })
  store.events.push([3, 5])
  store.merges.set(2, 3)
  expect(await answers('digit', 'time')).toEqual({
    values: [
      ['2', '3', '5', '0', '1'],
      [12, 13, 5, 20, 21],
    ],
    reads: ['digit after 4', 'time after 3'],
  })
  store.events.push([1, 14])
  expect((await answers('digit', 'time')).reads).toEqual(['digit,time after 5'])
  expect((await answers('time', 'digit')).reads).toEqual([])
})

test('a column that does not fit replaces those that were not used for the longest time, and otherwise leaves the lists as they are', async () => {
  const store = storeOf(Array.from({ length: 2_000 }, (_, i) => [1, i]))
  const lists = new ProjectLists(new MemoryShare(12_300 + 2_126 * 13 + 2 * 2_126 * 2 + 2 * 2_048 * 8)) // fits two columns of numbers
  const reads = async (...keys: string[]) => {
    const { source, reads } = columnsOf(store, ...keys)
    return (await lists.use(store.source, store.events.length, source, async () => undefined)) && reads
  }
  for (const key of ['a', 'b', 'a']) await reads(key)
  expect(await reads('c')).toEqual(['c after 0'])
  expect(await reads('a')).toEqual([])
  expect(await reads('b')).toEqual(['b after 0'])
  expect(await reads('a', 'b', 'c')).toBeNull()
  expect(await reads()).toEqual([])
  expect(store.read).toEqual([0])
})

test('a column that could not be read is read again', async () => {
  const store = storeOf([[1, 13]])
  const lists = plenty()
  const { source } = columnsOf(store, 'time')
  const broken: ColumnSource = { ...source, ofEvents: () => Promise.reject(new Error('cancelled')) }
  await expect(lists.use(store.source, 1, broken, async () => undefined)).rejects.toThrow('cancelled')
  expect(await lists.use(store.source, 1, source, async (listed) => valuesOf(listed))).toEqual({ answer: [[13]] })
  expect(store.read).toEqual([0])
})

test('columns of persons without a key are read for each query', async () => {
  const store = storeOf([
    [1, 10],
    [3, 20],
  ])
  const lists = plenty()
  for (const isMember of [0, 1]) {
    const source: ColumnSource = {
      columns: [{ key: '', type: 'flags', of: 'person' }],
      ofEvents: async () => undefined,
      ofKeys: async () => undefined,
      ofPersons: async (_, __, take) => take(Float64Array.of(2, 3, 900), [{ values: Uint8Array.of(1, isMember, 1) }]),
    }
    const found = await lists.use(store.source, 2, source, async ({ columns }) => [...columns[0]!.values].slice(0, 4))
    expect(found?.answer).toEqual([0, 0, 1, isMember])
  }
})

test('columns of persons with a key are kept, and read again of persons who have changed', async () => {
  const store = storeOf([
    [1, 10],
    [3, 20],
  ])
  const lists = plenty()
  const rows: [person: number, isMember: number, changedSeq: number][] = [
    [1, 1, 1],
    [3, 0, 2],
    [900, 1, 2],
  ]
  const asked: number[] = []
  const source: ColumnSource = {
    columns: [{ key: 'is member', type: 'flags', of: 'person' }],
    ofEvents: async () => undefined,
    ofKeys: async () => undefined,
    async ofPersons(_, after, take) {
      asked.push(after)
      const some = rows.filter(([, isMember, seq]) => (after === 0 ? isMember === 1 : seq > after))
      take(
        Float64Array.from(some, ([person]) => person),
        [{ values: Uint8Array.from(some, ([, isMember]) => isMember) }],
      )
    },
  }
  const values = (columns: readonly { readonly values: ArrayLike<number> }[]) => [1, 3, 900].map((person) => columns[0]!.values[person])
  const read = async (seq: number) => (await lists.use(store.source, seq, source, async ({ columns }) => values(columns)))?.answer
  expect(await read(2)).toEqual([1, 0, 1])
  expect(await read(2)).toEqual([1, 0, 1])
  expect(asked).toEqual([0])
  rows.splice(0, 2, [1, 0, 3], [3, 1, 4])
  const before = await lists.use(store.source, 2, source, async ({ columns }) => columns)
  expect(await read(4)).toEqual([0, 1, 1])
  expect(values(before!.answer), 'for a query from before').toEqual([1, 0, 1])
  expect(asked).toEqual([0, 2])
  rows.push([1000, 1, 5])
  expect(await read(5)).toEqual([0, 1, 1])
  expect(asked).toEqual([0, 2, 4])
})

/** Files in memory. */
function filesOf() {
  let kept: string | null = null
  let written = 0
  const buffers = (arrays: ListImage['arrays']) => arrays.map((array) => Array.from(array))
  const files: ListFiles = {
    async read(open) {
      if (kept === null) return false
      const { about, arrays } = JSON.parse(kept) as { about: unknown; arrays: number[][] }
      const into = open(about)
      if (into) for (const [i, values] of arrays.entries()) into[i]!.set(values)
      return into !== null
    },
    async write({ about, arrays }) {
      written++
      kept = JSON.stringify({ about, arrays: buffers(arrays) })
    },
  }
  return { files, written: () => written }
}
const many = (events: number): [number, number][] => Array.from({ length: events }, (_, i) => [i % 700, (i * 7919) % 100_003])
/** Lists of a process that ends before the next one starts. */
const process = (store: Store, { files }: ReturnType<typeof filesOf>, memory = new MemoryShare(1e9)) => {
  const lists = new ProjectLists(memory, { files, fingerprint: store.source.fingerprint })
  const answer = async (...keys: string[]) => {
    const { source, reads } = columnsOf(store, ...keys)
    const found = await lists.use(store.source, store.events.length, source, async (listed) => [timesOf(listed.lists), valuesOf(listed)])
    return { answer: found?.answer, reads }
  }
  return { answer, close: () => lists.close(), lists, memory }
}

test.each(['in memory', 'in files'])('a column with more different texts than memory holds is not read again: lists %s', async (where) => {
  const store = storeOf(many(5_000))
  const folder = await mkdtemp(join(tmpdir(), 'waymark-lists-'))
  const memory = new MemoryShare(where === 'in files' ? 1.35 * EventLists.bytesOf(5_000, 700) : 400_000)
  const lists = new ProjectLists(memory, { pagesIn: join(folder, 'pages') })
  let reads = 0
  const long: ColumnSource = {
    ...noColumns,
    columns: [{ key: 'long', type: 'codes', of: 'event' }],
    async ofEvents(_, seq, last, take) {
      reads++
      const rest = store.events.slice(seq, last)
      const texts = rest.map((_, row) => `${row} ${'x'.repeat(100)}`)
      await take(
        Float64Array.from(rest, (_, row) => seq + 1 + row),
        [{ values: Int32Array.from(rest.keys()), texts }],
      )
    },
  }
  const ask = (source: ColumnSource) => lists.use(store.source, store.events.length, source, async ({ pages }) => pages !== undefined)
  for (let time = 0; time < 3; time++) {
    expect(await ask(long)).toBeNull()
    expect(reads).toBe(1)
    expect(memory.taken).toBeLessThanOrEqual(memory.most)
    expect(await ask(columnsOf(store, 'digit').source)).toEqual({ answer: where === 'in files' })
    store.events.push([1, time])
  }
  await lists.close()
  await rm(folder, { recursive: true, force: true })
})

test('the next process reads the lists and their columns from files, and what came since from the store', async () => {
  const [store, files] = [storeOf(many(60_000), new Map([[3, 4]])), filesOf()]
  const first = process(store, files)
  await first.answer('digit', 'time')
  await first.close()
  expect(files.written()).toBe(1)
  store.events.push([3, 5], [900, 1])
  store.merges.set(6, 4)
  const second = process(store, files)
  const found = await second.answer('digit', 'time')
  expect(found.reads).toEqual(['digit,time after 60000'])
  expect(store.read).toEqual([0, 60_000])
  expect(store.counted).toHaveLength(1)
  expect(found.answer).toEqual((await process(store, filesOf()).answer('digit', 'time')).answer)
  await second.close()
  expect(files.written()).toBe(2)
  const third = process(store, files)
  expect((await third.answer('digit', 'time')).answer).toEqual(found.answer)
  await third.close()
  expect(files.written()).toBe(2) // nothing new
})

test('files are read ahead of the first query, where there is room and they are of the same events', async () => {
  const [store, files] = [storeOf(many(60_000), new Map([[3, 4]])), filesOf()]
  const first = process(store, files)
  await first.answer('digit')
  await first.close()
  const reads = [...store.read]
  const second = process(store, files)
  expect(second.lists.lacking(60_000, noColumns)).toEqual({ lists: 60_000 })
  await second.lists.preload(store.source)
  expect(second.lists.lacking(60_000, noColumns)).toEqual({ lists: 0 })
  expect(store.read).toEqual(reads) // nothing of the store
  store.events.push([3, 5])
  expect((await second.answer('digit')).answer).toEqual((await process(store, filesOf()).answer('digit')).answer)
  await second.close()

  const full = new MemoryShare(second.memory.most)
  const other = { evict: () => false }
  expect(full.take(other, full.most - 1_000)).toBe(true)
  const crowded = process(store, files, full)
  await crowded.lists.preload(store.source)
  expect(crowded.lists.lacking(60_001, noColumns)).toEqual({ lists: 60_001 })
  full.give(other)
  expect((await crowded.answer('digit')).reads).toEqual([]) // the files are still of use
  await crowded.close()

  store.changed.seq = 60_000
  const changed = process(store, files)
  await changed.lists.preload(store.source)
  expect(changed.lists.lacking(60_001, noColumns)).toEqual({ lists: 60_001 })
  await changed.close()

  const without = process(store, filesOf())
  await without.lists.preload(store.source)
  expect(without.lists.lacking(60_001, noColumns)).toEqual({ lists: 60_001 })
  await without.close()
})

test.each<[string, (store: Store) => void]>([
  ['other events', (store) => void store.events.splice(59_999, 1, [1, 1])],
  ['fewer events', (store) => void store.events.splice(59_000)],
  ['a reverted merge', (store) => void store.merges.clear()],
  ['a change of older events, which the comparison may not reach', (store) => void Object.assign(store.changed, { seq: 60_000 })],
])('files are not used if the store has %s', async (_, change) => {
  const [store, files] = [storeOf(many(60_000), new Map([[3, 4]])), filesOf()]
  const first = process(store, files)
  await first.answer()
  await first.close()
  change(store)
  const second = process(store, files)
  expect((await second.answer()).answer).toEqual((await process(store, filesOf()).answer()).answer)
  expect(store.counted).toHaveLength(3)
})

test('files that cannot be written or read are reported, and the answers do not change', async () => {
  const store = storeOf(many(60_000))
  const failure = new Error('no space left on device')
  const broken: ListFiles = { read: () => Promise.reject(failure), write: () => Promise.reject(failure) }
  const reported: unknown[] = []
  const report = (error: unknown) => void reported.push(error)
  const lists = new ProjectLists(new MemoryShare(1e9), { files: broken, fingerprint: store.source.fingerprint, report })
  expect(await ask(lists, store)).toEqual(await ask(plenty(), store))
  await lists.close()
  expect(reported).toEqual([failure, failure])
})

test('persons who are merged while their columns are read are merged in the lists, too', async () => {
  const store = storeOf([
    [1, 10],
    [3, 20],
  ])
  let reads = 0
  const source: ColumnSource = {
    columns: [{ key: '', type: 'flags', of: 'person' }],
    ofEvents: async () => undefined,
    ofKeys: async () => undefined,
    async ofPersons(_, __, take) {
      if (reads++ === 0) store.merges.set(3, 1)
      take(Float64Array.of(1), [{ values: Uint8Array.of(1) }])
    },
  }
  const found = await plenty().use(store.source, 2, source, async ({ lists, columns }) => [timesOf(lists), columns[0]!.values[1]])
  expect(found?.answer).toEqual([{ 1: [10, 20] }, 1])
  expect(reads).toBe(2)
})

test('an update that is cancelled before it changes anything keeps the lists', async () => {
  const store = storeOf([[1, 10]])
  const lists = plenty()
  await ask(lists, store)
  store.events.push([1, 20])
  const cancelled: ListSource = { ...store.source, events: () => Promise.reject(new Error('cancelled')) }
  await expect(lists.use(cancelled, 2, noColumns, async () => undefined)).rejects.toThrow('cancelled')
  expect(await ask(lists, store)).toEqual({ 1: [10, 20] })
  expect(store.read).toEqual([0, 1])
})

const selectionOf = (events: number): Selection => [
  {
    from: 0,
    to: 1,
    start: Int32Array.of(0),
    end: Int32Array.of(events),
    room: Int32Array.of(events),
    used: events,
    index: new Int32Array(events),
    time: new Float64Array(events),
    bits: new Uint8Array(events),
    further: null,
  },
]
const eventsOf = (selection: Selection | null) => selection && selection[0]!.index.length

/** Asks as a query does that makes a selection where one is wanted. Returns what it found, and whether it was to make one. */
const select = async (lists: ProjectLists, { source, events }: Store, key: string, size: number) =>
  (await lists.use(source, events.length, noColumns, async ({ selections }) => {
    const { selection, isWanted } = selections!.find(key, null)
    if (isWanted) selections!.keep(key, selectionOf(size))
    return [eventsOf(selection), isWanted] as const
  }))!.answer

test('the second query makes a selection, further ones read it, and new events or merges end it', async () => {
  const store = storeOf(Array.from({ length: 100 }, (_, i) => [i % 5, i] as [number, number]))
  const lists = plenty()
  const asked = async (times: number) => {
    const found = []
    for (let i = 0; i < times; i++) found.push(await select(lists, store, 'visits', 10))
    return found
  }
  const course = [
    [null, false],
    [null, true],
    [10, false],
  ]
  expect(await asked(4)).toEqual([...course, [10, false]])
  store.events.push([1, 1_000])
  expect(await asked(3)).toEqual(course)
  store.merges.set(2, 1)
  store.events.push([1, 1_001])
  expect(await asked(3)).toEqual(course)
})

test('a selection of most events is not kept, nor made again', async () => {
  const store = storeOf(Array.from({ length: 100 }, (_, i) => [i % 5, i] as [number, number]))
  const lists = plenty()
  const found = []
  for (let i = 0; i < 4; i++) found.push(await select(lists, store, 'all', 90))
  expect(found).toEqual([
    [null, false],
    [null, true],
    [null, false],
    [null, false],
  ])
})

test('selections take a quarter of the memory of the lists, and only what nothing else uses', async () => {
  const store = storeOf(Array.from({ length: 4_000 }, (_, i) => [i % 5, i] as [number, number]))
  const keysKept = async (lists: ProjectLists) => {
    for (const key of ['a', 'b', 'c']) for (let i = 0; i < 2; i++) await select(lists, store, key, 500)
    const kept = []
    for (const key of ['a', 'b', 'c'])
      kept.push((await lists.use(store.source, 4_000, noColumns, async ({ selections }) => selections!.find(key, null)))!.answer.selection)
    return kept.map((one) => one !== null)
  }
  let bytes = 0
  await plenty().use(store.source, 4_000, noColumns, async (listed) => {
    bytes = (listed.lists as EventLists).bytes
  })
  expect(await keysKept(plenty())).toEqual([false, true, true])
  expect(await keysKept(new ProjectLists(new MemoryShare(bytes)))).toEqual([false, false, false])
})

test('selections of conditions that were not asked for a long time are forgotten, and their memory is counted no more', async () => {
  const store = storeOf(Array.from({ length: 4_000 }, (_, i) => [i % 5, i] as [number, number]))
  const memory = new MemoryShare(1e9)
  const lists = new ProjectLists(memory)
  await select(lists, store, 'first', 100)
  const before = memory.taken
  await select(lists, store, 'first', 100)
  expect(memory.taken).toBeGreaterThan(before)
  for (let i = 0; i < 300; i++) await select(lists, store, `other ${i}`, 100)
  expect(await select(lists, store, 'first', 100)).toEqual([null, false])
  await select(lists, store, 'again', 0)
  await select(lists, store, 'again', 0)
  expect(memory.taken).toBeLessThan(before + 100)
})
