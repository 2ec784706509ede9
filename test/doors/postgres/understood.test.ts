import { execFile } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { mostOfStatement } from '../../../src/doors/postgres/statements/lexer.ts'
import { statementLimits } from '../../../src/language/ast/planning-budget.ts'
import { type Served, served } from './served.ts'

// Every row and every example of docs/postgres.md is run.

const page = readFileSync(join(import.meta.dirname, '../../../docs/postgres.md'), 'utf8')
const rows = [...page.matchAll(/^\| (.+?) \| `((?:select|with|values) .+)` \| `(.*)` \|$/gm)].map(
  ([, what, statement, answer]) => [what!, statement!.replaceAll('\\|', '|'), answer!.replaceAll('\\|', '|')] as const,
)

const run = promisify(execFile)
/** Debian's, which has the package. */
const python = existsSync('/usr/bin/python3') ? '/usr/bin/python3' : 'python3'
let server: Served
beforeAll(async () => {
  server = await served()
}, 60_000)
afterAll(() => server.close())

test('the page has rows', () => {
  expect(rows.length).toBeGreaterThan(40)
})

test.each(rows)('%s', async (_, statement, answer) => {
  const client = await server.client()
  const found = await client.query({ text: statement, rowMode: 'array' })
  expect(JSON.stringify(found.rows).slice(1, -1)).toBe(answer)
  await client.end()
})

const example = (name: string): string => {
  const [, text] = new RegExp(`\`\`\`\\w+ ${name}\\n([\\s\\S]*?)\`\`\``).exec(page)!
  return text!.replaceAll('phx_…', server.key).replaceAll('5433', String(server.port))
}
const has = async (command: string, args: readonly string[]) =>
  run(command, [...args]).then(
    () => true,
    () => false,
  )

test('the example of psql', async ({ skip }) => {
  if (!(await has('psql', ['--version']))) skip('there is no psql')
  const { stdout } = await run('sh', ['-c', example('psql')])
  expect(stdout).toContain('buy   |     2')
})

test('the example of psycopg', async ({ skip }) => {
  if (!(await has(python, ['-c', 'import psycopg']))) skip('there is no python3-psycopg')
  const { stdout } = await run(python, ['-c', example('psycopg')])
  expect(stdout.trim()).toBe("[('buy', 2), ('view', 2)]")
})

const commands: readonly (readonly [string, string])[] = [
  ['begin', 'BEGIN'],
  ['savepoint a', 'SAVEPOINT'],
  ['rollback to a', 'ROLLBACK'],
  ['release a', 'RELEASE'],
  ['commit', 'COMMIT'],
  ['start transaction isolation level repeatable read, read only', 'START TRANSACTION'],
  ['rollback', 'ROLLBACK'],
  ["set session application_name = 'x'", 'SET'],
  ['set search_path to public, pg_catalog', 'SET'],
  ['set session characteristics as transaction read only', 'SET'],
  ['reset all', 'RESET'],
  ['show server_version', 'SHOW'],
  ['prepare p (text) as select count(*) from events where event = $1', 'PREPARE'],
  ["execute p('buy')", 'SELECT'],
  ['deallocate p', 'DEALLOCATE'],
  ['explain select 1', 'EXPLAIN'],
  ['discard all', 'DISCARD'],
]

test.each([
  ['select event, grouping(event) from events group by rollup(event)', '0A000', 'GROUPING() is not supported'],
  ['select event from events tablesample system (10)', '0A000', 'TABLESAMPLE is not supported'],
  ["select 1 from events where event like event escape '!'", '0A000', 'a pattern with ESCAPE that is not a constant is not supported'],
  ['select 1 from events where event similar to event', '0A000', 'a pattern of SIMILAR TO that is not a constant is not supported'],
  ["select 1 from events where event like 'a' escape '!!'", '22025', 'invalid escape string'],
  ["select 1 from events where event like 'a!' escape '!'", '22025', 'LIKE pattern must not end with escape character'],
  ['select event from events fetch first 1 row with ties', '42601', 'WITH TIES cannot be specified without ORDER BY clause'],
  [`select 1 group by rollup(${Array.from({ length: 361 }, (_, i) => i).join(', ')})`, '54011', 'ROLLUP is limited to 360 elements'],
  [`select 1 group by cube(${Array.from({ length: 13 }, (_, i) => i).join(', ')})`, '54011', 'CUBE is limited to 12 elements'],
  [
    'select 1 from events group by cube(1, 2, 3, 4, 5, 6, 7), cube(1, 2, 3, 4, 5, 6)',
    '54001',
    'too many grouping sets present (maximum 4096)',
  ],
  [`select '${'a'.repeat(1_048_600)}'`, '54000', 'the statement has 1048609 characters, more than 1048576'],
  [`select ${'1,'.repeat(33_000)}1`, '54000', 'the statement has more than 65000 words and signs'],
  [
    `select 1 from events group by cube(event, distinct_id, uuid, timestamp, created_at, person_id), (${Array.from({ length: 1100 }, (_, i) => `event = '${i}'`).join(', ')})`,
    '54001',
    'grouping sets have too many keys together (maximum 65536)',
  ],
])('refused: %#', async (statement, code, message) => {
  const client = await server.client()
  await expect(client.query(statement)).rejects.toMatchObject({ code, message })
  await client.end()
})

test('a statement may be as long as one of the language', () => {
  const { text, tokens } = statementLimits
  expect(mostOfStatement).toEqual({ text, tokens })
})

test('a value that is cast many times is read in proportion', async () => {
  const client = await server.client()
  const { rows } = await client.query(`select 7${'::int'.repeat(150)} as n, 7${'::int'.repeat(150)}`)
  expect(rows).toEqual([{ n: 7, int4: 7 }])
  await client.end()
})

test('patterns of parameters', async () => {
  const client = await server.client()
  const count = async (condition: string, pattern: string) =>
    (await client.query(`select count(*)::int as n from events where ${condition}`, [pattern])).rows[0].n
  expect(await count('event similar to $1', '(buy|sell)')).toBe(2)
  expect(await count('event not similar to $1', 'b%')).toBe(2)
  expect(await count("event like $1 escape '#'", 'b#u%')).toBe(2)
  expect(await count("event like $1 escape '#'", 'b#%')).toBe(0)
  expect(await count("event like $1 escape ''", 'b\\uy')).toBe(0)
  await client.end()
})

test('commands answer with their tags', async () => {
  const client = await server.client()
  for (const [sql, tag] of commands) expect((await client.query(sql)).command, sql).toBe(tag.split(' ')[0])
})
