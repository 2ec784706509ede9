import { expect, test } from 'vitest'
import type { WatchState } from '../../../src/service/accounts/records.ts'
import { transitions } from '../../../src/service/watching/check.ts'
import { type Rates, withEvents } from '../../../src/service/watching/event-rates.ts'
import type { Measured } from '../../../src/service/watching/measured.ts'

// Weeks of events as projects have them, in steps of five minutes: what begins, and when. Nothing is stored or sent.

const minute = 60_000
const hour = 60 * minute
const day = 24 * hour
/** A Monday. */
const start = Date.parse('2026-03-02T00:00:00Z')

const nothing: Omit<Measured, 'now' | 'rates'> = {
  upSince: 0,
  quotas: [],
  exports: [],
  plugins: [],
  backup: null,
  disk: null,
  unknown: new Set(),
}

/** What begins and ends: its name, the day and the time. `rate`: events in an hour. */
function watched(days: number, rate: (at: number) => number): string[] {
  let seed = 1
  const random = () => {
    seed = (seed * 48271) % 2147483647
    return seed / 2147483647
  }
  let rates: Rates | undefined
  let known: readonly WatchState[] = []
  const found: string[] = []
  for (let at = start; at < start + days * day; at += 5 * minute) {
    // As many as come in five minutes, by chance.
    const mean = rate(at) / 12
    const events = Math.floor(mean) + (random() < mean % 1 ? 1 : 0)
    if (events > 0) rates = withEvents(rates, events, at)
    if (!rates) continue
    const all: Measured = { ...nothing, now: at, rates: new Map([[1, rates]]) }
    for (const { state, mail } of transitions(all, known)) {
      const told = mail === 'began' ? { ...state, told_at: new Date(at) } : state
      known = [...known.filter(({ id }) => id !== state.id), told]
      if (mail) found.push(`${state.watch} ${mail} day ${Math.floor((at - start) / day)} ${new Date(at).toISOString().slice(11, 16)}`)
    }
  }
  return found
}

const hourIn = (at: number) => (at % day) / hour
const weekday = (at: number) => Math.floor((at - start) / day) % 7
const between = (at: number, from: number, to: number) => hourIn(at) >= from && hourIn(at) < to
const isOn = (at: number, on: number, from: number, to: number) => Math.floor((at - start) / day) === on && between(at, from, to)

/** Events in an hour of usual projects. */
const profiles: Readonly<Record<string, (at: number) => number>> = {
  'always the same': () => 60,
  'a wave by day and night': (at) => 300 + 280 * Math.sin((hourIn(at) / 24) * 2 * Math.PI),
  'office hours of weekdays': (at) => (weekday(at) < 5 && between(at, 9, 17.5) ? 120 : 0),
  'little at night': (at) => (between(at, 7, 22) ? 80 : 2),
  'very little': () => 0.4,
  'once in two hours': (at) => (at % (2 * hour) === 0 ? 12_000 : 0),
}

test.each(Object.entries(profiles))('three usual weeks: %s', (_, rate) => {
  // What is usual is learned in the first days.
  const found = watched(21, rate).filter((line) => !/ day [0-2] /.test(line))
  expect(found).toEqual([])
})

test.each<readonly [profile: string, on: number, from: number, to: number, found: readonly string[]]>([
  ['always the same', 2, 11, 15, ['silence began day 2 11:55', 'silence ended day 2 15:05']],
  ['always the same', 16, 3, 4.5, ['silence began day 16 03:55', 'silence ended day 16 04:35']],
  ['a wave by day and night', 10, 6, 9, ['silence began day 10 06:55', 'silence ended day 10 09:05']],
  ['office hours of weekdays', 15, 11, 14, ['silence began day 15 11:55', 'silence ended day 15 14:05']],
  // It never began that day.
  ['office hours of weekdays', 15, 8, 12, ['silence began day 15 09:30', 'silence ended day 15 12:00']],
  ['little at night', 9, 12, 14, ['silence began day 9 12:55', 'silence ended day 9 14:00']],
  ['little at night', 9, 23, 24, []],
  ['very little', 9, 12, 20, []],
])('%s, without events on day %i from %s to %s', (profile, on, from, to, found) => {
  const rate = (at: number) => (isOn(at, on, from, to) ? 0 : profiles[profile]!(at))
  expect(watched(on + 2, rate).filter((line) => !/ day [01] /.test(line))).toEqual(found)
})

test.each<readonly [profile: string, times: number, isTold: boolean]>([
  ['always the same', 8, false],
  ['always the same', 30, true],
  ['a wave by day and night', 8, false],
  ['a wave by day and night', 30, true],
  ['office hours of weekdays', 8, false],
  ['office hours of weekdays', 30, true],
])('%s, with %i times as many for two hours', (profile, times, isTold) => {
  const rate = (at: number) => profiles[profile]!(at) * (isOn(at, 16, 11, 13) ? times : 1)
  const found = watched(18, rate).filter((line) => / day 1[67] /.test(line))
  expect(found.map((line) => line.split(' ').slice(0, 2).join(' '))).toEqual(isTold ? ['flood began', 'flood ended'] : [])
})

test('a project that grows tenfold for good is told once', () => {
  const found = watched(20, (at) => (at < start + 9 * day ? 50 : 1_000))
  expect(found).toHaveLength(2)
  expect(found[0]).toMatch(/^flood began day 9 /)
  expect(found[1]).toMatch(/^flood ended day 1[01] /)
})
