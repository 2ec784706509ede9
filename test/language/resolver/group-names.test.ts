import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type ClickHouse, hasClickHouse, openClickHouse } from '../../harness/clickhouse.ts'
import { openTestProject, type TestProject } from '../../harness/duckdb.ts'

// The groups of an event by the name that the project gave their type.

let project: TestProject
let clickhouse: ClickHouse
beforeAll(async () => {
  project = await openTestProject()
  await project.project.importGroups([
    { group_type: 'organization', group_key: 'acme', properties: { size: 40, since: '2024-01-01' } },
    { group_type: 'event', group_key: 'x', properties: { size: 1 } },
    { group_type: 'my team', group_key: 'red', properties: { size: 3 } },
  ])
  const $groups = { organization: 'acme', event: 'x', 'my team': 'red' }
  await project.project.ingest({
    batch: [
      { event: 'view', distinct_id: 'a', timestamp: '2024-03-01T10:00:00Z', properties: { $groups } },
      { event: 'view', distinct_id: 'b', timestamp: '2024-03-01T11:00:00Z', properties: {} },
    ],
  })
  clickhouse = await openClickHouse()
  await clickhouse.load(project)
})
afterAll(async () => {
  await project.close()
  await clickhouse.close()
})

const answers: readonly (readonly [why: string, statement: string, rows: unknown[][]])[] = [
  ['a property', 'select organization.properties.size from events order by timestamp', [['40'], [null]]],
  ['as a number', 'select sum(organization.properties.size * 2) from events', [[80]]],
  [
    'a column',
    'select organization.key, e.organization.index from events e order by timestamp',
    [
      ['acme', 0],
      [null, null],
    ],
  ],
  ['the same group by its number', 'select organization.key = group_0.key from events order by timestamp', [[1], [1]]],
  ['a name in quotes', 'select "my team".properties.size from events order by timestamp limit 1', [['3']]],
  ['in a condition', 'select distinct_id from events where organization.properties.size > 39', [['a']]],
  ['a column of the table comes first', 'select event from events limit 1', [['view']]],
  ['an alias comes first', "select 'mine' as organization, organization from events limit 1", [['mine', 'mine']]],
  ['a name of WITH comes first', 'with 5 as organization select organization from events limit 1', [[5]]],
  ['a table comes first', 'select organization.event from events organization limit 1', [['view']]],
  ['a column of another table comes first', 'select organization from events, (select 7 as organization) t limit 1', [[7]]],
  [
    'a table of the statement around comes first',
    `select organization.key from (select 'acme' as key union all select 'none') organization
     where exists (select 1 from events e where organization.key = e."$group_0")`,
    [['acme']],
  ],
  [
    'a column of a table around that has the groups too',
    `select count() from persons organization where exists (select 1 from events f where f.person_id = organization.id)`,
    [[2]],
  ],
  [
    'an alias of the statement around comes first',
    `select distinct_id, lower('acme') as organization from events e where exists (select 1 from events f where f."$group_0" = organization)
     order by distinct_id`,
    [
      ['a', 'acme'],
      ['b', 'acme'],
    ],
  ],
  [
    'the same behind IN',
    `select organization.key from (select 'acme' as key union all select 'none') organization
     where 'view' in (select event from events e where organization.key = e."$group_0")`,
    [['acme']],
  ],
  [
    'the group of the nearest events is meant where nothing else is',
    'select count() from events e where exists (select 1 from events f where organization.key = f."$group_0" and f.uuid = e.uuid)',
    [[1]],
  ],
]

test.each([
  [
    'LATERAL',
    `select organization.key, n from (select 'acme' as key union all select 'none') organization
     cross join lateral (select count() as n from events e where organization.key = e."$group_0") t where n`,
    [['acme', 1]],
  ],
  [
    'a subquery of a subquery',
    `select organization.key from (select 'acme' as key union all select 'none') organization
     where exists (select 1 from events e where exists (select 1 from events f where organization.key = e."$group_0" and f.uuid = e.uuid))`,
    [['acme']],
  ],
])('a table of the statement around comes first in %s', async (_, statement, rows) => expect(await project.rows(statement)).toEqual(rows))

describe.each(answers)('%s', (_, statement, rows) => {
  test(statement, async () => {
    expect(await project.rows(statement)).toEqual(rows)
    if (hasClickHouse) expect(await clickhouse.rows(statement, project)).toEqual(rows)
  })
})

test.each([
  ['organisation.properties.size', 'unknown-field', ['organization']],
  ['e.organisation.properties.size', 'unknown-field', ['organization']],
  ['organization', 'table-as-column', undefined],
])('%s is refused', async (expression, code, candidates) => {
  await expect(project.compile(`select ${expression} from events e`)).rejects.toMatchObject({
    code,
    data: candidates ? { candidates } : {},
  })
})

test('groups of two tables are ambiguous without the name of one', async () => {
  await expect(project.compile('select organization.key from events e join events f on e.uuid = f.uuid')).rejects.toMatchObject({
    code: 'ambiguous-field',
    data: { tables: ['e', 'f'] },
  })
})

test('only events have groups', async () => {
  await expect(project.compile('select organization.key from persons')).rejects.toMatchObject({ code: 'unknown-field' })
})
