import fc from 'fast-check'
import { expect, test } from 'vitest'
import { identities } from '../../../src/language/ast/identity.ts'
import { print } from '../../../src/language/ast/print.ts'
import { parseExpr } from '../../../src/language/parser/parse.ts'
import { assertGenerated } from '../../harness/assert-generated.ts'
import { trees, withoutSpans } from './trees.ts'

const sorted = (_: string, value: unknown) =>
  value !== null && typeof value === 'object' && !Array.isArray(value)
    ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
    : value
const keyOf = (node: unknown) => JSON.stringify(withoutSpans(node), sorted)

test('trees have the same identity exactly where they are the same', () => {
  assertGenerated(
    fc.property(fc.array(trees.expr, { minLength: 2, maxLength: 6 }), (drawn) => {
      const idOf = identities()
      // Some of them twice, from another place of a text.
      const all = [...drawn, ...drawn.slice(0, 2).map((tree) => parseExpr(`   ${print(tree)}`))]
      for (const one of all) for (const other of all) expect(idOf(one) === idOf(other)).toBe(keyOf(one) === keyOf(other))
    }),
    { numRuns: 500 },
  )
})

test.each<[string, unknown, unknown, boolean]>([
  ['the place in the text', { kind: 'x', span: { start: 1, end: 2 } }, { kind: 'x', span: { start: 5, end: 9 } }, true],
  ['the order of fields', { a: 1, b: 2 }, { b: 2, a: 1 }, true],
  ['a field that is undefined', { a: 1, b: undefined }, { a: 1 }, true],
  ['texts that hold what separates fields', { a: "1,b:1'2" }, { a: '1', b: '2' }, false],
  ['a text and a number', { a: '1' }, { a: 1 }, false],
  ['a number and a whole number without end', { a: 1 }, { a: 1n }, false],
  ['zero and its negative', { a: 0 }, { a: -0 }, false],
  ['an empty list and an empty object', { a: [] }, { a: {} }, false],
  ['lists within each other', { a: [[1], 2] }, { a: [[1, 2]] }, false],
  ['null and the text', { a: null }, { a: 'null' }, false],
])('%s', (_, one, other, isSame) => {
  const idOf = identities()
  expect(idOf(one as object) === idOf(other as object)).toBe(isSame)
})

test('a node that stands in many places is looked at once', () => {
  let looks = 0
  const leaf = {
    get kind() {
      looks++
      return 'leaf'
    },
  }
  let tree: object = leaf
  for (let i = 0; i < 60; i++) tree = { kind: 'call', args: [tree, tree] }
  identities()(tree)
  expect(looks).toBeLessThan(5)
})
