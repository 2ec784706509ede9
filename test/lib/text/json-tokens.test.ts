import fc from 'fast-check'
import { expect, test } from 'vitest'
import { jsonTokens } from '../../../src/lib/text/json-tokens.ts'
import { assertGenerated } from '../../harness/assert-generated.ts'

test.each([
  ['{}', ['a'], ['']],
  ['{"a":1}', ['a', 'b'], ['1', '']],
  ['{ "a" : 1.0 , "b" : true }', ['b', 'a'], ['true', '1.0']],
  ['{"a":"}\\"{","b":null}', ['a', 'b'], ['"}\\"{"', 'null']],
  ['{"a":"\\\\","b":"x"}', ['b'], ['"x"']],
  ['{"c":{"a":["}",{"a":2}]},"a":3}', ['a'], ['3']],
  ['{"c":"a","a":-1e-7}', ['a'], ['-1e-7']],
  ['{"a":[1]}', ['a'], null],
  ['{"a":{}}', ['a'], null],
  ['{"a":1,"a":1}', ['a'], null],
  ['{"\\u0061":1,"b":2}', ['b'], null],
])('of %s, %j are %j', (text, keys, tokens) => {
  expect(jsonTokens(text, keys)).toEqual(tokens)
})

test('tokens are those of the parsed object, whatever is nested in it', async () => {
  const key = fc.constantFrom('a', 'b', '$c', 'a b', 'ä', '')
  const value = fc.oneof(
    fc.string(),
    fc.double({ noNaN: true, noDefaultInfinity: true }),
    fc.boolean(),
    fc.constant(null),
    fc.json().map((text) => JSON.parse(text)),
  )
  await assertGenerated(
    fc.property(fc.dictionary(key, value), fc.array(key, { maxLength: 4 }), fc.boolean(), (object, keys, isSpaced) => {
      const tokens = jsonTokens(JSON.stringify(object, null, isSpaced ? 2 : undefined), [...new Set(keys)])
      const isNested = (one: unknown) => typeof one === 'object' && one !== null
      if (keys.some((name) => Object.hasOwn(object, name) && isNested(object[name]))) expect(tokens).toBeNull()
      else expect(tokens).toEqual([...new Set(keys)].map((name) => (Object.hasOwn(object, name) ? JSON.stringify(object[name]) : '')))
    }),
  )
})

test('what is nested deep, and strings of escapes, are passed over once', () => {
  const texts = (n: number) => [
    `"\\\\${'\\"'.repeat(n)}"`,
    `"${'\\\\'.repeat(n)}"`,
    `${'['.repeat(n)}${']'.repeat(n)}`,
    `[${'"\\\\",'.repeat(n)}1]`,
  ]
  for (const [i, value] of texts(100_000).entries()) {
    expect(() => i === 2 || JSON.parse(value)).not.toThrow()
    expect(jsonTokens(`{"other":${value},"a":1}`, ['a'])).toEqual(['1'])
  }
})
