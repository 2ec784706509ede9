import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Client, ClientError, createClient, open, type Project, type Waymark } from 'waymark'

// The typed calls of an open directory: each does what its route does, as the owner.

let folder: string
let waymark: Waymark
let project: Project
let client: Client
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'waymark-client-'))
  waymark = await open({ dataDir: join(folder, 'data'), clock: () => new Date('2026-02-01T12:00:00Z') })
  project = await waymark.createProject({ name: 'Shop' })
  client = createClient(waymark)
})
afterAll(async () => {
  await waymark.close()
  await rm(folder, { recursive: true })
})

const at = '2026-01-31T10:00:00Z'
const seen = (distinct_id: string, properties: object = {}) => ({
  event: 'seen',
  distinct_id,
  timestamp: at,
  properties: { $set: { plan: 'pro' }, ...properties },
})
const count = async (where: string) => {
  const { results } = await project.query<[number]>({ kind: 'HogQLQuery', query: `select count() from events where ${where}` })
  return results[0]![0]
}

test('a request for everything about a person is answered, and one for deletion', async () => {
  await project.ingest({ batch: [seen('gone', { page: '/a' }), seen('gone', { page: '/b' }), seen('stays')] })
  const cohort = await project.createCohort({
    name: 'Pro',
    filters: {
      properties: { type: 'OR', values: [{ type: 'AND', values: [{ type: 'person', key: 'plan', value: 'pro', operator: 'exact' }] }] },
    },
  })
  await client.persons.update(project, 'gone', { note: 'asked on paper' })
  const lines = (await text(await client.persons.everything(project, 'gone')))
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))
  expect(lines.map(({ type }) => type)).toEqual(['person', 'cohort', 'change', 'history', 'history', 'event', 'event'])
  expect(lines[0]).toMatchObject({ distinct_ids: ['gone'], properties: { plan: 'pro', note: 'asked on paper' } })
  expect(lines[1]).toMatchObject({ id: cohort.id, name: 'Pro' })
  expect(lines.slice(5).map(({ properties }) => properties.page)).toEqual(['/a', '/b'])

  await client.persons.remove(project, 'gone', { events: true })
  expect(await count("distinct_id = 'gone'")).toBe(0)
  expect(await count("distinct_id = 'stays'")).toBe(1)
  await expect(client.persons.retrieve(project, 'gone')).rejects.toMatchObject({ status: 404, code: 'not_found' })
})

test('everything about a person has the history of its properties, and its groups', async () => {
  await project.importGroups([
    { group_type: 'company', group_key: 'acme', properties: { size: 40 } },
    { group_type: 'company', group_key: 'other', properties: { size: 1 } },
  ])
  await project.ingest({
    batch: [{ ...seen('told', { $set: { plan: 'free' } }), properties: { $set: { plan: 'free' }, $groups: { company: 'acme' } } }],
  })
  await project.ingest({ batch: [seen('told', { $set: { plan: 'pro' } }), seen('alias', { $set: { age: 7 } })] })
  const other = await client.persons.retrieve(project, 'alias')
  await client.persons.merge(project, 'told', [other.uuid])
  await client.persons.update(project, 'told', { note: 'by hand' })
  const lines = (await text(await client.persons.everything(project, 'told')))
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))
  const of = (type: string) => lines.filter((line) => line.type === type)
  expect(of('group')).toEqual([{ type: 'group', index: 0, key: 'acme', created_at: expect.any(String), properties: { size: 40 } }])
  expect(of('history').map(({ properties }) => properties)).toMatchObject([
    { plan: 'free' },
    { plan: 'pro' },
    { age: 7 },
    { plan: 'pro', age: 7 },
    { plan: 'pro', age: 7, note: 'by hand' },
  ])
  // A change of a user is no event: its time is in the line `change`.
  expect(of('history').map(({ changed_at }) => changed_at)).toEqual([...Array(3).fill('2026-02-01T12:00:00.000Z'), null, null])
})

test('a history of many versions is read in pages, and all of it comes', async () => {
  const batch = Array.from({ length: 230 }, (_, i) => seen('often', { $set: { step: i } }))
  await project.ingest({ batch })
  const lines = (await text(await client.persons.everything(project, 'often')))
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))
  expect(lines.filter(({ type }) => type === 'history').map(({ properties }) => properties.step)).toEqual(batch.map((_, i) => i))
})

test('a person is deleted without its events unless they are named', async () => {
  await project.ingest({ batch: [seen('kept')] })
  await client.persons.remove(project, 'kept')
  expect(await count("distinct_id = 'kept'")).toBe(1)
})

test('persons are changed, merged and split', async () => {
  await project.ingest({ batch: [seen('m1', { $set: { a: 1 } }), seen('m2', { $set: { b: 2 } })] })
  expect((await client.persons.update(project, 'm1', { name: 'Ann' })).properties).toMatchObject({ a: 1, name: 'Ann' })
  expect((await client.persons.removeProperty(project, 'm1', 'name')).properties).not.toHaveProperty('name')
  const other = await client.persons.retrieve(project, 'm2')
  const merged = await client.persons.merge(project, 'm1', [other.uuid])
  expect([...merged.distinct_ids].sort()).toEqual(['m1', 'm2'])
  const { results } = await client.persons.list(project, { distinct_id: 'm2' })
  expect(results.map(({ uuid }) => uuid)).toEqual([merged.uuid])
  expect((await client.persons.split(project, 'm1', ['m2'])).distinct_ids).toEqual(['m1'])
})

test('settings of a project', async () => {
  expect(await client.projects.update(project, { timezone: 'Europe/Berlin', anonymize_ips: true })).toMatchObject({
    timezone: 'Europe/Berlin',
  })
  expect(await client.projects.retrieve(project.id)).toMatchObject({ name: 'Shop', anonymize_ips: true })
  await expect(client.projects.update(project, { timezone: 'Berlin' })).rejects.toBeInstanceOf(ClientError)
  const other = await waymark.createProject({ name: 'Short' })
  await client.projects.remove(other)
  await expect(waymark.project('Short')).rejects.toMatchObject({ code: 'not-found' })
})

test('projects of other organizations', async () => {
  const known = (await waymark.projects()).map(({ id }) => id)
  await waymark.createOrganization({ name: 'Customer' })
  const theirs = (await waymark.projects()).find(({ id }) => !known.includes(id))!
  await (await waymark.project(theirs.id)).ingest({ batch: [seen('of a customer')] })
  expect(await client.projects.update(theirs, { name: 'Theirs' })).toMatchObject({ name: 'Theirs', effective_membership_level: 15 })
  await client.persons.remove(theirs, 'of a customer', { events: true })
  expect((await client.persons.list(theirs)).count).toBe(0)
  const query = { kind: 'TrendsQuery', series: [{ kind: 'EventsNode', event: 'seen' }] }
  expect(await client.insights.create(theirs, { name: 'Kept', query })).toMatchObject({ name: 'Kept' })
})

test('insights and dashboards', async () => {
  const query = { kind: 'TrendsQuery', series: [{ kind: 'EventsNode', event: 'seen' }] }
  const board = await client.dashboards.create(project, { name: 'Board' })
  const insight = await client.insights.create(project, { name: 'Seen', query, dashboards: [board.id] })
  expect((await client.insights.retrieve(project, insight.id)).result).not.toBeNull()
  expect((await client.dashboards.retrieve(project, board.id)).tiles).toHaveLength(1)
  expect(await client.insights.update(project, insight.short_id, { name: 'Seen again' })).toMatchObject({ name: 'Seen again' })
  await client.insights.remove(project, insight.id)
  expect((await client.insights.list(project)).results).toEqual([])
  const properties = [{ key: 'plan', type: 'person', operator: 'exact', value: ['pro'] }]
  const filters = await client.savedFilters.create(project, { name: 'Paying', properties })
  expect((await client.savedFilters.update(project, filters.id, { name: 'Customers' })).properties).toEqual(properties)
  expect((await client.savedFilters.list(project)).results.map(({ name }) => name)).toEqual(['Customers'])
  await client.savedFilters.remove(project, filters.id)
  expect((await client.savedFilters.list(project)).count).toBe(0)
  await client.dashboards.remove(project, board.id)
  expect((await client.dashboards.list(project)).results.map(({ name }) => name)).not.toContain('Board')
})

test('batch exports', async () => {
  const made = await client.batchExports.create(project, {
    name: 'None',
    interval: 'hour',
    destination: { type: 'NoOp', config: {} },
  })
  expect(await client.batchExports.pause(project, made.id)).toMatchObject({ paused: true })
  expect(await client.batchExports.update(project, made.id, { name: 'Still none' })).toMatchObject({ name: 'Still none' })
  expect((await client.batchExports.list(project)).results.map(({ name }) => name)).toEqual(['Still none'])
  await client.batchExports.remove(project, made.id)
  await expect(client.batchExports.retrieve(project, made.id)).rejects.toMatchObject({ status: 404 })
})

test('rows as a file, and files as events', async () => {
  const csv = await text(await client.download(project, { kind: 'HogQLQuery', query: 'select 1 as a, 2 as b' }, 'csv'))
  expect(csv.trim().split(/\r?\n/)).toEqual(['a,b', '1,2'])
  const file = join(folder, 'events.jsonl')
  const rows = [1, 2, 3].map((i) => ({ event: 'imported', distinct_id: `f${i}`, timestamp: at }))
  await writeFile(file, [...rows, { event: '', distinct_id: '' }].map((row) => JSON.stringify(row)).join('\n'))
  const seenRows: number[] = []
  const summary = await client.importFiles(project, file, { onProgress: ({ rows: done }) => seenRows.push(done) })
  expect(summary).toMatchObject({ stored: 3, unreadable: 1 })
  expect(seenRows.at(-1)).toBe(4)
  expect(await client.importFiles(project, file)).toMatchObject({ stored: 0 })
  expect(await count("event = 'imported'")).toBe(3)
})

test('what a route refuses has the fields of an error', async () => {
  const refusal = client.insights.create(project, {
    name: 'Bad',
    query: { kind: 'TrendsQuery', series: [{ kind: 'EventsNode', event: 'x', math: 'no' }] },
  })
  await expect(refusal).rejects.toMatchObject({
    name: 'ClientError',
    status: 400,
    attr: expect.stringContaining('query'),
    detail: expect.any(String),
  })
})
