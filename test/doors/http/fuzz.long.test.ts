import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { routes } from '../../../src/doors/http/routes.ts'
import { assertGenerated } from '../../harness/assert-generated.ts'
import { withHome } from './conversation.ts'

// Requests of every shape at every route: whatever comes, the answer is one of ours.

const held = withHome()
const runs = Number(process.env.WAYMARK_FUZZ_RUNS ?? 2000)

/** Between the middle and the end memory may grow by this factor, */
const flatTo = 1.15
/** and by this much for what requests really made. */
const rowsThatStayMb = 24
const parts = 10

interface Memory {
  readonly heap: number
  readonly whole: number
}
setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as () => void
const measure = (): Memory => {
  collect()
  const { heapUsed, rss } = process.memoryUsage()
  return { heap: Math.round(heapUsed / 2 ** 20), whole: Math.round(rss / 2 ** 20) }
}
const words = ({ heap, whole }: Memory) => `${heap} of heap, ${whole} as a whole`

const rejections: unknown[] = []
process.on('unhandledRejection', (reason) => rejections.push(reason))

const odd = fc.constantFrom(
  '@current',
  '@me',
  '0',
  '-1',
  '1',
  '99999999999999999999',
  '%00',
  '%ff',
  "'",
  '..',
  'a'.repeat(300),
  '日本',
  '{}',
  'null',
  '__proto__',
)
const segment = fc.oneof(odd, fc.uuid(), fc.string({ maxLength: 20 }).map(encodeURIComponent))
const path = fc.oneof(
  {
    weight: 5,
    arbitrary: fc
      .tuple(fc.constantFrom(...routes.map((route) => route.path)), fc.array(segment, { minLength: 3, maxLength: 3 }))
      .map(([pattern, parts]) => {
        let i = 0
        return pattern.replace(/:\w+/g, () => parts[i++] ?? 'x')
      }),
  },
  { weight: 1, arbitrary: fc.array(segment, { maxLength: 5 }).map((parts) => `/${parts.join('/')}`) },
)
const fieldNames = [
  'name',
  'target_email',
  'level',
  'domain',
  'user_uuid',
  'label',
  'scopes',
  'scoped_teams',
  'query',
  'async',
  'refresh',
  'client_query_id',
  'timezone',
  'set_current_team',
  'email',
  'password',
  'first_name',
  'personal_api_key',
  'private_project_access',
  'is_demo',
  'test_account_filters',
  'session_recording_sample_rate',
]
const value = fc.oneof(
  fc.jsonValue({ maxDepth: 3 }),
  odd,
  fc.constantFrom<unknown>(1, 8, 15, true, 'true', [], {}, { kind: 'TrendsQuery', series: [] }, { kind: 'SqlLikeQuery', query: 'select' }),
)
const body = fc.oneof(
  { weight: 4, arbitrary: fc.dictionary(fc.constantFrom(...fieldNames), value, { maxKeys: 5 }).map((one) => JSON.stringify(one)) },
  { weight: 1, arbitrary: fc.jsonValue().map((one) => JSON.stringify(one)) },
  { weight: 1, arbitrary: fc.string() },
)
const query = fc.dictionary(
  fc.constantFrom('limit', 'offset', 'page', 'prompt', 'personal_api_key'),
  fc.oneof(odd, fc.integer().map(String)),
  { maxKeys: 2 },
)
const type = fc.constantFrom(
  'application/json',
  'application/x-www-form-urlencoded',
  'multipart/form-data',
  'multipart/form-data; boundary=x',
  'text/plain',
  'application/xml',
  ';',
)

test(`${runs} requests, no fault of ours`, async () => {
  const { world, admin, owner, outsider, key } = held.home
  world.limits = { api: [], query: [], draft: [], shared: [] }
  world.hasMail = true
  const callers = [
    ...(await Promise.all([admin, owner, outsider].map((user) => world.login(user)))),
    { authorization: `Bearer ${await key(owner, ['*'])}` },
    {},
  ]
  const request = fc.record({
    method: fc.constantFrom('GET', 'POST', 'PATCH', 'PUT', 'DELETE', 'HEAD', 'OPTIONS'),
    path,
    query,
    body,
    type,
    caller: fc.constantFrom(...callers),
  })
  const send = async (one: typeof request extends fc.Arbitrary<infer T> ? T : never) => {
    // An owner may end the organization that the others need.
    if (one.method === 'DELETE' && /^\/api\/(organizations|projects)\/@current\/?$/.test(one.path)) return
    const url = new URL(world.url)
    url.pathname = one.path
    for (const [name, value] of Object.entries(one.query)) url.searchParams.set(name, value)
    const takesBody = one.method !== 'GET' && one.method !== 'HEAD'
    const response = await fetch(url, {
      method: one.method,
      headers: { ...one.caller, 'content-type': one.type },
      ...(takesBody ? { body: one.body } : {}),
    })
    const text = await response.text()
    expect(response.status, `${one.method} ${url.pathname} ${one.body}: ${text}`).not.toBe(500)
    if (response.status >= 400 && one.method !== 'HEAD' && url.pathname.startsWith('/api/'))
      expect(Object.keys(JSON.parse(text)).slice(0, 4), one.path).toEqual(['type', 'code', 'detail', 'attr'])
  }
  const memory: Memory[] = []
  for (let part = 0; part < parts; part++) {
    await assertGenerated(fc.asyncProperty(request, send), { numRuns: runs / parts, endOnFailure: true })
    memory.push(measure())
  }
  expect(rejections).toEqual([])
  expect(world.reports).toEqual([])
  if (runs < 10_000) return
  // The first part makes the rows that stay (organizations, log entries) and warms everything up.
  const [start, middle, end] = [memory[0]!, memory[Math.floor(parts / 2)]!, memory.at(-1)!]
  console.log(`memory in MB: start ${words(start)}; middle ${words(middle)}; end ${words(end)}`)
  for (const kind of ['heap', 'whole'] as const)
    expect(end[kind], `${kind}: ${memory.map((one) => one[kind]).join(' ')}`).toBeLessThan(middle[kind] * flatTo + rowsThatStayMb)
}, 3_600_000)
