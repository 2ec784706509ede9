import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, expect, test } from 'vitest'
import { countDaysFold } from '../../../src/core/folds/days/count-days.ts'
import { columnView, type Fold, type ListView, listView, type Matching } from '../../../src/core/folds/fold.ts'
import { funnelFold, type Outcomes } from '../../../src/core/folds/funnel.ts'
import { foldHere } from '../../../src/core/folds/page-reader.ts'
import { type RetentionParams, type RetentionPart, retentionFold } from '../../../src/core/folds/retention.ts'
import type { SeriesValue } from '../../../src/core/folds/series/accumulators.ts'
import { type Series, type SeriesPart, seriesData, seriesFold } from '../../../src/core/folds/series/fold.ts'
import { ThreadPool } from '../../../src/core/folds/thread-pool.ts'
import { visitBits, visitsFold } from '../../../src/core/folds/visits.ts'
import { EventLists } from '../../../src/core/lists/event-lists.ts'
import type { ColumnPart, ColumnSource, ColumnSpec, EventBatch, ListSource, ReadSpec } from '../../../src/core/lists/ports.ts'
import { ProjectLists } from '../../../src/core/lists/project-lists.ts'
import { MemoryShare } from '../../../src/lib/memory/memory-share.ts'
import { assertGenerated } from '../../harness/assert-generated.ts'

// Folds over lists in files, of which some have moved into memory, equal folds over the same lists in memory: in threads and in the calling thread.

const pool = new ThreadPool(2, { processors: 2 })
const folders: string[] = []
afterAll(async () => {
  await pool.close()
  for (const folder of folders) await rm(folder, { recursive: true, force: true })
})

type Event = readonly [person: number, time: number, event: number, plan: number, amount: number]
const persons = 900
const plans = ['free', 'pro', 'team', '']
const drawnEvent = fc.tuple(fc.nat(persons - 1), fc.nat(999), fc.nat(3), fc.nat(3), fc.nat(400))
const drawn = fc.record({
  first: fc.array(drawnEvent, { minLength: 1500, maxLength: 2500 }),
  later: fc.array(drawnEvent, { minLength: 0, maxLength: 60 }),
  merges: fc.array(fc.tuple(fc.nat(persons - 1), fc.nat(persons - 1)), { maxLength: 4 }),
})

const specs: readonly ColumnSpec[] = [
  { key: 'plan', type: 'codes', of: 'event' },
  { key: 'amount', type: 'numbers', of: 'event' },
  { key: 'vip', type: 'flags', of: 'person' },
  { type: 'flags', of: 'made', make: { from: 'texts', column: 0, texts: ['pro'], isNot: false } },
  { type: 'flags', of: 'made', make: { from: 'persons', column: 2 } },
  { type: 'flags', of: 'made', make: { from: 'any', columns: [3, 4] } },
  { type: 'codes', of: 'made', make: { from: 'ranges', column: 1, edges: [0, 20, 50], texts: ['low', 'high'], none: 'none' } },
]
const isVip = (person: number) => (person % 3 === 0 ? 1 : 0)
/** Half of them are of one person. */
const sessionOf = ([person, , , plan, amount]: Event): string =>
  amount % 9 === 0 ? '' : amount < 300 ? `${person % 400}, ${plan % 2}` : `${amount}`
const partOf = (key: string, rows: readonly Event[]): ColumnPart => {
  if (key === 'plan') return { values: Int32Array.from(rows, ([, , , plan]) => plan), texts: plans }
  if (key === 'session') return { values: Int32Array.from(rows.keys()), texts: rows.map(sessionOf) }
  return { values: Float64Array.from(rows, ([, , , , amount]) => (amount % 7 === 0 ? Number.NaN : amount / 4)) }
}

/** A store of these events, with merges [merged, survivor]. */
function storeOf(events: readonly Event[], merges: ReadonlyMap<number, number>): ListSource & ColumnSource {
  const rows = (after: number, last: number) => events.slice(after, last)
  return {
    columns: specs,
    async counts() {
      const counts = new Int32Array(persons)
      for (const [person] of events) counts[person]!++
      return { person: Int32Array.from(counts, (_, i) => i), events: counts }
    },
    async events(after, last, take) {
      const found = rows(after, last)
      const batch: EventBatch = {
        person: Int32Array.from(found, ([person]) => person),
        time: Float64Array.from(found, ([, time]) => time),
        event: Int32Array.from(found, ([, , event]) => event),
        seq: Float64Array.from(found, (_, i) => after + i + 1),
      }
      take(batch)
    },
    state: async () => ({ seq: events.length, events: events.length, mergesMark: JSON.stringify([...merges]), changedSeq: 0 }),
    marks: async () => ({ mergesMark: JSON.stringify([...merges]), changedSeq: 0 }),
    fingerprint: async () => '',
    merges: async () => new Map(merges),
    async ofEvents(asked, after, last, take) {
      const found = rows(after, last)
      await take(
        Float64Array.from(found, (_, i) => after + i + 1),
        asked.map(({ key }) => partOf(key, found)),
      )
    },
    async ofPersons(_spec, _after, take) {
      await take(
        Float64Array.from({ length: persons }, (_, i) => i),
        [{ values: Uint8Array.from({ length: persons }, (_, i) => isVip(i)) }],
      )
    },
    ofKeys: async () => undefined,
  }
}

interface Asked {
  readonly view: ListView
  readonly plan: { readonly of: 'event'; readonly column: ReturnType<typeof columnView> }
  readonly amount: Asked['plan']
  readonly vip: { readonly of: 'person'; readonly column: ReturnType<typeof columnView> }
  readonly either: Asked['plan']
  readonly range: Asked['plan']
}

const matching = (...masks: number[]): Matching => ({
  from: 100,
  to: 900,
  scope: null,
  bits: { byEvent: Int32Array.from(masks), others: 0, flags: [] },
  further: null,
  takesAll: false,
})

/** What lists answer, from memory or from files. */
async function answersOf(lists: ProjectLists, source: ListSource & ColumnSource, events: number, where: 'here' | 'threads') {
  const asked = await lists.use(source, events, source, async (listed) => {
    const column = (index: number) => ({ of: 'event', column: columnView(listed.columns[index]!) }) as const
    const vip = { of: 'person', column: columnView(listed.columns[2]!) } as const
    const ask: Asked = { view: listView(listed), plan: column(0), amount: column(1), vip, either: column(5), range: column(6) }
    const run = async <P, R>(fold: Fold<P, R>, params: P): Promise<R> =>
      where === 'threads'
        ? (await pool.run(fold, ask.view, params, new AbortController().signal))!
        : completed(foldHere(fold, ask.view, params))
    return { pages: ask.view.pages?.pages.length ?? 0, answers: await questions(ask, run) }
  })
  return asked!.answer
}

async function questions({ view, plan, amount, vip, either, range }: Asked, run: <P, R>(fold: Fold<P, R>, params: P) => Promise<R>) {
  const answers: unknown[] = []
  const values: readonly SeriesValue[] = [
    { kind: 'events' },
    { kind: 'persons' },
    { kind: 'numbers', number: amount, reduction: 'max' },
    { kind: 'numbers', number: amount, reduction: 0.9 },
    { kind: 'windows', begins: Float64Array.of(100, 200, 300), ends: Float64Array.of(400, 500, 901) },
    { kind: 'first times', from: 100 },
  ]
  for (const value of values)
    for (const splits of [[], [plan], [range]])
      for (const flags of [[], [{ ...either, bits: 1 }], [{ ...vip, bits: 1 }]]) {
        const bits = { byEvent: Int32Array.of(3, 1), others: 0, flags }
        const series: Series = { matching: { ...matching(), bits }, edges: Float64Array.of(100, 300, 600, 901), splits, value }
        const data = (part: SeriesPart) =>
          [...completed(seriesData(part!, series))].sort((a, b) => a.combination - b.combination).map((one) => ({ ...one }))
        answers.push(data(await run(seriesFold, series)))
        const faster = seriesFold.fasterFor!(series)
        if (faster) answers.push(data(await run(faster, series)))
      }
  for (const order of ['ordered', 'strict', 'unordered'] as const) {
    const split = { ...plan, rank: Int32Array.from(plans, (text) => [...plans].sort().indexOf(text)), empty: plans.indexOf('') }
    const outcomes = await run(funnelFold, {
      matching: { ...matching(1, 2, 4), takesAll: order === 'strict' },
      funnel: { order, steps: 3, window: 300, optional: 0, attribution: { type: 'all_events' } },
      firstTimes: null,
      periods: null,
      splits: [split],
      withTimes: true,
    })
    answers.push(byPerson(outcomes))
  }
  const retention: RetentionParams = {
    matching: matching(1 | 4, 2, 1 | 2 | 4, 4),
    type: 'first time',
    from: 100,
    ticks: Float64Array.of(100, 200, 300, 400, 500, 600, 700, 800, 901),
    rowOf: Int32Array.of(0, 0, 1, 1, 2, 2, 3, 3),
    rows: 4,
    columns: 3,
    width: 2,
    columnOf: Int32Array.of(0, 1, 2),
    hasWindows: false,
    minimum: 1,
    isCumulative: false,
    splits: [plan],
    number: null,
    isSame: false,
  }
  const { combinations, counts } = (await run(retentionFold, retention)) as NonNullable<RetentionPart>
  answers.push([...combinations.entries()].map(([i, one]) => [one, [...counts.subarray(i * 12, i * 12 + 12)]]).sort())
  const days = await run(countDaysFold, { bits: matching(1, 1).bits, edges: Float64Array.of(0, 500, 1000), split: null, number: null })
  answers.push(days.reduce((sum, { persons: found }) => sum + found.length, 0))
  expect(view.persons).toBeGreaterThan(0)
  return answers
}

const byPerson = ({ person, value, depth }: Outcomes) => Array.from(person, (one, i) => `${one} ${value[i]} ${depth[i]}`).sort()

function completed<R>(steps: Generator<void, R, void>): R {
  for (;;) {
    const step = steps.next()
    if (step.done) return step.value
  }
}

test('folds over lists in files equal folds over lists in memory, while events and merges come', () =>
  assertGenerated(
    fc.asyncProperty(drawn, fc.constantFrom('here', 'threads'), async ({ first, later, merges: given }, where) => {
      const folder = await mkdtemp(join(tmpdir(), 'waymark-page-folds-'))
      folders.push(folder)
      const inMemory = new ProjectLists(new MemoryShare(1e9))
      // The lists of these events take more than 0.7 of it, and what moves into memory fills its share.
      const inFiles = new ProjectLists(new MemoryShare(1.35 * EventLists.bytesOf(first.length, persons)), {
        pagesIn: join(folder, 'pages'),
      })
      const merges = new Map<number, number>()
      for (const [merged, survivor] of given)
        if (merged !== survivor && !merges.has(merged) && !merges.has(survivor) && ![...merges.values()].includes(merged))
          merges.set(merged, survivor)
      const states = [
        { events: first, merges: new Map<number, number>() },
        { events: [...first, ...later], merges: new Map<number, number>() },
        { events: [...first, ...later], merges },
      ]
      for (const { events, merges: some } of states) {
        const source = storeOf(events, some)
        const [expected, found] = [
          await answersOf(inMemory, source, events.length, 'here'),
          await answersOf(inFiles, source, events.length, where),
        ]
        expect(expected.pages).toBe(0)
        expect(found.pages).toBeGreaterThan(1)
        expect(found.answers).toEqual(expected.answers)
      }
      await inFiles.close()
      await inMemory.close()
    }),
    { numRuns: 2, endOnFailure: true },
  ))

test('the sessions of lists in files are those of lists in memory, while events and merges come and the files are written once more', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'waymark-page-folds-'))
  folders.push(folder)
  let state = 11
  const random = (below: number) => {
    state = (Math.imul(state, 1103515245) + 12345) >>> 0
    return (state >>> 8) % below
  }
  const more = (count: number) =>
    Array.from({ length: count }, (): Event => [random(persons), random(1000), random(4), random(4), random(400)])
  let events = more(20_000)
  const merges = new Map<number, number>()
  const inMemory = new ProjectLists(new MemoryShare(1e9))
  const inFiles = new ProjectLists(new MemoryShare(1.35 * EventLists.bytesOf(events.length, persons)), { pagesIn: join(folder, 'pages') })
  const column: ReadSpec = { key: 'session', type: 'ids', of: 'event' }
  const read = async (lists: ProjectLists, where: 'here' | 'threads') => {
    const source = { ...storeOf(events, merges), columns: [column], actors: { column, except: '', isOwned: true } }
    const found = await lists.use(source, events.length, source, async (listed) => {
      const { counted, goal, action, ofSession } = visitBits
      const params = {
        bits: { byEvent: Int32Array.of(ofSession, ofSession | counted | action, ofSession | counted | goal, 0), others: 0, flags: [] },
        sessions: columnView(listed.columns[0]!).values,
        owners: listed.owners!,
        near: Float64Array.of(100, 900),
        periods: Float64Array.of(100, 140, 141, 800),
        bounceSeconds: 10,
        persons: listed.lists.persons,
      }
      const view = listView(listed)
      const { shared, ...numbers } =
        where === 'threads'
          ? (await pool.run(visitsFold, view, params, new AbortController().signal))!
          : completed(foldHere(visitsFold, view, params))
      return { folder: view.pages?.folder, numbers }
    })
    return found!.answer
  }
  const folderNames = new Set<string | undefined>()
  for (let step = 0; step < 16; step++) {
    const expected = await read(inMemory, 'here')
    for (const where of ['here', 'threads'] as const) {
      const found = await read(inFiles, where)
      expect(found.numbers).toEqual(expected.numbers)
      folderNames.add(found.folder)
    }
    expect(expected.numbers.sessions.every((sessions) => sessions > 50)).toBe(true)
    events = [...events, ...more(400)]
    const [merged, survivor] = [random(persons), random(persons)]
    if (merged !== survivor && !merges.has(survivor) && ![...merges.values()].includes(merged)) merges.set(merged, survivor)
  }
  expect(folderNames.size).toBeGreaterThan(1)
  expect(folderNames).not.toContain(undefined)
  await inFiles.close()
  await inMemory.close()
})
