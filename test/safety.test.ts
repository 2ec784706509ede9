import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { answerQuery } from '../src/answer.ts'
import { WaymarkError } from '../src/errors/errors.ts'
import { lookup } from '../src/functions/registry.ts'
import type { SqlAnswer } from '../src/queries/sql/index.ts'
import { type ClickHouse, openClickHouse } from './harness/clickhouse.ts'
import { openTestProject, type TestProject } from './harness/duckdb.ts'

// What a statement must never reach, however it is written.

let project: TestProject
let clickhouse: ClickHouse
let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'waymark-safety-'))
  await writeFile(join(folder, 'secret.csv'), 'secret\n42\n')
  project = await openTestProject()
  await project.instance.attachProject(2)
  await project.instance.run(`INSERT INTO "p2".main.event_names VALUES (1, 'of another project', NULL, NULL, 1)`)
  await project.project.ingest({ batch: [{ event: 'mine', distinct_id: 'u', properties: { "a'b": 1, 'a"b': 2, 'a`b': 3, 'a\\b': 4 } }] })
  clickhouse = await openClickHouse()
  await clickhouse.load(project)
})
afterAll(async () => {
  await project.close()
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
      const both = async (statement: string) => [await project.rows(statement), await clickhouse.rows(statement, project)]
      const [duck, click] = await both(`select ${quoted(text, "'")} as a, count() from events where event != ${quoted(text, "'")}`)
      expect(duck).toEqual([[text, 1]])
      expect(click).toEqual([[text, 1]])
      const property = await both(`select properties[${quoted(text, "'")}] from events`)
      expect(property).toEqual([[[null]], [[null]]])
    })

  for (const name of nasty.filter((text) => !/[%\u0001]/.test(text)))
    test(`as a name: ${JSON.stringify(name)}`, async () => {
      const answer = (await answerQuery(
        { kind: 'HogQLQuery', query: `select x.${quoted(name, '`')} from (select 5 as ${quoted(name, '`')}) as x` },
        project,
      )) as SqlAnswer
      expect([answer.columns, answer.results]).toEqual([[name], [[5]]])
      expect(await clickhouse.rows(`select x.${quoted(name, '`')} from (select 5 as ${quoted(name, '`')}) as x`, project)).toEqual([[5]])
      expect(await project.rows(`with ${quoted(name, '`')} as (select 6 as a) select a from ${quoted(name, '`')}`)).toEqual([[6]])
    })
})

test('property keys with quotes are found', async () => {
  const statement = `select properties['a''b'], properties."a""b", properties.\`a\`\`b\`, properties['a\\\\b'] from events`
  expect(await project.rows(statement)).toEqual([['1', '2', '3', '4']])
  expect(await clickhouse.rows(statement, project)).toEqual([['1', '2', '3', '4']])
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
