import { expect, test } from 'vitest'
import { open } from '../../src/index.ts'
import { openTestProject } from '../harness/duckdb.ts'

test('what a channel is told by is worked out once for a session, not once for each branch that asks for it', async () => {
  const project = await openTestProject()
  const { printed } = await project.compile('select $channel_type, count() from sessions group by $channel_type')
  // The id of the session, whether the visit was paid, a shop and a video in the campaign, and campaigns across networks, and Google's domains of countries; and whether each of four
  // texts in lower case has capitals beyond ASCII.
  expect(printed.sql.match(/regexp_matches\(/g)).toHaveLength(6 + 4)
  expect(printed.sql.match(/translate\(/g)).toHaveLength(4)
  const [row] = (await project.compile('select $pageview_count from sessions')).printed.sql.match(/@channel_\w+/g) ?? []
  expect(row, 'nothing of it where nobody asks for it').toBeUndefined()
  await project.close()
})

const domains: Readonly<Record<string, string>> = {
  $direct: 'Direct',
  'google.com': 'Organic Search',
  'www.google.com': 'Organic Search',
  'WWW.Google.de': 'Organic Search',
  'www.google.co.uk': 'Organic Search',
  'news.google.example.org': 'Referral',
  'mygoogle.com': 'Referral',
  'www.bing.com': 'Organic Search',
  'r.search.yahoo.com': 'Organic Search',
  'uk.pinterest.com': 'Organic Social',
  'l.facebook.com': 'Organic Social',
  'news.ycombinator.com': 'Organic Social',
  'shopping.google.com': 'Organic Shopping',
  'www.youtube.com': 'Organic Video',
  'www.example.com': 'Referral',
}

test('channels by the site that a visit came from', async () => {
  await using waymark = await open({ dataDir: ':memory:' })
  const project = await waymark.createProject({ name: 'Shop' })
  const names = Object.keys(domains)
  await project.ingest({
    batch: names.map((domain, i) => ({
      event: '$pageview',
      distinct_id: `u${i}`,
      timestamp: '2026-01-05T10:00:00Z',
      properties: { $session_id: `019b8d2a-0000-7000-8000-${String(i).padStart(12, '0')}`, $referring_domain: domain },
    })),
  })
  const { results } = await project.query({ kind: 'SqlLikeQuery', query: 'select $entry_referring_domain, $channel_type from sessions' })
  expect(Object.fromEntries(results as [string, string][])).toEqual(domains)
})
