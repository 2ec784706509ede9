import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { open, toNodeHandler, type Waymark } from '../src/index.ts'

// The library as a program uses it, beside events and queries themselves.

let waymark: Waymark
beforeAll(async () => {
  waymark = await open({ dataDir: ':memory:', threads: 1, clock: () => new Date('2026-02-01T12:00:00Z') })
})
afterAll(() => waymark.close())

test('a project is found by its name or made, once, however many ask at the same time', async () => {
  const [a, b] = await Promise.all(['Europe/Berlin', 'UTC'].map((timezone) => waymark.findOrCreateProject({ name: 'Shop', timezone })))
  expect(a!.id).toBe(b!.id)
  expect((await waymark.project('Shop')).id).toBe(a!.id)
  expect(await waymark.projects()).toEqual([
    { id: a!.id, name: 'Shop', timezone: 'Europe/Berlin', token: a!.token, created_at: new Date('2026-02-01T12:00:00Z') },
  ])
  await expect(waymark.project('Shpo')).rejects.toMatchObject({ code: 'not-found' })
})

test('options are known by name', async () => {
  const project = await waymark.findOrCreateProject({ name: 'Shop' })
  const refused = (work: Promise<unknown>, attr: string, likely: string) =>
    expect(work).rejects.toMatchObject({ code: 'validation-failed', attr, detail: expect.stringContaining(`Did you mean "${likely}"?`) })
  await refused(open({ dataDir: ':memory:', memoryLimt: 1 } as never), 'memoryLimt', 'memoryLimit')
  await refused(open({ dataDir: ':memory:', logRetention: { day: 1 } } as never), 'day', 'days')
  await refused(waymark.createProject({ nmae: 'x' } as never), 'nmae', 'name')
  await refused(waymark.createPersonalKey({ label: 'x', scope: ['*'] } as never), 'scope', 'scopes')
  await refused(project.importPersons([{ distinct_ids: ['u'], propertis: {} } as never]), '0__propertis', 'properties')
  await refused(project.importGroups([{ group_type: 'company', group_key: 'a', proprties: {} } as never]), '0__proprties', 'properties')
  await refused(
    project.importGroups([], { group_types: [{ group_type: 'company', group_type_idx: 1 } as never] }),
    'group_types__0__group_type_idx',
    'group_type_index',
  )
  await refused(project.definePropertyTypes([{ name: 'price', property_type: 'Numeric', typ: 'event' } as never]), '0__typ', 'type')
  const query = { kind: 'SqlLikeQuery', query: 'select 1' } as const
  await refused(project.query(query, { refrsh: true } as never), 'refrsh', 'refresh')
  await refused(project.query(query, { rows: { defaultRow: 1 } } as never), 'rows__defaultRow', 'defaultRows')
  await refused(project.queryArrow(query, { signl: 1 } as never), 'signl', 'signal')
  await refused(project.queryArrowBatches(query, { signl: 1 } as never).next(), 'signl', 'signal')
  await expect(project.query(query, { rows: { defaultRows: 1 } } as never)).rejects.toThrow(/rows\.mostRows must be a whole number from 0/)
})

test.each<[object, string, RegExp]>([
  [{ timezone: 'Europe/Berln' }, 'timezone', /"Europe\/Berln" is not a valid choice\. Did you mean: Europe\/Berlin/],
  [{ timezone: 'Berlin' }, 'timezone', /Did you mean: Europe\/Berlin\?/],
  [{ week_start_day: 7 }, 'week_start_day', /Choose one of 0, 1\./],
  [{ base_currency: 'EURO' }, 'base_currency', /Did you mean: EUR\?/],
  [{ path_cleaning_filters: [{ regx: 'x' }] }, 'path_cleaning_filters__0__regx', /Did you mean "regex"\?/],
])('a value of an option that cannot be chosen: %j', async (settings, attr, words) => {
  const error = await waymark.createProject(settings as never).catch((error: Error) => error)
  expect(error).toMatchObject({ code: 'invalid-value', attr, message: expect.stringMatching(words) })
})

test('other values that cannot be chosen', async () => {
  const project = await waymark.findOrCreateProject({ name: 'Shop' })
  const query = { kind: 'SqlLikeQuery', query: 'select 1' } as const
  await expect(project.query(query, { refresh: 'blok' as never })).rejects.toThrow(
    /refresh must be one of true, false, blocking, .*, but got "blok"\./,
  )
  await expect(waymark.createPersonalKey({ label: 'x', scopes: ['zzz'] as never })).rejects.toThrow(/Choose one of \*, .*query:read/)
  await expect(waymark.findOrCreateProject({ name: 'Shop', timezon: 'UTC' } as never)).rejects.toMatchObject({ attr: 'timezon' })
  await expect(project.importGroups([], { group_type: [] } as never)).rejects.toMatchObject({ attr: 'group_type' })
  await expect(project.definePropertyTypes([{ name: 'a', property_type: 'Number' }] as never)).rejects.toThrow(/Numeric/)
})

test('values of a tagged statement are parameters, whatever they hold', async () => {
  const project = await waymark.findOrCreateProject({ name: 'Shop' })
  const names = ["o'neill", "'; drop table events; --", '{v1}', '\\', 'ü😀']
  await project.ingest(names.map((event, i) => ({ event, distinct_id: 'u', timestamp: new Date(Date.UTC(2026, 0, 1 + i)) })))
  for (const name of names) {
    const { results } = await project.sql<
      [string, number]
    >`select event, count() from events where event = ${name} and event in ${[name, 'x']} group by event`
    expect(results).toEqual([[name, 1]])
  }
  const { results } = await project.sql`select count() from events where timestamp >= ${new Date('2026-01-02')} and ${null} is null`
  expect(results).toEqual([[names.length - 1]])
})

test('calls that are nearly right say how they are written', async () => {
  const project = await waymark.createProject()
  const message = (call: () => Promise<unknown>) => call().then(String, (error: Error) => error.message)
  expect(await message(() => project.query('select 1' as never))).toMatch(
    /A query must be an object with a kind.*SqlLikeQuery.*TrendsQuery/,
  )
  expect(await message(() => project.sql('select 1' as never))).toMatch(/without parentheses.*project\.query/)
})

test('a query inside the node that says how it is shown is answered, as over HTTP', async () => {
  const project = await waymark.findOrCreateProject({ name: 'Shop' })
  const source = { kind: 'SqlLikeQuery', query: 'select 1 as one' } as const
  const shown = { kind: 'DataTableNode', full: true, source: { kind: 'DataVisualizationNode', source } } as const
  expect(await project.query(shown)).toMatchObject({ results: [[1]] })
  expect((await project.queryArrow(shown)).numRows).toBe(1)
  await expect(project.query({ ...shown, source: undefined } as never)).rejects.toMatchObject({ code: 'validation-failed', attr: 'source' })
  for (const kind of ['LogsQuery', 'TrendQuery'])
    await expect(project.query({ kind } as never)).rejects.toThrow(/Known kinds: .*ActorsQuery, .*DataTableNode, .*InsightVizNode/)
})

test.each([
  ['a field', (name: string) => `select ${name} from events`],
  ['a table', (name: string) => `select 1 from ${name}`],
  ['a function', (name: string) => `select ${name}(1)`],
  ['a placeholder', (name: string) => `select {${name}}`],
])('%s of a hundred thousand letters is not repeated whole', async (_, statement) => {
  const project = await waymark.createProject()
  const error: Error = await project.query({ kind: 'SqlLikeQuery', query: statement('x'.repeat(100_000)) }).then(
    () => new Error('it was answered'),
    (error) => error,
  )
  expect(error.message).toContain('x…')
  expect(error.message.length).toBeLessThan(400)
})

test('a Node handler serves the API with a key of the library, also below a path', async () => {
  const project = await waymark.findOrCreateProject({ name: 'Shop' })
  const { key } = await waymark.createPersonalKey({ label: 'test', scopes: ['query:read'] })
  const started = async (at: string): Promise<{ server: Server; url: string }> => {
    const handle = toNodeHandler(waymark, { at })
    const server = createServer((request, response) => void handle(request, response))
    await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready))
    return { server, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}${at}` }
  }
  for (const at of ['', '/analytics']) {
    const { server, url } = await started(at)
    const sent = await fetch(`${url}/capture/`, {
      method: 'POST',
      body: JSON.stringify({ api_key: project.token, event: `sent to ${at}/`, distinct_id: 'u' }),
    })
    expect(sent.status).toBe(200)
    const asked = await fetch(`${url}/api/projects/${project.id}/query/`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ query: { kind: 'HogQLQuery', query: `select count() from events where event = 'sent to ${at}/'` } }),
    })
    expect(await asked.json()).toMatchObject({ results: [[1]] })
    await new Promise((closed) => server.close(closed))
  }
})
