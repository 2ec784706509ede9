import { describe, expect, test } from 'vitest'
import { QueryError } from '../../../src/errors/errors.ts'
import { collectExpr, collectQuery, parseQuery } from '../../../src/language/parser/parse.ts'

/** Statement, and for each problem its code and the text it points at ('' is the end). */
const problems: readonly (readonly [statement: string, ...problems: (readonly [code: string, at: string])[]])[] = [
  ['', ['syntax-error', '']],
  ['select', ['syntax-error', '']],
  ['select 1 +', ['syntax-error', '']],
  ['insert into events values (1)', ['syntax-error', 'insert']],
  ['create table x (a int)', ['syntax-error', 'create']],
  ['drop table events', ['syntax-error', 'drop']],
  ['set x = 1', ['syntax-error', 'set']],
  ["attach 'a.db'", ['syntax-error', 'attach']],
  ['select 1; select 2', ['syntax-error', 'select']],
  ['select 1;;', ['syntax-error', ';']],
  ['select a b c from d', ['syntax-error', 'c']],
  ['select (1, 2', ['syntax-error', '']],
  ['select 1)', ['syntax-error', ')']],
  ['select [1, 2', ['syntax-error', '']],
  ["select 'abc", ['syntax-error', "'abc"]],
  ['select `abc', ['syntax-error', '`abc']],
  ['select 1 /* abc', ['syntax-error', '/* abc']],
  ['select \u0001', ['syntax-error', '\u0001']],
  ['select }', ['syntax-error', '}']],
  ["select f'{x'", ['syntax-error', "'"]],
  ['select 1abc', ['syntax-error', '1']],
  ['select a from b where', ['syntax-error', '']],
  ['select a from b order c', ['syntax-error', 'c']],
  ['select a not b', ['syntax-error', 'not']],
  ['select 1 from a inner left join b', ['syntax-error', 'inner left']],
  ['select 1 from a outer join b', ['syntax-error', 'outer']],
  ['select 1 from a any semi join b', ['syntax-error', 'any semi']],
  ["select interval 'x'", ['syntax-error', "interval 'x'"]],
  ['select interval 5', ['syntax-error', 'interval 5']],
  ['select extract(soon from x)', ['syntax-error', 'soon']],
  ['select extract(constructor from x)', ['syntax-error', 'constructor']],
  ['select top 5 a from b limit 3', ['syntax-error', 'limit 3']],
  ['select 1 limit 1, 2 offset 3', ['syntax-error', 'offset']],
  ['select 1 offset 2 by x', ['syntax-error', 'offset 2']],
  ['select 1 as true', ['reserved-alias', 'true']],
  ['select 1 as TEAM_ID', ['reserved-alias', 'TEAM_ID']],
  ['select 1 from a as null', ['reserved-alias', 'null']],
  ['select 1 as `true`'],
  ['select `a%b`', ['illegal-identifier', '`a%b`']],
  ['select 1 as "a%b"', ['illegal-identifier', '"a%b"']],
  ['select `@person_no` from events', ['illegal-identifier', '`@person_no`']],
  ['select e.`@person_no` from events e', ['illegal-identifier', '`@person_no`']],
  ['select properties.`@type` from events'],
  // several at once
  ['select 1 + , 2 from a where b = and c', ['syntax-error', ','], ['syntax-error', 'and']],
  ['select f(x y), 1 as true, z + from a', ['syntax-error', 'y'], ['reserved-alias', 'true'], ['syntax-error', 'from']],
  ['select * from (select 1 +) where x = (2 *) limit', ['syntax-error', ')'], ['syntax-error', ')'], ['syntax-error', '']],
]

describe('problems and their places', () => {
  test.each(problems.map(([statement, ...expected]) => [statement, expected] as const))('%s', (statement, expected) => {
    const { errors } = collectQuery(statement)
    expect(errors.map((error) => [error.code, statement.slice(error.span!.start, error.span!.end)])).toEqual(expected)
  })
})

const wordings: readonly (readonly [statement: string, message: string])[] = [
  ['select 1 +', 'expected an expression but found the end'],
  ['insert into x', 'expected SELECT but found insert'],
  ['select 1 from', 'expected a table but found the end'],
  ['select (1', 'expected ")" but found the end'],
  ['select 1; select 2', 'only one statement is allowed, found select after it'],
  ["select 'abc", 'this string is not closed'],
  ['select 1 from a left right join b', 'a join cannot be both LEFT and RIGHT'],
]

test.each(wordings)('%s: %s', (statement, message) => {
  expect(collectQuery(statement).errors[0]?.message).toBe(message)
})

test('the first problem is thrown and holds the others', () => {
  let error: unknown
  try {
    parseQuery('select 1 + , 2 from a where b = and c')
  } catch (thrown) {
    error = thrown
  }
  expect(error).toBeInstanceOf(QueryError)
  expect((error as QueryError).others).toHaveLength(1)
})

describe('depth', () => {
  const openings = [
    '(',
    '[',
    'f(',
    '{1: ',
    'x -> ',
    '(x) -> ',
    'lambda x: ',
    'case when ',
    'case ',
    'a ? ',
    'a[',
    'a in (',
    "f'{",
    'cast(',
    '(select ',
  ]
  const chains = ['not ', '1 + ', 'a ?? ', 'a and not ', 'a between 1 and ', 'a in ', 'a::Nullable(', '<a>', 'interval ', '- x - ', 'x.']
  test.each([...openings, ...chains])('20,000 times %s', (text) => {
    for (const deep of [text.repeat(20_000), `${text.repeat(20_000)}1`]) {
      const { ast, errors } = collectExpr(deep)
      expect(ast !== null || errors.length > 0).toBe(true)
    }
  })

  test.each(['select * from (', 'with x as (', '(', 'select 1 union (', 'select 1 union all '])('20,000 times %s', (text) => {
    expect(collectQuery(`${text.repeat(20_000)}select 1`).errors.length).toBeGreaterThan(0)
  })

  test('what is allowed fits the stack', () => {
    expect(collectExpr(`${'('.repeat(99)}1${')'.repeat(99)}`).errors).toEqual([])
    expect(collectExpr(`${'['.repeat(99)}1${']'.repeat(99)}`).errors).toEqual([])
    expect(collectExpr(`${'f('.repeat(99)}1${')'.repeat(99)}`).errors).toEqual([])
    expect(collectExpr('1 + '.repeat(450).concat('1')).errors).toEqual([])
  })

  test('one level more is refused by name', () => {
    expect(collectExpr('('.repeat(20_000)).errors).toMatchObject([{ code: 'too-deep', data: { limit: 100 } }])
    expect(collectExpr(`${'1 + '.repeat(20_000)}1`).errors).toMatchObject([{ code: 'too-deep' }])
  })

  test('a subject of nested CASEs does not multiply without end', () => {
    const nested = Array.from({ length: 60 }).reduce<string>((inner) => `case ${inner} when 1 then 2 when 3 then 4 end`, 'x')
    expect(collectExpr(nested).errors).toMatchObject([{ code: 'too-large', data: { budget: 'tree' } }])
  })
})
