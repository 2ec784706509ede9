import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { bigQueryAt } from '../../../src/service/exports/destinations/bigquery.ts'
import type { Destination, ExportRun } from '../../../src/service/exports/destinations/destination.ts'
import { type FakeBigQuery, startBigQuery } from './fake-bigquery.ts'
import { eventOf, openShop, outside, type Shop } from './shop.ts'

let shop: Shop
let service: FakeBigQuery
let destination: Destination
beforeAll(async () => {
  shop = await openShop()
  await shop.ingest(500)
})
afterAll(() => shop.close())
beforeEach(async () => {
  service = await startBigQuery()
  destination = bigQueryAt(service.origin, { silentMs: 2000, pauseMs: 1 })
})
afterEach(() => service.close())

const config = (more: object = {}) => ({
  project_id: 'shop-project',
  dataset_id: 'analytics',
  table_id: 'events',
  private_key: service.privateKey,
  private_key_id: 'key-1',
  token_uri: `${service.origin}/token`,
  client_email: 'exports@shop',
  ...more,
})
const { signal } = new AbortController()

test('every row has the values of its event, publishing twice leaves each once, and no staging table stays', async () => {
  for (const attempt of [1, 2]) {
    expect(await shop.run(destination, config(), { attempt })).toMatchObject({ rows: 500 })
    const { rows, fields } = service.tables.get('events')!
    expect(rows.length).toBe(500)
    expect(fields.map(({ name, type }) => `${name} ${type}`)).toEqual([
      'uuid STRING',
      'event STRING',
      'properties STRING',
      'elements STRING',
      'set STRING',
      'set_once STRING',
      'distinct_id STRING',
      'team_id INT64',
      'ip STRING',
      'site_url STRING',
      'timestamp TIMESTAMP',
      'bq_ingested_timestamp TIMESTAMP',
    ])
    for (let n = 0; n < 20; n++) {
      const { uuid, event, distinct_id, timestamp, properties } = eventOf(n)
      const row = rows.find((one) => one.uuid === uuid)!
      expect(row).toMatchObject({
        event,
        distinct_id,
        ip: '10.0.0.1',
        timestamp: timestamp.replace('.000Z', '.000000Z'),
        set: '{"plan":"pro"}',
        set_once: null,
      })
      expect(JSON.parse(row.properties as string)).toMatchObject({ note: properties.note, price: n })
    }
    expect([...service.tables.keys()]).toEqual(['events'])
  }
  expect(service.tokens, 'a token serves a run').toBeLessThanOrEqual(2)
  expect(service.statements[0]!.replace(/events_waymark_\w+/, 'staging')).toBe(
    'MERGE `shop-project.analytics.events` AS old USING (SELECT `uuid`, `event`, IF(`properties` IS NULL, NULL, TO_JSON_STRING(`properties`)) AS `properties`, `elements`, IF(`set` IS NULL, NULL, TO_JSON_STRING(`set`)) AS `set`, IF(`set_once` IS NULL, NULL, TO_JSON_STRING(`set_once`)) AS `set_once`, `distinct_id`, `team_id`, `ip`, `site_url`, `timestamp`, `bq_ingested_timestamp` FROM `shop-project.analytics.staging` QUALIFY ROW_NUMBER() OVER (PARTITION BY `uuid`) = 1) AS new ON old.`uuid` = new.`uuid` WHEN MATCHED THEN UPDATE SET `uuid` = new.`uuid`, `event` = new.`event`, `properties` = new.`properties`, `elements` = new.`elements`, `set` = new.`set`, `set_once` = new.`set_once`, `distinct_id` = new.`distinct_id`, `team_id` = new.`team_id`, `ip` = new.`ip`, `site_url` = new.`site_url`, `timestamp` = new.`timestamp`, `bq_ingested_timestamp` = new.`bq_ingested_timestamp` WHEN NOT MATCHED THEN INSERT (`uuid`, `event`, `properties`, `elements`, `set`, `set_once`, `distinct_id`, `team_id`, `ip`, `site_url`, `timestamp`, `bq_ingested_timestamp`) VALUES (new.`uuid`, new.`event`, new.`properties`, new.`elements`, new.`set`, new.`set_once`, new.`distinct_id`, new.`team_id`, new.`ip`, new.`site_url`, new.`timestamp`, new.`bq_ingested_timestamp`)',
  )
})

test('JSON columns, and columns that a table lacks', async () => {
  service.tables.set('events', {
    fields: [
      { name: 'uuid', type: 'STRING' },
      { name: 'own', type: 'INT64' },
    ],
    rows: [],
  })
  await shop.run(destination, config({ use_json_type: 'true' }))
  const { fields, rows } = service.tables.get('events')!
  expect(fields.slice(0, 4)).toMatchObject([
    { name: 'uuid' },
    { name: 'own' },
    { name: 'event', type: 'STRING' },
    { name: 'properties', type: 'JSON' },
  ])
  expect(rows.find(({ uuid }) => uuid === eventOf(3).uuid)!.properties).toMatchObject({ price: 3 })
})

test('rows without an identity are added once for a run', async () => {
  for (const key of ['a', 'a', 'b']) await shop.run(destination, config(), { identity: [], key })
  expect(service.tables.get('events')!.rows.length).toBe(1000)
})

test('large files are uploaded in parts, from where the server has them', async () => {
  const path = join(shop.folder, 'large.jsonl')
  const line = `${JSON.stringify({ text: 'x'.repeat(1000) })}\n`
  await writeFile(path, line.repeat(20_000))
  const run = { ...({} as ExportRun), key: 'large', attempt: 1, columns: [{ name: 'text', type: 'text' as const }], identity: [] }
  const sink = await destination.open(destination.config.parse(config()), run, outside, signal)
  await sink.write({ path, index: 0, rows: 20_000, bytes: line.length * 20_000, format: 'JSONLines', compression: null }, signal)
  await sink.publish(signal)
  expect(service.tables.get('events')!.rows.length).toBe(20_000)
  expect(service.requests.filter((one) => one.startsWith('PUT')).length).toBeGreaterThan(2)
})

test('what passes is repeated: each row is there once', async () => {
  service.fail(/POST .*\/jobs$/, { status: 503 }, 2)
  service.fail(/PUT/, 'drop')
  service.fail(/POST .*\/tables$/, { status: 429 })
  await shop.run(destination, config())
  expect(service.tables.get('events')!.rows.length).toBe(500)
})

const refusals: [string, (more: object) => Promise<unknown>, boolean, RegExp][] = [
  [
    'a key that is no key',
    () => shop.run(destination, config({ private_key: 'secret' })),
    false,
    /^private_key is not a private key in PEM form/,
  ],
  [
    'a key of somebody else',
    () => shop.run(destination, config({ client_email: 'else@shop' })),
    false,
    /^Google refuses the key of else@shop: Invalid JWT Signature\. Check private_key/,
  ],
  [
    'a project',
    () => shop.run(destination, config({ project_id: 'other' })),
    false,
    /^BigQuery answered 404: Not found: Project Check project_id \(other\)/,
  ],
  [
    'a dataset',
    () => shop.run(destination, config({ dataset_id: 'other' })),
    false,
    /^BigQuery answered 404: Not found: Dataset .*dataset_id \(other\)\.$/,
  ],
]
test.each(refusals)('refused: %s', async (_, run, isRetryable, message) => {
  await expect(run({})).rejects.toMatchObject({ name: 'DestinationError', isRetryable, message: expect.stringMatching(message) })
})

test('rights, quotas, a server that dies, and rows that do not fit', async () => {
  const error = (code: number, reason: string, message: string) => ({
    status: code,
    body: { error: { message, errors: [{ reason, message }] } },
  })
  service.fail(/POST .*\/tables$/, error(403, 'accessDenied', 'Access Denied: Dataset analytics.'))
  await expect(shop.run(destination, config())).rejects.toMatchObject({
    isRetryable: false,
    message: expect.stringMatching(/^BigQuery answered 403: Access Denied.* Give exports@shop the roles BigQuery Data Editor/),
  })
  service.fail(/POST .*\/jobs$/, error(403, 'quotaExceeded', 'Quota exceeded: imports per table.'))
  await expect(shop.run(destination, config())).rejects.toMatchObject({
    isRetryable: true,
    message: 'BigQuery answered 403: Quota exceeded: imports per table. The run is retried.',
  })
  service.fail(/PUT/, 'drop', 4)
  await expect(shop.run(destination, config())).rejects.toMatchObject({
    isRetryable: true,
    message: 'BigQuery closed the connection before it had answered.',
  })
  expect([...service.tables.keys()], 'only the table of the export').toEqual(['events'])
  const wrong = {
    ...destination,
    columns: () => [{ alias: 'uuid', expression: 'uuid' }],
    open: (...[settings, run, beside]: Parameters<Destination['open']>) =>
      destination.open(settings, { ...run, columns: [{ name: 'uuid', type: 'integer' }] }, beside, signal),
  }
  await expect(shop.run(wrong, config({ table_id: 'wrong' }))).rejects.toMatchObject({
    isRetryable: false,
    message: expect.stringMatching(/^BigQuery could not take the rows: Could not convert value to INT64\. Field: uuid/),
  })
})

test('a server that is silent, and a run that is cancelled', async () => {
  const silent = bigQueryAt(service.origin, { silentMs: 50, pauseMs: 1 })
  const held = { ...outside, lookup: outside.lookup }
  service.fail(/token/, 'drop', 10)
  const [step] = silent.steps(silent.config.parse(config()), held)
  await expect(step!.run(signal)).rejects.toMatchObject({ isRetryable: true })
  const stopped = new AbortController()
  const cancelled = {
    ...destination,
    open: async (...given: Parameters<Destination['open']>) => {
      const sink = await destination.open(...given)
      stopped.abort(new Error('cancelled'))
      return sink
    },
  }
  await service.close()
  service = await startBigQuery()
  destination = bigQueryAt(service.origin, { silentMs: 2000, pauseMs: 1 })
  await expect(shop.run(cancelled, config(), { signal: stopped.signal })).rejects.toThrow('cancelled')
  expect([...service.tables.keys()]).toEqual(['events'])
})

test('settings are checked step by step', async () => {
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
  expect(await failures({ dataset_id: 'other' })).toEqual([
    null,
    expect.stringContaining('Not found: Dataset'),
    expect.stringContaining('Not found: Dataset'),
  ])
  expect([...service.tables.keys()]).toEqual([])
})
