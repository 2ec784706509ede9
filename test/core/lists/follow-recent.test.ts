import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { ColumnSource, ListSource, RecentEvents } from '../../../src/core/lists/ports.ts'
import { type Listed, ProjectLists } from '../../../src/core/lists/project-lists.ts'
import { deferred } from '../../../src/lib/flow/deferred.ts'
import { MemoryShare } from '../../../src/lib/memory/memory-share.ts'
import { assertGenerated } from '../../harness/assert-generated.ts'

// Lists that follow the latest events from memory have the events that were processed, whatever the store has of them.

const persons = 8
const noColumns: ColumnSource = {
  columns: [],
  ofEvents: async () => undefined,
  ofPersons: async () => undefined,
  ofKeys: async () => undefined,
}

type Command =
  | { readonly do: 'arrive'; readonly events: readonly (readonly [person: number, time: number])[] }
  | { readonly do: 'merge'; readonly merged: number; readonly survivor: number }
  | { readonly do: 'store' }
  | { readonly do: 'lose' }
  | { readonly do: 'restart' }
  | { readonly do: 'change' }
  | { readonly do: 'ask'; readonly isOfStore: boolean; readonly isAwaited: boolean }

const drawnCommand: fc.Arbitrary<Command> = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({
      do: fc.constant('arrive' as const),
      events: fc.array(fc.tuple(fc.nat(persons - 1), fc.nat(1000)), { minLength: 1, maxLength: 5 }),
    }),
  },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('merge' as const), merged: fc.nat(persons - 1), survivor: fc.nat(persons - 1) }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('store' as const) }) },
  { weight: 1, arbitrary: fc.constantFrom<Command>({ do: 'lose' }, { do: 'restart' }, { do: 'change' }) },
  {
    weight: 8,
    arbitrary: fc.record({
      do: fc.constant('ask' as const),
      isOfStore: fc.integer({ max: 3, min: 0 }).map((n) => n === 0),
      isAwaited: fc.boolean(),
    }),
  },
)

/** Records of events and merges, of which the store has a part. */
function world() {
  const records: ({ readonly event: readonly [number, number] } | { readonly merge: readonly [number, number] })[] = []
  const state = { stored: 0, from: 0, losses: 0, changedSeq: 0 }
  const waiting: { readonly seq: number; readonly done: ReturnType<typeof deferred<void>> }[] = []
  const store = () => {
    state.stored = records.length
    for (const { seq, done } of waiting.splice(0)) {
      expect(seq).toBeLessThanOrEqual(state.stored)
      done.resolve()
    }
  }
  const survivorsAt = (seq: number) => {
    const survivorOf = new Map<number, number>()
    for (const record of records.slice(0, seq)) {
      if (!('merge' in record)) continue
      const [merged, survivor] = record.merge
      for (const [one, of] of survivorOf) if (of === merged) survivorOf.set(one, survivor)
      survivorOf.set(merged, survivor)
    }
    return survivorOf
  }
  const batch = (after: number, last: number) => {
    const rows = records.slice(0, last).flatMap((record, i) => ('event' in record && i >= after ? [[...record.event, i + 1] as const] : []))
    return {
      person: Int32Array.from(rows, ([person]) => person),
      time: Float64Array.from(rows, ([, time]) => time),
      event: new Int32Array(rows.length),
      seq: Float64Array.from(rows, ([, , seq]) => seq),
    }
  }
  const source: ListSource = {
    async counts() {
      const { person } = batch(0, state.stored)
      return {
        person: Int32Array.from({ length: persons }, (_, i) => i),
        events: Int32Array.from({ length: persons }, (_, i) => person.filter((one) => one === i).length),
      }
    },
    async state() {
      const { seq } = batch(0, state.stored)
      return {
        seq: seq.at(-1) ?? 0,
        events: seq.length,
        mergesMark: JSON.stringify([...survivorsAt(state.stored)]),
        changedSeq: state.changedSeq,
      }
    },
    marks: async () => ({ mergesMark: JSON.stringify([...survivorsAt(state.stored)]), changedSeq: state.changedSeq }),
    events: async (after, last, take) => take(batch(after, Math.min(last, state.stored))),
    fingerprint: async () => '',
    merges: async () => survivorsAt(state.stored),
  }
  const recent: RecentEvents = {
    values: () => [],
    get from() {
      return state.from
    },
    get seq() {
      return records.length
    },
    get losses() {
      return state.losses
    },
    get stored() {
      return state.stored
    },
    events: (after) => {
      expect(after).toBeGreaterThanOrEqual(state.from)
      return batch(after, records.length)
    },
    merges: (after) => records.slice(Math.max(0, after - 2)).flatMap((record) => ('merge' in record ? [record.merge] : [])),
    untilStored(seq) {
      if (seq <= state.stored) return Promise.resolve()
      const done = deferred<void>()
      waiting.push({ seq, done })
      setImmediate(store)
      return done.promise
    },
  }
  /** The naive answer: the times of each person. */
  const expected = (seq: number) => {
    const survivorOf = survivorsAt(seq)
    const times = new Map<number, number[]>()
    for (const record of records.slice(0, seq)) {
      if (!('event' in record)) continue
      const [person, time] = record.event
      const who = survivorOf.get(person) ?? person
      times.set(who, [...(times.get(who) ?? []), time])
    }
    return JSON.stringify([...times].map(([who, all]) => [who, all.sort((a, b) => a - b)] as const).sort(([a], [b]) => a - b))
  }
  return { records, state, store, survivorsAt, source, recent, expected }
}

const answerOf = async ({ lists: { persons: all, start, end, time } }: Listed) => {
  await new Promise((resolve) => setImmediate(resolve)) // what reads for a while finds the same at its end
  const found = Array.from({ length: all }, (_, who) => [who, [...time.subarray(start[who], end[who])]] as const)
  return JSON.stringify(found.filter(([, times]) => times.length > 0))
}

test('lists have what was processed, through any sequence of events, merges, transactions, losses and questions', async () => {
  const counted = { recent: 0, store: 0 }
  await assertGenerated(
    fc.asyncProperty(fc.array(drawnCommand, { minLength: 20, maxLength: 60 }), async (commands) => {
      const { records, state, store, survivorsAt, source, recent, expected } = world()
      const lists = new ProjectLists(new MemoryShare(1e9), { recent })
      const asked: Promise<void>[] = []
      const ask = async (isOfStore: boolean) => {
        const from = records.length
        const early = isOfStore ? null : await lists.useRecent(from, noColumns, answerOf)
        counted[early ? 'recent' : 'store']++
        if (!early) await recent.untilStored(from)
        const { answer } = early ?? (await lists.use(source, from, noColumns, answerOf))!
        const possible = Array.from({ length: records.length - from + 1 }, (_, i) => expected(from + i))
        expect(possible).toContain(answer)
      }
      for (const command of commands) {
        if (command.do === 'arrive') for (const event of command.events) records.push({ event })
        else if (command.do === 'store') store()
        else if (command.do === 'lose') state.losses++
        else if (command.do === 'restart') state.from = records.length
        else if (command.do === 'change') {
          records.push({ event: [0, 0] })
          state.from = records.length
          store()
          state.changedSeq = records.length
        } else if (command.do === 'merge') {
          const gone = survivorsAt(records.length)
          const { merged, survivor } = command
          if (merged !== survivor && !gone.has(merged) && !gone.has(survivor)) records.push({ merge: [merged, survivor] })
        } else {
          const answer = ask(command.isOfStore)
          answer.catch(() => undefined) // awaited below
          if (command.isAwaited) await answer
          else asked.push(answer)
        }
      }
      await Promise.all(asked)
      await ask(false)
      await ask(true)
      await lists.close()
    }),
    { numRuns: 300 },
  )
  expect(counted.recent).toBeGreaterThan(500)
  expect(counted.store).toBeGreaterThan(500)
})
