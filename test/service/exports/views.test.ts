import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { readExportQuery } from '../../../src/service/exports/export-query.ts'
import { openTestProject, type TestProject } from '../../harness/duckdb.ts'

// The query of an export over a view becomes a query over events, with the same rows as the view has in a statement.

const views: Readonly<Record<string, string>> = {
  buys: "select uuid, event, distinct_id as who, timestamp as at, properties, properties.plan as plan, toFloat(properties.price) as price from events where event = 'buy'",
  dear: 'select who, price * 2 as twice, plan from buys b where b.price > 1',
  all_of_it: "select * from events e where e.event != 'view'",
  some_more: 'select *, lower(event) as name from events',
  same: 'select event as event from events',
  grouped: 'select event, count() as n from events group by event',
  own_names: "select lower(event) as name, concat(name, '!') as loud from events where name = 'buy'",
  loop: 'select event from loop',
  persons_too: 'select id from persons',
  lambdas: 'select event, arrayMap(x -> x + 1, [1, 2]) as list from events',
  ctes: 'with x as (select 1) select event from events',
}
let project: TestProject
beforeAll(async () => {
  project = await openTestProject({ settings: { views } })
  const event = (name: string, distinct_id: string, plan: string, price: number) => ({
    event: name,
    distinct_id,
    timestamp: `2024-03-01T10:0${price}:00Z`,
    properties: { plan, price },
  })
  await project.project.ingest({
    batch: [event('view', 'a', 'pro', 0), event('buy', 'a', 'pro', 1), event('buy', 'b', 'free', 2), event('BUY', 'c', 'free', 3)],
  })
})
afterAll(() => project.close())

const read = (text: string) => readExportQuery(text, 1, new Date('2024-06-01T00:00:00Z'), views)
const inAnyOrder = (rows: readonly unknown[]) => rows.map((row) => JSON.stringify(row)).sort()

describe.each([
  'select who, plan from buys',
  'select who as person, price + 1 as more, concat(plan, who) as both from buys where price > 1',
  "select b.who, b.properties.price as raw from buys b where b.plan in ('pro', 'free')",
  'select buys.who from buys',
  'select who, twice from dear where twice < 100',
  'select d.plan as p, p as q from dear d',
  'select event, distinct_id, properties.plan from all_of_it',
  'select v.event, v.distinct_id as person from all_of_it v where v.properties.price > 0',
  "select name, event, properties.plan as plan from some_more where name = 'buy'",
  'select event from same',
  'select list, arrayMap(y -> y * 2, list) as twice from lambdas',
  'select who, arrayMap(x -> x * price, [1, 2]) as prices from buys',
])('%s', (statement) => {
  test('has the same rows', async () => {
    const { text, fields, where, alias } = read(statement)
    expect(text).toContain('FROM events')
    expect(inAnyOrder(await project.rows(text))).toEqual(inAnyOrder(await project.rows(statement)))
    // As a run reads it later, when the views may be others.
    expect(readExportQuery(text, 1, new Date(), {})).toMatchObject({ fields, where, alias })
  })
})

test.each([
  ['select n from grouped', 'Unsupported GROUP BY in the query of the view grouped'],
  ['select event from ctes', 'Unsupported WITH in the query of the view ctes'],
  ['select event from loop', 'Query must only SELECT FROM events'],
  ['select id from persons_too', 'Query must only SELECT FROM events'],
  ['select event from unknown', 'Query must only SELECT FROM events'],
  ['select a from buys as b(a)', 'Query must only SELECT FROM events'],
  ['select nothing from buys', 'The view buys has no column nothing'],
  ['select event from dear', 'The view dear has no column event'],
  ['select price.x from buys', 'The column price of the view buys has no fields'],
  ['select name from own_names', 'uses its own column name'],
  ['select arrayMap(price -> price + 1, [1]) as x from buys', 'a parameter of a lambda'],
  ['select count() from buys', 'Unsupported aggregate'],
  ['select * from buys', 'Unsupported *'],
])('%s is refused', (statement, message) => {
  expect(() => read(statement)).toThrow(message)
})
