import { afterAll, beforeAll, expect, test } from 'vitest'
import { open, type Project, type Waymark } from '../../../src/index.ts'

// Events that name no session: those of one person belong together as long as no pause is longer than thirty minutes. One rule for all queries of the web.

let waymark: Waymark
let project: Project
const own = '0190b0f0-0000-7000-8000-000000000001'
const event = (distinct_id: string, time: string, name: string, path: string, more: object = {}) => ({
  event: name,
  distinct_id,
  timestamp: `2026-03-04T${time}Z`,
  properties: { $pathname: path, $current_url: `https://shop.example${path}`, $host: 'shop.example', ...more },
})

beforeAll(async () => {
  waymark = await open({ dataDir: ':memory:', clock: () => new Date('2026-03-05T20:00:00Z') })
  project = await waymark.createProject({ name: 'web' })
  await project.createAction({ name: 'Bought', steps: [{ event: 'buy' }] })
  await project.ingest({
    batch: [
      // Two sessions: a pause of exactly thirty minutes is within one, a microsecond more is not.
      event('ann', '10:00:00', '$pageview', '/a'),
      event('ann', '10:30:00', '$pageview', '/b'),
      event('ann', '11:00:00.000001', '$pageview', '/a'),
      event('ann', '11:00:05', 'buy', '/a'),
      // Events of others between them do not matter, nor do ids that name no session.
      event('ben', '10:45:00', '$pageview', '/a', { $session_id: 'no-uuid' }),
      event('ben', '10:46:00', '$pageview', '/a', { $session_id: '0190b0f0-0000-4000-8000-000000000001' }),
      event('cid', '10:00:00', '$pageview', '/c', { $session_id: own }),
      event('cid', '10:01:00', '$autocapture', '/c', { $session_id: own, $event_type: 'click' }),
      // A session of its own: it names none.
      event('cid', '10:02:00', '$autocapture', '/c', { $event_type: 'click', $external_click_url: 'https://other.example/' }),
      event('dan', '10:00:00', 'buy', '/c'),
    ],
  })
})
afterAll(() => waymark.close())

const range = { dateRange: { date_from: '2026-03-04', date_to: '2026-03-04' }, properties: [] as object[] }
const answer = async (query: object) =>
  ((await project.query({ ...range, ...query } as never)) as unknown as { results: readonly (readonly unknown[])[] }).results

test.each(['core', 'sql', undefined])('an overview, by the road %s', async (road) => {
  const asked = road === undefined ? {} : { modifiers: { road } }
  const numbers = async (query: object) =>
    ((await answer({ kind: 'WebOverviewQuery', ...asked, ...query })) as unknown as { value: number }[]).map(({ value }) => value)
  const overview = numbers({})
  if (road === 'core') return await expect(overview).rejects.toThrow(/have no session id/)
  // Sessions of ann 1800 and 5 seconds, of ben 60, of cid 60.
  expect(await overview).toEqual([3, 6, 4, (1800 + 5 + 60 + 60) / 4, 25])
  expect(await numbers({ conversionGoal: { customEventName: 'buy' } })).toEqual([4, 2, 2, 50])
})

test('without such events the lists answer', async () => {
  const other = await waymark.createProject({ name: 'named' })
  await other.ingest({ batch: [event('cid', '10:00:00', '$pageview', '/c', { $session_id: own })] })
  const { results } = (await other.query({ kind: 'WebOverviewQuery', ...range, modifiers: { road: 'core' } } as never)) as never
  expect((results as { value: number }[]).map(({ value }) => value)).toEqual([1, 1, 1, 0, 100])
})

test.each([
  ['named', { $session_id: own }, false],
  ['not named', {}, true],
])('sessions are made by the statement only where one is %s', async (_, id, isMade) => {
  const other = await waymark.createProject({ name: 'explained' })
  // Other events may name no session: only a page makes a visit.
  await other.ingest({ batch: [event('cid', '10:00:00', '$pageview', '/c', id), event('cid', '10:00:00', 'sent by a server', '/c')] })
  for (const breakdownBy of ['Page', 'InitialChannelType']) {
    const asked = { kind: 'WebStatsTableQuery', breakdownBy, includeScrollDepth: true, explain: true, ...range }
    const { explain } = (await other.query(asked as never)) as unknown as { explain: readonly { sql?: string }[] }
    expect(JSON.stringify(explain).includes('@made_pause'), breakdownBy).toBe(isMade)
  }
})

test('a table of what events are about counts them', async () => {
  const rows = await answer({ kind: 'WebStatsTableQuery', breakdownBy: 'Page' })
  expect(rows.map((row) => row.slice(0, 3))).toEqual([
    ['/a', [2, null], [4, null]],
    ['/b', [1, null], [1, null]],
    ['/c', [1, null], [1, null]],
  ])
  const filtered = await answer({
    kind: 'WebStatsTableQuery',
    breakdownBy: 'Page',
    properties: [{ type: 'event', key: '$pathname', operator: 'exact', value: '/b' }],
  })
  expect(filtered.map((row) => row.slice(0, 3))).toEqual([['/b', [1, null], [1, null]]])
})

test.each([
  [
    'InitialPage',
    [
      ['/a', [2, null], [5, null]],
      ['/c', [1, null], [1, null]],
    ],
  ],
  [
    'ExitPage',
    [
      ['/a', [2, null], [3, null]],
      ['/b', [1, null], [2, null]],
      ['/c', [1, null], [1, null]],
    ],
  ],
  ['InitialChannelType', [['Unknown', [3, null], [6, null]]]],
  ['InitialUTMSource', [[null, [3, null], [6, null]]]],
] as const)('a table of what sessions began or ended with counts them: %s', async (breakdownBy, expected) => {
  const rows = await answer({ kind: 'WebStatsTableQuery', breakdownBy })
  expect(rows.map((row) => row.slice(0, 3))).toEqual(expected)
})

test.each([
  ['$entry_pathname', 'is_set', 'is_set', [3, 6, 4, (1800 + 5 + 60 + 60) / 4, 25]],
  ['$end_pathname', 'exact', '/b', [1, 2, 1, 1800, 0]],
  ['$session_duration', 'gt', 60, [1, 2, 1, 1800, 0]],
  ['$is_bounce', 'exact', ['true'], [1, 1, 1, 5, 100]],
] as const)('a filter on sessions finds them: %s %s %s', async (key, operator, value, expected) => {
  const properties = [{ type: 'session', key, operator, value }]
  const results = (await answer({ kind: 'WebOverviewQuery', properties })) as unknown as { value: number }[]
  expect(results.map(({ value }) => value)).toEqual(expected)
})

test('goals and clicks', async () => {
  expect(await answer({ kind: 'WebGoalsQuery' })).toEqual([['Bought', [2, null], [2, null], [0.5, null]]])
  expect(await answer({ kind: 'WebExternalClicksTableQuery' })).toEqual([['https://other.example/', [1, null], [1, null]]])
})

test('none is stored', async () => {
  expect((await project.query({ kind: 'HogQLQuery', query: 'select session_id from sessions' })).results).toEqual([[own]])
})
