import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { answerQuery } from '../src/engine/execution/answer.ts'
import { WaymarkError } from '../src/errors/errors.ts'
import { lookup } from '../src/language/functions/registry.ts'
import type { SqlAnswer } from '../src/queries/sql/index.ts'
import { type ClickHouse, hasClickHouse, openClickHouse } from './harness/clickhouse.ts'
import { openTestProject, type TestProject } from './harness/duckdb.ts'

// What a statement must never reach, however it is written.

let project: TestProject
/** On a ClickHouse server both stand in the same tables. */
let other: TestProject
const secret = 'of another project'
let clickhouse: ClickHouse
let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'waymark-safety-'))
  await writeFile(join(folder, 'secret.csv'), 'secret\n42\n')
  project = await openTestProject()
  await project.instance.attachProject(2)
  await project.instance.run(`INSERT INTO "p2".main.event_names VALUES (1, 'of another project', NULL, NULL, 1)`)
  await project.project.ingest({ batch: [{ event: 'mine', distinct_id: 'u', properties: { "a'b": 1, 'a"b': 2, 'a`b': 3, 'a\\b': 4 } }] })
  other = await openTestProject({ id: 2 })
  await other.project.importPersons([{ distinct_ids: ['stranger'], properties: { email: secret } }])
  await other.project.ingest({ batch: [{ event: secret, distinct_id: 'stranger', properties: { a: secret } }] })
  clickhouse = await openClickHouse()
  await clickhouse.load(project)
  await clickhouse.load(other)
})
afterAll(async () => {
  await project.close()
  await other.close()
  await clickhouse.close()
  await rm(folder, { recursive: true })
})

const refusal = (statement: string) =>
  project.rows(statement).then(
    (rows) => rows,
    (error: unknown) => (error instanceof WaymarkError ? 'refused' : error),
  )

describe('neither files, nor other databases, nor the engine', () => {
  const statements = () => [
    `select * from read_csv('${folder}/secret.csv')`,
    `select * from '${folder}/secret.csv'`,
    `select * from "${folder}/secret.csv"`,
    'select * from p2.main.event_names',
    'select * from "p2".main.event_names',
    'select * from p1.main.events',
    'select * from main.events',
    'select * from meta',
    'select * from control.main.projects',
    'select * from information_schema.tables',
    'select * from duckdb_settings()',
    'select * from system.tables',
    'select * from system.settings',
    'select * from sqlite_master',
    "select * from url('http://127.0.0.1/', 'CSV', 'a String')",
    "select * from file('/etc/passwd', 'CSV', 'a String')",
    "select * from remote('127.0.0.1', system.one)",
    "select read_text('/etc/passwd')",
    "select getenv('HOME')",
    "select current_setting('memory_limit')",
    "select query('select 1')",
    "select * from query('select 1')",
    "attach 'x.db' as x",
    "copy events to 'x.csv'",
    'pragma database_list',
    'set memory_limit = 1',
    'select 1; select 2',
    'select 1; drop table events',
    'insert into events values (1)',
    'select * from events, pragma_table_info(1)',
    'select 1 from events settings readonly = 0',
    "select 1 into outfile 'x'",
    'select 1 format CSV',
  ]
  test('is reached by any of these', async () => {
    const answers = await Promise.all(statements().map(async (statement) => [statement, await refusal(statement)]))
    expect(answers.filter(([, answer]) => answer !== 'refused')).toEqual([])
  })

  test('functions of the engines that the registry does not have are unknown', () => {
    for (const name of [
      'read_text',
      'getenv',
      'current_setting',
      'glob',
      'file',
      'url',
      'sleep',
      'getSetting',
      'dictGet',
      'hostName',
      'currentUser',
      'duckdb_tables',
      'query',
      'nextval',
    ])
      expect(lookup(name), name).toBeUndefined()
  })
})

describe("no statement gets at another project's rows by giving names", () => {
  // Names of the stores' tables and of what is joined to them, as names of WITH, of tables, of columns.
  const physical = [
    'events',
    'persons',
    'distinct_ids',
    'person_merges',
    'event_names',
    'groups',
    'cohort_members',
    'meta',
    'p2',
    't',
    'n',
    'm',
    'p',
  ]
  const statements = [
    ...physical.flatMap((name) => [
      `with ${name} as (select 2 as project_id, 1 as event_id, 5 as merged) select merged from ${name}`,
      `with ${name} as (select 2 as project_id, 0 as merged, 0 as survivor) select s.session_id, x.survivor, d.distinct_id, d.person.properties.email from person_distinct_ids d left join sessions s on d.distinct_id = s.distinct_id cross join ${name} x`,
      `select ${name}.event from events as ${name} where ${name}.event != ''`,
      `select event as ${name}, 2 as project_id from events where project_id = 2`,
      `select ${name}.person.properties.email, ${name}.pdi.person.id is null from events ${name}`,
    ]),
    'select event from events where team_id = 2',
    'select event, 2 as project_id, 2 as team from events having project_id = 2 or 1 = 1',
    'select project_id from events',
    'select t.project_id from events t',
    'select e.project_id from events e',
    'select `t.project_id` from events',
    'select event from events where 1 = 1 or project_id = 2',
    'select a.event from events a full join events b on a.event = b.event',
    'select a.event, p.properties.email from events a right join persons p on a.event = p.properties.email',
    'select id, properties from persons where 1 = 1 union all select id, properties from raw_persons',
    'select key, properties from groups union all select key, properties from raw_groups',
    'select distinct_id from raw_person_distinct_ids union all select distinct_id from person_distinct_ids',
    'select person_id from cohort_people union all select person_id from static_cohort_people union all select person_id from raw_cohort_people',
    "select * from events pivot (count() for event in ('mine') group by person_mode)",
    'select * from (select event, distinct_id from events) unpivot (v for n in (event, distinct_id))',
    'select x from events array join [event, distinct_id] as x',
    'with recursive r as (select event from events union all select e.event from events e join r on e.event != r.event) select event from r',
    "with p2 as (select 'x' as event_names) select p2.event_names from p2",
    `select event from events where event in (select properties.email from persons) or event = '${secret}'`,
    'select {filters} from events where {filters}',
    'select event from events sample 1 final',
    'select max(event), any(properties.a), groupArray(distinct_id), (select max(event) from events) from events',
  ]
  for (const statement of statements)
    test(statement, async () => {
      const [duck, click] = await Promise.all(
        [project.rows(statement), ...(hasClickHouse ? [clickhouse.rows(statement, project)] : [])].map((rows) =>
          rows.then(
            (found) => JSON.stringify(found),
            (error: unknown) => (error instanceof WaymarkError ? `refused: ${error.code}` : `${error}`),
          ),
        ),
      )
      expect(duck).not.toContain(secret)
      expect(duck).not.toContain('stranger')
      expect(duck).not.toMatch(/InternalError/)
      if (click === undefined) return
      expect(click).not.toMatch(/of another project|stranger|ClickHouseError|Unknown table/)
      // Orders are not given: the same rows.
      const sorted = (text: string | undefined) =>
        text?.startsWith('[') ? JSON.stringify((JSON.parse(text) as unknown[]).map((row) => JSON.stringify(row)).sort()) : text
      expect(sorted(click)).toBe(sorted(duck))
    })

  test('a name of WITH is no file', async () => {
    const file = `${folder}/secret.csv`
    expect(await project.rows(`with "${file}" as (select 1 as a) select a from "${file}"`)).toEqual([[1]])
    expect(await refusal(`with t as (select 1 as a) select (select count() from "${file}") from t`)).toBe('refused')
    expect(await refusal(`select 1 from events where event in "${file}"`)).toBe('refused')
  })
})

// Quotes, comments and terminators of both engines, in every place that takes a name or a text.
const nasty = [
  "x' or '1'='1",
  'x" or "1"="1',
  'x` or `1`=`1',
  "x\\' or 1=1 --",
  'a;drop table events',
  '/* x',
  '-- x',
  '$1',
  '{p1:String}',
  '?',
  'é😀',
  '\u0001' + '0\u0002',
  'a\nb',
  "''",
  '""',
  '\\',
  '%',
  'x\\',
]
const quoted = (text: string, quote: string) => `${quote}${text.replaceAll('\\', '\\\\').replaceAll(quote, quote + quote)}${quote}`

describe('texts and names come back as they went in', () => {
  for (const text of nasty)
    test(JSON.stringify(text), async () => {
      for (const engine of hasClickHouse ? [project, clickhouse] : [project]) {
        const value = `select ${quoted(text, "'")} as a, count() from events where event != ${quoted(text, "'")}`
        expect(await engine.rows(value, project)).toEqual([[text, 1]])
        expect(await engine.rows(`select properties[${quoted(text, "'")}] from events`, project)).toEqual([[null]])
      }
    })

  for (const name of nasty.filter((text) => !/[%\u0001]/.test(text)))
    test(`as a name: ${JSON.stringify(name)}`, async () => {
      const answer = (await answerQuery(
        { kind: 'HogQLQuery', query: `select x.${quoted(name, '`')} from (select 5 as ${quoted(name, '`')}) as x` },
        project,
      )) as SqlAnswer
      expect([answer.columns, answer.results]).toEqual([[name], [[5]]])
      if (hasClickHouse)
        expect(await clickhouse.rows(`select x.${quoted(name, '`')} from (select 5 as ${quoted(name, '`')}) as x`, project)).toEqual([[5]])
      expect(await project.rows(`with ${quoted(name, '`')} as (select 6 as a) select a from ${quoted(name, '`')}`)).toEqual([[6]])
    })
})

test('property keys with quotes are found', async () => {
  const statement = `select properties['a''b'], properties."a""b", properties.\`a\`\`b\`, properties['a\\\\b'] from events`
  expect(await project.rows(statement)).toEqual([['1', '2', '3', '4']])
  if (hasClickHouse) expect(await clickhouse.rows(statement, project)).toEqual([['1', '2', '3', '4']])
})

test('values of a request are values', async () => {
  for (const value of nasty) {
    const answer = (await answerQuery(
      { kind: 'HogQLQuery', query: 'select {v}, {w}', values: { v: value, w: { [value]: [value] } } },
      project,
    )) as SqlAnswer
    expect(answer.results).toEqual([[value, { [value]: [value] }]])
  }
})
