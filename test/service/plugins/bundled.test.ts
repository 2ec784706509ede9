import { createHmac } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { openAddressDatabase } from '../../../src/service/plugins/address-database.ts'
import { bundledPlugins } from '../../../src/service/plugins/bundled/registry.ts'
import type { JsonObject } from '../../../src/service/plugins/ports.ts'
import { mmdbOf } from './mmdb.ts'
import { answerOf, closeSharedSandbox, createWorld, eventOf, pluginOf, type World, type WorldOptions } from './world.ts'

let world: World
afterEach(async () => world.runtime.close())
afterAll(closeSharedSandbox)

const start = async (name: string, config: JsonObject = {}, options: WorldOptions = {}) => {
  const plugin = bundledPlugins.find(({ url }) => url === `inline://${name}`)!
  const defaults = Object.fromEntries(plugin.config_schema.map((field) => [field.key, field.default]))
  world = createWorld(options)
  await world.runtime.use(1, [pluginOf(plugin.code, 1, { config: { ...defaults, ...config }, file: 'index.ts' })])
}
/** The properties of an event after the plugin, without the marks; null if it was dropped. */
const transformed = async (properties: JsonObject, rest: JsonObject = {}) => {
  const [event] = await world.runtime.transform(1, [eventOf(properties, rest)])
  expect(world.logs).toEqual([])
  if (!event) return null
  const { $plugins_succeeded, $plugins_failed, $plugins_deferred, ...left } = event.properties as JsonObject
  expect([$plugins_succeeded, $plugins_failed, $plugins_deferred]).toEqual([['plugin 1 (1)'], [], []])
  return { ...event, properties: left }
}

test('each bundled plugin loads, has one purpose, and a field for what it reads', async () => {
  world = createWorld()
  const methods = await Promise.all(
    bundledPlugins.map(async ({ url, code }) => [url, await world.runtime.inspect({ id: 1, name: null, files: { 'index.ts': code } })]),
  )
  const has = (...list: string[]) => ({ capabilities: { methods: list, scheduled_tasks: [], jobs: [] } })
  expect(methods).toEqual([
    ['inline://geoip', has('processEvent')],
    ['inline://property-filter', has('setupPlugin', 'processEvent')],
    ['inline://url-normalizer', has('setupPlugin', 'processEvent')],
    ['inline://bot-filter', has('setupPlugin', 'processEvent')],
    ['inline://pii-hashing', has('setupPlugin', 'processEvent')],
    ['inline://webhook', has('setupPlugin', 'composeWebhook')],
    ['inline://mirror', has('setupPlugin', 'onEvent')],
  ])
  for (const { code, config_schema } of bundledPlugins) {
    const read = new Set([...code.matchAll(/config\.(\w+)/g)].map(([, key]) => key))
    expect([...read].sort()).toEqual(config_schema.map(({ key }) => key).sort())
  }
})

describe('geoip', () => {
  let folder: string
  let locate: (ip: string) => Promise<JsonObject | null>
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'waymark-geoip-'))
    const berlin = {
      city: { geoname_id: 1, names: { en: 'Berlin', zh_cn: 'x' } },
      country: { iso_code: 'DE', names: { en: 'Germany' } },
      location: { latitude: 52.5, longitude: -13.4, time_zone: 'Europe/Berlin' },
      subdivisions: [{ iso_code: 'BE', names: { en: 'Land Berlin' } }],
    }
    await writeFile(join(folder, 'city.mmdb'), mmdbOf({ '80.1.2.0/24': berlin, '90.0.0.0/8': { country: { iso_code: 'FR' } } }))
    locate = await openAddressDatabase(join(folder, 'city.mmdb'))
  })
  afterAll(async () => rm(folder, { recursive: true }))

  const inBerlin = {
    city_name: 'Berlin',
    country_name: 'Germany',
    country_code: 'DE',
    latitude: 52.5,
    longitude: -13.4,
    time_zone: 'Europe/Berlin',
    subdivision_1_code: 'BE',
    subdivision_1_name: 'Land Berlin',
  }
  const prefixed = (prefix: string, values: JsonObject) =>
    Object.fromEntries(Object.entries(values).map(([key, value]) => [prefix + key, value]))
  const placed = (values: JsonObject) => ({
    ...prefixed('$geoip_', values),
    $set: prefixed('$geoip_', values),
    $set_once: prefixed('$initial_geoip_', values),
  })

  test.each<[string, JsonObject, JsonObject, JsonObject]>([
    ['a city', { $ip: '80.1.2.3' }, {}, { $ip: '80.1.2.3', ...placed(inBerlin) }],
    ['a country only', { $ip: '90.1.1.1' }, {}, { $ip: '90.1.1.1', ...placed({ country_code: 'FR' }) }],
    ['the address of the request', {}, { ip: '90.1.1.1' }, placed({ country_code: 'FR' })],
    ['an unknown address', { $ip: '8.8.8.8', a: 1 }, {}, { $ip: '8.8.8.8', a: 1 }],
    ['an invalid address', { $ip: 'localhost' }, {}, { $ip: 'localhost' }],
    ['no address', { a: 1 }, {}, { a: 1 }],
    ['an event that asks to leave it', { $ip: '80.1.2.3', $geoip_disable: true }, {}, { $ip: '80.1.2.3', $geoip_disable: true }],
  ])('%s', async (_, properties, rest, expected) => {
    await start('geoip', {}, { ports: { locate } })
    expect((await transformed(properties, rest))?.properties).toEqual(expected)
  })

  test('properties of the person stay', async () => {
    await start('geoip', {}, { ports: { locate } })
    expect((await transformed({ $ip: '90.1.1.1', $set: { a: 1 }, $set_once: { b: 2 } }))?.properties).toMatchObject({
      $set: { a: 1, $geoip_country_code: 'FR' },
      $set_once: { b: 2, $initial_geoip_country_code: 'FR' },
    })
  })
})

const tables: Readonly<
  Record<string, readonly (readonly [name: string, config: JsonObject, properties: JsonObject, expected: JsonObject | null])[]>
> = {
  'property-filter': [
    [
      'removes names everywhere',
      { properties: 'email, $ip' },
      { email: 'a', $ip: '1', b: 1, $set: { email: 'a', c: 1 }, $set_once: { email: 'a' } },
      { b: 1, $set: { c: 1 }, $set_once: {} },
    ],
    [
      'removes nested names',
      { properties: 'address.street,address.none.deep' },
      { address: { street: 's', city: 'c' } },
      { address: { city: 'c' } },
    ],
    ['prefers a name with a dot', { properties: 'a.b' }, { 'a.b': 1, a: { b: 2 } }, { a: { b: 2 } }],
    ['leaves what is inherited', { properties: 'constructor, __proto__.x' }, { b: 1 }, { b: 1 }],
    ['removes nothing without names', { properties: ' , ' }, { b: 1 }, { b: 1 }],
  ],
  'url-normalizer': [
    [
      'one form of a page',
      {},
      { $current_url: 'https://Example.com/Pricing/?a=1#top', $pathname: '/Pricing//' },
      { $current_url: 'https://example.com/pricing?a=1#top', $pathname: '/pricing' },
    ],
    ['the root', {}, { $current_url: 'https://example.com/', $pathname: '/' }, { $current_url: 'https://example.com', $pathname: '/' }],
    ['case stays if it should', { lowercase: 'no' }, { $pathname: '/Docs/API/' }, { $pathname: '/Docs/API' }],
    [
      'parameters',
      { removeParameters: 'utm_source, fbclid' },
      { $current_url: 'https://e.test/a?utm_source=x&b=1&fbclid=y' },
      { $current_url: 'https://e.test/a?b=1' },
    ],
    [
      'all parameters and the hash',
      { removeParameters: '*', removeHash: 'yes' },
      { $current_url: 'https://e.test/a?x=1#y' },
      { $current_url: 'https://e.test/a' },
    ],
    [
      'what is no URL stays',
      {},
      { $current_url: 'Not A URL/', $referrer: '$direct', $pathname: 5 },
      { $current_url: 'Not A URL/', $referrer: '$direct', $pathname: 5 },
    ],
    ['what is no web page stays', {}, { $current_url: 'app://Screen/Main/' }, { $current_url: 'app://Screen/Main/' }],
    [
      'chosen properties',
      { properties: 'link' },
      { link: 'https://e.test/A/', $pathname: '/A/' },
      { link: 'https://e.test/a', $pathname: '/A/' },
    ],
  ],
  'bot-filter': [
    ['a crawler', {}, { $raw_user_agent: 'Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)' }, null],
    ['a program', {}, { $user_agent: 'curl/8.0' }, null],
    [
      'a browser',
      {},
      { $raw_user_agent: 'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 Chrome/120.0 Safari/537.36' },
      { $raw_user_agent: 'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 Chrome/120.0 Safari/537.36' },
    ],
    [
      'a phone whose name contains bot',
      {},
      { $raw_user_agent: 'Mozilla/5.0 (Linux; Android 13; CUBOT X70)' },
      { $raw_user_agent: 'Mozilla/5.0 (Linux; Android 13; CUBOT X70)' },
    ],
    ['marked', { action: 'mark' }, { $user_agent: 'Bingbot' }, { $user_agent: 'Bingbot', $is_bot: true }],
    ['more words', { more: 'acme-probe' }, { $user_agent: 'ACME-Probe 1' }, null],
    ['exceptions', { keep: 'friendlybot' }, { $user_agent: 'FriendlyBot' }, { $user_agent: 'FriendlyBot' }],
    ['no agent', {}, { a: 1 }, { a: 1 }],
  ],
}
for (const [name, rows] of Object.entries(tables))
  describe(name, () => {
    test.each(rows)('%s', async (_, config, properties, expected) => {
      await start(name, config)
      expect((await transformed(properties))?.properties ?? null).toEqual(expected)
    })
  })

describe('pii-hashing', () => {
  const hash = (text: string) => createHmac('sha256', 'long enough').update(text).digest('hex')
  const config = { properties: 'email, phone', key: 'long enough' }

  test('equal values have equal hashes, in the event and in the person', async () => {
    await start('pii-hashing', config)
    const result = await transformed(
      { email: ' A@b.c', phone: 12, other: 'x', $set: { email: 'a@b.c' }, $set_once: { phone: '' } },
      { distinct_id: 'a@b.c' },
    )
    expect(result).toMatchObject({
      distinct_id: 'a@b.c',
      properties: { email: hash('a@b.c'), phone: hash('12'), other: 'x', $set: { email: hash('a@b.c') }, $set_once: { phone: '' } },
    })
  })

  test('distinct ids that are addresses, also those of a merge', async () => {
    await start('pii-hashing', { ...config, distinctId: 'yes' })
    expect(await transformed({ $anon_distinct_id: 'anon-1', alias: 'X@y.z' }, { distinct_id: 'x@y.z' })).toMatchObject({
      distinct_id: hash('x@y.z'),
      properties: { $anon_distinct_id: 'anon-1', alias: hash('x@y.z') },
    })
  })

  test('a short key is refused: events are not stored with hashes that can be guessed', async () => {
    await start('pii-hashing', { ...config, key: 'short' })
    await world.runtime.transform(1, [eventOf()])
    expect(world.disabled).toEqual(['setupPlugin threw Error: The key must have at least 8 characters'])
  })
})

const delivered = (event: JsonObject) => ({
  event: eventOf({}, event),
  webhookEvent: eventOf({}, { timestamp: '2026-01-05T10:00:00.000Z', ...event }),
})

describe('webhook', () => {
  const sent = async (config: JsonObject, event: JsonObject) => {
    await start('webhook', { url: 'https://hooks.test/x', ...config })
    const [delivery] = await world.runtime.deliver(1, delivered(event))
    return [delivery!.status, ...world.fetched.map(({ url, method, body }) => [method, url, JSON.parse(String(body))])]
  }

  test.each<[string, JsonObject, JsonObject, readonly unknown[]]>([
    [
      'JSON',
      {},
      { event: 'paid' },
      ['done', ['POST', 'https://hooks.test/x', { ...eventOf({}, { event: 'paid' }), timestamp: '2026-01-05T10:00:00.000Z' }]],
    ],
    [
      'Slack',
      { format: 'slack', message: '{person} <paid> {properties.amount} {other}' },
      { properties: { amount: '<!channel>' } },
      ['done', ['POST', 'https://hooks.test/x', { text: 'u1 &lt;paid&gt; &lt;!channel&gt; {other}' }]],
    ],
    [
      'Discord',
      { format: 'discord' },
      { event: 'paid', person: { properties: { email: 'a@b.c' } } },
      ['done', ['POST', 'https://hooks.test/x', { content: 'a@b.c did paid', allowed_mentions: { parse: [] } }]],
    ],
    [
      'a chosen event',
      { events: 'paid, left', format: 'slack' },
      { event: 'left' },
      ['done', ['POST', 'https://hooks.test/x', { text: 'u1 did left' }]],
    ],
    ['another event', { events: 'paid' }, { event: 'seen' }, ['skipped']],
  ])('%s', async (_, config, event, expected) => {
    expect(await sent(config, event)).toEqual(expected)
  })
})

describe('mirror', () => {
  const config = { host: 'https://other.test/base', apiKey: 'phc_x', except: 'secret' }

  test('an event is sent with its uuid, and without the marks of this server', async () => {
    await start('mirror', config)
    const event = { timestamp: '2026-01-05T10:00:00.000Z', properties: { a: 1, $plugins_succeeded: ['x'] }, $set: { b: 2 } }
    expect(await world.runtime.deliver(1, delivered(event))).toMatchObject([{ status: 'done' }])
    expect(world.fetched.map(({ url }) => url)).toEqual(['https://other.test/batch/'])
    expect(JSON.parse(String(world.fetched[0]!.body))).toEqual({
      api_key: 'phc_x',
      batch: [
        {
          uuid: eventOf().uuid,
          event: '$pageview',
          distinct_id: 'u1',
          timestamp: '2026-01-05T10:00:00.000Z',
          properties: { a: 1, $is_mirrored: true, $set: { b: 2 } },
        },
      ],
    })
  })

  test.each([
    ['an event to leave out', { event: 'secret' }],
    ['an event that was mirrored already', { properties: { $is_mirrored: true } }],
  ])('%s is not sent', async (_, event) => {
    await start('mirror', config)
    await world.runtime.deliver(1, delivered(event))
    expect(world.fetched).toEqual([])
  })

  test.each([
    [503, true],
    [429, true],
    [401, false],
  ])('status %i: retried %s', async (status, isRetryable) => {
    await start('mirror', config, { respond: () => answerOf('', status) })
    expect(await world.runtime.deliver(1, delivered({}))).toMatchObject([{ status: 'failed', isRetryable }])
  })
})
