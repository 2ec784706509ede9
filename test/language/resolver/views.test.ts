import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { QueryError } from '../../../src/errors/errors.ts'
import { type ClickHouse, hasClickHouse, openClickHouse } from '../../harness/clickhouse.ts'
import { openTestProject, type TestProject } from '../../harness/duckdb.ts'

// A view is the same as its statement in its place, in parentheses: on both engines it becomes the same SQL.

const views: Readonly<Record<string, string>> = {
  buys: "select event, distinct_id, person_id, timestamp, properties.plan as plan, properties from events where event = 'buy'",
  by_plan: 'select plan, count() as n from buys group by plan',
  planned: 'with x as (select plan, n from by_plan where n > 0) select plan, n from x -- the end',
  people: 'select id, properties.name as name from persons',
  limited: 'select event from events order by timestamp, event limit 1',
  united: "select 'a' as x union all select event from buys",
  hidden: 'select event from events',
  loop_a: 'select * from loop_b',
  loop_b: 'select x.n from (select 1 as n) x join loop_c y on true',
  loop_c: 'select * from loop_a',
  broken: 'select nothing from events',
  on_broken: 'select 1 from broken',
  internal: 'select * from `@people`',
}
let project: TestProject
let clickhouse: ClickHouse
beforeAll(async () => {
  project = await openTestProject({ settings: { views } })
  await project.project.importPersons([{ distinct_ids: ['a'], properties: { name: 'Ann' } }])
  const event = (name: string, distinct_id: string, plan: string, minute: number) => ({
    event: name,
    distinct_id,
    timestamp: `2024-03-01T10:0${minute}:00Z`,
    properties: { plan, price: minute },
  })
  await project.project.ingest({
    batch: [event('view', 'a', 'pro', 0), event('buy', 'a', 'pro', 1), event('buy', 'b', 'free', 2), event('buy', 'c', 'free', 3)],
  })
  clickhouse = await openClickHouse()
  await clickhouse.load(project)
})
afterAll(async () => {
  await project.close()
  await clickhouse.close()
})

/** With the statement of each view in its place. */
const expanded = (statement: string): string => {
  const pattern =
    /\b(from|join|,)\s+(buys|by_plan|planned|people|limited|united)\b(?!\s+as\s+\()(\s+(?!where|group|order|join|limit|on|union|left|final|sample|in)\w+)?/gi
  return statement.replace(
    pattern,
    (_, word: string, name: string, alias?: string) => `${word} (${expanded(views[name]!)}\n) ${alias?.trim() ?? name}`,
  )
}

const same: readonly (readonly [why: string, statement: string, rows: unknown[][]])[] = [
  [
    'all columns',
    'select plan, n from by_plan order by plan',
    [
      ['free', 2],
      ['pro', 1],
    ],
  ],
  ['a condition', "select distinct_id from buys where plan = 'pro' and timestamp > '2024-01-01'", [['a']]],
  ['an alias', 'select b.plan from by_plan b where b.n = 2', [['free']]],
  ['another view inside, with WITH and a comment', 'select count() from planned', [[2]]],
  ['a property of a view', 'select sum(toFloat(properties.price)) from buys', [[6]]],
  ['a join', 'select name, plan from buys b join people p on b.person_id = p.id where name is not null order by name', [['Ann', 'pro']]],
  ['a join with itself', 'select count() from buys x join buys y on x.plan = y.plan', [[5]]],
  ['a limit inside', "select event from limited where event = 'buy'", []],
  ['a union inside', "select count() from united where x = 'buy'", [[3]]],
  [
    'a correlated subquery',
    'select name from people p where name is not null and exists (select 1 from buys b where b.person_id = p.id)',
    [['Ann']],
  ],
  ['an IN', 'select count() from events where properties.plan in (select plan from by_plan where n = 2)', [[2]]],
  [
    'a window',
    'select plan, row_number() over (order by n) as r from by_plan order by r',
    [
      ['pro', 1],
      ['free', 2],
    ],
  ],
]
describe.each(same)('%s', (_, statement, rows) => {
  test(statement, async () => {
    const written = expanded(statement)
    expect(written).not.toBe(statement)
    const sql = async (one: string) => (await project.compile(one)).printed
    expect(await sql(statement)).toEqual(await sql(written))
    expect(await clickhouse.print(statement, project)).toEqual(await clickhouse.print(written, project))
    expect(await project.rows(statement)).toEqual(rows)
    if (hasClickHouse) expect(await clickhouse.rows(statement, project)).toEqual(rows)
  })
})

test('every scan behind a view names the project', async () => {
  const { sql } = await clickhouse.print('select p.name, b.plan from planned b, people p', project)
  const scans = sql.match(/\b(FROM|JOIN) (events|persons|person_merges|distinct_ids)\b/g) ?? []
  expect(scans.length).toBeGreaterThan(1)
  expect((sql.match(/project_id/g) ?? []).length).toBeGreaterThanOrEqual(scans.length)
})

test.each([
  ['a name of WITH hides a view', 'with hidden as (select 5 as n) select n from hidden', [[5]]],
  ['a view sees no WITH of the statement', "with events as (select 'x' as event) select count() from hidden", [[4]]],
  ['columns get other names', 'select p, c from by_plan as t(p, c) order by p limit 1', [['free', 2]]],
])('%s', async (_, statement, rows) => {
  expect(await project.rows(statement)).toEqual(rows)
})

const failure = async (statement: string): Promise<QueryError> => {
  try {
    await project.compile(statement)
  } catch (error) {
    return error as QueryError
  }
  throw new Error(`${statement} was not refused`)
}

test.each([
  ['select * from loop_a', /The view 'loop_a' reads itself: loop_a → loop_b → loop_c → loop_a/],
  ['select 1 from loop_b, loop_c', /reads itself/],
  ['select * from internal', /@people/],
  ['select * from by_plam', /by_plam/],
  ['select plan from by_plan sample 0.1', /SAMPLE of a view/],
  ['select plan from by_plan final', /FINAL of a view/],
  ['select nope from by_plan', /nope/],
  ['select a from by_plan as t(a, b, c)', /3 names/],
])('%s is refused', async (statement, message) => {
  expect((await failure(statement)).message).toMatch(message)
})

test('an error in a view names the view, and the place in its statement', async () => {
  const error = await failure('select * from on_broken')
  expect([error.code, error.span?.origin?.attr, error.span?.start]).toEqual(['unknown-field', 'views__broken', 7])
})
