import type { ActorOrder } from '../lists/actor-order.ts'
import { firstSince } from '../lists/first-since.ts'
import type { ColumnView, Fold, ListView, Matching, PlacedColumn } from './fold.ts'
import { bitsOf } from './matches.ts'

// Sessions of web analytics: what sessions count that began in a period. Nearly all of them are of one person, so their events are read where they lie, person by
// person; those of several persons are read in the order of sessions.

/** Bits of an event. */
export const visitBits = { ofSession: 1, counted: 2, goal: 4, action: 8 } as const
const goalShift = 2
const actionShift = 3

export interface VisitsParams {
  readonly bits: Matching['bits']
  /** The session of each event. */
  readonly sessions: ColumnView['values']
  readonly order: Pick<ActorOrder, 'start' | 'end' | 'entry' | 'owner'>
  /** The sessions with events of several persons. */
  readonly shared: Int32Array
  /** Pairs of times, both included: events outside of all of them are not looked at. */
  readonly near: Float64Array
  /** Such pairs of the periods: sessions that began in one, with an event that counts in any of them. */
  readonly periods: Float64Array
  /** A session shorter than this with one action is a bounce. */
  readonly bounceSeconds: number
  /** The person of each event. */
  readonly person: PlacedColumn
  readonly persons: number
}

/** By period, and of each period a set of persons: those of a part from its first one on. */
export interface VisitNumbers {
  readonly first: number
  /** The persons of the part. */
  readonly persons: number
  readonly sessions: Float64Array
  readonly counted: Float64Array
  readonly goals: Float64Array
  readonly seconds: Float64Array
  readonly bounces: Float64Array
  /** Sessions with an action: others neither bounce nor stay. */
  readonly withAction: Float64Array
  /** 1 for each person with a session. */
  readonly visitors: Uint8Array
  /** 1 for each person whose session has a goal. */
  readonly converted: Uint8Array
  /** Others with a session: period, person, and whether it has a goal, one after the other. */
  readonly others: readonly number[]
}

const sums = ['sessions', 'counted', 'goals', 'seconds', 'bounces', 'withAction'] as const
const sets = ['visitors', 'converted'] as const

function nothing({ periods }: VisitsParams, first: number, persons: number): VisitNumbers & { readonly others: number[] } {
  const count = periods.length / 2
  const numbers = () => new Float64Array(count)
  return {
    first,
    persons,
    others: [],
    sessions: numbers(),
    counted: numbers(),
    goals: numbers(),
    seconds: numbers(),
    bounces: numbers(),
    withAction: numbers(),
    visitors: new Uint8Array(count * persons),
    converted: new Uint8Array(count * persons),
  }
}

const isWithin = (pairs: Float64Array, i: number, time: number): boolean => time >= pairs[i]! && time <= pairs[i + 1]!
function isIn(pairs: Float64Array, time: number): boolean {
  for (let i = 0; i < pairs.length; i += 2) if (isWithin(pairs, i, time)) return true
  return false
}
const secondOf = (micros: number): number => Math.floor(micros / 1e6)

function add(sums: Float64Array, others: Float64Array): void {
  for (let i = 0; i < sums.length; i++) sums[i]! += others[i]!
}
/** Sessions while their events are read in order of time, one after the other. */
class OpenVisits {
  length = 0
  session = new Int32Array(1024)
  began = new Float64Array(1024)
  ended = new Float64Array(1024)
  counted = new Int32Array(1024)
  goals = new Int32Array(1024)
  actions = new Int32Array(1024)
  person = new Int32Array(1024)

  /** The number of a new one. */
  begin(session: number, time: number): number {
    if (this.length === this.began.length) this.grow()
    this.session[this.length] = session
    this.began[this.length] = time
    return this.length++
  }

  private grow(): void {
    this.session = longer(this.session)
    this.began = longer(this.began)
    this.ended = longer(this.ended)
    this.counted = longer(this.counted)
    this.goals = longer(this.goals)
    this.actions = longer(this.actions)
    this.person = longer(this.person)
  }
}

function longer<V extends Float64Array | Int32Array>(values: V): V {
  const copy = new (values.constructor as new (length: number) => V)(2 * values.length)
  copy.set(values)
  return copy
}

/** The sessions of one person: nearly always few, and the next event is of one of the last ones. */
class OfPerson {
  private first = 0
  /** The numbers of all, where they are many. */
  private many: Map<number, number> | null = null

  constructor(private readonly visits: OpenVisits) {}

  begin(): void {
    this.first = this.visits.length
    this.many = null
  }

  /** -1: it has none with this session. */
  find(session: number): number {
    const { visits, first, many } = this
    if (many) return many.get(session) ?? -1
    let visit = visits.length - 1
    while (visit >= first && visits.session[visit] !== session) visit--
    return visit < first ? -1 : visit
  }

  add(session: number, time: number): number {
    const { visits } = this
    const visit = visits.begin(session, time)
    if (visit - this.first === mostSearched)
      this.many = new Map(Array.from({ length: mostSearched }, (_, i) => [visits.session[this.first + i]!, this.first + i]))
    this.many?.set(session, visit)
    return visit
  }
}
const mostSearched = 32

/** The numbers of all sessions that were read. */
function numbersOf(visits: OpenVisits, params: VisitsParams, first: number, persons: number): VisitNumbers {
  const found = nothing(params, first, persons)
  const { periods, bounceSeconds } = params
  const { began, ended, counted, goals, actions, person } = visits
  for (let visit = 0; visit < visits.length; visit++) {
    if (counted[visit] === 0) continue
    const seconds = secondOf(ended[visit]!) - secondOf(began[visit]!)
    for (let period = 0; period < periods.length / 2; period++) {
      if (!isWithin(periods, 2 * period, began[visit]!)) continue
      found.sessions[period]!++
      found.counted[period]! += counted[visit]!
      found.goals[period]! += goals[visit]!
      found.seconds[period]! += seconds
      if (actions[visit]! > 0) found.withAction[period]!++
      if (actions[visit] === 1 && seconds < bounceSeconds) found.bounces[period]!++
      const own = person[visit]! - first
      if (own < 0 || own >= persons) {
        found.others.push(period, person[visit]!, goals[visit]! > 0 ? 1 : 0)
        continue
      }
      found.visitors[period * persons + own] = 1
      if (goals[visit]! > 0) found.converted[period * persons + own] = 1
    }
  }
  return found
}

const eventsBetweenPauses = 1 << 16

export const visitsFold: Fold<VisitsParams, VisitNumbers> = {
  name: 'visits',
  over: 'persons',
  isOfPersons: true,
  *run(lists, params, from, to) {
    const { sessions, order, near, periods, bits } = params
    const { start, end, time, event } = lists
    const { owner } = order
    const visits = new OpenVisits()
    const ofPerson = new OfPerson(visits)
    const [first, last] = [Math.min(...near), Math.max(...near)]
    const hasGap = near.length > 2
    let unpaused = 0
    for (let person = from; person < to; person++) {
      const behind = end[person]!
      if (start[person] === behind || time[behind - 1]! < first) continue
      ofPerson.begin()
      let current = -1
      let visit = -1
      let isOwn = false
      for (let index = firstSince(time, start[person]!, behind, first); index < behind; index++) {
        const when = time[index]!
        if (when > last) break
        const session = sessions[index]!
        if (session !== current) {
          current = session
          isOwn = owner[session] === person
          visit = isOwn ? ofPerson.find(session) : -1
        }
        if (!isOwn || (hasGap && !isIn(near, when))) continue
        const met = bitsOf(bits, event[index]!, index, person)
        if ((met & visitBits.ofSession) === 0) continue
        if (visit < 0) visit = ofPerson.add(session, when)
        visits.ended[visit] = when
        visits.actions[visit]! += (met >> actionShift) & 1
        if ((met & visitBits.counted) === 0 || !isIn(periods, when)) continue
        visits.counted[visit]!++
        visits.goals[visit]! += (met >> goalShift) & 1
        visits.person[visit] = person
      }
      unpaused += behind - start[person]!
      if (unpaused < eventsBetweenPauses) continue
      unpaused = 0
      yield
    }
    if (from === 0) readShared(visits, params, lists)
    return numbersOf(visits, params, from, to - from)
  },
  join(results, params) {
    const all = nothing(params, 0, params.persons)
    for (const one of results) {
      for (const name of sums) add(all[name], one[name])
      for (const name of sets)
        for (let period = 0; period < params.periods.length / 2; period++)
          all[name].set(one[name].subarray(period * one.persons, (period + 1) * one.persons), period * params.persons + one.first)
    }
    for (const { others } of results)
      for (let i = 0; i < others.length; i += 3) {
        all.visitors[others[i]! * params.persons + others[i + 1]!] = 1
        if (others[i + 2] === 1) all.converted[others[i]! * params.persons + others[i + 1]!] = 1
      }
    return all
  },
}

/** The sessions with events of several persons: they are of the one with the least number. */
function readShared(visits: OpenVisits, { shared, order, person, near, periods, bits }: VisitsParams, { time, event }: ListView): void {
  const personOf = person.column.values
  for (const session of shared) {
    let visit = -1
    for (let at = order.start[session]!; at < order.end[session]!; at++) {
      const index = order.entry[at]!
      const when = time[index]!
      if (!isIn(near, when)) continue
      const met = bitsOf(bits, event[index]!, index, personOf[index]!)
      if ((met & visitBits.ofSession) === 0) continue
      if (visit < 0) visit = visits.begin(session, when)
      visits.ended[visit] = when
      visits.actions[visit]! += (met >> actionShift) & 1
      if ((met & visitBits.counted) === 0 || !isIn(periods, when)) continue
      const isFirst = visits.counted[visit]!++ === 0
      visits.goals[visit]! += (met >> goalShift) & 1
      if (isFirst || personOf[index]! < visits.person[visit]!) visits.person[visit] = personOf[index]!
    }
  }
}
