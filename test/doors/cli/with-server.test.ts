import type { ChildProcess } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { cp, mkdtemp, readdir, readFile, realpath, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { finish, firstLine, type Result, run, start } from './shell.ts'

// While a server owns a directory it does what commands want done there; and what commands do to a server that they are given by its address.

interface Facts {
  readonly url: string
  readonly organization_id: string
  readonly project_api_key: string
  readonly personal_api_key: string
}

let folder: string
let data: string
let server: ChildProcess
let ended: Promise<Result>
let facts: Facts
const command = (...args: string[]) => run([...args, '--data', data])

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'waymark-owned-'))
  data = join(folder, 'data')
  server = start(['serve', '--data', data, '--port', '0', '--json'])
  ended = finish(server)
  facts = JSON.parse(await firstLine(server)) as Facts
  const line = (i: number) =>
    JSON.stringify({ event: 'old', distinct_id: `u${i}`, timestamp: '2026-01-01T00:00:00Z', properties: { price: 'dear' } })
  await writeFile(join(folder, 'old.jsonl'), Array.from({ length: 30 }, (_, i) => line(i)).join('\n'))
})
afterAll(async () => {
  server.kill('SIGTERM')
  expect((await ended).code).toBe(0)
  await rm(folder, { recursive: true, force: true })
})

/** On Linux with those that it has started. */
function processesOf(pid: number): readonly number[] {
  const children = `/proc/${pid}/task/${pid}/children`
  if (!existsSync(children)) return [pid]
  return [
    pid,
    ...readFileSync(children, 'utf8')
      .split(' ')
      .filter(Boolean)
      .flatMap((child) => processesOf(Number(child))),
  ]
}

/** Files that a server writes meanwhile come and go, and would be of different moments: it stands still. */
async function copyOfData(copy: string): Promise<void> {
  const all = processesOf(server.pid!)
  for (const pid of all) process.kill(pid, 'SIGSTOP')
  try {
    await cp(data, copy, { recursive: true })
  } finally {
    for (const pid of all) process.kill(pid, 'SIGCONT')
  }
}

const count = async (event: string) =>
  JSON.parse((await command('query', '--project', '1', '--format', 'json', `select count() from events where event = '${event}'`)).out)
    .results[0][0]

test('another server, and what opens the files itself, are told who owns the directory', async () => {
  for (const args of [['serve', '--port', '0'], ['init']]) {
    const { code, err } = await command(...args)
    expect([code, err]).toEqual([1, expect.stringMatching(/^waymark: .* is in use by process \d+ since [^\n]+\n$/)])
  }
})

test('import and query go through it', async () => {
  const { code, out } = await command('import', join(folder, 'old.jsonl'), '--project', '1')
  expect([code, out.split('\n')[0]]).toEqual([0, 'Stored           30 events of 30 rows'])
  expect(await count('old')).toBe(30)
  const csv = await command('query', '--project', '1', '--format', 'csv', 'select event, count() as n from events group by event')
  expect([csv.out, csv.err]).toEqual(['event,n\nold,30\n', ''])
  for (const format of ['table', 'csv'])
    expect((await command('query', '--project', '1', '--format', format, 'select sum(properties.price) from events')).err).toMatch(
      /^Warning: Of the 30 values received for the event property "price", 30 are neither numbers nor numeric text[^\n]+\n$/,
    )
  expect(await command('query', '--project', '1', 'select nonsense from events')).toMatchObject({ code: 1, err: /nonsense/ })
  expect(await command('query', '--project', '9', 'select 1')).toMatchObject({ code: 1, err: expect.stringContaining('project 9') })
})

test('the operator proves a domain and sets what an organization may do with plugins, with the server running', async () => {
  const api = async (method: string, path: string, body?: unknown) => {
    const headers = { authorization: `Bearer ${facts.personal_api_key}`, 'content-type': 'application/json' }
    const answer = await fetch(`${facts.url}/api/organizations/${facts.organization_id}${path}`, {
      method,
      headers,
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    return (await answer.json()) as Record<string, unknown>
  }
  const made = await api('POST', '/domains/', { domain: 'acme.example', sso_enforcement: 'saml', jit_provisioning_enabled: true })
  expect(made).toMatchObject({
    is_verified: false,
    sso_enforcement: '',
    jit_provisioning_enabled: false,
    pending: { sso_enforcement: 'saml', jit_provisioning_enabled: true },
    not_enforced: [],
  })
  const list = async (what: string) => JSON.parse((await command(what, 'list', '--json')).out)
  expect(await list('domains')).toMatchObject([
    { domain: 'acme.example', organization_id: facts.organization_id, is_verified: false, verified_at: null },
  ])
  const proven = await command('domains', 'verify', 'acme.example', '--json')
  expect(JSON.parse(proven.out)).toMatchObject({ domain: 'acme.example', organization_id: facts.organization_id, is_verified: true })
  expect(await api('GET', `/domains/${made.id}/`)).toMatchObject({
    is_verified: true,
    sso_enforcement: 'saml',
    jit_provisioning_enabled: true,
    pending: null,
    not_enforced: [],
  })
  expect(await list('domains')).toMatchObject([{ is_verified: true, verified_at: expect.any(String) }])
  expect(await command('domains', 'verify', 'acme.example')).toMatchObject({
    code: 1,
    err: expect.stringContaining('already been verified'),
  })
  expect(await command('domains', 'verify', 'none.example')).toMatchObject({
    code: 1,
    err: expect.stringContaining('No organization has the domain'),
  })
  expect(await command('domains', 'verify')).toMatchObject({ code: 2 })
  const doctor = () => command('doctor')
  expect((await doctor()).out).toContain('acme.example requires saml, which is not set up')
  expect(await command('domains', 'set', 'acme.example', '--sso-enforcement', 'none')).toMatchObject({ code: 0 })
  expect((await doctor()).out).not.toContain('acme.example')
  const set = async (...args: string[]) => command('organizations', 'set', ...args)
  expect(JSON.parse((await set('--plugins-level', '3', '--json')).out)).toMatchObject({
    organization_id: facts.organization_id,
    plugins_level: 3,
  })
  expect(await api('GET', '/')).toMatchObject({ plugins_access_level: 3 })
  expect(await list('organizations')).toMatchObject([{ id: facts.organization_id, plugins_level: 3, members: 1, projects: 1 }])
  expect((await set('--organization', facts.organization_id, '--plugins-level', 'root')).code).toBe(0)
  expect(await api('GET', '/')).toMatchObject({ plugins_access_level: 9 })
  for (const wrong of ['5', 'all', '']) expect((await set('--plugins-level', wrong)).code, wrong).toBe(2)
  expect(await set('--organization', 'none', '--plugins-level', '6')).toMatchObject({
    code: 1,
    err: expect.stringContaining('There is no organization none'),
  })
})

test('it is waited for while it is too busy to answer', async () => {
  server.kill('SIGSTOP')
  setTimeout(() => server.kill('SIGCONT'), 2_200)
  expect(await count('old')).toBe(30)
})

test('views are read by commands', async () => {
  const query = { kind: 'HogQLQuery', query: "select distinct_id as who from events where event = 'old' order by who" }
  const made = await fetch(`${facts.url}/api/projects/1/warehouse_saved_queries/`, {
    method: 'POST',
    headers: { authorization: `Bearer ${facts.personal_api_key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ name: 'olds', query }),
  })
  expect(made.status).toBe(201)
  const csv = await command('query', '--project', '1', '--format', 'csv', 'select count() as n, min(who) as first from olds')
  expect([csv.out, csv.err]).toEqual(['n,first\n30,u0\n', ''])
  const out = join(folder, 'olds.csv')
  expect(await command('query', '--project', '1', '--format', 'csv', '--out', out, 'select who from olds limit 2')).toMatchObject({
    code: 0,
  })
  expect((await readFile(out, 'utf8')).split(/\r?\n/).slice(0, 3)).toEqual(['who', 'u0', 'u1'])
})

test('everything about a person is written as lines, through the server and without one', async () => {
  const copy = join(folder, 'person-copy')
  await copyOfData(copy)
  const written: string[] = []
  for (const at of [data, copy]) {
    const told = (...args: string[]) => run(['persons', 'export', ...args, '--project', '1', '--data', at])
    // What goes to the output is not collected by `run`.
    const { code, out, err } = await finish(start(['persons', 'export', 'u7', '--project', '1', '--data', at]))
    expect([code, err]).toEqual([0, ''])
    const lines = out
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line))
    expect(lines.map(({ type }) => type)).toEqual(['person', 'history', 'event'])
    expect(lines[0]).toMatchObject({ distinct_ids: ['u7'] })
    expect(lines[2]).toMatchObject({ event: 'old', distinct_id: 'u7', properties: { price: 'dear' } })
    const file = join(folder, `person-${written.length}.jsonl`)
    expect(await told(lines[0].uuid, '--out', file)).toMatchObject({ code: 0, out: expect.stringMatching(/^Wrote .*: [\d,]+ bytes\.\n$/) })
    expect(await readFile(file, 'utf8')).toBe(out)
    written.push(out)
    const none = join(folder, 'none.jsonl')
    expect(await told('nobody', '--out', none)).toMatchObject({ code: 1, err: expect.stringContaining('no person with this uuid') })
    expect(await stat(none).catch(() => null)).toBeNull()
    expect((await told()).code).toBe(2)
  }
  expect(written[1]).toBe(written[0])
  const otherProject = ['persons', 'export', 'u7', '--project', '9']
  expect(await command(...otherProject)).toMatchObject({ code: 1, err: expect.stringContaining('project 9') })
})

test('users and keys are made by it, and work at once', async () => {
  const user = await command('users', 'create', '--organization', facts.organization_id, '--email', 'ben@acme.test', '--json')
  const { personal_api_key: first } = JSON.parse(user.out)
  const key = await command('keys', 'create', '--user', 'ben@acme.test', '--label', 'laptop', '--scopes', 'query:read', '--json')
  for (const value of [first, JSON.parse(key.out).personal_api_key]) {
    const headers = { authorization: `Bearer ${value}`, 'content-type': 'application/json' }
    const body = JSON.stringify({ query: { kind: 'SqlLikeQuery', query: 'select 1' } })
    expect((await fetch(`${facts.url}/api/projects/1/query/`, { method: 'POST', headers, body })).status).toBe(200)
  }
  expect(await command('keys', 'create', '--user', 'no@one.test', '--label', 'x', '--scopes', '*')).toEqual({
    code: 1,
    out: '',
    err: 'waymark: There is no user no@one.test.\n',
  })
})

test('imports are approved through it, and by its address with a personal key; doctor says what holds', async () => {
  const imports = async () => (await command('doctor')).out.split('\n').filter((line) => line.startsWith('Imports'))
  expect(await imports()).toEqual(['Imports          project 1 (Default Project): approved, unlimited'])
  expect((await command('imports', 'approve', '--project', '1', '--total', '50', '--speed', '20')).code).toBe(0)
  expect(await imports()).toEqual([
    expect.stringMatching(
      /project 1 \(Default Project\): approved by the operator on \d{4}-\d\d-\d\d, 50 events, 20 a minute; 30 imported so far$/,
    ),
  ])
  const byAddress = (key: string, ...more: string[]) =>
    run(['imports', 'approve', '--project', '1', '--url', facts.url, '--key', key, ...more])
  expect(await byAddress(facts.personal_api_key, '--revoke')).toMatchObject({ code: 0, out: 'Imports into project 1 are limited.\n' })
  expect(await imports()).toEqual([
    expect.stringMatching(/: not approved, so limited to 20,000,000 events, 10,000 a minute; 30 imported so far; /),
  ])
  expect((await byAddress(facts.personal_api_key)).out).toBe('Imports into project 1 are approved: unlimited.\n')
  expect(await byAddress('phx_wrong')).toEqual({
    code: 1,
    out: '',
    err: `waymark: ${facts.url} refused the approval (401): Personal API key found in request Authorization header is invalid.\n`,
  })
})

test('an import by its address counts what the server stored, found there already, and dropped', async () => {
  const event = (name: string, extra: object = {}) =>
    JSON.stringify({ event: name, distinct_id: 'u', timestamp: '2026-02-01T00:00:00Z', properties: {}, ...extra })
  const file = join(folder, 'sent.jsonl')
  const large = event('large', { properties: { text: 'x'.repeat(1_100_000) } })
  await writeFile(file, [...Array.from({ length: 24 }, () => event('sent')), large, 'no line of JSON'].join('\n'))
  const send = (key: string) => run(['import', file, '--url', facts.url, '--key', key, '--json'])
  const first = JSON.parse((await send(facts.project_api_key)).out)
  expect(first).toMatchObject({ rows: 26, stored: 24, duplicates: 0, dropped: 1, unreadable: 1, warnings: { message_size_too_large: 1 } })
  expect(first.problems).toEqual([{ file: 'sent.jsonl', row: 26, problem: 'not a JSON object: no line of JSON' }])
  expect(JSON.parse((await send(facts.project_api_key)).out)).toMatchObject({ stored: 0, duplicates: 24 })
  expect(await count('sent')).toBe(24)
  expect(await send('phc_wrong')).toEqual({
    code: 1,
    out: '',
    err: `waymark: ${facts.url} refused the events (401): No project has this API key. You can find it in the settings of your project.\n`,
  })
})

test("a copy of the directory is nobody's: commands work on the copy, and the server stays with the original", async () => {
  const copy = join(folder, 'copy')
  const events = async (at: string) => {
    const { code, out, err } = await run(['query', '--data', at, '--project', '1', '--format', 'json', 'select count() from events'])
    expect([code, err]).toEqual([0, ''])
    return JSON.parse(out).results[0][0]
  }
  const before = await events(data)
  await copyOfData(copy)
  expect(await readdir(copy)).toEqual(expect.arrayContaining(['server.json', 'waymark.lock']))
  const file = join(folder, 'copied.jsonl')
  await writeFile(file, JSON.stringify({ event: 'copied', distinct_id: 'u', timestamp: '2026-01-01T00:00:00Z' }))

  const doctor = await run(['doctor', '--data', copy])
  expect(doctor).toMatchObject({
    code: 0,
    err: '',
    out: expect.stringContaining('this is a copy, made while a process had the original open'),
  })
  expect(doctor.out).not.toContain('Server')
  expect((await run(['import', file, '--data', copy, '--project', '1'])).out).toContain('Stored           1 events of 1 rows')
  expect([await events(copy), await events(data)]).toEqual([before + 1, before])
  expect(await run(['init', '--data', copy, '--json'])).toMatchObject({ code: 0, err: '' })
  expect((await command('doctor')).out).toContain(`Server           ${facts.url} has it open`)
})

test('a server whose file was left behind by a process that is no more is not asked', async () => {
  const left = join(folder, 'left')
  await run(['init', '--data', left])
  // The address of a server that answers, in the name of a process that is dead.
  const announced = JSON.parse(await readFile(join(data, 'server.json'), 'utf8'))
  const { dev, ino } = await stat(left, { bigint: true })
  const directory = { path: await realpath(left), device: String(dev), inode: String(ino) }
  await writeFile(join(left, 'server.json'), JSON.stringify({ ...announced, directory, process: { ...announced.process, started: '1' } }))
  expect((await run(['doctor', '--data', left])).out).not.toContain('Server')
  expect((await stat(join(data, 'server.json'))).mode & 0o777).toBe(0o600)
})

test('a command that fails inside the server says why', async () => {
  const file = join(folder, 'a-file')
  await writeFile(file, '')
  const { code, err } = await command('backup', join(file, 'backups'))
  expect([code, err]).toEqual([1, expect.stringMatching(/^waymark: [^\n]+ENOTDIR[^\n]+\n$/)])
})

test('compact gives space back with the server running, and says what it did', async () => {
  const before = await count('old')
  const forced = await command('compact', '--force', '--json')
  const { projects, ...total } = JSON.parse(forced.out)
  expect(projects[0]).toMatchObject({ id: 1, outcome: 'compacted' })
  expect(projects[0].bytes_after).toBe((await stat(join(data, 'projects', '1', 'store.duckdb'))).size)
  expect(total.given_back).toBe(total.bytes_before - total.bytes_after)
  const skipped = await command('compact', '--project', '1')
  expect([skipped.code, skipped.err]).toEqual([0, ''])
  expect(skipped.out).toMatch(
    /^Project 1 {8}\S.*: [\d.]+ MB, skipped: it would give back less than a tenth .*\nTotal {12}[\d.]+ MB before, [\d.]+ MB after, 0 kB given back in [\d.]+ s\n$/,
  )
  expect((await command('compact', '--project', '1', '--force')).out).toMatch(
    /^Project 1 {8}\S.*: [\d.]+ MB before, [\d.]+ MB after, \d+ kB (given back|more) in [\d.]+ s\nTotal /,
  )
  expect(await count('old')).toBe(before)
  expect(await command('compact', '--project', '9')).toMatchObject({ code: 1, err: expect.stringContaining('project 9') })
  expect(await command('compact', '--project', 'x')).toMatchObject({ code: 2, err: expect.stringContaining('--project must be the ID') })
})

test('rates and tables that are given to a command are not those of the server, and it says so', async () => {
  const result = await command('query', '--project', '1', '--currency-rates', 'sample', 'select 1')
  expect([result.code, result.err]).toEqual([0, expect.stringContaining('--currency-rates is not used')])
  const attached = await command('query', '--project', '1', '--attach', 'billing=.', 'select 1')
  expect([attached.code, attached.err]).toEqual([0, expect.stringContaining('--attach is not used')])
})
