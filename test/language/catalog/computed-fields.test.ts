import { afterAll, beforeAll, expect, test } from 'vitest'
import { open, type Project, type Waymark } from '../../../src/index.ts'

// What no table stores: who sends a request, and how a person came.

let waymark: Waymark
let project: Project
beforeAll(async () => {
  waymark = await open({ dataDir: ':memory:', clock: () => new Date('2026-01-06T00:00:00Z') })
  project = await waymark.createProject({ name: 'Computed' })
  await project.importPersons([
    { distinct_ids: ['ann'], properties: { $initial_utm_medium: 'cpc', $initial_referring_domain: 'www.google.com' } },
    { distinct_ids: ['bob'], properties: { $initial_referring_domain: '$direct' } },
  ])
  const view = (distinct_id: string, minute: number, agent: string | null) => ({
    event: 'view',
    distinct_id,
    timestamp: `2026-01-05T10:0${minute}:00Z`,
    properties: { $raw_user_agent: agent },
  })
  await project.ingest({
    batch: [view('ann', 1, 'Mozilla/5.0 (Macintosh)'), view('bob', 2, 'Googlebot/2.1'), view('bob', 3, null), view('bob', 4, 'GPTBot/1')],
  })
})
afterAll(() => waymark.close())

const rows = async (query: string) => (await project.query({ kind: 'HogQLQuery', query })).results

test.each([
  [
    'of events',
    'select $virt_is_bot, $virt_traffic_type, $virt_traffic_category, $virt_bot_name, e.$virt_bot_operator from events e order by timestamp',
    [
      [false, 'Regular', 'regular', '', ''],
      [true, 'Bot', 'search_crawler', 'Googlebot', 'Google'],
      [true, 'Automation', 'no_user_agent', '', ''],
      [true, 'AI Agent', 'ai_crawler', 'GPTBot', 'OpenAI'],
    ],
  ],
  [
    'of persons',
    'select $virt_initial_channel_type, p.$virt_initial_referring_domain_type from persons p order by 1',
    [
      ['Direct', '$direct'],
      ['Paid Search', 'Search'],
    ],
  ],
  ['through an event', 'select distinct person.$virt_initial_channel_type from events order by 1', [['Direct'], ['Paid Search']]],
  [
    'as properties of the person of an event',
    "select person.properties.$virt_initial_channel_type a, any(e.person.properties['$virt_initial_channel_type']), any(poe.properties.$virt_initial_channel_type), any(e.person.$virt_initial_channel_type) from events e group by a order by 1",
    [
      ['Direct', 'Direct', 'Direct', 'Direct'],
      ['Paid Search', 'Paid Search', 'Paid Search', 'Paid Search'],
    ],
  ],
  [
    'as properties of a table',
    "select properties.$virt_initial_channel_type, p.properties['$virt_initial_referring_domain_type'] from persons p order by 1",
    [
      ['Direct', '$direct'],
      ['Paid Search', 'Search'],
    ],
  ],
  [
    'as properties of an event',
    "select distinct properties.$virt_bot_name a, e.properties['$virt_bot_name'] from events e order by 1",
    [
      ['', ''],
      ['GPTBot', 'GPTBot'],
      ['Googlebot', 'Googlebot'],
    ],
  ],
  ['of a subquery that has one', "select $virt_bot_name, t.$virt_bot_name from (select 'mine' as $virt_bot_name) t", [['mine', 'mine']]],
])('fields %s', async (_, query, expected) => {
  const found = await rows(query)
  expect(found.map((row) => row.map((value, i) => (typeof expected[0]![i] === 'boolean' ? Boolean(value) : value)))).toEqual(expected)
})

test('the channel of a person, several times in one statement', async () => {
  const channel = 'person.$virt_initial_channel_type'
  expect(
    await rows(
      `select ${channel}, count() from events where ${channel} in ('Direct', 'Email') and ${channel} != 'Email' group by ${channel}`,
    ),
  ).toEqual([['Direct', 3]])
})

test('a table without properties has none', async () => {
  await expect(rows('select $virt_is_bot from numbers(1)')).rejects.toMatchObject({ code: 'unknown-field' })
})

const counts = async (more: object) => {
  const series = [{ kind: 'EventsNode', event: 'view' }]
  const answer = await project.query({ kind: 'TrendsQuery', series, dateRange: { date_from: '2026-01-05' }, ...more } as never)
  return (answer as unknown as { results: { label: string; count: number }[] }).results.map(({ label, count }) => [label, count])
}

test.each<[string, object, number]>([
  ['bots', { key: '$virt_is_bot', type: 'event', operator: 'exact', value: ['true'] }, 3],
  ['no bots', { key: '$virt_is_bot', type: 'event', operator: 'exact', value: 'false' }, 1],
  ['a name', { key: '$virt_bot_name', type: 'event', operator: 'is_not', value: [''] }, 2],
  ['a kind of domain', { key: '$virt_initial_referring_domain_type', type: 'person', operator: 'exact', value: '$direct' }, 3],
  ['a channel', { key: '$virt_initial_channel_type', type: 'person', operator: 'exact', value: 'Direct' }, 3],
  ['several channels', { key: '$virt_initial_channel_type', type: 'person', operator: 'exact', value: ['Direct', 'Email'] }, 3],
  ['other channels', { key: '$virt_initial_channel_type', type: 'person', operator: 'is_not', value: ['Direct'] }, 1],
])('a filter by %s', async (_, filter, count) => {
  expect(await counts({ properties: [filter] })).toEqual([['view', count]])
})

test('breakdowns by them', async () => {
  const by = (breakdown: string, breakdown_type: string) => counts({ breakdownFilter: { breakdown, breakdown_type } })
  expect(await by('$virt_traffic_type', 'event')).toEqual([
    ['AI Agent', 1],
    ['Automation', 1],
    ['Bot', 1],
    ['Regular', 1],
  ])
  expect(await by('$virt_initial_channel_type', 'person')).toEqual([
    ['Direct', 3],
    ['Paid Search', 1],
  ])
})
