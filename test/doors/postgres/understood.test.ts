import { execFile } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
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

test('commands answer with their tags', async () => {
  const client = await server.client()
  for (const [sql, tag] of commands) expect((await client.query(sql)).command, sql).toBe(tag.split(' ')[0])
})
