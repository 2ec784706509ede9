import { expect, test } from 'vitest'
import { Answer } from '../../../src/engine/admission/answer.ts'
import { jsonText } from '../../../src/lib/text/json-text.ts'

const text = (answer: object, most?: number) => Answer.of(answer).text(most)

test.each([
  ['rows', { columns: ['a'], results: Array.from({ length: 3000 }, (_, i) => [i, `n"${i}`, null, { a: [1] }]), hasMore: false }],
  ['no rows', { results: [], error: undefined, limit: 3 }],
  ['one row', { results: [[1]] }],
  ['no list of rows', { results: { a: 1 }, timings: [] }],
])('%s: the same text as ever', async (_, answer) => {
  expect(await text(answer)).toBe(JSON.stringify(answer))
})

test('integers that JSON cannot represent', async () => {
  expect(await text({ results: [[12n], [2n ** 60n]] })).toBe('{"results":[[12],["1152921504606846976"]]}')
})

test('an existing JSON text is reused', async () => {
  const known = Answer.ofText('{"results":[[1]] }')
  expect(await known.text()).toBe('{"results":[[1]] }')
  expect(known.object).toEqual({ results: [[1]] })
  expect(jsonText(await known.body())).toBe('{"results":[[1]] }')
  const more = await known.with({ is_cached: true })
  expect([await more.text(), more.object]).toEqual(['{"results":[[1]] ,"is_cached":true}', { results: [[1]], is_cached: true }])
})

test('rows beyond the limit are refused before all of their text is written', async () => {
  let written = 0
  const row = { toJSON: () => [written++, 'x'.repeat(1000)] }
  const answer = { results: Array.from({ length: 10_000 }, () => row) }
  await expect(text(answer, 1_000_000)).rejects.toThrow(expect.objectContaining({ code: 'answer-too-large', data: { bytes: 1_000_000 } }))
  expect(written).toBeLessThan(3_000)
})

test('an answer beyond the maximum string length is too large, not an internal error', async () => {
  const long = {
    toJSON() {
      throw new RangeError('Invalid string length')
    },
  }
  await expect(text({ results: { long } })).rejects.toThrow(expect.objectContaining({ code: 'answer-too-large' }))
})
