import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { tableFromIPC } from 'apache-arrow'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { makeDemo } from '../../../src/doors/cli/demo.ts'
import { demoEvents } from '../../../src/doors/http/commands/demo-events.ts'
import { open } from '../../../src/engine.ts'
import { program } from '../../harness/programs.ts'
import { finish, firstLine, run, start } from './shell.ts'

// The commands as a shell calls them.

let directory: string
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'waymark-cli-'))
})
afterAll(() => rm(directory, { recursive: true, force: true }))

test.each([
  ['users', ['users list', 'users create', 'users link', 'users confirm', 'users deactivate', 'users activate', 'users unlink']],
  ['keys', ['keys list', 'keys create']],
  ['imports', ['imports approve']],
])('help of the commands that begin with %s, and of each', async (word, names) => {
  for (const args of [
    [word, '--help'],
    [word, '-h'],
    ['help', word],
  ]) {
    const { code, out } = await run(args)
    expect([code, [...out.matchAll(/^ {2}(\w+ \w+) /gm)].map(([, name]) => name)]).toEqual([0, names])
  }
  for (const name of names) {
    const [of, to] = [await run(['help', ...name.split(' ')]), await run([...name.split(' '), '--help'])]
    expect([of.code, of.out]).toEqual([0, to.out])
    expect(of.out).toContain(`waymark ${name}`)
  }
})

const hasTerminals = existsSync('/usr/bin/script')
test.skipIf(!hasTerminals).each([
  ['in a terminal', 'pty', [], 0],
  ['in a terminal, with all', 'pty', ['--log', 'all'], 3],
  ['into a file', 'pipe', [], 3],
  ['into a file, quietly', 'pipe', ['--log', 'quiet'], 0],
])('lines of requests %s', async (_, kind, more, lines) => {
  const data = await mkdtemp(join(directory, 'logs-'))
  const args = ['serve', '--data', data, '--port', '0', '--one-process', ...more]
  const command = ['exec', process.execPath, program('cli'), ...args].join(' ')
  const child = kind === 'pty' ? spawn('script', ['-qefc', command, '/dev/null'], { stdio: ['ignore', 'pipe', 'pipe'] }) : start(args)
  let text = ''
  for (const stream of [child.stdout!, child.stderr!])
    stream.on('data', (chunk) => {
      text += chunk
    })
  const output = () => text
  await expect.poll(output).toMatch(/Personal key/)
  const url = /Waymark +(http\S+)/.exec(output())![1]
  for (let i = 0; i < 3; i++) expect((await fetch(`${url}/_livez`)).status).toBe(200)
  const server = kind === 'pty' ? Number(await readFile(`/proc/${child.pid}/task/${child.pid}/children`, 'utf8')) : child.pid!
  process.kill(server, 'SIGTERM')
  await once(child, 'close')
  expect(output().match(/"message":"request"/g)?.length ?? 0).toBe(lines)
  expect(output()).toMatch(
    /Choose a password http\S+\/#\/setup\?secret=\S+\s+print another link: .+ users link --data \S+ --user owner@waymark\.local/,
  )
})

test('init makes the first of everything once; users and keys come after it', async () => {
  const data = join(directory, 'first')
  const env = { WAYMARK_DATA: data, WAYMARK_BOOTSTRAP_PROJECT_API_KEY: 'phc_fixed_for_automation' }
  const first = JSON.parse((await run(['init', '--json'], env)).out)
  expect(first).toEqual({
    organization_id: expect.any(String),
    project_id: 1,
    project_api_key: 'phc_fixed_for_automation',
    personal_api_key: expect.stringMatching(/^phx_/),
  })
  const { personal_api_key: _, ...lasting } = first
  expect(JSON.parse((await run(['init', '--json'], env)).out), 'a key is shown once').toEqual(lasting)
  const user = await run(
    ['users', 'create', '--organization', first.organization_id, '--email', 'ada@acme.test', '--level', 'admin', '--json'],
    env,
  )
  expect(JSON.parse(user.out)).toMatchObject({ email: 'ada@acme.test', level: 8, personal_api_key: expect.stringMatching(/^phx_/) })
  const key = await run(
    ['keys', 'create', '--user', 'ada@acme.test', '--label', 'CI', '--scopes', 'query:read,project:write', '--json'],
    env,
  )
  expect(JSON.parse(key.out)).toMatchObject({ label: 'CI', scopes: ['query:read', 'project:write'] })
  const twice = await run(['users', 'create', '--organization', first.organization_id, '--email', 'Ada@acme.test', '--json'], env)
  expect(twice).toEqual({ code: 1, out: '', err: 'waymark: There is already an account with this email address.\n' })
})

test('a link of `users link` sets a password once, also at a server that starts later', async () => {
  const data = join(directory, 'linked')
  const env = { WAYMARK_DATA: data }
  await run(['init', '--json'], env)
  const link = async (...args: string[]) => JSON.parse((await run(['users', 'link', ...args, '--json'], env)).out)
  const replaced = await link('--email', 'owner@waymark.local')
  const made = await link('--user', 'Owner@waymark.local', '--public-url', 'https://a.example/base/')
  expect(made).toEqual({
    user_id: 1,
    sso_enforcement: null,
    email: 'owner@waymark.local',
    ends: null,
    url: expect.stringMatching(/^https:\/\/a\.example\/base\/#\/reset\/[0-9a-f-]{36}\/[\w-]{43}$/),
    expires_at: expect.stringMatching(/^\d{4}-.*Z$/),
  })
  const shown = (await run(['users', 'link', '--email', 'nobody@acme.test'], env)).err
  expect(shown).toBe('waymark: There is no user nobody@acme.test. `waymark users list` shows them.\n')

  const child = start(['serve', '--data', data, '--port', '0', '--json'], {})
  const ended = finish(child)
  const { url } = JSON.parse(await firstLine(child))
  const use = async ({ url: given }: { url: string }, password: string) => {
    const [uuid, token] = given.split('/#/reset/')[1]!.split('/')
    const headers = { 'content-type': 'application/json' }
    const answer = await fetch(`${url}/api/reset/${uuid}/`, { method: 'POST', headers, body: JSON.stringify({ token, password }) })
    return [answer.status, ((await answer.json()) as { code?: string }).code ?? null]
  }
  expect(await use(replaced, 'a long password')).toEqual([400, 'invalid_token'])
  expect(await use(made, 'a long password')).toEqual([200, null])
  expect(await use(made, 'another password')).toEqual([400, 'invalid_token'])
  const beside = await link('--email', 'owner@waymark.local')
  expect(beside.url, 'through the server, with its address').toMatch(`${url}/#/reset/`)
  expect(await use(beside, 'another password')).toEqual([200, null])
  child.kill('SIGTERM')
  const { code, err } = await ended
  expect(code).toBe(0)
  expect(err).not.toContain(made.url.slice(-43))
})

test('serve tells where it is in one line, answers, and ends on SIGTERM with what was acknowledged', async () => {
  const data = join(directory, 'served')
  const env = { WAYMARK_BOOTSTRAP_PERSONAL_API_KEY: 'phx_fixed_for_automation' }
  const child = start(['serve', '--data', data, '--port', '0', '--json'], env)
  const ended = finish(child)
  const facts = JSON.parse(await firstLine(child))
  expect(Object.keys(facts)).toEqual(['url', 'organization_id', 'project_id', 'project_api_key', 'personal_api_key'])
  const headers = { authorization: `Bearer ${facts.personal_api_key}` }
  const batch = [{ event: 'signup', distinct_id: 'u1', timestamp: '2024-01-01T00:00:00Z', properties: { secret: 'x' } }]
  expect(
    (await fetch(`${facts.url}/batch/`, { method: 'POST', body: JSON.stringify({ api_key: facts.project_api_key, batch }) })).status,
  ).toBe(200)
  expect((await fetch(`${facts.url}/_readyz`)).status).toBe(200)
  const second = await run(['serve', '--data', data, '--port', '0'])
  expect([second.code, second.err]).toEqual([1, expect.stringMatching(/^waymark: .* is in use by process \d+/)])
  child.kill('SIGTERM')
  const { code, err } = await ended
  expect(code).toBe(0)
  const lines = err
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
  expect(lines.find((line) => line.route === '/batch')).toMatchObject({
    level: 'info',
    method: 'POST',
    status: 200,
    request_id: expect.any(String),
  })
  expect(err).not.toMatch(/u1|secret|phx_|phc_/)

  const again = start(['serve', '--data', data, '--port', '0', '--json'], env)
  const afterwards = finish(again)
  const { url, ...rest } = JSON.parse(await firstLine(again))
  expect(rest).not.toHaveProperty('personal_api_key')
  const query = {
    kind: 'TrendsQuery',
    series: [{ kind: 'EventsNode', event: 'signup' }],
    dateRange: { date_from: '2024-01-01', date_to: '2024-01-01' },
  }
  const answer = await fetch(`${url}/api/projects/${facts.project_id}/query/`, {
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/json' },
    body: JSON.stringify({ query }),
  })
  expect(await answer.json()).toMatchObject({ results: [{ count: 1 }] })
  again.kill('SIGINT')
  expect((await afterwards).code).toBe(0)
})

test('the demo is ten weeks of a shop, the same every time but for the dates', async () => {
  const waymark = await open({ dataDir: ':memory:', threads: 1, clock: () => new Date('2030-06-15T12:00:00Z') })
  const start = await waymark.accounts.firstStart({})
  const id = await makeDemo(waymark, start)
  expect(await waymark.accounts.projects.byId(id)).toMatchObject({ name: 'Demo shop', is_demo: true, ingested_event: true })
  const answer = await (await waymark.project(id)).answer({
    kind: 'TrendsQuery',
    series: ['$pageview', 'signed up', 'purchase'].map((event) => ({ kind: 'EventsNode', event })),
    dateRange: { date_from: '-90d' },
  })
  const made = demoEvents(waymark.clock())
  const count = (event: string) => made.filter((one) => one.event === event).length
  expect((answer as { results: { count: number }[] }).results.map((one) => one.count)).toEqual(
    ['$pageview', 'signed up', 'purchase'].map(count),
  )
  expect(count('purchase')).toBeGreaterThan(100)
  const sql = async (query: string) =>
    ((await (await waymark.project(id)).answer({ kind: 'SqlLikeQuery', query })) as { results: unknown[][] }).results
  const [[sessions, pageviews]] = (await sql('select count(), sum($pageview_count) from sessions')) as [[number, number]]
  expect(pageviews, 'each page view has a session').toBe(count('$pageview'))
  expect(sessions).toBeGreaterThan(500)
  expect(await sql('select count() from groups')).toEqual([[40]])
  expect(
    await sql("select count() > 0, min(toFloat(properties.items)) >= 1 from events where event = 'purchase' and $group_0 != ''"),
  ).toEqual([[1, 1]])
  await waymark.close()
  const later = demoEvents(new Date('2031-01-01T00:00:00Z'))
  expect(later.map((one) => one.event)).toEqual(made.map((one) => one.event))
  expect(made.every(({ timestamp }) => timestamp < waymark.clock().toISOString())).toBe(true)
  for (const event of ['$screen', '$pageleave', '$web_vitals', '$autocapture', '$identify', 'product added', 'checkout started'])
    expect(count(event), event).toBeGreaterThan(20)
  expect(count('$exception')).toBe(0)
  const days = new Set(made.filter(({ event }) => !event.startsWith('$group')).map(({ timestamp }) => timestamp.slice(0, 10)))
  expect(days.size, 'each day has events').toBeGreaterThan(65)
})

test('what is there is listed: projects with the keys for sending, users, and personal keys without their secrets', async () => {
  const data = join(directory, 'listed')
  const { organization_id, project_api_key, personal_api_key } = JSON.parse((await run(['init', '--data', data, '--json'])).out)
  await run(['users', 'create', '--data', data, '--organization', organization_id, '--email', 'ada@acme.test'])
  const list = async (things: string) => JSON.parse((await run([things, 'list', '--data', data, '--json'])).out)
  expect(await list('projects')).toEqual([{ id: 1, name: 'Default Project', organization: 'Default', timezone: 'UTC', project_api_key }])
  expect(await list('users')).toEqual([
    { id: 1, email: 'owner@waymark.local', is_active: true, organizations: 'Default (owner)' },
    { id: 2, email: 'ada@acme.test', is_active: true, organizations: 'Default (member)' },
  ])
  const keys = await list('keys')
  expect(keys.map((key: { user: string }) => key.user).sort()).toEqual(['ada@acme.test', 'owner@waymark.local'])
  expect(JSON.stringify(keys)).not.toContain(personal_api_key)
  expect((await run(['projects', 'list', '--data', data])).out).toMatch(/^ ?id {2}name.*\n-.*\n ?1 {2}Default Project /)
})

test('a later start names the owner and the one command that makes another key, and that key works', async () => {
  const data = join(directory, 'lost')
  await run(['init', '--data', data])
  const child = start(['serve', '--data', data, '--port', '0'])
  const ended = finish(child)
  await firstLine(child)
  child.kill('SIGTERM')
  const { out } = await ended
  expect(out).toMatch(/^Owner {12}owner@waymark\.local$/m)
  const args = /keys create (.*)/.exec(out)![1]!.replaceAll("'", '').split(' ')
  const made = await run(['keys', 'create', ...args, '--json'])
  expect(JSON.parse(made.out)).toMatchObject({ scopes: ['*'], personal_api_key: expect.stringMatching(/^phx_/) })
})

test('the version is that of the package', async () => {
  const { version } = JSON.parse(await readFile(join(import.meta.dirname, '../../../package.json'), 'utf8'))
  expect(await run(['--version'])).toEqual({ code: 0, out: `${version}\n`, err: '' })
})

test('columns of one name are all there as Arrow', async () => {
  const data = join(directory, 'arrow')
  await run(['init', '--data', data])
  const parts: Uint8Array[] = []
  const written = vi.spyOn(process.stdout, 'write').mockImplementation((part) => parts.push(part as Uint8Array) > 0)
  try {
    await run(['query', '--data', data, '--project', '1', '--format', 'arrow', "select 1 as a, 'x' as a"])
  } finally {
    written.mockRestore()
  }
  const table = tableFromIPC(Buffer.concat(parts.filter((part) => part instanceof Uint8Array)))
  expect(table.schema.fields.map(({ name }) => name)).toEqual(['a', 'a'])
  expect([table.getChildAt(0)!.get(0), table.getChildAt(1)!.get(0)]).toEqual([1, 'x'])
})

test('a statement joins the tables of a folder, and a folder that is missing is refused', async () => {
  const data = join(directory, 'attaching')
  await run(['init', '--data', data])
  const folder = join(directory, 'billing')
  await mkdir(folder)
  await writeFile(join(folder, 'plans.csv'), 'company,plan\nacme,pro\n')
  const query = (...attach: readonly string[]) =>
    run(['query', '--data', data, '--project', '1', '--format', 'csv', ...attach, 'select plan from billing.plans'])
  expect((await query('--attach', `billing=${folder}`)).out).toBe('plan\npro\n')
  expect(await query('--attach', `billing@2=${folder}`)).toMatchObject({ code: 1, err: expect.stringContaining('billing.plans') })
  expect(await query('--attach', 'billing')).toMatchObject({ code: 2, err: expect.stringContaining('--attach must be NAME=FROM') })
  expect(await query('--attach', 'billing=/nowhere')).toMatchObject({
    code: 1,
    err: expect.stringContaining('attached billing is not a folder'),
  })
})

test('a statement converts amounts by the rates of a file, and a file with a mistake is refused', async () => {
  const data = join(directory, 'currencies')
  await run(['init', '--data', data])
  const query = (rates: readonly string[]) =>
    run(['query', '--data', data, '--project', '1', '--format', 'csv', ...rates, "select convertCurrency('EUR', 'USD', 0.86) as dollars"])
  expect((await query(['--currency-rates', 'sample'])).out).toBe('dollars\n1\n')
  const file = join(directory, 'rates.json')
  await writeFile(file, '{"base": "USD", "rates": {"EUR": 0.43}}')
  expect((await query(['--currency-rates', file])).out).toBe('dollars\n2\n')
  await writeFile(file, '{"base": "USD", "rates": {"EUR": "0.43"}}')
  expect(await query(['--currency-rates', file])).toMatchObject({
    code: 1,
    err: expect.stringContaining('rates.EUR must be a number above 0'),
  })
  expect(await query([])).toMatchObject({ code: 1, err: expect.stringContaining('--currency-rates') })
})
