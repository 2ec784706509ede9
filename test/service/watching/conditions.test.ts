import { expect, test } from 'vitest'
import type { WatchState } from '../../../src/service/accounts/records.ts'
import { transitions } from '../../../src/service/watching/check.ts'
import { conditions } from '../../../src/service/watching/conditions.ts'
import type { Measured } from '../../../src/service/watching/measured.ts'
import { watchNames } from '../../../src/service/watching/names.ts'

// When conditions of what is measured begin and end, check by check, five minutes apart.

const minute = 60_000
const hour = 60 * minute
const day = 24 * hour
const start = Date.parse('2026-03-02T10:00:00Z')
const at = (ms: number) => new Date(start + ms)

const nothing: Measured = {
  now: start,
  upSince: 0,
  rates: new Map(),
  quotas: [],
  exports: [],
  plugins: [],
  backup: null,
  disk: null,
  unknown: new Set(),
}
type Given = Partial<Measured>

/** What each check finds: `+` begins, `-` ends, `.` neither. */
function found(checks: readonly Given[], everyMs = 5 * minute): string {
  let known: readonly WatchState[] = []
  return checks
    .map((given, i) => {
      const all = { ...nothing, ...given, now: start + i * everyMs }
      const told = transitions(all, known).map(({ state, mail }) => {
        known = [...known.filter(({ id }) => id !== state.id), mail === 'began' ? { ...state, told_at: new Date(all.now) } : state]
        return mail === 'began' ? '+' : mail === 'ended' ? '-' : ''
      })
      return told.join('') || '.'
    })
    .join('')
}
const times = <T>(count: number, value: T): T[] => new Array<T>(count).fill(value)

const fine = { failures: 0, latest_error: null, verify_error: null, copied_at: at(-hour), due_at: at(5 * day), verify_at: at(5 * day) }
const backup = (change: Partial<NonNullable<Measured['backup']>>): Given => ({ backup: { ...fine, ...change } })
const disk = (days: number | null): Given => ({ disk: { freeBytes: 1e10, untilFullMs: days === null ? null : days * day } })
const quota = (taken: number): Given => ({ quotas: [{ project: 1, taken, limit: 100 }] })
const goodPlugin = { project: 1, id: '7', name: 'Mailer', problem: null, failingSince: null, dead: 0, delivered: 5, latestError: null }
const plugin = (change: Partial<Measured['plugins'][number]>): Given => ({ plugins: [{ ...goodPlugin, ...change }] })
const goodExport = { project: 1, id: 'e', name: 'Nightly', failedRuns: 0, failedAttempts: 0, pausedReason: null, latestError: null }
const exported = (change: Partial<Measured['exports'][number]>): Given => ({ exports: [{ ...goodExport, ...change }] })

const cases: readonly (readonly [name: string, checks: readonly Given[], expected: string, everyMs?: number])[] = [
  ['one copy failed', [backup({}), backup({ failures: 1 }), backup({})], '...'],
  ['copies fail', [backup({ failures: 1 }), backup({ failures: 2 }), backup({ failures: 3 }), backup({ failures: 0 })], '.+.-'],
  ['a verification failed', [backup({ verify_error: 'differs' }), backup({ verify_error: 'differs' }), backup({})], '+.-'],
  [
    'copies and a verification fail',
    [backup({ failures: 2, verify_error: 'differs' }), backup({ verify_error: 'differs' }), backup({})],
    '+.-',
  ],
  ['a copy is a day late', [backup({ due_at: at(0) }), ...times(2, backup({ due_at: at(0) })), backup({})], '..+-', 13 * hour],
  [
    'a verification is a day late',
    [backup({ verify_at: at(0) }), ...times(2, backup({ verify_at: at(0) })), backup({})],
    '..+-',
    13 * hour,
  ],
  ['no backups are made', [backup({ failures: 3 }), { backup: null }], '+.'],
  ['the disk fills slowly', [disk(null), disk(8), disk(9)], '...'],
  ['the disk is full in a week', [disk(6.9), disk(7.1), disk(9), disk(6.9), ...times(14, disk(11))], '+...............-.'],
  ['the disk has room for a moment', [disk(3), disk(null), disk(3), ...times(14, disk(null))], '+..............-.'],
  ['most of the events of a day', [quota(79), quota(80), quota(99), quota(60), quota(40), quota(85)], '.+..-.'],
  ['two runs failed', [exported({ failedRuns: 1 }), exported({ failedRuns: 2 }), exported({ failedRuns: 3 }), exported({})], '.+.-'],
  [
    'a run is tried again and again',
    [exported({ failedAttempts: 3 }), exported({ failedAttempts: 4 }), exported({ failedRuns: 1 }), exported({})],
    '.+.-',
  ],
  ['an export pauses itself', [exported({ pausedReason: 'Paused' }), exported({ pausedReason: 'Paused' }), exported({})], '+.-'],
  ['an export is removed while it fails', [exported({ failedRuns: 2 }), {}, {}], '+..'],
  [
    'exports cannot be read',
    [exported({ failedRuns: 2 }), { unknown: new Set(['export']) }, exported({ failedRuns: 2 }), exported({})],
    '+..-',
  ],
  [
    'a plugin is switched off, again and again',
    [...times(3, [plugin({ problem: 'timeout' }), plugin({})]).flat(), ...times(7, plugin({}))],
    '+..........-.',
  ],
  ['deliveries fail for a moment', [plugin({ failingSince: start }), plugin({ failingSince: start }), plugin({})], '...'],
  ['deliveries fail for long', [...times(8, plugin({ failingSince: start })), ...times(8, plugin({}))], '......+.......-.'],
  ['a few events are given up', [plugin({ dead: 9, delivered: 0 }), plugin({ dead: 20, delivered: 30 })], '..'],
  ['most events are given up', [plugin({ dead: 20, delivered: 10 }), ...times(8, plugin({}))], '+......-.'],
]
test.each(cases.map(([name, ...rest]) => [name, rest] as const))('%s', (_, [checks, expected, everyMs]) => {
  expect(found(checks, everyMs)).toBe(expected)
})

test('one that fails is no reason for another one of the same kind', () => {
  const both = (a: number, b: number): Given => ({
    exports: [
      { ...goodExport, id: 'a', failedRuns: a },
      { ...goodExport, id: 'b', failedRuns: b },
    ],
  })
  expect(found([both(2, 0), both(2, 2), both(0, 2), both(0, 0)])).toBe('++--')
})

test('every condition has words, and a bound for its end that differs from that of its beginning', () => {
  expect(Object.keys(conditions).sort()).toEqual([...watchNames].sort())
  for (const { title, summary, subjects } of Object.values(conditions)) {
    expect(title).toMatch(/^[A-Z]/)
    expect(summary).toMatch(/\.$/)
    expect(new Set(Object.values(subjects('Shop'))).size).toBe(2)
  }
})
