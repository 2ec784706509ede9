import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { explain } from '../../src/engine/execution/explain.ts'
import { parseQuery } from '../../src/language/parser/parse.ts'
import { type ClickHouse, hasClickHouse, openClickHouse } from '../harness/clickhouse.ts'
import { openTestProject, type TestProject } from '../harness/duckdb.ts'
import { answerStatement } from '../reference/statements/interpreter.ts'
import { CannotAnswer, written } from '../reference/statements/values.ts'
import { worldOf } from '../reference/statements/world.ts'

// The SQL of each shape of plan, for both engines side by side. Both run it, and must answer the same rows as each other and as the naive
// interpreter, where it knows how. After a wanted change:
// npx vitest run test/golden -u

let project: TestProject
let clickhouse: ClickHouse
const session = '018d0000-0000-7000-8000-000000000001'
const persons = [
  { distinct_ids: ['a', 'b'], properties: { email: 'a@example.com', plan: 'pro' } },
  { distinct_ids: ['c'], properties: { email: 'c@example.com' } },
]
const groups = [{ group_type: 'company', group_key: 'acme', properties: { size: 40 } }]
const events = ['a', 'b', 'c', 'd', 'a', 'c'].map((distinct_id, i) => ({
  event: i % 2 ? 'buy' : 'view',
  distinct_id,
  timestamp: `2024-03-3${i % 2}T0${i}:30:00Z`,
  properties: {
    price: i,
    tags: ['x', { k: i }],
    $session_id: session,
    $current_url: `https://example.com/${i}`,
    $groups: { company: 'acme' },
  },
}))
/** The same for the naive interpreter. */
const world = worldOf({ events, persons, groups, same: { b: 'a' }, personless: [], cohort: [], declared: { price: 'Numeric' } })
const calendar = { timezone: 'Europe/Berlin', weekStartDay: 1 } as const

beforeAll(async () => {
  project = await openTestProject(calendar)
  await project.project.definePropertyTypes([{ type: 'event', name: 'price', property_type: 'Numeric' }])
  await project.project.importPersons(persons)
  await project.project.importGroups(groups)
  await project.project.ingest({ batch: events })
  clickhouse = await openClickHouse()
  await clickhouse.load(project)
})
afterAll(async () => {
  await project.close()
  await clickhouse.close()
})

const shapes: Readonly<Record<string, string>> = {
  'event name by number': "select count() from events where event = 'buy' and event != 'gone'",
  'event names': "select event, count() from events where event in ('buy', 'view', 'gone') group by event order by event",
  'first rows before their names': "select event, properties.i from events where event = 'buy' order by timestamp desc limit 10",
  'first rows before their persons':
    "select event, person.properties.plan from events where person.properties.email != '' order by timestamp desc limit 10",
  'typed property': 'select sum(properties.price), max(properties.tags[2].k) from events',
  'local days':
    "select toStartOfDay(timestamp) as day, count() from events where timestamp >= '2024-03-30' and timestamp < '2024-04-01' group by day order by day",
  'lazy joins':
    'select event, person.properties.email as email, group_0.properties.size as size, e.pdi.person.properties.plan as plan from events e order by timestamp',
  'persons counted by number': 'select uniq(person_id), count(distinct person_id) from events',
  'persons by id': 'select person_id, count() as c from events group by person_id order by c, person_id limit 2',
  'a session of each event': 'select session.$entry_pathname as entry, session.duration as seconds from events order by timestamp limit 1',
  sessions: 'select session_id, $is_bounce, $pageview_count from sessions',
  'a left join':
    "select e.event, p.properties.plan from events e left join persons p on e.person_id = p.id and p.properties.plan = 'pro' order by e.timestamp",
  'arrays into rows': "select arrayJoin(['x', event]) as item, count() from events where item != 'x' group by item order by item",
  'array join': 'select number, x, y from numbers(2) array join [1, 2] as x, [3, 4] as y order by number, x',
  'limit by': 'select event, properties.price as price from events order by price desc limit 1 by event',
  'limit by behind a condition that always holds':
    'select properties.tags[2].k as k, properties.price as price from events where toDayOfWeek(timestamp) between 1 and 10 order by price limit 1 by k',
  'a constant key over no rows':
    "select 'x' as k, count(), (select count() from (select 1 as a, max(number) from numbers(0) group by a)) as none from events group by k",
  'limit with ties': 'select event from events order by event limit 1 with ties',
  'totals of groups': 'select event, count() from events group by rollup(event) order by event',
  'totals behind groups': 'select event, count() from events group by event with totals order by event limit 1',
  'a filled series': "select toDate(timestamp) as day, count() as n from events group by day order by day with fill to '2024-04-03'",
  'a correlated subquery':
    'select distinct_id from events e where not exists (select 1 from events f where f.distinct_id = e.distinct_id and f.timestamp > e.timestamp) order by 1',
  'a correlated IN':
    'select distinct_id from events e where event in (select f.event from events f where f.distinct_id = e.distinct_id and f.timestamp > e.timestamp) order by 1',
  'what a query answers': 'describe (select event, count() from events group by event)',
  'a window':
    'select event, sum(properties.price) over (partition by event order by timestamp rows between 1 preceding and current row) as s from events order by timestamp',
  'null among values':
    'select properties.none in (null, 1) as a, properties.none = null as b, properties.none != 1 as c from events limit 1',
  'sets and CTEs':
    'with recursive t (n) as (select 1 union all select n + 1 from t where n < 3), u as (select n from t) (select n from u where n > 1) union distinct (select 2) order by n desc',
  'in a query': "select count() from events where person_id in (select id from persons where properties.plan = 'pro')",
  'a share of persons': 'select count() from events sample 0.5 offset 0.25',
  'any join':
    'select a.number, b.x from numbers(2) a any left join (select number % 2 as n, 7 as x from numbers(4)) b on a.number = b.n order by 1',
}

describe('one plan, two engines', () => {
  for (const [name, statement] of Object.entries(shapes))
    test(name, async () => {
      const { printed } = await project.compile(statement)
      const click = await clickhouse.print(statement, project)
      const text = [
        `-- ${statement}`,
        '',
        `-- DuckDB ${JSON.stringify(printed.params)}`,
        printed.sql,
        '',
        `-- ClickHouse ${JSON.stringify(click.params)}`,
        click.sql,
        '',
      ].join('\n')
      await expect(text).toMatchFileSnapshot(`${name.replaceAll(' ', '-')}.sql`)
      const rows = await project.rows(statement)
      expect(rows.length).toBeGreaterThan(0)
      if (hasClickHouse) expect(await clickhouse.rows(statement, project)).toEqual(rows)
      const naive = naiveRows(statement)
      expect(naive instanceof CannotAnswer ? naive.message : null).toBe(notAnswered[name] ?? null)
      if (!(naive instanceof CannotAnswer)) expect(naive).toEqual(rows)
    })
})

/** Why the naive interpreter has no answer. */
const notAnswered: Readonly<Record<string, string>> = {
  'persons by id': 'the id of a person',
  'a session of each event': '$entry_pathname of a session',
  'a left join': 'this condition of a join',
  'array join': 'this clause',
  'a constant key over no rows': 'a subquery',
  'limit with ties': 'this limit',
  'sets and CTEs': 'columns of WITH',
  'totals behind groups': 'this grouping',
  'a filled series': 'this order',
  'a correlated subquery': 'the function exists',
  'a correlated IN': 'the name e',
  'what a query answers': 'this source',
  'a share of persons': 'this source',
  'any join': 'this join',
}
function naiveRows(statement: string): unknown[][] | CannotAnswer {
  try {
    return answerStatement(parseQuery(statement), world, calendar).rows.map((row) => row.map((value) => written(value, calendar.timezone)))
  } catch (error) {
    if (error instanceof CannotAnswer) return error
    throw error
  }
}

describe('what explain says, for both engines', () => {
  for (const name of ['typed property', 'local days', 'a left join', 'totals of groups', 'in a query'])
    test(name, async () => {
      const query = parseQuery(shapes[name]!)
      const said = [await project.compile(query), await clickhouse.compile(query, project)].map((compiled, i) => ({
        engine: ['DuckDB', 'ClickHouse'][i],
        ...explain({ label: name, query, compiled }),
      }))
      await expect(`${JSON.stringify(said, null, 1)}\n`).toMatchFileSnapshot(`explain/${name.replaceAll(' ', '-')}.txt`)
    })
})

test('reads through a slot are the same reads', async () => {
  const statements = [
    'select properties.plan, properties.price from events order by timestamp',
    "select count() from events where properties.plan = 'p1' or properties.plan is null",
    'select person.properties.email, count() from events group by 1 order by 1',
  ]
  const own = await openTestProject()
  await own.project.definePropertyTypes([{ type: 'event', name: 'price', property_type: 'Numeric' }])
  await own.project.ingest({
    batch: ['p1', '', null, undefined, 'null', 7, true, ['x'], { a: 1 }].map((plan, i) => ({
      event: 'e',
      distinct_id: `u${i % 2}`,
      timestamp: new Date(1_700_000_000_000 + i * 1000).toISOString(),
      properties: { ...(plan === undefined ? {} : { plan }), price: [1, '2.5', 'x', null, 0][i % 5], $set: { email: i } },
    })),
  })
  const without = await Promise.all(statements.map((statement) => own.rows(statement)))
  expect((await own.compile(statements[0]!)).printed.sql).toContain('json_extract_string')

  const at = '"p1".main'
  const slots = [
    ['event', 'events', 'plan', 's1', "json_extract_string(properties, '/plan')"],
    ['event', 'events', 'price', 'n1', "TRY_CAST(json_extract_string(properties, '/price') AS DOUBLE)"],
    ['person', 'persons', 'email', 'n1', "TRY_CAST(json_extract_string(properties, '/email') AS DOUBLE)"],
  ] as const
  for (const [scope, table, key, slot, value] of slots) {
    await own.instance.run(
      `UPDATE ${at}.property_keys SET slots = '${slot}', ready_slots = '${slot}' WHERE scope = '${scope}' AND name = '${key}'`,
    )
    await own.instance.run(`UPDATE ${at}.${table} SET ${slot} = ${value}`)
  }
  const sql = (await own.compile(statements[0]!)).printed.sql
  expect(sql).toContain('t.s1')
  expect(sql).toContain('t.n1')
  expect(sql).not.toContain('json_extract_string')
  expect(await Promise.all(statements.map((statement) => own.rows(statement)))).toEqual(without)
  await own.close()
})
