import type { ChildProcess } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { difference, numbersIn } from '../../../src/doors/cli/definitions/compare.ts'
import { runCommand } from '../../../src/doors/cli/run.ts'
import { finish, firstLine, type Result, start } from './shell.ts'

// Definitions are copied from one real project into another, and from a server that answers as PostHog does.

interface Facts {
  readonly url: string
  readonly organization_id: string
  readonly project_id: number
  readonly personal_api_key: string
}
type Row = Readonly<Record<string, unknown>>

let folder: string
let server: ChildProcess
let ended: Promise<Result>
let facts: Facts
let source: number
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'waymark-definitions-'))
  server = start(['serve', '--data', join(folder, 'data'), '--port', '0', '--json', '--api-limit', '100000'])
  ended = finish(server)
  facts = JSON.parse(await firstLine(server)) as Facts
  source = await newProject('Shop')
  await fill(source)
}, 60_000)
afterAll(async () => {
  server.kill('SIGTERM')
  expect((await ended).code).toBe(0)
  await rm(folder, { recursive: true, force: true })
})

let files = 0
let target: number
let state: string
beforeEach(async () => {
  target = await newProject(`Copy ${++files}`)
  state = join(folder, `state-${files}.json`)
})

async function call(method: string, path: string, body?: object): Promise<Row> {
  const answer = await fetch(new URL(path, facts.url), {
    method,
    headers: { authorization: `Bearer ${facts.personal_api_key}`, 'content-type': 'application/json' },
    ...(body && { body: JSON.stringify(body) }),
  })
  const text = await answer.text()
  if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${text}`)
  return text === '' ? {} : (JSON.parse(text) as Row)
}
const newProject = async (name: string) =>
  Number((await call('POST', `/api/organizations/${facts.organization_id}/projects/`, { name })).id)
const of = (project: number, path: string) => `/api/projects/${project}/${path}`
const rowsOf = async (project: number, path: string): Promise<readonly Row[]> => (await call('GET', of(project, path))).results as Row[]

const trends = (series: object, more: object = {}) => ({
  kind: 'InsightVizNode',
  source: { kind: 'TrendsQuery', dateRange: { date_from: '2026-01-01', date_to: '2026-01-05' }, series: [series], ...more },
})

/** An action of a cohort and a cohort of an action, and what uses both. */
async function fill(project: number): Promise<void> {
  const { api_token: token } = await call('GET', of(project, ''))
  await call('POST', '/batch/', {
    api_key: token,
    historical_migration: true,
    batch: Array.from({ length: 40 }, (_, i) => ({
      event: i % 4 === 0 ? 'purchase' : 'visit',
      distinct_id: `u${i % 7}`,
      timestamp: `2026-01-0${1 + (i % 5)}T10:00:00Z`,
      properties: { $set: { plan: i % 2 === 0 ? 'pro' : 'free' } },
    })),
  })
  const pro = await call('POST', of(project, 'cohorts/'), {
    name: 'Pro',
    filters: { properties: { type: 'AND', values: [{ type: 'person', key: 'plan', operator: 'exact', value: ['pro'] }] } },
  })
  const bought = await call('POST', of(project, 'actions/'), {
    name: 'Bought as pro',
    tags: ['money'],
    steps: [{ event: 'purchase', properties: [{ type: 'cohort', key: 'id', value: pro.id }] }],
  })
  const buyers = await call('POST', of(project, 'cohorts/'), {
    name: 'Buyers',
    filters: {
      properties: {
        type: 'AND',
        values: [
          { type: 'behavioral', key: bought.id, event_type: 'actions', value: 'performed_event', time_value: 365, time_interval: 'day' },
          { type: 'cohort', key: 'id', value: pro.id },
        ],
      },
    },
  })
  await call('POST', of(project, 'cohorts/'), { name: 'Chosen', is_static: true, distinct_ids: ['u1', 'u3'] })
  await call('POST', of(project, 'feature_flags/'), {
    key: 'new-checkout',
    tags: ['money'],
    name: 'For buyers',
    active: true,
    filters: { groups: [{ properties: [{ type: 'cohort', key: 'id', value: buyers.id }], rollout_percentage: 50 }] },
  })
  const count = await call('POST', of(project, 'insights/'), {
    name: 'Purchases of pros',
    favorited: true,
    tags: ['weekly'],
    query: trends({ kind: 'ActionsNode', id: bought.id, name: 'Bought as pro' }),
  })
  const split = await call('POST', of(project, 'insights/'), {
    name: 'Visits by cohort',
    query: trends({ kind: 'EventsNode', event: 'visit' }, { breakdownFilter: { breakdown_type: 'cohort', breakdown: [pro.id, 'all'] } }),
  })
  const board = await call('POST', of(project, 'dashboards/'), {
    name: 'Shop',
    pinned: true,
    filters: { date_from: '-30d' },
    tiles: [{ text: { body: '# Growth' } }, { insight: count.id, color: 'blue' }, { insight: split.id }],
  })
  await call('POST', of(project, 'annotations/'), {
    content: 'Version 2',
    date_marker: '2026-01-03T10:00:00Z',
    scope: 'dashboard_item',
    dashboard_item: count.id,
  })
  await call('POST', of(project, 'annotations/'), {
    content: 'On the board',
    date_marker: '2026-01-04T00:00:00Z',
    scope: 'dashboard',
    dashboard_id: board.id,
  })
  await call('PATCH', of(project, 'event_definitions/purchase/'), { description: 'Paid for', tags: ['money'], verified: true })
}

const command = async (...args: string[]) => {
  const [lines, errors]: [string[], string[]] = [[], []]
  const code = await runCommand(
    ['definitions', 'import', ...args],
    {},
    { out: (line) => lines.push(line), err: (line) => errors.push(line) },
  )
  return { code, text: lines.join('\n'), errors: errors.join('\n') }
}
const copy = (...more: string[]) =>
  command(
    ...['--source', facts.url, '--source-key', facts.personal_api_key, '--source-project', String(source)],
    ...['--url', facts.url, '--key', facts.personal_api_key, '--project', String(target), '--state', state, ...more],
  )

const whole = `actions: 1 made
cohorts: 3 made
feature flags: 1 made
insights: 2 made
dashboards: 2 made
annotations: 2 made
descriptions of events and properties: 0
described, but not seen here yet: purchase. Import their events, and run this again.`

test('people come with their ids, properties and times, also those without events, before the cohorts that name them', async () => {
  const before = (await rowsOf(source, 'persons/')).length
  await call('POST', of(source, 'persons/import/'), {
    persons: [
      {
        distinct_ids: ['crm-1', 'crm-1-phone'],
        properties: { name: 'Ida', seats: 3 },
        created_at: '2020-05-01T00:00:00Z',
        is_identified: true,
      },
    ],
  })
  const shown = async (project: number) =>
    (await rowsOf(project, 'persons/?limit=100'))
      .map(({ distinct_ids, properties, created_at, is_identified }) => ({ distinct_ids, properties, created_at, is_identified }))
      .sort((a, b) => (String(a.distinct_ids) < String(b.distinct_ids) ? -1 : 1))
  const dry = await copy('--people', '--dry-run')
  expect(dry.text).toContain(`people: ${before + 1} would be made\n`)
  expect(await rowsOf(target, 'persons/')).toEqual([])
  const first = await copy('--people')
  expect(first).toMatchObject({ code: 0, text: `people: ${before + 1} made, or known already\n${whole}` })
  expect(await shown(target)).toEqual(await shown(source))
  const chosen = (await rowsOf(target, 'cohorts/')).find(({ name }) => name === 'Chosen')!
  expect((await rowsOf(target, `cohorts/${String(chosen.id)}/persons/`)).length).toBe(2)
  expect((await copy('--people')).text).toContain(`people: ${before + 1} made, or known already\n`)
  expect(await shown(target)).toEqual(await shown(source))
})

test('all of a project is made once, with the ids of the new one', async () => {
  expect(await copy()).toMatchObject({ code: 0, text: whole })
  const cohorts = new Map((await rowsOf(target, 'cohorts/')).map((row) => [row.name, row]))
  const [action] = await rowsOf(target, 'actions/')
  const [flag] = await rowsOf(target, 'feature_flags/')
  expect(flag).toMatchObject({ tags: ['money'] })
  const insights = new Map((await rowsOf(target, 'insights/')).map((row) => [row.name, row]))
  const boardId = (await rowsOf(target, 'dashboards/')).find(({ name }) => name === 'Shop')!.id
  const board = await call('GET', of(target, `dashboards/${String(boardId)}/`))
  const annotations = await rowsOf(target, 'annotations/')
  const pro = cohorts.get('Pro')!.id
  expect(action).toMatchObject({ tags: ['money'], steps: [{ event: 'purchase', properties: [{ type: 'cohort', value: pro }] }] })
  expect(cohorts.get('Buyers')).toMatchObject({
    filters: {
      properties: {
        values: [
          { key: action!.id, event_type: 'actions' },
          { type: 'cohort', value: pro },
        ],
      },
    },
  })
  expect(flag).toMatchObject({
    key: 'new-checkout',
    filters: { groups: [{ properties: [{ value: cohorts.get('Buyers')!.id }], rollout_percentage: 50 }] },
  })
  expect(insights.get('Purchases of pros')).toMatchObject({
    favorited: true,
    tags: ['weekly'],
    query: { source: { series: [{ kind: 'ActionsNode', id: action!.id }] } },
  })
  expect(insights.get('Visits by cohort')).toMatchObject({ query: { source: { breakdownFilter: { breakdown: [pro, 'all'] } } } })
  expect(board).toMatchObject({ name: 'Shop', pinned: true, filters: { date_from: '-30d' } })
  expect(
    (board.tiles as { insight: Row | null; text: { body: string } | null; color: string | null }[]).map(
      (tile) => tile.insight?.id ?? tile.text?.body,
    ),
  ).toEqual(['# Growth', insights.get('Purchases of pros')!.id, insights.get('Visits by cohort')!.id])
  expect(annotations.map(({ content, dashboard_item, dashboard_id }) => [content, dashboard_item, dashboard_id]).sort()).toEqual([
    ['On the board', null, boardId],
    ['Version 2', insights.get('Purchases of pros')!.id, null],
  ])
  const again = await copy()
  expect(again.text.split('\n').slice(0, 6)).toEqual([
    'actions: 0 made, 1 made before',
    'cohorts: 0 made, 3 made before',
    'feature flags: 0 made, 1 made before',
    'insights: 0 made, 2 made before',
    'dashboards: 0 made, 2 made before',
    'annotations: 0 made, 2 made before',
  ])
  expect(await rowsOf(target, 'insights/')).toHaveLength(2)
})

test('a run that was stopped goes on, also where it did not note its last record', async () => {
  await copy()
  const all = JSON.parse(await readFile(state, 'utf8')) as { made: Record<string, object> }
  await writeFile(state, JSON.stringify({ ...all, made: { ...all.made, insights: {}, dashboards: {}, annotations: {} } }))
  expect((await copy()).text).toContain('insights: 2 made\ndashboards: 2 made\nannotations: 2 made')
  for (const [path, count] of [
    ['insights/', 2],
    ['dashboards/', 3],
    ['annotations/', 2],
  ] as const)
    expect(await rowsOf(target, path)).toHaveLength(count)
})

test('a dry run writes nothing, and says the same', async () => {
  expect(await copy('--dry-run')).toMatchObject({
    code: 0,
    text: `${whole.split('\n').slice(0, 6).join('\n').replaceAll(' made', ' would be made')}\ndescriptions of events and properties: 1 would be written`,
  })
  for (const path of ['cohorts/', 'actions/', 'insights/', 'annotations/']) expect(await rowsOf(target, path)).toEqual([])
  expect(await rowsOf(target, 'dashboards/')).toHaveLength(1) // that of every new project
  await expect(readFile(state)).rejects.toThrow('ENOENT')
})

test('answers are compared: with other events they differ, with the same ones they are equal', async () => {
  const text = (await copy('--compare', '5')).text
  expect(text).toContain('Purchases of pros: 5 of 6 numbers differ (')
  expect(text).toContain('compared: 2 insights, 0 with equal numbers')
  const { api_token: token } = await call('GET', of(target, ''))
  const { results } = await call('POST', of(source, 'query/'), {
    query: {
      kind: 'SqlLikeQuery',
      query: 'select event, distinct_id, toString(timestamp), person.properties.plan from events order by timestamp limit 100',
    },
  })
  await call('POST', '/batch/', {
    api_key: token,
    historical_migration: true,
    batch: (results as string[][]).map(([event, distinct_id, timestamp, plan]) => ({
      event,
      distinct_id,
      timestamp,
      properties: { $set: { plan } },
    })),
  })
  const after = (await copy('--compare', '5')).text
  expect(after).toContain('descriptions of events and properties: 1')
  expect(after).toContain('compared: 2 insights, 2 with equal numbers')
  expect(await call('GET', of(target, 'event_definitions/purchase/'))).toMatchObject({
    description: 'Paid for',
    tags: ['money'],
    verified: true,
  })
})

/** Lists of PostHog's API: absolute addresses of next pages, deleted rows, older ways to write insights and cohorts, kinds that nobody else has. */
async function posthog(
  lists: Readonly<Record<string, readonly object[]>>,
  asked: string[] = [],
): Promise<{ readonly url: string; close(): Promise<void> }> {
  const server: Server = createServer((request, response) => {
    asked.push(`${request.method} ${request.url} ${request.headers.authorization}`)
    const url = new URL(request.url!, 'http://here')
    const path = url.pathname.replace(/^\/api\/projects\/[^/]*\//, '')
    const answer = (status: number, body: object) =>
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
    if (path === '') return answer(200, { id: 7, name: 'Theirs' })
    const rows = lists[path]
    if (!rows) return path.endsWith('s/') ? answer(200, { results: [], next: null }) : answer(404, { detail: 'Not found.' })
    const offset = Number(url.searchParams.get('offset') ?? 0)
    const next = offset + 2 < rows.length ? `https://app.example.com${url.pathname}?limit=2&offset=${offset + 2}` : null
    return answer(200, { count: rows.length, next, results: rows.slice(offset, offset + 2) })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () => new Promise((resolve) => void server.close(() => resolve())),
  }
}

test("PostHog's lists are read page by page; what cannot be made is named with its reason", async () => {
  const asked: string[] = []
  const theirs = await posthog(
    {
      'actions/': [{ id: 1, name: 'Deep', steps: JSON.parse(`${'['.repeat(2_000)}${']'.repeat(2_000)}`) as unknown }],
      'cohorts/': [
        { id: 4, name: 'Old way', is_static: false, groups: [{ properties: [{ key: 'plan', type: 'person', value: 'pro' }] }] },
        { id: 5, name: 'Gone', deleted: true, filters: {} },
        { id: 6, name: 'Of nothing', filters: { properties: { type: 'AND', values: [{ type: 'cohort', key: 'id', value: 99 }] } } },
      ],
      'insights/': [
        {
          id: 1,
          short_id: 'aaaa',
          name: '',
          derived_name: 'Visits',
          filters: { insight: 'TRENDS', events: [{ id: 'visit', type: 'events' }] },
          query: null,
        },
        { id: 2, short_id: 'bbbb', name: 'Theirs alone', query: { kind: 'InsightVizNode', source: { kind: 'ErrorTrackingQuery' } } },
        {
          id: 3,
          short_id: 'cccc',
          name: 'Of a cohort',
          query: trends({ kind: 'EventsNode', event: 'visit', properties: [{ type: 'cohort', key: 'id', value: 4 }] }),
        },
      ],
    },
    asked,
  )
  const { code, text } = await command(
    ...[
      '--source',
      theirs.url,
      '--source-key',
      'phx_theirs',
      '--url',
      facts.url,
      '--key',
      facts.personal_api_key,
      '--project',
      String(target),
    ],
    ...['--state', state],
  )
  await theirs.close()
  expect(code).toBe(0)
  expect(text).toContain('cohorts: 1 made')
  expect(text).toContain('insights: 2 made')
  expect(text).toContain('left out: 3')
  expect(text).toContain('  actions, Deep: it is nested more than 200 levels deep')
  expect(text).toContain('  cohorts, Of nothing: it uses the cohort 99, which was not moved')
  expect(text).toMatch(/ {2}insights, Theirs alone: .*ErrorTrackingQuery/)
  const insights = await rowsOf(target, 'insights/')
  expect(insights.map(({ name }) => name).sort()).toEqual(['Of a cohort', 'Visits'])
  expect(asked.every((one) => one.startsWith('GET /api/projects/%40current/') && one.endsWith('Bearer phx_theirs'))).toBe(true)
})

test.each<[string[], number, RegExp]>([
  [['--compare', 'all'], 2, /--compare must be a number of insights/],
  [['--source', 'nowhere'], 2, /--source must be a URL/],
  [['--url', 'file:///etc'], 2, /--url must be a URL/],
  [['--source', 'http://127.0.0.1:1'], 1, /127\.0\.0\.1:1 cannot be reached/],
  [['--source-key', 'phx_wrong'], 1, /refused GET .* \(401\)/],
  [['--project', '999999'], 1, /999999/],
])('%j ends with %i and says why', async (args, code, words) => {
  const ended = await copy(...args)
  expect([ended.code, ended.errors]).toEqual([code, expect.stringMatching(words)])
})

test('the file of another pair of projects is not used', async () => {
  await writeFile(state, JSON.stringify({ from: 'a project 1', to: 'b project 2', made: {} }))
  expect((await copy()).code).toBe(1)
  await writeFile(state, 'not JSON')
  expect((await copy()).code).toBe(1)
})

test('numbers of two answers are compared by what they are of, whatever the order of rows', () => {
  const rows = [
    { label: 'a', data: [1, 2], count: 3 },
    { label: 'b', data: [0, 4], count: 4 },
  ]
  expect(difference(numbersIn(rows), numbersIn(rows.toReversed()))).toEqual({ numbers: 6, different: 0, note: null })
  const other = [{ label: 'a', data: [1, 5], count: 6 }]
  expect(difference(numbersIn(rows), numbersIn(other))).toEqual({
    numbers: 6,
    different: 5,
    note: expect.stringContaining('2 there, 5 here'),
  })
  expect(difference(numbersIn(other), numbersIn(rows))).toMatchObject({ numbers: 3, different: 5 })
})
