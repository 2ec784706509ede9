import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openTestProject, type TestProject } from '../../harness/duckdb.ts'

let project: TestProject
beforeAll(async () => {
  project = await openTestProject()
})
afterAll(() => project.close())

const planOf = async (statement: string) => {
  const { printed } = await project.compile(statement)
  const plan = await project.run({ sql: `EXPLAIN ${printed.sql}`, params: printed.params, columns: [] }, {})
  return String(plan.get(0)!.toArray())
}

// A delimiter join gathers the different values of all that an array is made of, which may be whole documents, and joins the rows with them again.
describe('rows are multiplied by their arrays without being joined with themselves', () => {
  for (const [name, statement] of [
    ['arrayJoin', 'select arrayJoin(JSONExtractKeys(properties)) as key, count() from events group by key'],
    ['ARRAY JOIN', "select event, word from events array join splitByChar(' ', event) as word"],
    ['LEFT ARRAY JOIN', "select event, word from events left array join splitByChar(' ', event) as word"],
    [
      'of two arrays',
      "select a, b from events array join splitByChar(' ', event) as a, arrayMap(x -> x || '!', splitByChar(' ', event)) as b",
    ],
    ['of a query', 'select item from (select groupArray(event) as all from events group by distinct_id) array join all as item'],
  ] as const)
    test(name, async () => {
      const plan = await planOf(statement)
      expect(plan).toContain('UNNEST')
      expect(plan).not.toContain('DELIM')
    })

  test('with the rows and the order that they had', async () => {
    const statement = `select number, arrayJoin(range(number)) as a, arrayJoin([a, number * 10]) as b from numbers(4) order by number, a, b`
    expect(await project.rows(statement)).toEqual([
      [1, 0, 0],
      [1, 0, 10],
      [2, 0, 0],
      [2, 0, 20],
      [2, 1, 1],
      [2, 1, 20],
      [3, 0, 0],
      [3, 0, 30],
      [3, 1, 1],
      [3, 1, 30],
      [3, 2, 2],
      [3, 2, 30],
    ])
  })
})
