import { expect, test } from 'vitest'
import { parseExpr, parseQuery } from '../../src/parser/parse.ts'

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

test('?? is looser than arithmetic', () => {
  expect(parseExpr('1 + null ?? 2 + 3')).toMatchObject({ name: 'ifNull', args: [{ name: 'plus' }, { name: 'plus' }] })
})
