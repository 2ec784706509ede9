import { expect, test } from 'vitest'
import { sortedBy } from '../../../src/web/ui/sorted-by.ts'

test.each([
  ['numbers', [3, 1, 2], false, [1, 2, 3]],
  ['numbers, the largest first', [3, 1, 2], true, [3, 2, 1]],
  ['texts, with the numbers in them', ['step 10', 'step 9', 'Step 1'], false, ['Step 1', 'step 9', 'step 10']],
  ['what is missing comes last', [null, 2, undefined, 1], false, [1, 2, null, undefined]],
  ['and last the other way, too', ['', 'a', null, 'b'], true, ['b', 'a', '', null]],
])('%s', (_, values, isDown, expected) => {
  expect(sortedBy<string | number | null | undefined>(values, (one) => one, isDown)).toEqual(expected)
})

test('equal rows keep their order', () => {
  const rows = ['b1', 'a1', 'b2', 'a2']
  expect(sortedBy(rows, (one) => one[0], false)).toEqual(['a1', 'a2', 'b1', 'b2'])
  expect(sortedBy(rows, (one) => one[0], true)).toEqual(['b1', 'b2', 'a1', 'a2'])
})
