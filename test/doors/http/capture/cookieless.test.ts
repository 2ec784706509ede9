import { afterAll, beforeAll, expect, test } from 'vitest'
import { createHandler, open, type Waymark } from '../../../../src/index.ts'

// Visitors without cookies over HTTP: what their addresses are taken from, and what the warnings say.

let waymark: Waymark
beforeAll(async () => {
  waymark = await open({ dataDir: ':memory:', threads: 1, clock: () => new Date('2026-02-01T12:00:00Z') })
})
afterAll(() => waymark.close())

interface Caller {
  /** Of the connection. */
  readonly address: string | null
  readonly forwarded?: string
  readonly agent?: string
}
const properties = { $cookieless_mode: true, $host: 'shop.example' }
const paths: Readonly<Record<string, (token: string) => [path: string, headers: Record<string, string>, body: object]>> = {
  '/e/': (token) => ['/e/', {}, { api_key: token, event: 'seen', distinct_id: '$posthog_cookieless', properties }],
  '/i/v1/analytics/events': (token) => [
    '/i/v1/analytics/events',
    { authorization: `Bearer ${token}` },
    {
      batch: [
        {
          uuid: crypto.randomUUID(),
          event: 'seen',
          distinct_id: '$posthog_cookieless',
          timestamp: '2026-02-01T12:00:00Z',
          options: { cookieless_mode: true },
          properties: { $host: 'shop.example' },
        },
      ],
    },
  ],
}

const a = '203.0.113.7'
const b = '198.51.100.4'
const proxies = { trustedProxies: ['10.0.0.0/8'] }
const unconfirmed = ['cookieless_address_unconfirmed']
const cases: readonly (readonly [
  name: string,
  options: object,
  callers: readonly Caller[],
  people: number,
  warnings: readonly string[],
])[] = [
  ['two addresses', {}, [{ address: a }, { address: b }], 2, []],
  ['one address, one browser', {}, [{ address: a }, { address: a }], 1, []],
  ['one address, two browsers', {}, [{ address: a }, { address: a, agent: 'Chrome' }], 2, []],
  [
    'a trusted proxy',
    proxies,
    [
      { address: '10.0.0.1', forwarded: a },
      { address: '10.0.0.2', forwarded: b },
    ],
    2,
    [],
  ],
  [
    'two trusted proxies',
    proxies,
    [
      { address: '10.0.0.1', forwarded: `${a}, 10.0.0.9` },
      { address: '10.0.0.2', forwarded: a },
    ],
    1,
    [],
  ],
  [
    'what a visitor writes before a trusted proxy',
    proxies,
    [
      { address: '10.0.0.1', forwarded: `${b}, ${a}` },
      { address: '10.0.0.1', forwarded: a },
    ],
    1,
    [],
  ],
  [
    'a proxy that nobody trusts',
    {},
    [
      { address: '10.0.0.1', forwarded: a },
      { address: '10.0.0.1', forwarded: b },
    ],
    2,
    unconfirmed,
  ],
  [
    'a visitor who writes the header, or a proxy with a public address',
    {},
    [
      { address: a, forwarded: b },
      { address: a, forwarded: '192.0.2.1' },
    ],
    1,
    unconfirmed,
  ],
  ['a header cannot make one visitor another', {}, [{ address: '10.0.0.1', forwarded: a }, { address: a }], 2, unconfirmed],
  ['no address at all', {}, [{ address: null }, { address: null, agent: 'Chrome' }], 0, ['cookieless_visitor_unknown']],
  ['no agent', {}, [{ address: a, agent: '' }], 0, ['cookieless_visitor_unknown']],
]

test.each(Object.keys(paths).flatMap((path) => cases.map((one) => [path, ...one] as const)))(
  '%s: %s',
  async (path, _, options, callers, people, warnings) => {
    const handle = createHandler(waymark, options)
    const project = await waymark.createProject({ name: `shop ${Math.random()}` })
    for (const { address, forwarded, agent = 'Firefox' } of callers) {
      const [url, headers, body] = paths[path]!(project.token)
      const response = await handle(
        new Request(`http://127.0.0.1${url}`, {
          method: 'POST',
          headers: {
            'content-type': 'application/json',
            ...(agent && { 'user-agent': agent }),
            ...(forwarded === undefined ? {} : { 'x-forwarded-for': forwarded }),
            ...headers,
          },
          body: JSON.stringify(body),
        }),
        address,
      )
      expect(response.status).toBe(200)
    }
    const { results } = await project.query({
      kind: 'SqlLikeQuery',
      query: 'select count(distinct person_id), count(properties.$ip), count(distinct $session_id) from events',
    })
    expect(results).toEqual([[people, 0, people]])
    expect((await project.warnings()).map(({ type }) => type)).toEqual(warnings)
  },
)

test('the library: of the batch, of the event, and of neither', async () => {
  const project = await waymark.createProject({ name: 'library' })
  const visit = (more: object = {}) => ({ event: 'seen', distinct_id: '$posthog_cookieless', properties: { ...properties, ...more } })
  await project.ingest(visit(), { ip: a, userAgent: 'Firefox' })
  await project.ingest({ batch: [visit({ $ip: b, $raw_user_agent: 'Firefox' }), visit({ $ip: a, $raw_user_agent: 'Firefox' })] })
  expect(await project.ingest(visit())).toMatchObject({
    accepted: 0,
    dropped: 1,
    warnings: [{ type: 'cookieless_visitor_unknown', details: { missing: 'address' } }],
  })
  const { results } = await project.query({
    kind: 'SqlLikeQuery',
    query: 'select count(distinct person_id), count(properties.$ip) from events',
  })
  expect(results).toEqual([[3, 0]])
})

test('web analytics count them: visitors, views, and sessions', async () => {
  const project = await waymark.createProject({ name: 'web' })
  for (const [ip, pages] of [
    [a, ['/', '/cart']],
    [b, ['/']],
  ] as const)
    for (const page of pages)
      await project.ingest(
        {
          event: '$pageview',
          distinct_id: '$posthog_cookieless',
          properties: { ...properties, $current_url: `https://shop.example${page}`, $pathname: page, $process_person_profile: false },
        },
        { ip, userAgent: 'Firefox' },
      )
  const { results } = await project.query({ kind: 'WebOverviewQuery', properties: [], dateRange: { date_from: '2026-02-01' } } as never)
  const values = Object.fromEntries((results as unknown as { key: string; value: number }[]).map(({ key, value }) => [key, value]))
  expect(values).toMatchObject({ visitors: 2, views: 3, sessions: 2, 'bounce rate': 50 })
})
