import { firstSince } from '../lists/first-since.ts'
import { type ActorOwners, isOfSeveral } from '../lists/kept-owners.ts'
import type { ColumnView, Fold, Matching } from './fold.ts'
import { bitsOf } from './matches.ts'

// Sessions of web analytics: what sessions count that began in a period. Nearly all of them are of one person, so their events are read where they lie, person by
// person; the events of the others are put together when all parts are read.

/** Bits of an event. */
export const visitBits = { ofSession: 1, counted: 2, goal: 4, action: 8 } as const
const goalShift = 2
const actionShift = 3

export interface VisitsParams {
  readonly bits: Matching['bits']
  /** The session of each event. */
  readonly sessions: ColumnView['values']
  readonly owners: ActorOwners
  /** Pairs of times, both included: events outside of all of them are not looked at. */
  readonly near: Float64Array
  /** Such pairs of the periods: sessions that began in one, with an event that counts in any of them. */
  readonly periods: Float64Array
  /** A session shorter than this with one action is a bounce. */
  readonly bounceSeconds: number
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
  /** Events of sessions of several persons. */
  readonly shared: SharedEvents
}

interface SharedEvents {
  readonly session: number[]
  readonly time: number[]
  readonly bits: number[]
  readonly person: number[]
}
const noEvents = (): SharedEvents => ({ session: [], time: [], bits: [], person: [] })

const sums = ['sessions', 'counted', 'goals', 'seconds', 'bounces', 'withAction'] as const
const sets = ['visitors', 'converted'] as const

function nothing({ periods }: VisitsParams, first: number, persons: number, shared = noEvents()): VisitNumbers {
  const count = periods.length / 2
  const numbers = () => new Float64Array(count)
  return {
    first,
    persons,
    shared,
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
/** Persons may be in several parts: in files, and in memory. */
function addSet(all: Uint8Array, set: Uint8Array, { first, persons: own }: VisitNumbers, { periods, persons }: VisitsParams): void {
  for (let period = 0; period < periods.length / 2; period++)
    for (let person = 0; person < own; person++) if (set[period * own + person] === 1) all[period * persons + first + person] = 1
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
    this.began[this.length] = this.ended[this.length] = time
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

/** Counts an event of a session, whose events may come in any order. */
function count(visits: OpenVisits, visit: number, when: number, met: number, who: number, periods: Float64Array): void {
  if (when < visits.began[visit]!) visits.began[visit] = when
  if (when > visits.ended[visit]!) visits.ended[visit] = when
  visits.actions[visit]! += (met >> actionShift) & 1
  if ((met & visitBits.counted) === 0 || !isIn(periods, when)) return
  const isFirst = visits.counted[visit]!++ === 0
  visits.goals[visit]! += (met >> goalShift) & 1
  // Whose session it is: of several persons, the one with the least number.
  if (isFirst || who < visits.person[visit]!) visits.person[visit] = who
}

/** Adds the numbers of all sessions that were read. */
function addNumbers(found: VisitNumbers, visits: OpenVisits, { periods, bounceSeconds }: VisitsParams): void {
  const { first, persons } = found
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
      const at = period * persons + person[visit]! - first
      found.visitors[at] = 1
      if (goals[visit]! > 0) found.converted[at] = 1
    }
  }
}

const eventsBetweenPauses = 1 << 16

export const visitsFold: Fold<VisitsParams, VisitNumbers> = {
  name: 'visits',
  over: 'persons',
  *run(lists, params, from, to) {
    const { sessions, near, periods, bits } = params
    const { several, none } = params.owners
    const { start, end, time, event } = lists
    const shared = noEvents()
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
      let isShared = false
      for (let index = firstSince(time, start[person]!, behind, first); index < behind; index++) {
        const when = time[index]!
        if (when > last) break
        const session = sessions[index]!
        if (session !== current) {
          current = session
          isShared = session !== none && isOfSeveral(several, session)
          visit = isShared || session === none ? -1 : ofPerson.find(session)
        }
        if (session === none || (hasGap && !isIn(near, when))) continue
        const met = bitsOf(bits, event[index]!, index, person)
        if ((met & visitBits.ofSession) === 0) continue
        if (isShared) {
          shared.session.push(session)
          shared.time.push(when)
          shared.bits.push(met)
          shared.person.push(person)
          continue
        }
        if (visit < 0) visit = ofPerson.add(session, when)
        count(visits, visit, when, met, person, periods)
      }
      unpaused += behind - start[person]!
      if (unpaused < eventsBetweenPauses) continue
      unpaused = 0
      yield
    }
    const found = nothing(params, from, to - from, shared)
    addNumbers(found, visits, params)
    return found
  },
  join(results, params) {
    const all = nothing(params, 0, params.persons)
    for (const one of results) {
      for (const name of sums) add(all[name], one[name])
      for (const name of sets) addSet(all[name], one[name], one, params)
    }
    addNumbers(all, visitsOfSeveral(results, params), params)
    return all
  },
}

/** The sessions with events of several persons, which may be in several parts. */
function visitsOfSeveral(results: readonly VisitNumbers[], { periods }: VisitsParams): OpenVisits {
  const visits = new OpenVisits()
  const known = new Map<number, number>()
  for (const { shared } of results)
    for (const [i, session] of shared.session.entries()) {
      const when = shared.time[i]!
      const visit = known.get(session) ?? visits.begin(session, when)
      known.set(session, visit)
      count(visits, visit, when, shared.bits[i]!, shared.person[i]!, periods)
    }
  return visits
}
