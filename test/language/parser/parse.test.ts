import { describe, expect, test } from 'vitest'
import { isSpanned } from '../../../src/errors/span.ts'
import { print } from '../../../src/language/ast/print.ts'
import { walk } from '../../../src/language/ast/walk.ts'
import { reservedWords } from '../../../src/language/ast/words.ts'
import { Grammar } from '../../../src/language/parser/grammar.ts'
import { collectExpr, parseExpr, parseOrder, parseQuery } from '../../../src/language/parser/parse.ts'
import { withoutSpans } from '../ast/trees.ts'
import { expressions, statements } from './forms.ts'

describe('expressions', () => {
  test.each(expressions.map(([written, printed = written]) => [written, printed] as const))('%s', (written, printed) => {
    expect(print(parseExpr(written))).toBe(printed)
    expect(withoutSpans(parseExpr(printed))).toEqual(withoutSpans(parseExpr(written)))
  })
})

describe('statements', () => {
  test.each(statements.map(([written, printed = written]) => [written, printed] as const))('%s', (written, printed) => {
    expect(print(parseQuery(written))).toBe(printed)
    expect(withoutSpans(parseQuery(printed))).toEqual(withoutSpans(parseQuery(written)))
  })
})

test('a statement becomes a tree with places', () => {
  const text = "SELECT event AS name FROM events WHERE event = '$pageview' LIMIT 5"
  const query = parseQuery(text)
  expect(query).toMatchObject({
    kind: 'select',
    columns: [{ kind: 'alias', name: 'name', expr: { kind: 'field', chain: ['event'] } }],
    from: { kind: 'table', chain: ['events'] },
    where: { kind: 'call', name: 'equals', args: [{ chain: ['event'] }, { value: '$pageview' }] },
    limit: { limit: { value: 5 } },
    span: { start: 0, end: text.length },
  })
  const where = query.kind === 'select' ? query.where! : null
  expect(text.slice(where!.span.start, where!.span.end)).toBe("event = '$pageview'")
})

test.each([...expressions, ...statements.map(([written]) => [written])])('every node of %s has a place inside its parent', (written) => {
  const text = written!
  const tree = collectExpr(text).ast ?? parseQuery(text)
  walk(tree, (node) => {
    expect(isSpanned(node.span)).toBe(true)
    expect(node.span.end).toBeLessThanOrEqual(text.length)
  })
})

test('one item of an order', () => {
  expect(parseOrder('timestamp DESC')).toMatchObject({ descending: true, expr: { chain: ['timestamp'] } })
  expect(parseOrder('count() ASC')).toMatchObject({ descending: false, expr: { name: 'count' } })
})

test('what the printer quotes is what the lexer reserves', () => {
  for (const word of reservedWords) expect(collectExpr(`${word}`).ast?.kind, word).not.toBe('field')
})

test('the grammar has no definition errors', () => {
  class Checked extends Grammar {
    override performSelfAnalysis() {
      // Chevrotain checks a grammar only when it is asked to, which costs more than the rest of the start.
      Object.assign(this, { skipValidations: false })
      super.performSelfAnalysis()
    }
  }
  expect(() => new Checked()).not.toThrow()
})

test('a long chain of operators is flat', () => {
  const text = Array.from({ length: 15_000 }, (_, i) => `x = ${i}`).join(' or ')
  expect(parseExpr(text)).toMatchObject({ name: 'or', args: { length: 15_000 } })
})

test('a long list of members', () => {
  const text = `x in (${Array.from({ length: 30_000 }, (_, i) => `'id-${i}'`).join(', ')})`
  expect(parseExpr(text)).toMatchObject({ kind: 'in', set: { items: { length: 30_000 } } })
})
