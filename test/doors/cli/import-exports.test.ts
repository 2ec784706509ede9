import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DuckDBInstance } from '@duckdb/node-api'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { runCommand } from '../../../src/doors/cli/run.ts'

// Exports of other systems become events: the command reads each as it comes, without being told what it is.

let folder: string
let data: string
let runs = 0
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'waymark-exports-'))
})
beforeEach(async () => {
  data = join(folder, `data-${++runs}`)
  await command('init')
})
afterAll(() => rm(folder, { recursive: true, force: true }))

const command = async (...args: string[]) => {
  const lines: string[] = []
  const code = await runCommand([...args, '--data', data], {}, { out: (line) => lines.push(line), err: () => undefined })
  return { code, text: lines.join('\n') }
}
const imported = async (file: string, ...more: string[]) =>
  JSON.parse((await command('import', file, '--project', '1', '--json', ...more)).text) as object
const rows = async (query: string) =>
  (JSON.parse((await command('query', '--project', '1', '--format', 'json', query)).text) as { results: unknown[][] }).results

const analyticsRow = (more: object) => ({
  event_date: '20260105',
  event_timestamp: '1767607200250123',
  event_name: 'page_view',
  event_params: [
    { key: 'page_location', value: { string_value: 'https://shop.example/cart?x=1' } },
    { key: 'page_title', value: { string_value: 'Cart' } },
    { key: 'ga_session_id', value: { int_value: '1767607100' } },
    { key: 'price', value: { double_value: 2.5 } },
    { key: 'debug', value: { string_value: null, int_value: null } },
  ],
  user_pseudo_id: 'device.1',
  user_id: null,
  user_properties: [],
  device: { category: 'desktop', operating_system: 'Web', language: 'en', web_info: { browser: 'Chrome' } },
  geo: { country: 'Germany', city: '(not set)' },
  event_bundle_sequence_id: '1',
  batch_event_index: '1',
  ...more,
})
const signedIn = { user_id: 'ann', user_properties: [{ key: 'plan', value: { string_value: 'pro' } }] }
const analytics = [
  analyticsRow({}),
  analyticsRow({
    ...signedIn,
    event_name: 'purchase',
    event_timestamp: '1767607260000000',
    ecommerce: { transaction_id: 't1', purchase_revenue: 19.5 },
  }),
  analyticsRow({ ...signedIn, event_timestamp: '1767607270000000' }),
]

async function asParquet(name: string): Promise<string> {
  const file = join(folder, `${name}.parquet`)
  const instance = await DuckDBInstance.create(':memory:')
  const connection = await instance.connect()
  await connection.run(`copy (select * from read_json('${join(folder, `${name}.jsonl`)}')) to '${file}' (format parquet)`)
  connection.closeSync()
  instance.closeSync()
  return file
}

test.each(['jsonl', 'parquet'])("Google Analytics' export from BigQuery as %s: a device and its user are one person", async (kind) => {
  await writeFile(join(folder, 'ga.jsonl'), analytics.map((row) => JSON.stringify(row)).join('\n'))
  const file = kind === 'jsonl' ? join(folder, 'ga.jsonl') : await asParquet('ga')
  expect(await imported(file)).toMatchObject({ rows: 3, stored: 4, unreadable: 0 })
  expect(await rows("select event, distinct_id, toString(timestamp) from events where event != '$identify' order by timestamp")).toEqual([
    ['$pageview', 'device.1', expect.stringContaining('10:00:00.250123')],
    ['purchase', 'ann', expect.stringContaining('10:01:00')],
    ['$pageview', 'ann', expect.stringContaining('10:01:10')],
  ])
  expect(
    await rows(
      "select properties.$current_url, properties.$host, properties.$pathname, properties.title, properties.price, properties.ga_session_id, properties.$browser, properties.$geoip_country_name, properties.$geoip_city_name from events where event = '$pageview' order by timestamp limit 1",
    ),
  ).toEqual([['https://shop.example/cart?x=1', 'shop.example', '/cart', 'Cart', '2.5', '1767607100', 'Chrome', 'Germany', null]])
  expect(await rows('select count(distinct person_id), sum(toFloat(properties.revenue)) from events')).toEqual([[1, 19.5]])
  expect(await rows("select distinct person.properties.plan from events where event = 'purchase'")).toEqual([['pro']])
  expect(await imported(file)).toMatchObject({ stored: 0 })
})

test("Umami's events with their sessions, as CSV and as JSON lines, are stored once", async () => {
  const [visit, event] = ['0197d2a2-0000-4000-8000-000000000001', '0197d2a2-0000-4000-8000-000000000002']
  const csv = join(folder, 'website_event.csv')
  await writeFile(
    csv,
    [
      'website_id,session_id,visit_id,event_id,hostname,browser,os,device,screen,language,country,city,url_path,url_query,referrer_domain,referrer_path,page_title,event_type,event_name,created_at',
      `w,s1,v1,${visit},blog.example,firefox,Linux,desktop,1920x1080,de-DE,DE,Berlin,/post,utm_source=mail,news.example,/item,A post,1,,2026-01-05 10:00:00`,
      `w,s1,v1,${event},blog.example,firefox,Linux,desktop,1920x1080,de-DE,DE,Berlin,/post,,,,A post,2,signup,2026-01-05 10:00:09`,
      'w,,v1,x,blog.example,firefox,Linux,desktop,,,,,/post,,,,A post,1,,2026-01-05 10:00:00',
    ].join('\n'),
  )
  expect(await imported(csv)).toMatchObject({ rows: 3, stored: 2, unreadable: 1 })
  expect(
    await rows(
      'select event, distinct_id, properties.$current_url, properties.$referrer, properties.$referring_domain, properties.$screen_width, properties.$browser from events order by timestamp',
    ),
  ).toEqual([
    ['$pageview', 's1', 'https://blog.example/post?utm_source=mail', 'https://news.example/item', 'news.example', '1920', 'firefox'],
    ['signup', 's1', 'https://blog.example/post', null, null, '1920', 'firefox'],
  ])
  const lines = join(folder, 'umami.jsonl')
  const row = {
    event_id: event,
    session_id: 's1',
    created_at: '2026-01-05T10:00:09+00:00',
    url_path: '/post',
    event_type: 2,
    event_name: 'signup',
    data: { plan: 'pro' },
  }
  await writeFile(
    lines,
    [row, { ...row, event_id: '0197d2a2-0000-4000-8000-000000000003', distinct_id: 'ann' }].map((one) => JSON.stringify(one)).join('\n'),
  )
  expect(await imported(lines)).toMatchObject({ rows: 2, stored: 1 })
  expect(await rows("select properties.plan from events where distinct_id = 'ann'")).toEqual([['pro']])
})

test("Plausible's sums of days are events with these sums: what adds them up has Plausible's numbers", async () => {
  const visitors = join(folder, 'imported_visitors_20260101_20260102.csv')
  await writeFile(visitors, 'date,visitors,pageviews,bounces,visits,visit_duration\n2026-01-01,10,25,3,12,600\n2026-01-02,4,4,2,4,10\n')
  const pages = join(folder, 'imported_pages_20260101_20260102.csv')
  await writeFile(pages, 'date,hostname,page,visits,visitors,pageviews\n2026-01-01,a.example,/,9,8,20\n2026-01-01,a.example,/docs,4,3,5\n')
  for (const file of [visitors, pages]) expect(await imported(file)).toMatchObject({ rows: 2, stored: 2, unreadable: 0 })
  expect(
    await rows(
      'select event, toDate(timestamp) as day, sum(toInt(properties.visitors)), sum(toInt(properties.pageviews)) from events group by event, day order by event, day',
    ),
  ).toEqual([
    ['Plausible pages', '2026-01-01', 11, 25],
    ['Plausible visitors', '2026-01-01', 10, 25],
    ['Plausible visitors', '2026-01-02', 4, 4],
  ])
  expect(await rows('select count() from persons')).toEqual([[0]])
})

test('a format that is given is taken, also where another one would be found', async () => {
  const file = join(folder, 'days.csv')
  await writeFile(file, 'date,visitors,visits,user,event\n2026-01-01,1,1,ann,seen\n')
  expect(await imported(file, '--from', 'plausible', '--dry-run')).toMatchObject({ rows: 1 })
  expect((await command('import', file, '--project', '1', '--from', 'umami', '--dry-run')).text).toMatch(/no session_id/)
})
