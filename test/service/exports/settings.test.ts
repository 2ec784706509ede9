import { expect, test } from 'vitest'
import { withoutSecrets } from '../../../src/service/exports/settings.ts'

// What the operator reads as latest_error holds no secret, in whatever form a server repeats it.

const shown = (message: string, password: string, user = 'exporter') => withoutSecrets(message, 'Postgres', { user, password })

test.each([
  ['as it was sent', 'p@ss "word"', 'refused: p@ss "word"', 'refused: <password>'],
  ['as JSON', 'p@ss "word"', '{"given":"p@ss \\"word\\""}', '{"given":"<password>"}'],
  ['in a URL', 'p@ss "word"', 'postgres://db/?password=p%40ss%20%22word%22', 'postgres://db/?password=<password>'],
  ['beginning with another one', 'exporter-4711', 'no access for exporter with exporter-4711', 'no access for <user> with <password>'],
  ['half of a character', '\ud800 password', 'refused: \ud800 password', 'refused: <password>'],
])('a secret is hidden: %s', (_, password, message, expected) => {
  expect(shown(message, password)).toBe(expected)
})

test('the same text is hidden once', () => {
  expect(shown('no access for exporter', 'exporter')).toBe('no access for <user>')
})
