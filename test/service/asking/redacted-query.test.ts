import fc from 'fast-check'
import { expect, test } from 'vitest'
import { redactedQuery, redactedStatement } from '../../../src/service/asking/redacted-query.ts'

// Queries without their values.

test.each([
  ["select event from events where distinct_id = 'ada@shop.test'", 'select event from events where distinct_id = ?'],
  ["select 'it''s', 'a\\'b' from events", 'select ?, ? from events'],
  ['select price * 1.19, col1 from t2 where n > 17 and m < 1e6', 'select price * ?, col1 from t2 where n > ? and m < ?'],
  ['select properties.`odd name`, "other 7" from events -- of ada', 'select properties.`odd name`, "other 7" from events '],
  ['select 1 /* ada */ + 2', 'select ?  + ?'],
  ["select f'{name} of ada' from events", 'select f? from events'],
  ["select 'without an end", 'select ?'],
  ['select properties.$browser_2', 'select properties.$browser_2'],
])('%s', (statement, expected) => {
  expect(redactedStatement(statement)).toBe(expected)
})

test('of a question only names and choices stay', () => {
  const filter = { key: 'email', value: ['ada@shop.test'], operator: 'exact', type: 'person' }
  const query = {
    kind: 'TrendsQuery',
    series: [
      { kind: 'EventsNode', event: 'signup', custom_name: 'of Ada', math: 'dau', properties: [filter, { key: 'vip', value: true }] },
    ],
    dateRange: { date_from: '-30d' },
    filterTestAccounts: true,
    distinctId: 'ada',
  }
  expect(redactedQuery(query)).toEqual({
    kind: 'TrendsQuery',
    series: [
      {
        kind: 'EventsNode',
        event: 'signup',
        custom_name: '?',
        math: 'dau',
        properties: [
          { key: 'email', value: ['?'], operator: 'exact', type: 'person' },
          { key: 'vip', value: '?' },
        ],
      },
    ],
    dateRange: { date_from: '-30d' },
    filterTestAccounts: true,
    distinctId: '?',
  })
})

test('expressions in place of names of properties lose their values, names keep theirs', () => {
  const of = (breakdown: string) => redactedQuery({ kind: 'TrendsQuery', breakdownFilter: { breakdown, breakdown_type: 'hogql' } })
  expect(of("if(properties.email = 'ann@example.com', 1, 0)")).toMatchObject({
    breakdownFilter: { breakdown: 'if(properties.email = ?, ?, ?)' },
  })
  expect(of('$initial_utm_source 2')).toMatchObject({ breakdownFilter: { breakdown: '$initial_utm_source 2' } })
  expect(redactedQuery({ kind: 'EventsQuery', orderBy: ["properties.name = 'Ann' DESC", 'timestamp DESC'], select: ["'Ann'"] })).toEqual({
    kind: 'EventsQuery',
    orderBy: ['properties.name = ? DESC', 'timestamp DESC'],
    select: ['?'],
  })
})

test('no text in quotes is left of any statement', () => {
  const word = fc.constantFrom('select ', 'a ', '= ', '-- x\n', '/* y */', '"n" ', '`m` ', '1', '\\', ' ')
  const secret = fc.constantFrom("'SECRET'", "'it''SECRET'", "'\\'SECRET'", "'SECRET\\\\'")
  fc.assert(
    fc.property(fc.array(fc.oneof(word, secret), { maxLength: 12 }), (parts) => {
      const statement = parts.filter((part, i) => !(part === '\\' && parts[i + 1]?.startsWith("'"))).join('')
      expect(redactedStatement(statement)).not.toContain('SECRET')
    }),
  )
})
