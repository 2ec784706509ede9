import { expect, test } from 'vitest'
import { isUuid, timeOrderedUuids, uuidsOfAttempt } from '../../../src/lib/ids/time-ordered-uuid.ts'

const newAttempt = timeOrderedUuids(() => new Date('2026-03-01T12:00:00Z'))
const firstOf = (attempt: string, count: number): string[] => {
  const next = uuidsOfAttempt(attempt)
  return Array.from({ length: count }, next)
}

test('an attempt has the same uuids each time, in order, and no other attempt has one of them', () => {
  const [a, b] = [newAttempt(), newAttempt()]
  const of = firstOf(a, 10_000)
  expect(firstOf(a, 10_000)).toEqual(of)
  expect(of.every(isUuid)).toBe(true)
  expect([...of].sort()).toEqual(of)
  expect(new Set([...of, ...firstOf(b, 10_000)]).size).toBe(20_000)
  expect(of[0]!.slice(0, 13)).toBe(a.slice(0, 13)) // the time of the attempt
})
