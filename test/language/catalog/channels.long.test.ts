import { expect, test } from 'vitest'
import { open } from '../../../src/index.ts'
import { hasClickHouse, openClickHouse } from '../../harness/clickhouse.ts'
import { openTestProject } from '../../harness/duckdb.ts'

test('what a channel is told by is worked out once for a session, not once for each branch that asks for it', async () => {
  const project = await openTestProject()
  const { printed } = await project.compile('select $channel_type, count() from sessions group by $channel_type')
  // The id of the session, a shop and a video in the campaign, campaigns across networks; and whether each of four texts in lower case has capitals beyond
  // ASCII.
  expect(printed.sql.match(/regexp_matches\(/g)).toHaveLength(4 + 4)
  expect(printed.sql.match(/translate\(/g)).toHaveLength(4)
  // The table of sources for the source and the domain, that of media for the medium.
  expect(printed.sql.match(/ AS ENUM\(/g)).toHaveLength(3)
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
  // Domains of countries.
  'yahoo.co.jp': 'Organic Search',
  'search.yahoo.co.jp': 'Organic Search',
  'mail.yahoo.co.jp': 'Email',
  'www.baidu.jp': 'Organic Search',
  'www.google.cat': 'Organic Search',
  'shopping.google.fr': 'Organic Shopping',
  'www.ebay.co.uk': 'Organic Shopping',
  'ebay.com.au': 'Organic Shopping',
  'www.amazon.it': 'Organic Shopping',
  'pinterest.de': 'Organic Social',
  'www.pinterest.com.mx': 'Organic Social',
  'stripe.com': 'Organic Shopping',
  'checkout.stripe.com': 'Organic Shopping',
  // Names that others have in other countries.
  'x.de': 'Referral',
  'ask.example.uk': 'Referral',
  'ebay.example.de': 'Referral',
  'notebay.de': 'Referral',
  // Addresses.
  'https://www.google.com/search?q=shoes': 'Organic Search',
  'https://user@m.facebook.com:443/': 'Organic Social',
  'android-app://com.google.android.gm/': 'Email',
  'https://example.com/www.google.com': 'Referral',
  // Assistants.
  'chatgpt.com': 'AI',
  'chat.openai.com': 'AI',
  'www.perplexity.ai': 'AI',
  'claude.ai': 'AI',
  'gemini.google.com': 'AI',
  'copilot.microsoft.com': 'AI',
  'https://chat.deepseek.com/': 'AI',
}

const sessionOf = (i: number) => `019b8d2a-0000-7000-8000-${String(i).padStart(12, '0')}`
/** A visit of each domain, and a person who came from it first. */
const ofDomains = () => {
  const names = Object.keys(domains)
  return {
    persons: names.map((domain, i) => ({ distinct_ids: [`u${i}`], properties: { $initial_referring_domain: domain } })),
    batch: names.map((domain, i) => ({
      event: '$pageview',
      distinct_id: `u${i}`,
      timestamp: '2026-01-05T10:00:00Z',
      properties: { $session_id: sessionOf(i), $referring_domain: domain },
    })),
  }
}

test('channels by the site that a visit came from, on both engines', async () => {
  const project = await openTestProject()
  const clickhouse = await openClickHouse()
  const { persons, batch } = ofDomains()
  await project.project.importPersons(persons)
  await project.project.ingest({ batch })
  await clickhouse.load(project)
  const ofPersons = 'properties.$initial_referring_domain, $virt_initial_channel_type'
  const ofEvents = 'properties.$referring_domain, person.properties.$virt_initial_channel_type'
  const ofSessions = '$entry_referring_domain, $channel_type'
  for (const statement of [`${ofSessions} from sessions`, `${ofPersons} from persons`, `${ofEvents} from events`])
    for (const engine of [project, ...(hasClickHouse ? [clickhouse] : [])]) {
      const rows = await engine.rows(`select ${statement} limit 1000`, project)
      expect(Object.fromEntries(rows as [string, string][]), statement).toEqual(domains)
    }
  await project.close()
  await clickhouse.close()
})

/** Of the first page of a session, and its channel. */
const visits: readonly (readonly [properties: Readonly<Record<string, string>>, channel: string])[] = [
  [{}, 'Unknown'],
  [{ utm_campaign: 'Cross-Network summer', gclid: '1' }, 'Cross Network'],
  [{ $referring_domain: '$direct', utm_source: '(direct)' }, 'Direct'],
  [{ $referring_domain: '$direct', utm_campaign: 'spring' }, 'Direct'],
  [{ $referring_domain: '$direct', fbclid: '1' }, 'Organic Social'],
  [{ $referring_domain: '$direct', utm_medium: 'odd' }, 'Direct'],
  [{ $referring_domain: 'www.google.com', gclid: '1' }, 'Paid Search'],
  [{ gclid: '1' }, 'Paid Unknown'],
  [{ gad_source: '1' }, 'Paid Search'],
  [{ gad_source: '2' }, 'Paid Unknown'],
  [{ utm_medium: 'CPC', utm_source: 'Facebook' }, 'Paid Social'],
  [{ utm_medium: 'paid-search', utm_source: 'mine' }, 'Paid Unknown'],
  [{ utm_medium: 'cpc', utm_campaign: 'shoes shop' }, 'Paid Shopping'],
  [{ utm_medium: 'cpc', utm_campaign: 'bishop' }, 'Paid Unknown'],
  [{ utm_medium: 'cpc', utm_campaign: 'a video' }, 'Paid Video'],
  [{ utm_medium: 'cpm' }, 'Display'],
  [{ utm_medium: 'banner', $referring_domain: 'example.com' }, 'Display'],
  [{ utm_medium: 'cpc', fbclid: '1' }, 'Paid Social'],
  // Mail is not paid for: the site of the domain decides.
  [{ utm_medium: 'cpc', utm_source: 'mail.google.com' }, 'Paid Search'],
  [{ utm_source: 'mail.google.com' }, 'Email'],
  [{ utm_source: 'chatgpt.com' }, 'AI'],
  [{ utm_source: 'Perplexity', $referring_domain: '$direct' }, 'AI'],
  // The medium decides before the domain does.
  [{ utm_medium: 'referral', $referring_domain: 'chatgpt.com' }, 'Referral'],
  [{ utm_medium: 'cpc', utm_source: 'chatgpt.com' }, 'Paid Unknown'],
  [{ utm_source: 'https://www.ebay.co.uk/' }, 'Organic Shopping'],
  [{ utm_medium: 'cpc', $referring_domain: 'https://www.bing.com/' }, 'Paid Search'],
  [{ utm_medium: 'E-Mail', $referring_domain: 'www.google.com' }, 'Email'],
  [{ utm_source: 'sms' }, 'SMS'],
  [{ $referring_domain: 'www.sms.com' }, 'Referral'],
  [{ utm_source: 'firebase' }, 'Push'],
  [{ utm_medium: 'webpush' }, 'Push'],
  [{ utm_medium: 'affiliate' }, 'Affiliate'],
  [{ utm_medium: 'audio' }, 'Audio'],
  [{ utm_medium: 'social', $referring_domain: 'www.google.com' }, 'Organic Social'],
  [{ utm_source: 'www.youtube.com' }, 'Organic Video'],
  [{ utm_campaign: 'shopping' }, 'Organic Shopping'],
  [{ utm_campaign: 'my video', $referring_domain: 'example.com' }, 'Organic Video'],
]

const ofVisits = async (modifiers: object = {}) => {
  await using waymark = await open({ dataDir: ':memory:' })
  const project = await waymark.createProject({ name: 'Visits' })
  const batch = visits.map(([properties], i) => ({
    event: '$pageview',
    distinct_id: `u${i}`,
    timestamp: '2026-01-05T10:00:00Z',
    properties: {
      $session_id: sessionOf(i),
      $current_url: `https://shop.example.com/page/${i}`,
      ...properties,
    },
  }))
  await project.ingest({ batch })
  const query = 'select $channel_type from sessions order by session_id'
  const asked = async (more: object) => (await project.query({ kind: 'HogQLQuery', query, modifiers: more })).results.flat()
  const ruled = await asked(modifiers)
  // The rules of one request are not those of the next.
  expect(await asked({})).toEqual(visits.map(([, channel]) => channel))
  return visits.map(([properties], i) => [properties, ruled[i]])
}

test('channels by the marks of a campaign', async () => {
  expect(await ofVisits()).toEqual(visits)
})

test.each([
  ['exact', [{ key: 'utm_source', op: 'exact', value: 'sms' }], 'AND', 1],
  ['any of several values', [{ key: 'utm_source', op: 'exact', value: ['sms', 'firebase'] }], 'AND', 2],
  ['in the text', [{ key: 'url', op: 'icontains', value: 'EXAMPLE.com/page' }], 'AND', visits.length],
  [
    'both',
    [
      { key: 'hostname', op: 'exact', value: 'shop.example.com' },
      { key: 'pathname', op: 'regex', value: '/1$' },
    ],
    'AND',
    1,
  ],
  [
    'one of both',
    [
      { key: 'pathname', op: 'exact', value: '/page/2' },
      { key: 'pathname', op: 'regex', value: '/1$' },
    ],
    'OR',
    2,
  ],
  [
    'missing',
    [
      { key: 'utm_medium', op: 'is_not_set' },
      { key: 'utm_source', op: 'is_set' },
    ],
    'AND',
    8,
  ],
  ['negated, which a missing one is too', [{ key: 'utm_medium', op: 'is_not', value: 'cpc' }], 'AND', visits.length - 7],
])('a rule of the request goes first: %s', async (_, items, combiner, count) => {
  const found = await ofVisits({ customChannelTypeRules: [{ items, combiner, channel_type: 'Mine', id: '1' }] })
  expect(found.filter(([, channel]) => channel === 'Mine')).toHaveLength(count)
})

test('a person who came that way first has the same channel', async () => {
  await using waymark = await open({ dataDir: ':memory:' })
  const project = await waymark.createProject({ name: 'Persons' })
  const initial = (properties: object) =>
    Object.fromEntries(Object.entries(properties).map(([name, value]) => [`$initial_${name.replace('$', '')}`, value]))
  await project.importPersons(visits.map(([properties], i) => ({ distinct_ids: [`u${i}`], properties: { ...initial(properties), i } })))
  const query = 'select $virt_initial_channel_type from persons order by toInt(properties.i)'
  const { results } = await project.query({ kind: 'HogQLQuery', query })
  expect(results.flat()).toEqual(visits.map(([, channel]) => channel))
})
