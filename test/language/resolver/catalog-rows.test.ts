import { afterAll, beforeAll, expect, test } from 'vitest'
import { tables } from '../../../src/language/catalog/tables.ts'
import { openTestProject, type TestProject } from '../../harness/duckdb.ts'

let project: TestProject
beforeAll(async () => {
  project = await openTestProject({ timezone: 'Europe/Berlin' })
  await project.project.definePropertyTypes([{ type: 'event', name: 'price', property_type: 'Numeric' }])
})
afterAll(() => project.close())

const named = Object.keys(tables).filter((name) => !name.startsWith('@'))
const quoted = (name: unknown) => `"${name}"`

test('SHOW TABLES names the tables that a statement can name, and no others', async () => {
  expect((await project.rows('show tables')).flat()).toEqual(named)
})

test.each(named)('DESCRIBE %s says what reading each column answers', async (table) => {
  const described = await project.rows(`describe ${table}`)
  const types = await project.types(`select ${described.map(([name]) => quoted(name)).join(', ')} from ${table} limit 0`)
  expect(described.map(([, type]) => type)).toEqual(types)
  const columns = Object.entries(tables[table]!.fields).filter(([name, { kind }]) => !name.startsWith('@') && kind !== 'lazy')
  expect(described.map(([name]) => name)).toEqual(columns.map(([name]) => name))
})

test('DESCRIBE of a query says what it answers, without running it', async () => {
  const query =
    "select properties.price, properties.plan, timestamp, event = 'x' as is_x, toDate(timestamp) as day, map('a', 1) as m, (1, 'x') as t, null as n from events"
  const described = await project.rows(`describe (${query})`)
  expect(described.map(([, type]) => type)).toEqual(await project.types(`${query} limit 0`))
  const { printed } = await project.compile(`describe (${query})`)
  expect(printed.sql).not.toContain('main.')
})
