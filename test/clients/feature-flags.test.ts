import { PostHog, type PostHogOptions } from 'posthog-node'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { type Served, startServe } from './served.ts'

// Flags for the library of Node applications, unmodified: asked of the server, and computed by the library from their definitions. Both say the same of everybody.

let served: Served
const clients: PostHog[] = []
const failures: unknown[] = []

const connect = (options: PostHogOptions = {}): PostHog => {
  const client = new PostHog(served.projectKey, { host: served.url, flushInterval: 60_000, fetchRetryDelay: 20, ...options })
  client.on('error', (error) => failures.push(error))
  clients.push(client)
  return client
}
const person = (key: string, value: unknown, operator = 'exact') => ({ type: 'person', key, value, operator })
const share = (rollout_percentage: number, ...properties: object[]) => ({ rollout_percentage, properties })
const variants = (...shares: readonly (readonly [string, number])[]) => ({
  variants: shares.map(([key, rollout_percentage]) => ({ key, rollout_percentage })),
})

const flags: Readonly<Record<string, object>> = {
  everybody: { groups: [share(100)], payloads: { true: '{"limit":5}' } },
  nobody: { groups: [share(0)] },
  third: { groups: [share(33)] },
  colors: { groups: [share(80)], multivariate: variants(['red', 10], ['green', 60], ['blue', 30]) },
  pros: { groups: [share(50, person('plan', ['pro'])), share(100, person('age', 40, 'gt'))] },
  named: { groups: [share(100), { ...share(100, person('plan', ['pro'])), variant: 'b' }], multivariate: variants(['a', 50], ['b', 50]) },
  acme: { groups: [share(100, person('email', '@acme.com', 'icontains'))] },
  pattern: { groups: [share(100, person('email', '^[a-m]', 'regex'))] },
  recent: { groups: [share(100, person('joined', '2026-01-15', 'is_date_after'))] },
  companies: { groups: [share(50)], aggregation_group_type_index: 0 },
}

beforeAll(async () => {
  served = await startServe()
  await served.api('POST', `/batch/`, {
    api_key: served.projectKey,
    batch: [
      { event: '$groupidentify', distinct_id: 'x', properties: { $group_type: 'company', $group_key: 'acme', $group_set: { size: 1 } } },
    ],
  })
  await served.rows('select count() from events')
  for (const [key, filters] of Object.entries(flags)) {
    const { status, body } = await served.api('POST', `/api/projects/${served.projectId}/feature_flags/`, { key, filters })
    expect(status, JSON.stringify(body)).toBe(201)
  }
})
afterEach(async () => {
  for (const client of clients.splice(0)) await client.shutdown()
  expect(failures.splice(0), 'what the client reported').toEqual([])
})
afterAll(() => served.stop())

const people = Array.from({ length: 120 }, (_, i) => ({
  id: `user-${i}`,
  personProperties: {
    plan: i % 3 === 0 ? 'pro' : 'free',
    age: String(20 + (i % 50)),
    email: `${'azmk'[i % 4]}${i}@${i % 2 ? 'acme' : 'other'}.com`,
    joined: i % 5 === 0 ? '2026-02-01' : '2025-12-01',
  },
  groups: { company: `company-${i % 9}` },
}))

test('the library computes the same values as the server', async () => {
  const local = connect({ personalApiKey: served.personalKey })
  await local.waitForLocalEvaluationReady(10_000)
  expect(local.isLocalEvaluationReady()).toBe(true)
  const remote = connect()
  const seen = new Map<string, Set<unknown>>(Object.keys(flags).map((key) => [key, new Set()]))
  for (const { id, ...more } of people) {
    const computed = await local.getAllFlags(id, { ...more, onlyEvaluateLocally: true })
    const asked = await remote.getAllFlags(id, more)
    expect(computed, id).toEqual(asked)
    expect(Object.keys(asked).toSorted()).toEqual(Object.keys(flags).toSorted())
    for (const [key, value] of Object.entries(asked)) seen.get(key)!.add(value)
  }
  expect(seen.get('colors')).toEqual(new Set([false, 'red', 'green', 'blue']))
  for (const key of ['third', 'pros', 'acme', 'pattern', 'recent', 'companies']) expect(seen.get(key), key).toEqual(new Set([true, false]))
})

test('a value is an event, and payloads come with it', async () => {
  const client = connect()
  expect(await client.getFeatureFlag('everybody', 'ada')).toBe(true)
  expect(await client.getFeatureFlagPayload('everybody', 'ada')).toEqual({ limit: 5 })
  expect(await client.isFeatureEnabled('nobody', 'ada')).toBe(false)
  expect(await client.getFeatureFlag('unknown', 'ada')).toBeUndefined()
  await client.flush()
  const rows = await served.rows(
    "select properties.$feature_flag, properties.$feature_flag_response from events where event = '$feature_flag_called' and distinct_id = 'ada' order by 1",
  )
  expect(rows).toEqual(
    expect.arrayContaining([
      ['everybody', 'true'],
      ['nobody', 'false'],
    ]),
  )
})

test('definitions need a key that may read flags', async () => {
  const client = new PostHog(served.projectKey, { host: served.url, personalApiKey: 'phx_wrong', fetchRetryDelay: 20 })
  const refused: unknown[] = []
  client.on('error', (error) => refused.push(error))
  await client.waitForLocalEvaluationReady(3_000)
  expect(client.isLocalEvaluationReady()).toBe(false)
  await client.shutdown()
})
