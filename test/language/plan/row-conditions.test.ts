import { afterAll, beforeAll, expect, test } from 'vitest'
import { answerQuery } from '../../../src/engine/execution/answer.ts'
import { openTestProject, type TestProject } from '../../harness/duckdb.ts'

// WHERE takes memberships as they are, with NULL for what is not found among unknown values. Everywhere else they are true or false.

let project: TestProject
beforeAll(async () => {
  project = await openTestProject()
  await project.project.ingest({
    batch: ['a', null, 'b', 'c'].map((plan, i) => ({ event: 'visit', distinct_id: `p${i}`, properties: { plan, n: i } })),
  })
})
afterAll(() => project.close())

const ask = (query: string) => project.rows(query)
const set = '(select arrayJoin([toNullable(NULL), toNullable(0)]))'

test.each([
  ["properties.plan in ('a', 'b')", [0, 2]],
  ["properties.plan not in ('a', 'b')", [1, 3]],
  ["properties.plan in (select 'a')", [0]],
  ["properties.plan not in (select 'a')", [1, 2, 3]],
  ["properties.n > 0 and properties.plan in ('a', 'b', NULL)", [1, 2]],
  [`toFloat(properties.n) in ${set}`, [0]],
  ["not (properties.plan in ('a', 'b'))", [1, 3]],
  ["properties.plan in ('a') or properties.n = 3", [0, 3]],
  ["if(properties.plan in ('a', 'b'), 0, 1)", [1, 3]],
])('where %s', async (condition, rows) => {
  const statement = `select toInt(properties.n) as n from events where ${condition} order by n`
  expect(await ask(statement)).toEqual(rows.map((n) => [n]))
})

test('the same membership is false, not NULL, where it is shown', async () => {
  const condition = "properties.plan in ('a', 'b')"
  const shown = `select toInt(properties.n) as n, ${condition} as found from events where ${condition} or n = 1 order by n`
  expect(await ask(shown)).toEqual([
    [0, 1],
    [1, 0],
    [2, 1],
  ])
  expect(await ask(`select ${condition} as found from events where found`)).toHaveLength(2)
})

test('the events of a person are found by the number of the person', async () => {
  const [[personId]] = (await ask('select toString(person_id) from events order by timestamp limit 1')) as [[string]]
  const query = { kind: 'EventsQuery', select: ['event'], personId, explain: true }
  const { explain } = (await answerQuery(query, project)) as unknown as { explain: readonly { readonly sql: string }[] }
  expect(explain[1]!.sql).toMatch(/\("events"."@person_no" = \d+\) AND/)
})
