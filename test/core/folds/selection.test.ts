import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { BitFlag, EventBits, Matching } from '../../../src/core/folds/fold.ts'
import { columnView, listView } from '../../../src/core/folds/fold.ts'
import { Matches } from '../../../src/core/folds/matches.ts'
import { reselected } from '../../../src/core/folds/reselect.ts'
import { selectable, selectionFold, selectionKey } from '../../../src/core/folds/selection.ts'
import { KeptOrder } from '../../../src/core/lists/actor-order.ts'
import { EventLists } from '../../../src/core/lists/event-lists.ts'
import { ListColumn } from '../../../src/core/lists/list-column.ts'
import { assertGenerated } from '../../harness/assert-generated.ts'

// A selection holds the events that meet conditions at any time: reading it finds what a search of the lists finds.

const persons = 12
const companies = ['acme', 'initech', '']

const completed = <R>(steps: Generator<void, R, void>): R => {
  for (;;) {
    const step = steps.next()
    if (step.done) return step.value
  }
}

const drawnEvents = fc.array(fc.tuple(fc.nat(persons - 1), fc.nat(99), fc.nat(3), fc.boolean(), fc.nat(2)), {
  minLength: 1,
  maxLength: 120,
})
type Drawn = readonly (readonly [person: number, time: number, event: number, isLarge: boolean, company: number])[]

function listsOf(events: Drawn, hasGroups: boolean) {
  const lists = new EventLists()
  const [isLarge, company] = [new ListColumn('flags', 0), new ListColumn('codes', 0)]
  for (const column of [isLarge, company]) lists.attach(column)
  lists.add({
    person: Int32Array.from(events, ([person]) => person),
    time: Float64Array.from(events, ([, time]) => time),
    event: Int32Array.from(events, ([, , event]) => event),
    seq: Float64Array.from(events, (_, i) => i + 1),
  })
  const indexes = lists.indexesAfter(0, events.length).subarray(1)
  isLarge.write({ values: Uint8Array.from(events, ([, , , one]) => (one ? 1 : 0)) }, indexes)
  company.write({ values: Int32Array.from(events, ([, , , , one]) => one), texts: companies }, indexes)
  const order = hasGroups ? completed(KeptOrder.of(lists, company, events.length, company.texts.indexOf(''))) : null
  return { view: listView({ lists, order }), isLarge: columnView(isLarge) }
}

const vips = { values: Uint8Array.from({ length: persons }, (_, person) => person % 2), size: 0, numbers: null }

const drawnBits = fc.record({
  masks: fc.array(fc.nat(7), { maxLength: 4 }),
  others: fc.nat(7),
  large: fc.nat(7),
  vip: fc.nat(7),
})
const drawnConditions = fc.record({
  from: fc.constantFrom(Number.NEGATIVE_INFINITY, 0, 30, 60),
  to: fc.constantFrom(20, 60, 99, Number.POSITIVE_INFINITY),
  scope: fc.option(drawnBits),
  bits: drawnBits,
  further: fc.option(drawnBits),
})

function rowsOf(matches: Matches, fill: (first: number) => number, end: number) {
  const rows: unknown[] = []
  for (let person = 0; person < end; ) {
    person = fill(person)
    for (let at = 0; at < matches.persons; at++)
      for (let row = matches.offsets[at]!; row < matches.offsets[at + 1]!; row++)
        rows.push([matches.person[at], matches.index[row], matches.time[row], matches.bits[row], matches.further?.[row]])
  }
  return rows
}

test.each([
  ['persons', false],
  ['groups', true],
])('of %s', (_, hasGroups) =>
  assertGenerated(
    fc.property(drawnEvents, drawnConditions, (events, { from, to, scope, bits, further }) => {
      const { view, isLarge } = listsOf(events, hasGroups)
      const bitsOf = ({ masks, others, large, vip }: NonNullable<typeof scope>): EventBits => {
        const flags: BitFlag[] = []
        if (large > 0) flags.push({ of: 'event', column: isLarge, bits: large })
        if (vip > 0) flags.push({ of: 'person', column: vips, bits: vip })
        return { byEvent: Int32Array.from(masks), others, flags }
      }
      const matching: Matching = {
        from,
        to,
        scope: scope && bitsOf(scope),
        bits: bitsOf(bits),
        further: further && bitsOf(further),
        takesAll: false,
      }
      const [searched, read] = [new Matches(matching), new Matches(matching)]
      const expected = rowsOf(searched, (first) => searched.fill(view, first, view.persons), view.persons)
      const conditions = selectable(matching)!
      const middle = Math.floor(view.persons / 2)
      const found = [
        [0, middle],
        [middle, view.persons],
      ].flatMap(([first, end]) => {
        const [part] = completed(selectionFold.run(view, conditions, first!, end!))
        const selected = { ...view, selection: part! }
        return rowsOf(read, (person) => read.fill(selected, Math.max(first!, person), end!), end!)
      })
      expect(found).toEqual(expected)
    }),
    { numRuns: 300 },
  ),
)

const drawnRounds = fc.array(
  fc.oneof(
    { weight: 3, arbitrary: fc.record({ events: fc.array(fc.tuple(fc.nat(persons + 3), fc.nat(99), fc.nat(3)), { maxLength: 12 }) }) },
    { weight: 1, arbitrary: fc.record({ merged: fc.nat(persons - 1), survivor: fc.nat(persons - 1) }) },
  ),
  { maxLength: 25 },
)
const drawnNames = fc.record({ masks: fc.array(fc.constantFrom(0, 1, 2, 256), { maxLength: 4 }), others: fc.constantFrom(0, 0, 1) })

test('new events and merges join a selection: it stays what a search finds, until it has no room', () => {
  let joined = 0
  assertGenerated(
    fc.property(drawnEvents, drawnRounds, drawnNames, fc.option(drawnNames), (events, rounds, names, more) => {
      const lists = new EventLists()
      const add = (some: readonly (readonly [number, number, number, ...unknown[]])[], seq: number) =>
        lists.add({
          person: Int32Array.from(some, ([person]) => person),
          time: Float64Array.from(some, ([, time]) => time),
          event: Int32Array.from(some, ([, , event]) => event),
          seq: Float64Array.from(some, (_, i) => seq + i),
        })
      add(events, 1)
      const ofNames = ({ masks, others }: typeof names): EventBits => ({ byEvent: Int32Array.from(masks), others, flags: [] })
      const conditions: Matching = {
        from: Number.NEGATIVE_INFINITY,
        to: Number.POSITIVE_INFINITY,
        scope: null,
        bits: ofNames(names),
        further: more && ofNames(more),
        takesAll: false,
      }
      const view = () => listView({ lists, order: null })
      const select = () => {
        const { persons: all } = view()
        const middle = Math.floor(all / 2)
        return [
          completed(selectionFold.run(view(), conditions, 0, middle)),
          completed(selectionFold.run(view(), conditions, middle, all)),
        ].flat()
      }
      let made = view().persons
      let selection = select()
      const changes = lists.watch()
      changes.take()
      for (const [i, round] of rounds.entries()) {
        if ('events' in round) add(round.events, 1000 * (i + 1))
        else if (round.merged !== round.survivor) lists.merge(round.merged, round.survivor)
        const changed = changes.take()
        const followed = changed && reselected(selection, lists, changed.keys(), conditions, made)
        if (followed) joined++
        else made = view().persons
        selection = [...(followed ?? select())]
        const [searched, read] = [new Matches(conditions), new Matches(conditions)]
        const expected = rowsOf(searched, (first) => searched.fill(view(), first, view().persons), view().persons)
        const found = selection.flatMap((part) => {
          const selected = { ...view(), selection: part }
          return rowsOf(read, (person) => read.fill(selected, Math.max(part.from, person), part.to), part.to)
        })
        expect(found).toEqual(expected)
        // What is read without looking at persons: the same events, and free entries.
        const flat = selection.flatMap(({ index, time, used }) => [...index.subarray(0, used)].filter((_, at) => time[at]! !== -Infinity))
        expect(flat.sort((a, b) => a - b)).toEqual(expected.map((row) => (row as number[])[1]!).sort((a, b) => a - b))
      }
    }),
    { numRuns: 300 },
  )
  expect(joined).toBeGreaterThan(1000)
})

test('what takes every event is not selected', () => {
  expect(
    selectable({ from: 0, to: 1, scope: null, bits: { byEvent: Int32Array.of(1), others: 0, flags: [] }, further: null, takesAll: true }),
  ).toBeNull()
})

test('equal conditions have one key, whatever their time and their persons; others, and other arrays, have another one', () => {
  const { view, isLarge } = listsOf([[1, 1, 0, true, 0]], false)
  const { isLarge: another } = listsOf([[1, 1, 0, true, 0]], false)
  const conditions = (of: Partial<EventBits> = {}, more: Partial<Matching> = {}): Matching => ({
    from: 0,
    to: 10,
    scope: null,
    bits: { byEvent: Int32Array.of(0, 1), others: 0, flags: [{ of: 'event', column: isLarge, bits: 1 }], ...of },
    further: null,
    takesAll: false,
    ...more,
  })
  const keyOf = (matching: Matching, lists = view) => selectionKey(selectable(matching)!, lists)
  const key = keyOf(conditions())
  expect(keyOf(conditions({}, { from: 5, to: 7 }))).toBe(key)
  expect(keyOf(conditions({ flags: [...conditions().bits.flags, { of: 'person', column: vips, bits: 1 }] }))).toBe(key)
  const others = [
    keyOf(conditions({ byEvent: Int32Array.of(1) })),
    keyOf(conditions({ others: 1 })),
    keyOf(conditions({ flags: [] })),
    keyOf(conditions({ flags: [{ of: 'event', column: another, bits: 1 }] })),
    keyOf(conditions({}, { scope: conditions().bits })),
    keyOf(conditions({}, { further: conditions().bits })),
    keyOf(conditions(), listsOf([[1, 1, 0, true, 0]], true).view),
  ]
  expect(new Set([key, ...others]).size).toBe(8)
})
