import { describe, expect, test } from 'vitest'
import { isCommonPassword } from '../../../../src/service/accounts/users/common-passwords.ts'
import { createPasswords, mustBeHardToGuess } from '../../../../src/service/accounts/users/passwords.ts'

const common = [
  'password',
  'Password1',
  'PASSWORD123!',
  'p@ssw0rd',
  'Pa55word',
  'passwordpassword',
  'Passwort2026',
  '12345678',
  '1234567890',
  '987654321',
  '11111111',
  'aaaaaaaaaaaa',
  'abcabcabcabc',
  'abcdefgh',
  'qwertyuiop',
  'QWERTZUIOP',
  'azertyuiop',
  '1qaz2wsx',
  '1q2w3e4r5t',
  'zaq12wsx',
  'a1b2c3d4',
  'qwerty123',
  'qwer1234qwer1234',
  'iloveyou',
  'i love you',
  'iloveyou2!',
  'letmein1',
  'Welcome1',
  'welcome2026!',
  'Sommer2026',
  'Summer2024!!',
  'football1',
  'trustno1',
  'changeme',
  'change-me-1',
  'admin123',
  'administrator',
  'sunshine99',
  'correcthorsebatterystaple',
  'correct horse battery staple',
  '01021990',
  '19900201',
  '31121999',
  '!@#$%^&*',
  'dragon12345678',
  '  password  ',
]
const hard = [
  'correct horse',
  'a long password 17',
  'second password of mine',
  'another horse',
  'xK9#mQ2$vL',
  'gutes brot am morgen',
  'パスワードは長い方がいい',
  '83016492',
  '99999990',
  'dragonflies over water',
  'my master of keys',
  '6f1d2c9b8a',
]

describe('passwords that are guessed first', () => {
  test.each(common)('%s is refused', (password) => expect(isCommonPassword(password)).toBe(true))
  test.each(hard)('%s is taken', (password) => expect(isCommonPassword(password)).toBe(false))
  test('the longest that is taken costs no more than a moment', () => {
    const started = process.cpuUsage()
    for (const text of ['a', 'ab', 'x1', '!']) isCommonPassword(text.repeat(1024 / text.length))
    isCommonPassword(Array.from({ length: 1024 }, (_, i) => String.fromCharCode(33 + ((i * 31) % 90))).join(''))
    expect(process.cpuUsage(started).user).toBeLessThan(1_000_000)
  })
})

test.each([
  ['grace.hopper@example.com', 'Grace.Hopper was here', 'password_too_similar'],
  ['grace+news@example.com', 'amazing GRACE 7!', 'password_too_similar'],
  ['ada@example.com', 'the Waymark one', 'password_too_similar'],
  ['ada@example.com', 'Password123', 'password_too_common'],
  ['ada@example.com', 'not a canada goose', null], // shorter names are in too many words
  ['x', 'without an address', null],
])('%s may choose %s: %s', (address, password, rule) => {
  const choose = () => mustBeHardToGuess(password, address)
  if (rule === null) choose()
  else expect(choose).toThrow(expect.objectContaining({ code: 'invalid-value', attr: 'password', data: expect.objectContaining({ rule }) }))
})

test('the hash is made of one that is hard to guess only', async () => {
  const { hash } = createPasswords()
  await expect(hash('password1', 'a@b.test', 'here')).rejects.toMatchObject({ attr: 'password' })
  expect(await hash('correct horse', 'a@b.test', 'here')).toMatch(/^scrypt\$/)
})
