import fc from 'fast-check'
import { expect, test } from 'vitest'
import { print } from '../../../src/language/ast/print.ts'
import { parseExpr, parseQuery } from '../../../src/language/parser/parse.ts'
import { assertGenerated } from '../../harness/assert-generated.ts'
import { trees, withoutSpans } from './trees.ts'

test('an expression comes back from its text', () => {
  assertGenerated(
    fc.property(trees.plain, (tree) => {
      expect(withoutSpans(parseExpr(print(tree)))).toEqual(withoutSpans(tree))
    }),
    { numRuns: 1500 },
  )
})

test('a query comes back from its text', () => {
  assertGenerated(
    fc.property(trees.query, (tree) => {
      expect(withoutSpans(parseQuery(print(tree)))).toEqual(withoutSpans(tree))
    }),
    { numRuns: 1000 },
  )
})
