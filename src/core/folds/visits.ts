import type { Fold, Matching, PlacedColumn } from './fold.ts'
import { Matches } from './matches.ts'

// Sessions of web analytics: the actors of the lists are sessions. What sessions count that began in a period.

/** Bits of an event. */
export const visitBits = { ofSession: 1, counted: 2, goal: 4, action: 8 } as const

export interface VisitsParams {
  readonly matching: Matching
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

/** By period, and one set of persons after the other. */
export interface VisitNumbers {
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
}

const sums = ['sessions', 'counted', 'goals', 'seconds', 'bounces', 'withAction'] as const
const sets = ['visitors', 'converted'] as const

function nothing({ periods, persons }: VisitsParams): VisitNumbers {
  const count = periods.length / 2
  const numbers = () => new Float64Array(count)
  return {
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
function unite(set: Uint8Array, other: Uint8Array): void {
  for (let i = 0; i < set.length; i++) set[i]! |= other[i]!
}

export const visitsFold: Fold<VisitsParams, VisitNumbers> = {
  name: 'visits',
  over: 'persons',
  conditions: ({ matching }) => matching,
  *run(lists, params, from, to) {
    const matches = new Matches(params.matching)
    const { near, periods, bounceSeconds, persons } = params
    const personOf = params.person.column.values
    const found = nothing(params)
    for (let next = from; next < to; ) {
      next = matches.fill(lists, next, to)
      const { offsets, time, bits, index } = matches
      for (let at = 0; at < matches.persons; at++) {
        let began = Number.NaN
        let ended = Number.NaN
        let counted = 0
        let goals = 0
        let actions = 0
        let person = -1
        for (let row = offsets[at]!; row < offsets[at + 1]!; row++) {
          const when = time[row]!
          const met = bits[row]!
          if ((met & visitBits.ofSession) === 0 || !isIn(near, when)) continue
          if (Number.isNaN(began)) began = when
          ended = when
          if ((met & visitBits.action) !== 0) actions++
          if ((met & visitBits.counted) === 0 || !isIn(periods, when)) continue
          counted++
          if ((met & visitBits.goal) !== 0) goals++
          const who = personOf[index[row]!]!
          if (person < 0 || who < person) person = who
        }
        if (counted === 0) continue
        const seconds = secondOf(ended) - secondOf(began)
        for (let period = 0; period < periods.length / 2; period++) {
          if (!isWithin(periods, 2 * period, began)) continue
          found.sessions[period]!++
          found.counted[period]! += counted
          found.goals[period]! += goals
          found.seconds[period]! += seconds
          if (actions > 0) found.withAction[period]!++
          if (actions === 1 && seconds < bounceSeconds) found.bounces[period]!++
          found.visitors[period * persons + person] = 1
          if (goals > 0) found.converted[period * persons + person] = 1
        }
      }
      yield
    }
    return found
  },
  join(results, params) {
    if (results.length === 1) return results[0]!
    const all = nothing(params)
    for (const one of results) {
      for (const name of sums) add(all[name], one[name])
      for (const name of sets) unite(all[name], one[name])
    }
    return all
  },
}
