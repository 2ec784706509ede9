import { expect, test } from 'vitest'
import { tokenId } from '../../../src/web/settings/token-id.ts'

const encoded = (text: string) => Buffer.from(text).toString('base64url')

test.each([
  ['an id', '9f3b', '9f3b'],
  ['an id with points', 'customer.7', 'customer.7'],
  ['a token', `${encoded('{"alg":"HS256"}')}.${encoded('{"exp":1,"jti":"9f3b","name":"Zoë > 1?"}')}.c2ln`, '9f3b'],
  ['a token without an id', `a.${encoded('{"exp":1}')}.b`, `a.${encoded('{"exp":1}')}.b`],
  ['an id with two points that is no token', 'a.b.c', 'a.b.c'],
])('%s', (_, given, expected) => {
  expect(tokenId(given)).toBe(expected)
})
