import { Table } from 'apache-arrow'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { answerQuery } from '../../../src/engine/execution/answer.ts'
import { answerRows } from '../../../src/engine/execution/answer-rows.ts'
import { WaymarkError } from '../../../src/errors/errors.ts'
import { tableRows } from '../../../src/queries/answers/rows.ts'
import type { SqlAnswer } from '../../../src/queries/sql/index.ts'
import { openTestProject, type TestProject } from '../../harness/duckdb.ts'

let project: TestProject
beforeAll(async () => {
  project = await openTestProject({ timezone: 'Europe/Berlin' })
  await project.project.ingest({
    batch: Array.from({ length: 120 }, (_, i) => ({
      event: i % 2 ? 'odd' : 'even',
      distinct_id: `u${i % 3}`,
      timestamp: new Date(Date.UTC(2024, 0, 1, i)).toISOString(),
      properties: { n: i, name: `n${i}` },
    })),
  })
})
afterAll(() => project.close())

const ask = (query: string, more: object = {}) => answerQuery({ kind: 'HogQLQuery', query, ...more }, project) as Promise<SqlAnswer>
const codeOf = (promise: Promise<unknown>) =>
  promise.then(
    () => 'answered',
    (error: unknown) => (error instanceof WaymarkError ? error.code : String(error)),
  )

test.each<[string, unknown[]]>([
  ['<Sparkline data={[1, 2]} />', ['__hx_tag', 'Sparkline', 'data', [1, 2]]],
  [`<Sparkline data={[n]} type='bar' color="red" on />`, ['__hx_tag', 'Sparkline', 'data', [7], 'type', 'bar', 'color', 'red', 'on', 1]],
  ['<Tag />', ['__hx_tag', 'Tag']],
])('the value of a tag names it: %s', async (tag, value) => {
  expect((await ask(`select ${tag} as shown from (select 7 as n)`)).results).toEqual([[value]])
})

test('columns of one name keep their own types and values', async () => {
  const one = [1, 'x', [1], 2]
  const types = [
    ['a', 'UInt8'],
    ['a', 'String'],
    ['a', 'Array(UInt8)'],
    ['b', 'UInt8'],
  ]
  const statement = "select 1 as a, 'x' as a, [1] as a, 2 as b"
  for (const [query, results] of [
    [statement, [one]],
    [`${statement} limit 0`, []],
    [`${statement} union all ${statement}`, [one, one]],
  ] as const) {
    const answer = await ask(query)
    expect([answer.types, answer.results], query).toEqual([types, results])
  }
})

describe('rows of an answer', () => {
  const cases: readonly (readonly [statement: string, rows: number, hasMore: boolean, limit: number])[] = [
    ['select 1 from events', 100, true, 100],
    ['select 1 from events limit 120', 120, false, 120],
    ['select 1 from events limit 119', 119, true, 119],
    ['select 1 from events limit 10 offset 115', 5, false, 10],
    ['select 1 from events offset 20', 100, false, 100],
    ['select number from numbers(20000) limit 15000', 10_000, true, 10_000],
    ['select 1 from events limit 2 by event', 4, false, 100],
    // Each query of a UNION ALL is answered as it would be alone.
    ['select 1 from events union all select 2 from events', 200, true, 200],
    ['select number from numbers(100) union all select number from numbers(100)', 200, false, 200],
    ['select number from numbers(150) union all select number from numbers(3)', 103, true, 200],
    ['select number from numbers(3) union all select number from numbers(150)', 103, true, 200],
    ['select number from numbers(300) limit 250 union all (select number from numbers(300) limit 20)', 270, true, 270],
    ['select number from numbers(150) union all by name select 3 as number', 101, true, 200],
    ['select number from numbers(9000) limit 9000 union all (select number from numbers(9000) limit 9000)', 10_000, true, 10_000],
    [
      'with t as (select 1 as x) select x from t union all select 2 union all (select number from numbers(200) except select 5)',
      102,
      true,
      300,
    ],
    ['select number from numbers(150) union all select number from numbers(150) limit 120', 120, true, 120],
    ['select number from numbers(150) union all select number from numbers(150) order by 1', 100, true, 100],
    ['select number from numbers(150) union distinct select number + 150 from numbers(150)', 100, true, 100],
    ['select (select count() from events) as c', 1, false, 100],
  ]
  for (const [statement, rows, hasMore, limit] of cases)
    test(statement, async () => {
      const answer = await ask(statement)
      expect([answer.results.length, answer.hasMore, answer.limit]).toEqual([rows, hasMore, limit])
    })
})

test('a union says what the statement says, whatever is asked to know how many rows there are', async () => {
  const answer = await ask('select number as n, 1 as m from numbers(150) union all select 2, 3')
  expect([answer.columns, answer.types.map(([, type]) => type), answer.results.at(-1), answer.hogql]).toEqual([
    ['n', 'm'],
    ['UInt64', 'UInt8'],
    [2, 3],
    'SELECT number AS n, 1 AS m FROM numbers(150) UNION ALL SELECT 2, 3',
  ])
  await expect(ask('select 1 union all select 1, 2')).rejects.toMatchObject({ message: expect.stringContaining(': 1 and 2') })
})

describe('pages of a union', () => {
  const cases: readonly (readonly [statement: string, rows: number, hasMore: boolean, limit: number])[] = [
    ['select number from numbers(3000) limit 2500 union all select 7', 2501, true, 2600],
    ['select number from numbers(30) union all select 7', 31, false, 200],
    ['select number from numbers(0) union all select 1 from events where 1 = 2', 0, false, 200],
    ['select number from numbers(9000) limit 9000 union all (select number from numbers(9000) limit 9000)', 10_000, true, 10_000],
  ]
  for (const [query, rows, hasMore, limit] of cases)
    test(query, async () => {
      const pages = (await answerRows({ kind: 'HogQLQuery', query }, project))!
      const found: number[] = []
      let next = await pages.batches.next()
      for (; !next.done; next = await pages.batches.next()) {
        found.push(next.value.numRows)
        expect(next.value.schema.fields.map(({ name }) => name)).toEqual(['number'])
      }
      expect(found.length).toBeGreaterThan(0)
      expect([found.reduce((a, b) => a + b, 0), next.value, pages.limit]).toEqual([rows, hasMore, limit])
    })
})

test('an answer says what it is made of', async () => {
  const answer = await ask('select event, count() as c, properties.name from events where properties.n = {n} group by 1, 3', {
    values: { n: '7' },
  })
  expect(answer).toMatchObject({
    columns: ['event', 'c', 'name'],
    types: [
      ['event', 'String'],
      ['c', 'UInt64'],
      ['name', 'Nullable(String)'],
    ],
    results: [['odd', 1, 'n7']],
    hasMore: false,
    offset: 0,
  })
})

test('times are in the zone of the project, or in UTC when the request says so', async () => {
  const query = 'select timestamp from events order by timestamp limit 1'
  expect((await ask(query)).results).toEqual([['2024-01-01T01:00:00+01:00']])
  expect((await ask(query, { modifiers: { convertToProjectTimezone: false } })).results).toEqual([['2024-01-01T00:00:00Z']])
})

describe('placeholders', () => {
  const count = async (where: string, more: object) => (await ask(`select count() from events e where ${where}`, more)).results[0]![0]
  const variables = { v1: { code_name: 'which', value: 'odd', variableId: 'v1' } }
  const cases: readonly (readonly [name: string, where: string, more: object, count: number])[] = [
    ['a value', 'distinct_id = {id}', { values: { id: 'u1' } }, 40],
    ['a value inside another', 'distinct_id = {who.id}', { values: { who: { id: 'u1' } } }, 40],
    ['a list', 'distinct_id in {ids}', { values: { ids: ['u1', 'u2'] } }, 80],
    ['a variable', 'event = {variables.which}', { variables }, 60],
    ['filters that were not given', '{filters}', {}, 120],
    [
      'the start of the range',
      'timestamp >= {filters.dateRange.from}',
      { filters: { dateRange: { date_from: '2024-01-05T00:00:00Z' } } },
      24,
    ],
    ['the end of the range', '{filters.dateRange.to} > timestamp', { filters: { dateRange: { date_to: '2024-01-02T00:00:00Z' } } }, 24],
    [
      'an end that the range does not have',
      'timestamp < {filters.dateRange.to}',
      { filters: { dateRange: { date_from: '2024-01-05' } } },
      120,
    ],
    ['all times', 'not timestamp < {filters.dateRange.from}', { filters: { dateRange: { date_from: 'all' } } }, 0],
    ['ends that were not given', "timestamp < {filters.dateRange.to} and event = 'odd'", {}, 60],
    ['filters on properties', '{filters}', { filters: { properties: [{ type: 'event', key: 'n', operator: 'exact', value: '5' }] } }, 1],
    [
      'a range that is local to the project',
      '{filters}',
      { filters: { dateRange: { date_from: '2024-01-01', date_to: '2024-01-02' } } },
      23,
    ],
    ['filters without their placeholder are ignored', 'true', { filters: { dateRange: { date_from: '2030-01-01' } } }, 120],
  ]
  for (const [name, where, more, expected] of cases) test(name, async () => expect(await count(where, more)).toBe(expected))

  test('filters mean the table, even where an alias has the name of its field', async () => {
    const more = { filters: { dateRange: { date_from: '2024-01-01', date_to: '2024-01-02' } } }
    expect((await ask("select 'x' as timestamp from events where {filters}", more)).results.length).toBe(23)
  })

  const mistakes: readonly (readonly [statement: string, more: object, code: string])[] = [
    ['select {gone}', {}, 'unknown-placeholder'],
    ['select {variables.wich}', { variables }, 'unknown-variable'],
    ['select {filters}', { values: { filters: 1 }, filters: {} }, 'invalid-query'],
  ]
  for (const [statement, more, code] of mistakes)
    test(`${statement} is refused`, async () => expect(await codeOf(ask(statement, more))).toBe(code))
})

describe('totals stand behind the rows that the answer shows', () => {
  const keyed = 'select toInt(properties.n) as n, count() as c from events group by n with totals order by n'
  test.each([
    ['without a limit', keyed, 101, true, 100],
    ['with one', `${keyed} limit 3`, 4, true, 3],
    ['all rows', `${keyed} limit 200`, 121, false, 200],
    ['no rows', `${keyed.replace(' group', ' where 0 group')}`, 0, false, 100],
  ])('%s', async (_, query, rows, hasMore, limit) => {
    const answer = await ask(query)
    expect([answer.results.length, answer.hasMore, answer.limit]).toEqual([rows, hasMore, limit])
    if (rows) expect(answer.results.at(-1)!.at(-1)).toBe(120)
    const pages = (await answerRows({ kind: 'HogQLQuery', query }, project))!
    const found: unknown[][] = []
    let next = await pages.batches.next()
    for (; !next.done; next = await pages.batches.next()) found.push(...tableRows(new Table([next.value]), pages.timezone))
    expect([found, next.value, pages.limit]).toEqual([answer.results, hasMore, limit])
  })

  test('also where they come in a page of their own', async () => {
    const many = `select number as n, count() as c from numbers(5000) group by n with totals order by n limit 4096`
    const pages = (await answerRows({ kind: 'HogQLQuery', query: many }, project))!
    const found: unknown[][] = []
    let next = await pages.batches.next()
    for (; !next.done; next = await pages.batches.next()) found.push(...tableRows(new Table([next.value]), pages.timezone))
    expect([found.length, found[0], found[4095], found[4096], next.value]).toEqual([4097, [0, 1], [4095, 1], [0, 5000], true])
  })
})

test.each(['describe events', 'show tables', 'describe (select 1 as a from events) '])('%s is answered like a statement', async (query) => {
  const { columns, results, hogql } = await ask(query)
  expect(columns[0]).toBe('name')
  expect(results).toEqual(await project.rows(query))
  expect((await ask(hogql)).results).toEqual(results)
})
