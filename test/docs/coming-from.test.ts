import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { expect, test } from 'vitest'
import { loadCommand } from '../../src/doors/cli/command.ts'
import { commands } from '../../src/doors/cli/commands.ts'
import { runCommand } from '../../src/doors/cli/run.ts'
import { importFormats } from '../../src/events/imports/format.ts'
import { finish, firstLine, start } from '../doors/cli/shell.ts'
import { startPostgres, whyNoPostgres } from '../harness/postgres.ts'

// docs/coming-from.md: its statement is run by a real PostgreSQL, its options are those of the command, and the scopes that it names are enough.

const page = await readFile(join(import.meta.dirname, '../../docs/coming-from.md'), 'utf8')
const missing = whyNoPostgres()

const run = async (...args: string[]) => {
  const lines: string[] = []
  const code = await runCommand(args, {}, { out: (line) => lines.push(line), err: (line) => lines.push(line) })
  return { code, text: lines.join('\n') }
}

test("Umami's statement answers what the import reads", async ({ skip }) => {
  if (missing) skip(missing)
  const statement = /--command "\n([\s\S]*?)"\n/.exec(page)![1]!
  const folder = await mkdtemp(join(tmpdir(), 'waymark-umami-'))
  const server = await startPostgres()
  const client = new pg.Client({ host: '127.0.0.1', port: server.port, user: 'waymark', database: 'postgres' })
  try {
    await client.connect()
    await client.query(`
      create table session (session_id uuid primary key, website_id uuid, browser varchar(20), os varchar(20), device varchar(20), screen varchar(11), language varchar(35), country char(2), city varchar(50), distinct_id varchar(50), created_at timestamptz);
      create table website_event (event_id uuid primary key, website_id uuid, session_id uuid, visit_id uuid, created_at timestamptz, hostname varchar(100), url_path varchar(500), url_query varchar(500), referrer_domain varchar(500), referrer_path varchar(500), referrer_query varchar(500), page_title varchar(500), event_type int, event_name varchar(50));
      create table event_data (event_data_id uuid, website_event_id uuid, data_key varchar(500), string_value varchar(500), number_value numeric(19, 4), date_value timestamptz, data_type int, created_at timestamptz);
      insert into session values ('00000000-0000-4000-8000-00000000000a', null, 'chrome', 'Linux', 'desktop', '1920x1080', 'en-US', 'DE', 'Berlin', null, now());
      insert into website_event values
        ('00000000-0000-4000-8000-000000000001', null, '00000000-0000-4000-8000-00000000000a', '00000000-0000-4000-8000-0000000000aa', '2026-01-05T10:00:00Z', 'blog.example', '/', 'q=1', 'news.example', '/item', null, 'Home', 1, null),
        ('00000000-0000-4000-8000-000000000002', null, '00000000-0000-4000-8000-00000000000a', '00000000-0000-4000-8000-0000000000aa', '2026-01-05T10:00:05Z', 'blog.example', '/', null, null, null, null, 'Home', 2, 'signup');
      insert into event_data values (null, '00000000-0000-4000-8000-000000000002', 'plan', 'pro', null, null, 1, now()), (null, '00000000-0000-4000-8000-000000000002', 'seats', '3', 3, null, 2, now())`)
    const { rows } = await client.query({ text: statement, rowMode: 'array' })
    const file = join(folder, 'umami.jsonl')
    await writeFile(file, rows.map(([row]: unknown[]) => JSON.stringify(row)).join('\n'))
    const data = join(folder, 'data')
    await run('init', '--data', data)
    expect(JSON.parse((await run('import', file, '--data', data, '--project', '1', '--json')).text)).toMatchObject({
      rows: 2,
      stored: 2,
      files: [{ format: 'umami' }],
    })
    const asked =
      'select event, toString(uuid), properties.$current_url, properties.$referrer, properties.plan, properties.seats from events order by timestamp'
    expect(JSON.parse((await run('query', '--data', data, '--project', '1', '--format', 'json', asked)).text).results).toEqual([
      ['$pageview', '00000000-0000-4000-8000-000000000001', 'https://blog.example/?q=1', 'https://news.example/item', null, null],
      ['signup', '00000000-0000-4000-8000-000000000002', 'https://blog.example/', null, 'pro', '3'],
    ])
  } finally {
    await client.end()
    await server.stop()
    await rm(folder, { recursive: true, force: true })
  }
}, 60_000)

test('options and formats of the page are those of the commands', async () => {
  const { options } = await loadCommand(commands.find(({ name }) => name === 'definitions import')!)
  const named = [...page.matchAll(/--(source|source-key|source-project|url|key|state|compare)\b/g)].map(([, name]) => name!)
  expect(Object.keys(options)).toEqual(expect.arrayContaining([...new Set(named)]))
  for (const format of ['mixpanel', 'amplitude', 'google-analytics', 'umami', 'plausible']) expect(importFormats).toContain(format)
})

test('a key with the scopes of the page copies definitions, and one without them is refused by name', async () => {
  const scopes = [
    ...page.slice(page.indexOf('with the scopes'), page.indexOf('Nothing is changed there')).matchAll(/`([a-z_]+:(?:read|write))`/g),
  ].map(([, scope]) => scope!)
  expect(scopes.length).toBeGreaterThan(8)
  const folder = await mkdtemp(join(tmpdir(), 'waymark-scopes-'))
  const server = start(['serve', '--data', join(folder, 'data'), '--port', '0', '--json'])
  const ended = finish(server)
  const { url, personal_api_key: owner } = JSON.parse(await firstLine(server)) as { url: string; personal_api_key: string }
  const keyWith = async (given: readonly string[]) => {
    const { text } = await run(
      'keys',
      'create',
      '--data',
      join(folder, 'data'),
      '--user',
      'owner@waymark.local',
      '--label',
      `${given.length} scopes`,
      '--scopes',
      given.join(),
      '--json',
    )
    return (JSON.parse(text) as { personal_api_key: string }).personal_api_key
  }
  const copy = (key: string) =>
    run(
      'definitions',
      'import',
      '--source',
      url,
      '--source-key',
      owner,
      '--source-project',
      '1',
      '--url',
      url,
      '--key',
      key,
      '--project',
      '1',
      '--state',
      join(folder, 'state.json'),
      '--compare',
      '1',
    )
  try {
    expect(await copy(await keyWith(scopes))).toMatchObject({ code: 0 })
    const refused = await copy(await keyWith(['project:read']))
    expect(refused.code).toBe(1)
    expect(refused.text).toMatch(/\(403\): .*scope/i)
  } finally {
    server.kill('SIGTERM')
    await ended
    await rm(folder, { recursive: true, force: true })
  }
}, 60_000)
