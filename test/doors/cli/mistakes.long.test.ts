import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer, type Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type LocalWaymark, open } from '../../../src/engine.ts'
import { finish, firstLine, run, start } from './shell.ts'

// Whatever is asked wrongly: one clear line, and the exit code 1 for what failed, 2 for wrong usage.

let folder: string
let data: string
let taken: Server
let port: number
const at = (name: string) => join(folder, name)

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'waymark-mistakes-'))
  data = at('data')
  expect((await run(['init', '--data', data])).code).toBe(0)
  taken = createServer()
  await new Promise<void>((ready) => taken.listen(0, '127.0.0.1', ready))
  port = (taken.address() as { port: number }).port
  const event = { event: 'e', distinct_id: 'd', timestamp: '2026-01-01T00:00:00Z' }
  await writeFile(at('good.jsonl'), `${JSON.stringify(event)}\n`)
  await writeFile(at('picture.png'), Buffer.from('89504e470d0a1a0a0000000d4948445200000001000000010802000000907753de', 'hex'))
  await writeFile(at('empty.jsonl'), '')
  await writeFile(at('table.csv'), 'who,what,at\na,b,2026-01-01\n')
  await writeFile(at('broken.jsonl.gz'), Buffer.from('1f8b0800000000000003deadbeef', 'hex'))
})
afterAll(async () => {
  taken.close()
  await rm(folder, { recursive: true, force: true })
})

/** `DATA`, `PORT` and `@name` stand for what is made above. */
const filled = (words: string) =>
  words.split(' ').map((word) => word.replace('DATA', data).replace('PORT', String(port)).replace(/^@/, `${folder}/`))

test.each<[command: string, code: 1 | 2, line: RegExp]>([
  ['dance', 2, /Unknown command: dance\. `waymark help` lists the commands\./],
  ['qury x', 2, /Unknown command: qury x\. Did you mean `waymark query`\?/],
  [
    'query {"kind":"TrendsQuery","series":[{"kind":"EventsNode","propertes":[]}]} --project 1 --data DATA',
    1,
    /series\[0\]\.propertes: Unknown field "propertes"/,
  ],
  ['help dance', 2, /Unknown command: dance/],
  [
    'users',
    2,
    /users is not a complete command\. Use one of `waymark users list`, `waymark users create`, `waymark users link`, `waymark users confirm`, `waymark users reset-2fa`, `waymark users deactivate`, `waymark users activate`, `waymark users unlink`\./,
  ],
  ['serve --log loud', 2, /--log must be all or quiet, but got loud\./],
  ['serve --slow-query soon', 2, /--slow-query must be a time such as 500ms or 10s, or never, but got soon\./],
  ['serve --postgres-port x', 2, /--postgres-port must be a number from 0 to 65535, but got x\./],
  ['serve --postgres-port 0 --postgres-cert x.pem', 2, /--postgres-cert and --postgres-key belong together\./],
  ['serve --postgres-port 0 --postgres-cert x.pem --postgres-key x.pem', 2, /--postgres-cert must name a file in PEM/],
  ['top --every soon', 2, /--every must be seconds from 0\.5, such as 2s, but got soon\./],
  ['top --once --data DATA', 1, /No server is running on .*\. `waymark serve --data .*` starts one\./],
  ['users dance --help', 2, /users dance --help is not a complete command/],
  ['imports', 2, /imports is not a complete command\. Use `waymark imports approve`\./],
  ['serve --dta x', 2, /Unknown option '--dta'\. Did you mean --data\? `waymark help serve`/],
  ['query --projct 1 x', 2, /Unknown option '--projct'\. Did you mean --project\?/],
  ['projects list --jsn', 2, /Unknown option '--jsn'\. Did you mean --json\?/],
  ['serve --nonsense', 2, /Unknown option '--nonsense'\. `waymark help serve` lists the options\./],
  ['serve extra', 2, /Unexpected argument 'extra'/],
  ['serve --port many', 2, /--port must be a number from 0 to 65535, but got many\./],
  ['serve --port 70000', 2, /--port must be a number from 0 to 65535, but got 70000\./],
  ['serve --data DATA --log-keep soon', 2, /--log-keep must be a time such as 30m, 12h or 30d, but got soon\./],
  ['serve --data DATA --log-size much', 1, /logRetention\.bytes must be a number of bytes or text like "512MB"; got "much"/],
  ['serve --data DATA --memory little', 1, /memoryLimit must be at least 64 MiB, .*; got "little"/],
  ['serve --data DATA --queries-per-hour few', 2, /--queries-per-hour must be a whole number, but got few\./],
  [
    'serve --public-url analytics.example.com',
    2,
    /The public URL must be an address like https:\/\/analytics\.example\.com, not analytics\.example\.com\./,
  ],
  ['serve --trusted-proxies 10.0.0.0/8,proxy', 2, /Trusted proxies must be addresses or networks like 10\.0\.0\.0\/8, not proxy\./],
  ['serve --data DATA --port PORT', 1, /Cannot listen on 127\.0\.0\.1:\d+: the port is in use\./],
  ['serve --data DATA --port 0 --host 203.0.113.1', 1, /Cannot listen on 203\.0\.113\.1:0: this machine has no such address\./],
  ['init --data /proc/never', 1, /\/proc\/never cannot be used: .*no such file or directory/],
  ['backup --data DATA', 2, /backup takes one place/],
  ['backup --data DATA ftp://host/folder', 1, /a backup goes to a folder, to a file that ends with \.tar, or to s3:/],
  ['backup --data DATA --keep soon @never', 2, /--keep must be a time such as 30m, 12h or 30d, but got soon\./],
  ['backup --data DATA --key-file @nothing @never', 1, /The key cannot be read: ENOENT/],
  ['backup --data DATA /proc/never', 1, /\/proc\/never cannot be written to: ENOENT/],
  ['restore --data DATA --at yesterday @good.jsonl', 2, /--at must be a time with its zone/],
  ['move --from DATA', 2, /move needs --clickhouse URL and --postgres URL/],
  ['move --from DATA --to DATA-2', 2, /or a cluster into a directory, with --from clickhouse\+postgres --to DIR/],
  ['restore --data DATA @nothing', 1, /nothing does not exist\./],
  [
    'serve --data @good.jsonl',
    1,
    /good\.jsonl cannot be used: (a file with this name exists|part of the path is a file, not a directory)\./,
  ],
  ['init --data', 2, /'--data <value>' argument missing/],
  ['query --data DATA', 2, /query expects one statement, in quotes\./],
  ['query --data DATA select', 2, /--project ID is required\./],
  ['query --data DATA --project one select', 2, /--project must be the ID of a project \(a number\), but got one\./],
  [
    'query --data DATA --project 1 --format xml select',
    2,
    /--format must be one of table, json, csv, jsonl, parquet, arrow, but got xml\./,
  ],
  ['query --data DATA --project 1 {"kind":', 2, /Invalid JSON: /],
  ['query --data DATA --project 1 select', 1, /expected an expression but found the end/],
  ['query --data DATA --project 77 select+1', 1, /project 77/],
  ['query --data @nowhere --project 1 select+1', 1, /nowhere is not a data directory\. `waymark init --data .*nowhere` creates one\./],
  ['import --data DATA --project 1', 2, /import takes one or more files\./],
  ['import --data DATA --project 1 @missing.jsonl', 1, /missing\.jsonl cannot be read: no such file/],
  [
    'import --data DATA --project 1 @picture.png',
    1,
    /picture\.png is neither JSON lines, CSV, Parquet nor an access log \(it is a binary file\)/,
  ],
  ['import --data DATA --project 1 --from csv @picture.png', 1, /picture\.png cannot be read: /],
  ['import --data DATA --project 1 --from posthog @picture.png', 1, /picture\.png has no lines with JSON objects/],
  ['import --data DATA --project 1 @empty.jsonl', 1, /empty\.jsonl is empty/],
  ['import --data DATA --project 1 @broken.jsonl.gz', 1, /broken\.jsonl\.gz cannot be read: /],
  ['import --data DATA --project 1 --from xml @good.jsonl', 2, /--from must be one of posthog, .*, but got xml\./],
  [
    'import --data DATA --project 1 --map event @table.csv',
    2,
    /--map expects FIELD=COLUMN, where FIELD is one of event, .*, but got event\./,
  ],
  ['import --data DATA --project 1 --map colour=what @table.csv', 2, /--map expects FIELD=COLUMN.*, but got colour=what\./],
  ['import --data DATA --project 1 --map event=verb @table.csv', 1, /there is no column verb for event; the columns are who, what, at/],
  ['import --data DATA --project 1 @table.csv', 1, /no column for event; use --map event=COLUMN/],
  ['import --data DATA --project 77 @good.jsonl', 1, /project 77/],
  ['import --data DATA @good.jsonl', 2, /--project ID is required\./],
  ['import --url http://127.0.0.1:1 --key phc_x @good.jsonl', 1, /http:\/\/127\.0\.0\.1:1 cannot be reached: /],
  ['import --url here --key phc_x @good.jsonl', 2, /--url must be a URL such as/],
  ['import --url http://127.0.0.1:1 @good.jsonl', 2, /--key KEY is required\./],
  ['users link --data DATA', 2, /--email E is required\./],
  ['users link --data DATA --email a@b.c --user d@e.f', 2, /name the same user: give one of them/],
  ['users link --data DATA --email a@b.c', 1, /There is no user a@b\.c\. `waymark users list` shows them\./],
  ['users link --data DATA --email a@b.c --public-url example.com', 2, /--public-url must be a URL such as/],
  ['users create --data DATA --organization x', 2, /--email E is required\./],
  ['users create --data DATA --organization x --email me', 2, /--email must be an e-mail address, but got me\./],
  [
    'users create --data DATA --organization x --email a@b.c --level king',
    2,
    /--level must be viewer, member, admin or owner, but got king\./,
  ],
  ['users create --data DATA --organization x --email a@b.c', 1, /There is no organization x\./],
  ['keys create --data DATA --user no@one.test', 2, /--label L is required/],
  ['keys create --data DATA --user no@one.test --label x --scopes *', 1, /There is no user no@one\.test\./],
  ['keys create --data DATA --user owner@waymark.local --label x --scopes all', 1, /Invalid scope: all/],
  ['imports approve --data DATA', 2, /--project ID is required\./],
  ['imports approve --data DATA --project 1 --speed fast', 2, /--speed must be a number of events, but got fast\./],
  ['imports approve --data DATA --project 77', 1, /project 77/],
  ['imports approve --data @nowhere --project 1', 1, /nowhere is not a data directory\./],
  ['imports approve --url http://127.0.0.1:1 --key phx_x --project 1', 1, /http:\/\/127\.0\.0\.1:1 cannot be reached: /],
  ['doctor --data @nowhere', 1, /nowhere is not a directory\./],
])('waymark %s ends with %i', async (words, code, line) => {
  const result = await run(filled(words).map((word) => word.replace('+', ' ')))
  expect(result.err).toMatch(line)
  expect(result.err).toMatch(/^waymark: [^\n]+\n(\n( *\d* \| [^\n]*\n)+)?$/)
  expect([result.code, result.out]).toEqual([code, ''])
})

test('a mistake in a statement is shown with its line and a caret, by a process of its own and by a server', async () => {
  const words = ['query', '--data', data, '--project', '1', 'select event,\n  countt()\nfrom events']
  const said = [
    "waymark: Unsupported function call 'countt(...)'. Perhaps you meant 'count(...)'?",
    '',
    '1 | select event,',
    '2 |   countt()',
    '  |   ^^^^^^^^',
    '',
  ].join('\n')
  expect(await run(words)).toEqual({ code: 1, out: '', err: said })
  const server = start(['serve', '--data', data, '--port', '0'])
  await firstLine(server)
  const asked = await run(words)
  const ended = finish(server)
  server.kill('SIGTERM')
  await ended
  expect(asked).toEqual({ code: 1, out: '', err: said })
})

test('a directory that another process has open', async () => {
  const owner: LocalWaymark = await open({ dataDir: data })
  for (const args of [
    ['serve', '--port', '0'],
    ['init'],
    ['query', '--project', '1', 'select 1'],
    ['imports', 'approve', '--project', '1'],
    ['doctor'],
  ]) {
    const result = await run([...args, '--data', data])
    expect(result.err, args.join(' ')).toMatch(
      /^waymark: .* is in use by process \d+ since .*\. One process owns a data directory at a time; others work through it with .*\.\n$/,
    )
    expect(result.code).toBe(1)
  }
  await owner.close()
})

test('a directory that cannot be written', async () => {
  // The superuser may write everywhere, so the command runs as nobody.
  const user = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {}
  const locked = at('locked')
  await chmod(folder, 0o755)
  await mkdir(locked)
  await chmod(locked, 0o555)
  const result = await finish(start(['serve', '--data', join(locked, 'data'), '--port', '0'], {}, user))
  expect(result).toEqual({ code: 1, out: '', err: `waymark: ${join(locked, 'data')} cannot be used: permission denied.\n` })
})

test('help is no mistake', async () => {
  expect((await run(['help', 'serve'])).out).toContain('--port N')
  expect((await run(['imports', 'approve', '--help'])).out).toContain('--speed N')
  for (const args of [[], ['--help'], ['help']])
    expect(await run(args)).toMatchObject({ code: 0, out: expect.stringContaining('waymark <command>') })
})
