import fc from 'fast-check'
import type { Expr, Node, Query } from '../../src/language/ast/nodes.ts'
import { rewrite, walk } from '../../src/language/ast/walk.ts'
import { registry } from '../../src/language/functions/registry.ts'
import { collectExpr, collectQuery } from '../../src/language/parser/parse.ts'
import { statements as drawn } from '../differential/statements.ts'
import { casesOf } from '../language/functions/cases-of.ts'
import { expressions, statements } from '../language/parser/forms.ts'

// Statements that can be read and mean anything at all: known ones with some of their expressions exchanged for others' expressions.

/** Numbers below `n`, the same for the same seed. */
function chance(seed: number): (n: number) => number {
  let state = seed >>> 0
  return (n) => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) % n
  }
}

const isExpr = (node: Node): node is Expr => expressionKinds.has(node.kind)
const expressionKinds: ReadonlySet<string> = new Set([
  ...[
    'literal',
    'field',
    'access',
    'call',
    'cast',
    'lambda',
    'array',
    'tuple',
    'dict',
    'star',
    'columns',
    'alias',
    'between',
    'in',
    'subquery',
  ],
  ...['namedArgument', 'positional', 'tag', 'placeholder'],
])

/** What `*` replaces a column by has its name, whatever it is. */
const readable = (node: Node): Node =>
  node.kind === 'star' ? { ...node, replace: node.replace.filter(({ kind }) => kind === 'alias') } : node

const functionCases = [...registry.keys()].flatMap((name) =>
  casesOf(name)
    .slice(0, 1)
    .map(([expression]) => expression),
)
const sources = [
  'events',
  'persons',
  'sessions',
  'numbers(3)',
  'events e left join persons p on e.person_id = p.id',
  '(select 1 as event, [1] as list)',
]

export function* mutants(count: number, seed: number): Generator<Query> {
  const next = chance(seed)
  const pick = <T>(items: readonly T[]): T => items[next(items.length)]!
  const texts = [
    ...statements.map(([text]) => text),
    ...expressions.map(([text]) => `select ${text} from ${pick(sources)}`),
    ...fc.sample(drawn, { numRuns: 300, seed }).map(({ sql }) => sql),
  ]
  const queries = texts.flatMap((text) => collectQuery(text).ast ?? [])
  const pool: Expr[] = functionCases.flatMap((text) => collectExpr(text).ast ?? [])
  for (const query of queries)
    walk(query, (node) => {
      if (isExpr(node)) pool.push(node)
    })
  for (let i = 0; i < count; i++) {
    const query = pick(queries)
    let places = 0
    walk(query, (node) => {
      if (isExpr(node)) places++
    })
    const chosen = new Set(Array.from({ length: 1 + next(3) }, () => next(Math.max(1, places))))
    let place = 0
    yield rewrite(query, (node) => (isExpr(node) && chosen.has(place++) ? pick(pool) : readable(node)))
  }
}
