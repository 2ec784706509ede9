import fc from 'fast-check'
import { expect, test } from 'vitest'
import { columnView, type EventBits, listView } from '../../../src/core/folds/fold.ts'
import { type VisitNumbers, type VisitsParams, visitBits, visitsFold } from '../../../src/core/folds/visits.ts'
import { EventLists } from '../../../src/core/lists/event-lists.ts'
import { isOfSeveral, KeptOwners } from '../../../src/core/lists/kept-owners.ts'
import { ListColumn } from '../../../src/core/lists/list-column.ts'
import { assertGenerated } from '../../harness/assert-generated.ts'

// Sessions of one person, of several, and of persons who are merged, against a model that groups events by session.

const second = 1e6
const names = { page: 1, click: 2, goal: 3, other: 0 }
const bits: EventBits = {
  byEvent: Int32Array.of(
    visitBits.ofSession,
    visitBits.ofSession | visitBits.counted | visitBits.action,
    visitBits.ofSession | visitBits.action,
    visitBits.ofSession | visitBits.counted | visitBits.goal,
  ),
  others: 0,
  flags: [],
}
const bounceSeconds = 10
const persons = 8

const drawnEvent = fc.record({
  person: fc.nat(persons - 1),
  session: fc.oneof({ weight: 4, arbitrary: fc.nat(40) }, { weight: 1, arbitrary: fc.constant(-1) }),
  time: fc.nat(400).map((n) => n * 3 * second),
  event: fc.constantFrom(...Object.values(names)),
})
type Drawn = typeof drawnEvent extends fc.Arbitrary<infer T> ? T : never

const completed = <R>(steps: Generator<void, R, void>): R => {
  for (;;) {
    const step = steps.next()
    if (step.done) return step.value
  }
}

test.each([
  ['one period', [[300, 900]], [[200, 1000]]],
  [
    'two periods with a gap',
    [
      [700, 900],
      [100, 300],
    ],
    [
      [650, 950],
      [50, 350],
    ],
  ],
] as const)('%s', async (_, periods, near) => {
  let shared = 0
  const micros = (pairs: readonly (readonly [number, number])[]) => Float64Array.from(pairs.flat(), (n) => n * second)
  await assertGenerated(
    fc.asyncProperty(
      fc.array(fc.array(drawnEvent, { minLength: 1, maxLength: 40 }), { minLength: 1, maxLength: 4 }),
      fc.array(fc.tuple(fc.nat(persons - 1), fc.nat(persons - 1)), { maxLength: 2 }),
      fc.boolean(),
      fc.boolean(),
      async (batches, merges, isManyOfOne, isKnown) => {
        const lists = new EventLists()
        const sessions = new ListColumn('ids', 0)
        lists.attach(sessions)
        const events: (Drawn & { readonly seq: number })[] = []
        let survivorOf = (person: number): number => person
        let owners: KeptOwners | null = null
        const changes = lists.watch()
        for (const [i, drawn] of batches.entries()) {
          const first = events.length
          const batch = drawn.map((one, at) => ({
            ...one,
            ...(isManyOfOne && { session: one.session < 0 ? -1 : first + at, person: 0 }),
            person: survivorOf(isManyOfOne ? 0 : one.person),
            seq: first + at + 1,
          }))
          events.push(...batch)
          lists.add({
            person: Int32Array.from(batch, ({ person }) => person),
            time: Float64Array.from(batch, ({ time }) => time),
            event: Int32Array.from(batch, ({ event }) => event),
            seq: Float64Array.from(batch, ({ seq }) => seq),
          })
          const indexes = lists.indexesAfter(first, events.length).subarray(1)
          const texts = batch.map(({ session }) => (session < 0 ? '' : `s${session}`))
          sessions.write({ values: Int32Array.from(texts, (_, at) => at), texts }, indexes)
          const merge = merges[i]
          if (merge) {
            const [merged, survivor] = merge.map(survivorOf) as [number, number]
            if (merged !== survivor) {
              lists.merge(merged, survivor)
              const before = survivorOf
              survivorOf = (person) => (before(person) === merged ? survivor : before(person))
            }
          }
          const changed = changes.take()
          const skipped = sessions.codeOf('')
          if (owners) completed(owners.follow(lists, sessions, isKnown ? changed : null, skipped, survivorOf))
          else owners = completed(KeptOwners.of(lists, sessions, null, skipped, survivorOf))
          const { several } = owners
          for (let session = 0; session < sessions.codesUsed; session++) if (isOfSeveral(several, session)) shared++
          const view = listView({ lists, order: null })
          const params: VisitsParams = {
            bits,
            sessions: columnView(sessions).values,
            owners: { several, none: skipped },
            near: micros(near),
            periods: micros(periods),
            bounceSeconds,
            persons,
          }
          const middle = lists.persons >> 1
          const parts = [completed(visitsFold.run(view, params, 0, middle)), completed(visitsFold.run(view, params, middle, lists.persons))]
          const now = events.map((one) => ({ ...one, person: survivorOf(one.person) }))
          expect(plain(visitsFold.join(parts, params))).toEqual(expected(now, micros(periods), micros(near)))
        }
      },
    ),
    { numRuns: 150 },
  )
  expect(shared).toBeGreaterThan(100)
})

function plain({ sessions, counted, goals, seconds, bounces, withAction, visitors, converted }: VisitNumbers) {
  return Object.fromEntries(
    Object.entries({ sessions, counted, goals, seconds, bounces, withAction, visitors, converted }).map(([name, values]) => [
      name,
      [...values],
    ]),
  )
}

function expected(events: readonly (Drawn & { readonly seq: number })[], periods: Float64Array, near: Float64Array) {
  const isIn = (pairs: Float64Array, time: number) =>
    Array.from({ length: pairs.length / 2 }, (_, i) => time >= pairs[2 * i]! && time <= pairs[2 * i + 1]!).some(Boolean)
  const count = periods.length / 2
  const numbers = () => new Array<number>(count).fill(0)
  const found = {
    sessions: numbers(),
    counted: numbers(),
    goals: numbers(),
    seconds: numbers(),
    bounces: numbers(),
    withAction: numbers(),
    visitors: new Array<number>(count * persons).fill(0),
    converted: new Array<number>(count * persons).fill(0),
  }
  const bySession = new Map<number, Drawn[]>()
  for (const one of events) bySession.set(one.session, [...(bySession.get(one.session) ?? []), one])
  for (const [session, all] of bySession) {
    const own = all.filter(({ time }) => isIn(near, time)).sort((a, b) => a.time - b.time)
    const ofPeriods = own.filter(({ event, time }) => (event === names.page || event === names.goal) && isIn(periods, time))
    if (session < 0 || ofPeriods.length === 0) continue
    const [began, ended] = [own[0]!.time, own.at(-1)!.time]
    const seconds = Math.floor(ended / second) - Math.floor(began / second)
    const actions = own.filter(({ event }) => event === names.page || event === names.click).length
    const goals = ofPeriods.filter(({ event }) => event === names.goal).length
    const person = Math.min(...ofPeriods.map(({ person }) => person))
    for (let period = 0; period < count; period++) {
      if (began < periods[2 * period]! || began > periods[2 * period + 1]!) continue
      found.sessions[period]!++
      found.counted[period]! += ofPeriods.length
      found.goals[period]! += goals
      found.seconds[period]! += seconds
      if (actions > 0) found.withAction[period]!++
      if (actions === 1 && seconds < bounceSeconds) found.bounces[period]!++
      found.visitors[period * persons + person] = 1
      if (goals > 0) found.converted[period * persons + person] = 1
    }
  }
  return found
}
