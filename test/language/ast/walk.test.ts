import fc from 'fast-check'
import { expect, test } from 'vitest'
import { literal } from '../../../src/language/ast/build.ts'
import type { Node } from '../../../src/language/ast/nodes.ts'
import { print } from '../../../src/language/ast/print.ts'
import { childrenOf, rewrite, walk } from '../../../src/language/ast/walk.ts'
import { parseQuery } from '../../../src/language/parser/parse.ts'
import { assertGenerated } from '../../harness/assert-generated.ts'
import { trees } from './trees.ts'

/** Every object with a kind that JSON can see, found without the child table. */
function allNodes(value: unknown): Node[] {
  if (value === null || typeof value !== 'object') return []
  const below = Object.values(value).flatMap(allNodes)
  return 'kind' in value && 'span' in value ? [value as Node, ...below] : below
}

test('walk meets every node once', () => {
  assertGenerated(
    fc.property(trees.query, (tree) => {
      const met: Node[] = []
      walk(tree, (node) => {
        met.push(node)
      })
      expect(met).toHaveLength(allNodes(tree).length)
      expect(new Set(met).size).toBe(new Set(allNodes(tree)).size)
    }),
    { numRuns: 300 },
  )
})

test('a visitor that answers false keeps out of what is below', () => {
  const names: string[] = []
  walk(parseQuery('select f(g(x)), h(y) from (select i(z))'), (node) => {
    if (node.kind === 'call') names.push(node.name)
    return node.kind !== 'call' || node.name !== 'f'
  })
  expect(names).toEqual(['f', 'h', 'i'])
})

test('rewrite shares what it does not change', () => {
  const tree = parseQuery('select a, 1 from events where b = 2 order by c')
  expect(rewrite(tree, (node) => node)).toBe(tree)
})

test('rewrite reaches frames, pivots, values and grouping sets', () => {
  const statements = [
    'SELECT sum(x) OVER (ROWS BETWEEN 1 PRECEDING AND 1 FOLLOWING)',
    'SELECT x FROM t PIVOT (sum(x) FOR y IN (1, 1) GROUP BY 1)',
    'SELECT x FROM (VALUES (1), (1)) AS t',
    'SELECT x GROUP BY GROUPING SETS ((1), (1, y))',
    'SELECT x ORDER BY 1 WITH FILL FROM 1 TO 1 STEP 1 LIMIT 1 OFFSET 1 BY 1 LIMIT 1 OFFSET 1 SETTINGS a = 1',
    'WITH 1 AS a, b AS (SELECT 1) SELECT {1: 1}, a IN (1), b BETWEEN 1 AND 1, c[1], x -> 1',
  ]
  for (const statement of statements) {
    const seven = rewrite(parseQuery(statement), (node) => (node.kind === 'literal' ? literal(7) : node))
    expect(print(seven)).toBe(statement.replaceAll(/\b1\b/g, '7'))
  }
})

test('children come in the order of the text', () => {
  const query = parseQuery('with 1 as a select b from c where d group by e having f order by g limit 1')
  const starts = childrenOf(query).map((child) => child.span.start)
  expect(starts).toEqual([...starts].sort((a, b) => a - b))
})
