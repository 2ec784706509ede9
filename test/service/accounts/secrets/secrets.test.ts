import { expect, test } from 'vitest'
import { timeOrderedUuids } from '../../../../src/lib/ids/time-ordered-uuid.ts'
import { hashKey, hashPassword, maskKey, passwordMatches, randomKey } from '../../../../src/service/accounts/secrets/secrets.ts'

test('keys are 256 random bits in base62; of a stored one only hash and ends remain', () => {
  const keys = Array.from({ length: 200 }, () => randomKey('phx_'))
  expect(new Set(keys).size).toBe(200)
  for (const key of keys) expect(key).toMatch(/^phx_[0-9A-Za-z]{38,43}$/)
  expect(hashKey('phx_a')).toMatch(/^sha256\$[0-9a-f]{64}$/)
  expect(maskKey('phx_abcdefgh')).toBe('phx_...efgh')
})

test('passwords: salted, the same whatever way their accents are typed', async () => {
  const stored = await hashPassword('pâss wörd')
  expect(stored).toMatch(/^scrypt\$15\$8\$1\$/)
  expect(await hashPassword('pâss wörd')).not.toBe(stored)
  expect(await passwordMatches('pâss wörd'.normalize('NFD'), stored)).toBe(true)
  expect(await passwordMatches('pass word', stored)).toBe(false)
  expect(await passwordMatches('x', 'md5$nonsense')).toBe(false)
})

test('uuids sort in order of creation, within a millisecond and when the clock steps back', () => {
  let now = Date.UTC(2024, 0, 1)
  const next = timeOrderedUuids(() => new Date(now))
  const made = Array.from({ length: 10_000 }, (_, i) => {
    if (i % 3000 === 0) now -= 5
    return next()
  })
  expect([...made].sort()).toEqual(made)
  expect(new Set(made).size).toBe(made.length)
  for (const uuid of made.slice(0, 10)) expect(uuid).toMatch(/^[\da-f]{8}-[\da-f]{4}-7[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/)
  now = Date.UTC(2020, 0, 1)
  expect(Number.parseInt(next().slice(0, 8) + next().slice(9, 13), 16), 'a clock that was set is followed').toBe(now)
})
