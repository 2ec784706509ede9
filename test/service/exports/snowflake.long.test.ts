import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import type { Destination, ExportRun } from '../../../src/service/exports/destinations/destination.ts'
import { snowflakeAt } from '../../../src/service/exports/destinations/snowflake.ts'
import { type FakeSnowflake, startSnowflake } from './fake-snowflake.ts'
import { eventOf, openShop, outside, type Shop } from './shop.ts'

let shop: Shop
let service: FakeSnowflake
let destination: Destination
beforeAll(async () => {
  shop = await openShop()
  await shop.ingest(500)
})
afterAll(() => shop.close())
beforeEach(async () => {
  service = await startSnowflake()
  destination = snowflakeAt(() => service.origin, { silentMs: 2000, pauseMs: 1 })
})
afterEach(() => service.close())

const config = (more: object = {}) => ({
  account: 'acme-shop',
  user: 'exporter',
  database: 'SHOP',
  warehouse: 'LOADING',
  schema: 'PUBLIC',
  authentication_type: 'keypair',
  private_key: service.privateKey,
  ...more,
})
const { signal } = new AbortController()

test('every row has the values of its event, publishing twice leaves each once, and no staging table stays', async () => {
  for (const attempt of [1, 2]) {
    expect(await shop.run(destination, config(), { attempt })).toMatchObject({ rows: 500 })
    const { rows, columns } = service.tables.get('events')!
    expect(rows.length).toBe(500)
    expect(columns.map((column) => column.join(' '))).toEqual([
      'uuid TEXT',
      'event TEXT',
      'properties VARIANT',
      'elements TEXT',
      'people_set VARIANT',
      'people_set_once VARIANT',
      'distinct_id TEXT',
      'team_id NUMBER',
      'ip TEXT',
      'site_url TEXT',
      'timestamp TIMESTAMP_TZ',
    ])
    for (let n = 0; n < 20; n++) {
      const { uuid, event, distinct_id, timestamp, properties } = eventOf(n)
      expect(rows.find((one) => one.uuid === uuid)).toMatchObject({
        event,
        distinct_id,
        ip: '10.0.0.1',
        timestamp: timestamp.replace('.000Z', '.000000Z'),
        people_set: { plan: 'pro' },
        people_set_once: null,
        properties: { note: properties.note, price: n },
      })
    }
    expect([...service.tables.keys()]).toEqual(['events'])
  }
  expect(
    service.statements
      .find((sql) => sql.startsWith('MERGE'))!
      .replace(/events_waymark_\w+/, 'staging')
      .replaceAll('"SHOP"."PUBLIC".', ''),
  ).toMatch(
    /^MERGE INTO "events" AS old USING \(SELECT \* FROM "staging" QUALIFY ROW_NUMBER\(\) OVER \(PARTITION BY "uuid" ORDER BY NULL\) = 1\) AS new ON old\."uuid" = new\."uuid" WHEN MATCHED THEN UPDATE SET old\."uuid" = new\."uuid", .* WHEN NOT MATCHED THEN INSERT \("uuid", .*\) VALUES \(new\."uuid", .*\)$/,
  )
})

test('a table that is there keeps its types, and gets the columns that it lacks', async () => {
  service.tables.set('events', {
    columns: [
      ['uuid', 'TEXT'],
      ['properties', 'TEXT'],
      ['own', 'NUMBER'],
    ],
    rows: [],
  })
  await shop.run(destination, config())
  const { columns, rows } = service.tables.get('events')!
  expect(columns.slice(0, 4)).toEqual([
    ['uuid', 'TEXT'],
    ['properties', 'TEXT'],
    ['own', 'NUMBER'],
    ['event', 'TEXT'],
  ])
  expect(JSON.parse(rows.find(({ uuid }) => uuid === eventOf(3).uuid)!.properties as string)).toMatchObject({ price: 3 })
})

test('rows without an identity are added once for a run', async () => {
  for (const key of ['a', 'a', 'b']) await shop.run(destination, config(), { identity: [], key })
  expect(service.tables.get('events')!.rows.length).toBe(1000)
})

test('large files are inserted in parts of whole lines', async () => {
  const path = join(shop.folder, 'large.jsonl')
  const content = Array.from({ length: 10_000 }, (_, n) => `${JSON.stringify({ text: `${n} ${'x'.repeat(1000)}\n` })}\n`).join('')
  await writeFile(path, content)
  const run = { ...({} as ExportRun), key: 'large', columns: [{ name: 'text', type: 'text' as const }], identity: ['text'] }
  const sink = await destination.open(destination.config.parse(config({ table_name: 'large' })), run, outside, signal)
  await sink.write({ path, index: 0, rows: 10_000, bytes: content.length, format: 'JSONLines', compression: null }, signal)
  await sink.publish(signal)
  expect(service.tables.get('large')!.rows.length).toBe(10_000)
  expect(service.statements.filter((sql) => sql.includes('FLATTEN')).length).toBe(3)
})

test('a statement whose answer is lost is executed once, and what passes is repeated', async () => {
  service.fail(/FLATTEN/, 'drop', 2)
  service.fail(/^MERGE/, { status: 503, body: {} })
  await shop.run(destination, config(), { identity: [], key: 'once' })
  expect(service.tables.get('events')!.rows.length).toBe(500)
})

test('an encrypted key, and a programmatic access token', async () => {
  await shop.run(destination, config({ private_key: service.encryptedKey.replaceAll('\n', '\\n'), private_key_passphrase: 'open sesame' }))
  await shop.run(destination, config({ authentication_type: 'password', password: 'pat-1' }))
  expect(service.tables.get('events')!.rows.length).toBe(500)
})

const refusals: [string, object, RegExp][] = [
  ['a key that is no key', { private_key: 'secret' }, /^private_key is not a private key in PEM form/],
  [
    'another user',
    { user: 'else' },
    /^Snowflake refuses the user else \(401\): JWT token is invalid\. Check account and user, and that the public key/,
  ],
  ['a password', { authentication_type: 'password', password: 'secret' }, /takes programmatic access tokens instead of passwords/],
  ['a warehouse', { warehouse: 'NONE' }, /^Snowflake answered: No active warehouse selected.* Check warehouse \(NONE\)/],
  ['a schema', { schema: 'NONE' }, /^The database SHOP has no schema NONE that the user may use/],
]
test.each(refusals)('refused: %s', async (_, more, message) => {
  await expect(shop.run(destination, config(more))).rejects.toMatchObject({
    name: 'DestinationError',
    isRetryable: false,
    message: expect.stringMatching(message),
  })
})

test('privileges, a server that dies, rows that do not fit, and a run that is cancelled', async () => {
  service.fail(/^CREATE OR REPLACE/, {
    status: 422,
    body: { code: '003001', message: 'SQL access control error: Insufficient privileges to operate on schema.' },
  })
  await expect(shop.run(destination, config({ role: 'WRITER' }))).rejects.toMatchObject({
    isRetryable: false,
    message: expect.stringMatching(/Insufficient privileges .* the privileges of the role WRITER\.$/),
  })
  service.fail(/FLATTEN/, 'drop', 4)
  await expect(shop.run(destination, config())).rejects.toMatchObject({
    isRetryable: true,
    message: 'Snowflake closed the connection before it had answered.',
  })
  expect([...service.tables.keys()]).toEqual(['events'])
  const wrong = {
    ...destination,
    columns: () => [{ alias: 'uuid', expression: 'uuid' }],
    open: (...[settings, run, beside]: Parameters<Destination['open']>) =>
      destination.open(settings, { ...run, columns: [{ name: 'uuid', type: 'integer' }] }, beside, signal),
  }
  await expect(shop.run(wrong, config({ table_name: 'wrong' }))).rejects.toMatchObject({
    isRetryable: false,
    message: expect.stringMatching(/^Snowflake answered 422: Numeric value '0+-.* is not recognized$/),
  })
  const stopped = new AbortController()
  const cancelled = {
    ...destination,
    open: async (...given: Parameters<Destination['open']>) => {
      const sink = await destination.open(...given)
      stopped.abort(new Error('cancelled'))
      return sink
    },
  }
  await expect(shop.run(cancelled, config(), { signal: stopped.signal })).rejects.toThrow('cancelled')
  expect([...service.tables.keys()]).toEqual(['events', 'wrong'])
})

test('settings are checked step by step, and before they are stored', async () => {
  const failures = async (more: object) => {
    const steps = destination.steps(destination.config.parse(config(more)), outside)
    return Promise.all(
      steps.map((step) =>
        step.run(signal).then(
          () => null,
          (error: Error) => error.message,
        ),
      ),
    )
  }
  expect(await failures({})).toEqual([null, null, null])
  expect((await failures({ schema: 'NONE' })).slice(0, 2)).toEqual([null, expect.stringContaining('has no schema NONE')])
  expect([...service.tables.keys()].filter((name) => name !== 'events')).toEqual([])
  const issue = (more: object) => destination.config.safeParse(config(more)).error?.issues[0]?.path
  expect([issue({ private_key: null }), issue({ authentication_type: 'password' }), issue({ account: 'a/b' }), issue({})]).toEqual([
    ['private_key'],
    ['password'],
    ['account'],
    undefined,
  ])
})
