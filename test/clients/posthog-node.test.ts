import { PostHog, type PostHogOptions } from 'posthog-node'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { type Gate, jsonOf, openGate } from './gate.ts'
import { type Served, startServe } from './served.ts'

// The library that Node applications send with, unmodified, against a server.

let served: Served
let gate: Gate
const said: unknown[][] = []
const failures: unknown[] = []
const clients: PostHog[] = []

/** Of newer ways to call the library, to the application's developer. */
const isOnlyAdvice = (args: readonly unknown[]) => String(args[0]).includes('is deprecated and will be removed')

beforeAll(async () => {
  served = await startServe()
})
afterAll(() => served.stop())
beforeEach(async () => {
  gate = await openGate(served.url)
  said.length = failures.length = 0
  for (const level of ['error', 'warn'] as const)
    vi.spyOn(console, level).mockImplementation((...args) => void (isOnlyAdvice(args) || said.push(args)))
})
afterEach(async () => {
  for (const client of clients.splice(0)) await client.shutdown()
  vi.restoreAllMocks()
  await gate.close()
  expect(said, 'what the client logged').toEqual([])
  expect(failures, 'what the client reported').toEqual([])
  expect(served.complaints, 'what the server complained of').toEqual([])
  expect(await served.strangeFields(), 'fields that nobody knows').toEqual([])
})

const connect = (options: PostHogOptions = {}, key = served.projectKey): PostHog => {
  const client = new PostHog(key, { host: gate.url, flushInterval: 60_000, fetchRetryDelay: 20, ...options })
  client.on('error', (error) => failures.push(error))
  clients.push(client)
  return client
}
const countOf = async (event: string) => (await served.rows(`select count(), uniq(uuid) from events where event = '${event}'`))[0]
const personOf = async (id: string) => {
  const [person] = await served.rows(
    `select id, is_identified, properties from persons where id in (select person_id from person_distinct_ids where distinct_id = '${id}')`,
  )
  return (
    person && { id: person[0], isIdentified: Boolean(person[1]), properties: JSON.parse(person[2] as string) as Record<string, unknown> }
  )
}

test('a full queue goes out in gzipped batches, the rest when asked to flush', async () => {
  const client = connect({ flushAt: 50, maxBatchSize: 50 })
  for (let i = 0; i < 120; i++) client.capture({ distinctId: `reader-${i % 7}`, event: 'page read', properties: { i } })
  await client.flush()
  expect(
    gate.sends().map((one) => [one.path, one.status, one.headers['content-encoding'] ?? '', (jsonOf(one).batch as unknown[]).length]),
  ).toEqual([
    ['/batch/', 200, 'gzip', 50],
    ['/batch/', 200, 'gzip', 50],
    ['/batch/', 200, 'gzip', 20],
  ])
  expect(await served.rows("select count(), uniq(person_id), sum(toInt(properties.i)) from events where event = 'page read'")).toEqual([
    [120, 7, (119 * 120) / 2],
  ])
})

test('what waits at the end goes out with the shutdown', async () => {
  const client = connect({ flushAt: 1000, disableCompression: true })
  for (let i = 0; i < 7; i++) client.capture({ distinctId: 'leaver', event: 'left over' })
  expect(gate.sends()).toEqual([])
  await client.shutdown()
  expect(gate.sends().map((one) => [one.headers['content-encoding'], one.status])).toEqual([[undefined, 200]])
  expect(await countOf('left over')).toEqual([7, 7])
})

test('an event carries what it was given: time, uuid, groups, person properties, library', async () => {
  const client = connect()
  const started = Date.now()
  await client.captureImmediate({
    distinctId: 'buyer',
    event: 'bought',
    timestamp: new Date(started - 3_600_000),
    uuid: '0190a000-0000-7000-8000-00000000000a',
    groups: { company: 'acme' },
    properties: { price: 12.5, tags: ['a', 'b'], $set: { plan: 'pro' }, $set_once: { source: 'ads' } },
  })
  const elapsed = Date.now() - started
  const [[time, ...row] = []] = await served.rows(
    "select timestamp, uuid, $group_0, properties.price, properties.tags, properties.$lib, person.properties.plan, person.properties.source from events where event = 'bought'",
  )
  // The server moves the time by as long as the request took to arrive.
  const moved = Date.parse(String(time)) - (started - 3_600_000)
  expect(moved).toBeGreaterThanOrEqual(0)
  expect(moved).toBeLessThanOrEqual(elapsed)
  expect(row).toEqual(['0190a000-0000-7000-8000-00000000000a', 'acme', '12.5', '["a","b"]', 'posthog-node', 'pro', 'ads'])
})

test('identify sets properties, alias joins two ids in one person, group identify makes a group', async () => {
  const client = connect()
  client.capture({ distinctId: 'visitor-1', event: 'looked around' })
  client.identify({ distinctId: 'mail@example.org', properties: { name: 'Ada', $set_once: { first_seen: 'today' } } })
  client.alias({ distinctId: 'mail@example.org', alias: 'visitor-1' })
  client.groupIdentify({ groupType: 'company', groupKey: 'acme', properties: { size: 40 }, distinctId: 'mail@example.org' })
  client.capture({ distinctId: 'mail@example.org', event: 'signed up', groups: { company: 'acme' } })
  await client.flush()
  const person = await personOf('visitor-1')
  expect(person).toMatchObject({ isIdentified: true, properties: { name: 'Ada', first_seen: 'today' } })
  expect(await personOf('mail@example.org')).toEqual(person)
  expect(await served.rows("select uniq(person_id) from events where event in ('looked around', 'signed up')")).toEqual([[1]])
  expect(await served.rows("select properties.size from groups where key = 'acme'")).toEqual([['40']])
  const actors = await served.query({ kind: 'ActorsQuery', select: ['id', 'properties.name'], search: 'Ada' })
  expect(actors.results).toEqual([[person?.id, 'Ada']])
})

test('an event without a person leaves none behind', async () => {
  const client = connect()
  await client.captureImmediate({ distinctId: 'shadow', event: 'passed by', properties: { $process_person_profile: false } })
  expect(await countOf('passed by')).toEqual([1, 1])
  expect(await personOf('shadow')).toBeUndefined()
})

test('history goes in under its own times', async () => {
  const client = connect({ historicalMigration: true })
  client.capture({ distinctId: 'veteran', event: 'founded', timestamp: new Date('2012-03-04T05:06:07Z') })
  await client.flush()
  expect(gate.sends().map((one) => jsonOf(one).historical_migration)).toEqual([true])
  expect(await served.rows("select toString(toYear(timestamp)), toHour(timestamp) from events where event = 'founded'")).toEqual([
    ['2012', 5],
  ])
})

describe.each(['v0', 'v1'])('on a bad network, protocol %s', (mode) => {
  const name = (what: string) => `${what} ${mode}`
  beforeEach(() => vi.stubEnv('POSTHOG_CAPTURE_MODE', mode))
  afterEach(() => vi.unstubAllEnvs())

  test('events are stored, and their path is the protocol’s', async () => {
    const client = connect()
    client.capture({ distinctId: 'u', event: name('plain'), properties: { $session_id: 's-1', a: 1 } })
    await client.flush()
    expect(gate.sends().map(({ path, status }) => [path, status])).toEqual([[mode === 'v1' ? '/i/v1/analytics/events' : '/batch/', 200]])
    expect(await served.rows(`select $session_id, properties.a from events where event = '${name('plain')}'`)).toEqual([['s-1', '1']])
  })

  test('a server that is full gets them later', async () => {
    gate.accidents.push('refused', 'refused')
    const client = connect()
    for (let i = 0; i < 5; i++) client.capture({ distinctId: 'u', event: name('refused at first') })
    await client.flush()
    expect(gate.sends().map(({ status }) => status)).toEqual([503, 503, 200])
    expect(await countOf(name('refused at first'))).toEqual([5, 5])
  })

  test('an answer that is lost makes no event twice', async () => {
    gate.accidents.push('answer lost')
    const client = connect()
    for (let i = 0; i < 5; i++) client.capture({ distinctId: 'u', event: name('sent twice') })
    await client.flush()
    expect(gate.sends().map(({ status }) => status)).toEqual([null, 200])
    expect(await countOf(name('sent twice'))).toEqual([5, 5])
  })
})

test('with a key of no project the client reports a batch and drops it, and the server logs the first', async () => {
  for (const mode of ['v0', 'v1']) {
    vi.stubEnv('POSTHOG_CAPTURE_MODE', mode)
    const client = connect({ flushAt: 1000 }, 'phc_of_another_server')
    for (let i = 0; i < 4; i++) client.capture({ distinctId: 'u', event: 'refused' })
    for (let i = 0; i < 3; i++) await client.flush().catch(() => {})
    await client.shutdown()
  }
  vi.unstubAllEnvs()
  expect(gate.sends().map(({ path, status }) => [path, status])).toEqual([
    ['/batch/', 401],
    ['/i/v1/analytics/events', 401],
  ])
  expect(await countOf('refused')).toEqual([0, 0])
  expect(failures.length).toBeGreaterThan(0)
  said.length = failures.length = 0
  const complaint = await vi.waitFor(() => expect(served.complaints).toHaveLength(1), 60_000).then(() => served.complaints.pop())
  expect(complaint).toMatchObject({ level: 'warn', message: 'events with an unknown project key were refused', path: '/batch' })
})

describe('feature flags of a project that has none', () => {
  test('are off, quietly', async () => {
    const client = connect()
    expect(await client.isFeatureEnabled('new-ui', 'u')).toBeFalsy()
    expect(await client.getAllFlags('u')).toEqual({})
    expect((await client.evaluateFlags('u')).isEnabled('new-ui')).toBe(false)
    client.capture({ distinctId: 'u', event: 'with flags', sendFeatureFlags: true })
    await client.flush()
    expect(gate.passed.filter(({ path }) => path.startsWith('/flags')).every(({ status }) => status === 200)).toBe(true)
    expect(await countOf('with flags')).toEqual([1, 1])
  })

  test('can be asked for with a personal key, for evaluation on the spot', async () => {
    const client = connect({ personalApiKey: served.personalKey })
    await client.reloadFeatureFlags()
    expect(gate.passed.map(({ path, status }) => [path.split('?')[0], status])).toContainEqual(['/flags/definitions', 200])
    expect(await client.getAllFlags('u')).toEqual({})
    expect(await client.getRemoteConfigPayload('settings')).toBeFalsy()
  })
})
