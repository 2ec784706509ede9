import { once } from 'node:events'
import { cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterEach, beforeAll, describe, expect, test } from 'vitest'
import type * as engine from '../../../src/engine.ts'
import type { LocalWaymark, OpenOptions } from '../../../src/engine.ts'
import type { LocalProject } from '../../../src/project.ts'
import { type Served, startServe } from '../../clients/served.ts'
import { runPlugin } from '../../harness/plugin-rows.ts'
import { program } from '../../harness/programs.ts'

// Visitors without cookies: the process with the log has the salts, the engine in another one has what visitors did.

let open: typeof engine.open
beforeAll(async () => {
  open = ((await import(pathToFileURL(program('engine')).href)) as typeof engine).open
})

const opened: LocalWaymark[] = []
const folders: string[] = []
const folder = () => {
  const made = mkdtempSync(join(tmpdir(), 'waymark-cookieless-'))
  folders.push(made)
  return made
}
let now = new Date()
const start = async (dataDir: string, options: Partial<OpenOptions> = {}): Promise<LocalWaymark> => {
  const waymark = await open({
    dataDir,
    threads: 2,
    memoryLimit: '256MB',
    minFreeBytes: 0,
    clock: () => now,
    onError: () => {},
    ...options,
  })
  opened.push(waymark)
  return waymark
}
const end = async (waymark: LocalWaymark) => {
  opened.splice(opened.indexOf(waymark), 1)
  await waymark.close()
}
afterEach(async () => {
  for (const waymark of opened.splice(0)) await waymark.close()
  for (const one of folders.splice(0)) rmSync(one, { recursive: true, force: true })
  now = new Date()
})

const office = { ip: '203.0.113.7', userAgent: 'Firefox' }
const home = { ip: '198.51.100.4', userAgent: 'Firefox' }
const killEngine = (waymark: LocalWaymark) =>
  process.kill((waymark as unknown as { parts: { backends: { engine: { pid: number } } } }).parts.backends.engine.pid, 'SIGKILL')
const rows = async (project: LocalProject, query: string) =>
  (await project.query({ kind: 'SqlLikeQuery', query } as const, { refresh: 'force_blocking' })).results as unknown[][]
const see = (project: LocalProject, event: string, from: typeof office, change: object = {}) =>
  project.ingest(
    {
      event,
      distinct_id: '$posthog_cookieless',
      properties: { $cookieless_mode: true, $host: 'shop.example', $current_url: 'https://shop.example/', $raw_user_agent: from.userAgent },
      ...change,
    },
    from,
  )
const identify = (project: LocalProject, id: string, from: typeof office) =>
  see(project, '$identify', from, {
    distinct_id: id,
    properties: {
      $cookieless_mode: true,
      $host: 'shop.example',
      $anon_distinct_id: '$posthog_cookieless',
      $set: { email: `${id}@example.org` },
    },
  })
const visits = (project: LocalProject) =>
  rows(project, 'select event, distinct_id, person_id, $session_id from events order by timestamp, event')
const fewMinutes = () => {
  now = new Date(now.getTime() + 60_000)
}
const noon = new Date('2026-02-03T12:00:00Z')

describe.each([
  ['two processes', true],
  ['one process', false],
])('%s', (_, isolate) => {
  test('a visitor stays one after a restart, and after the engine was killed; another is another', async () => {
    now = noon
    const dataDir = folder()
    let waymark = await start(dataDir, { isolate })
    let project = await waymark.createProject({ name: 'shop' })
    await see(project, 'a', office)
    fewMinutes()
    await see(project, 'b', home)
    fewMinutes()
    await identify(project, 'ada', office)
    await end(waymark)
    waymark = await start(dataDir, { isolate })
    project = await waymark.project(project.id)
    fewMinutes()
    await see(project, 'c', office)
    if (isolate) {
      await visits(project)
      killEngine(waymark)
    }
    fewMinutes()
    await see(project, 'd', office)
    fewMinutes()
    await see(project, 'e', home)
    const found = await visits(project)
    const [a, b, identified, c, d, e] = found.map(([, id, person, session]) => ({ id, person, session })) as [Row, Row, Row, Row, Row, Row]
    expect(found.map(([event]) => event)).toEqual(['a', 'b', '$identify', 'c', 'd', 'e'])
    expect([a.person, b, c.id]).toEqual([identified.person, { ...e }, d.id])
    expect(a.session).toBe(identified.session)
    expect(new Set([a, b, c].map(({ person }) => person)).size).toBe(3)
    expect(await rows(project, 'select count() from sessions')).toEqual([[3]])
    expect(
      await rows(project, 'select count() from events where properties.$ip is not null or properties.$raw_user_agent is not null'),
    ).toEqual([[0]])
    expect(await project.warnings()).toEqual([])
  })

  test('a store that is made again from the log has the same visitors', async () => {
    now = noon
    const dataDir = folder()
    let waymark = await start(dataDir, { isolate })
    const made = await waymark.createProject({ name: 'shop' })
    for (const from of [office, home, office]) {
      await see(made, 'seen', from)
      await identify(made, from === office ? 'ada' : 'bob', from)
      fewMinutes()
    }
    const before = await visits(made)
    expect(new Set(before.map(([, , person]) => person)).size).toBe(2)
    expect(before.map(([, id]) => id)).not.toContain('$posthog_cookieless')
    await end(waymark)
    const store = join(dataDir, 'projects', String(made.id), 'store.duckdb')
    for (const file of [store, `${store}.wal`]) rmSync(file, { force: true })
    waymark = await start(dataDir, { isolate })
    expect(await visits(await waymark.project(made.id))).toEqual(before)
  })

  test('plugins see the hash, and what they add of an address is not stored', async () => {
    now = noon
    const waymark = await start(folder(), { isolate })
    const project = await waymark.createProject({ name: 'shop' })
    await runPlugin(
      waymark,
      project.id,
      `export function processEvent(event) {
        event.properties.seen = JSON.stringify([event.distinct_id, event.ip, event.properties.$ip ?? null, event.$cookieless ?? null])
        event.properties.$ip = '192.0.2.99'
        event.properties.$set = { ...event.properties.$set, $raw_user_agent: 'put back' }
        return event
      }`,
    )
    await see(project, 'a', office)
    await see(project, 'b', home)
    await identify(project, 'ada', home)
    const found = await rows(
      project,
      'select event, distinct_id, properties.seen, properties.$ip, properties.$set from events order by event',
    )
    expect(found.map(([, , , ip]) => ip)).toEqual([null, null, null])
    expect(JSON.stringify(found)).not.toMatch(/put back|192\.0\.2\.99|203\.0\.113/)
    const ids = found.map(([, id]) => id)
    expect(found.map(([, , seen]) => JSON.parse(seen as string))).toEqual([
      ['ada', null, null, null],
      [ids[1], null, null, null],
      [ids[2], null, null, null],
    ])
    expect(new Set((await visits(project)).map(([, , person]) => person)).size).toBe(2)
  })
})

type Row = { readonly id: unknown; readonly person: unknown; readonly session: unknown }

test('salts are in a folder of their own, which backups leave out, and are erased after three days', async () => {
  now = noon
  const dataDir = folder()
  const waymark = await start(dataDir)
  const project = await waymark.createProject({ name: 'shop' })
  await project.ingest({ event: 'plain', distinct_id: 'u' })
  const salts = join(dataDir, 'cookieless')
  expect(existsSync(salts)).toBe(false)
  await see(project, 'a', office)
  expect(readdirSync(salts).sort()).toEqual(['CACHEDIR.TAG', 'salts.json'])
  expect(readFileSync(join(salts, 'CACHEDIR.TAG'), 'utf8')).toMatch(/^Signature: 8a477f597d28d172789f06886806bc55\n/)
  expect([statSync(salts).mode & 0o077, statSync(join(salts, 'salts.json')).mode & 0o077]).toEqual([0, 0])
  const days = () => Object.keys(JSON.parse(readFileSync(join(salts, 'salts.json'), 'utf8')) as object)
  const today = Date.parse('2026-02-03') / 86_400_000
  expect(days()).toEqual([String(today)])
  await end(waymark)
  const all = readdirSync(dataDir, { recursive: true, withFileTypes: true }).filter((one) => one.isFile() && one.name !== 'salts.json')
  const [salt] = Object.values(JSON.parse(readFileSync(join(salts, 'salts.json'), 'utf8')) as Record<string, string>)
  for (const { parentPath, name } of all) {
    const bytes = readFileSync(join(parentPath, name))
    for (const secret of [Buffer.from(salt!), Buffer.from(salt!, 'base64'), Buffer.from(office.ip), Buffer.from('Firefox')])
      expect(bytes.includes(secret), `${name} has ${secret.toString()}`).toBe(false)
  }
  now = new Date(noon.getTime() + 3 * 86_400_000 + 1)
  await start(dataDir)
  expect(days()).toEqual([])
})

test('a visitor stays one when the whole server is killed within the day', async () => {
  const dataDir = folder()
  const send = async ({ url, projectKey }: Served, event: string, agent: string) => {
    const properties = { $cookieless_mode: true, $host: 'shop.example' }
    const response = await fetch(`${url}/e/`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'user-agent': agent },
      body: JSON.stringify({ api_key: projectKey, event, distinct_id: '$posthog_cookieless', properties }),
    })
    expect(response.status).toBe(200)
  }
  const first = await startServe({ dataDir })
  await send(first, 'a', 'Firefox')
  await send(first, 'b', 'Chrome')
  first.process.kill('SIGKILL')
  await once(first.process, 'exit')
  const second = await startServe({ dataDir, personalKey: first.personalKey })
  try {
    await send(second, 'c', 'Firefox')
    await send(second, 'd', 'Chrome')
    const [a, b, c, d] = (await second.rows('select event, distinct_id, $session_id from events order by event')).map((row) => row.slice(1))
    expect([c, d]).toEqual([a, b])
    expect(a).not.toEqual(b)
  } finally {
    await second.stop()
  }
})

test('a copy of a directory that is in use does not have the salts', async () => {
  now = noon
  const dataDir = folder()
  const copy = folder()
  const waymark = await start(dataDir)
  const project = await waymark.createProject({ name: 'shop' })
  await see(project, 'a', office)
  const [[, original] = []] = await visits(project)
  cpSync(dataDir, copy, { recursive: true })
  const copied = await start(copy)
  const again = await copied.project(project.id)
  await see(again, 'b', office)
  const [[, first] = [], [, second] = []] = await visits(again)
  expect([first === original, second === original]).toEqual([true, false])
})
