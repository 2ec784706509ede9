import { Readable } from 'node:stream'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type ClickHouseClient, connectToClickHouse } from '../../src/engine/storage/clickhouse/client.ts'
import { createClickHouseTables, insertedEvents, knowInsertsAgain } from '../../src/engine/storage/clickhouse/schema.ts'
import { onEachShard, onShards } from '../../src/engine/storage/clickhouse/shards.ts'
import { type LocalWaymark, open } from '../../src/engine.ts'
import type { LocalProject } from '../../src/project.ts'
import { hasClickHouse, twoShards } from './chdb.ts'
import { type ClickHouseHttpServer, startClickHouseServer } from './http-server.ts'

// Events in two shards of one ClickHouse. Keeper is not here: what makes tables equal on all servers is read by ClickHouse's parser, and not executed. All tests of
// ClickHouse run on shards with `npm run test:clickhouse -- --shards`.

const layout = { cluster: twoShards.cluster, isSharded: true }

describe('statements that change events', () => {
  test.each([
    ['DELETE FROM events WHERE project_id = 1', ['DELETE FROM events_local ON CLUSTER `shop` WHERE project_id = 1']],
    ['TRUNCATE TABLE events', ['TRUNCATE TABLE events_local ON CLUSTER `shop`']],
    ['ALTER TABLE events UPDATE person_no = 1 WHERE 1', ['ALTER TABLE events_local ON CLUSTER `shop` UPDATE person_no = 1 WHERE 1']],
    [
      'ALTER TABLE events ADD COLUMN IF NOT EXISTS a String',
      [
        'ALTER TABLE events_local ON CLUSTER `shop` ADD COLUMN IF NOT EXISTS a String',
        'ALTER TABLE events ON CLUSTER `shop` ADD COLUMN IF NOT EXISTS a String',
      ],
    ],
    ['ALTER TABLE events MATERIALIZE COLUMN a', ['ALTER TABLE events_local ON CLUSTER `shop` MATERIALIZE COLUMN a']],
    ['DELETE FROM event_names WHERE 1', ['DELETE FROM event_names WHERE 1']],
    ['INSERT INTO removed_events SELECT uuid FROM events', ['INSERT INTO removed_events SELECT uuid FROM events']],
    ["SELECT 'DELETE FROM events'", ["SELECT 'DELETE FROM events'"]],
  ])('%s', (query, expected) => expect(onEachShard(query, 'shop')).toEqual(expected))

  test('go to each shard with its rows and a token of its own', async () => {
    const sent: { query: string; settings: Record<string, unknown>; rows: unknown[][]; id: string | undefined }[] = []
    const listening: ClickHouseClient = {
      async exec({ query, values, clickhouse_settings, query_id }) {
        const chunks: Buffer[] = []
        for await (const chunk of values ?? []) chunks.push(Buffer.from(chunk as string))
        const lines = Buffer.concat(chunks).toString().split('\n')
        sent.push({ query, settings: { ...clickhouse_settings }, rows: lines.map((line) => JSON.parse(line) as unknown[]), id: query_id })
        return { stream: (async function* () {})() }
      },
      command: async () => undefined,
      close: async () => undefined,
    }
    const names = ['view', 'a "b" \\', 'é\u2028,7,', ']', '', '","x","y",5,']
    const rows = names.map((name, i) => [1, name, `uuid ${i}`, '2026-01-01 00:00:00.000000', i, 'ann'])
    await onShards(listening, { cluster: 'shop', count: 3 }).exec({
      query: insertedEvents,
      values: Readable.from([rows.map((row) => JSON.stringify(row)).join('\n')], { objectMode: false }),
      query_id: 'write',
      clickhouse_settings: { insert_deduplication_token: 'block 7', max_threads: 2 },
    })
    expect(sent.map(({ rows: own }) => own)).toEqual([0, 1, 2].map((shard) => rows.filter((row) => (row[4] as number) % 3 === shard)))
    expect(sent.map(({ id }) => id)).toEqual(['write-1', 'write-2', 'write-3'])
    for (const [i, { settings }] of sent.entries())
      expect(settings).toMatchObject({ insert_shard_id: i + 1, insert_deduplication_token: `block 7 ${i + 1} of 3`, max_threads: 2 })
  })
})

describe.skipIf(!hasClickHouse)('events in two shards', () => {
  let server: ClickHouseHttpServer
  let waymarks: LocalWaymark[]
  let projects: readonly [sharded: LocalProject, embedded: LocalProject]
  let address: { url: string; username: string; password: string }
  let client: ClickHouseClient
  const rows = async (query: string): Promise<unknown[][]> => {
    const { stream } = await client.exec({ query: `${query} FORMAT JSONCompactEachRow` })
    const chunks: Uint8Array[] = []
    for await (const chunk of stream) chunks.push(chunk)
    const lines = Buffer.concat(chunks).toString().split('\n')
    return lines.flatMap((line) => (line === '' ? [] : [JSON.parse(line) as unknown[]]))
  }
  const both = async (query: object): Promise<readonly [unknown, unknown]> => {
    const ask = async (project: LocalProject) =>
      ((await project.query(query as never, { refresh: 'force_blocking' })) as { results: unknown }).results
    return [await ask(projects[0]), await ask(projects[1])]
  }
  const agree = async (query: object): Promise<unknown> => {
    const [there, here] = await both(query)
    expect(there).toEqual(here)
    return here
  }
  const sql = (query: string) => agree({ kind: 'SqlLikeQuery', query })

  beforeAll(async () => {
    server = await startClickHouseServer(undefined, 0, twoShards)
    const { origin, username, password } = new URL(server.url)
    address = { url: origin, username, password: decodeURIComponent(password) }
    const sharded = { ...address, cluster: twoShards.cluster, sharded: true }
    waymarks = [await open({ dataDir: ':memory:', engine: { clickhouse: sharded } }), await open({ dataDir: ':memory:' })]
    const made: LocalProject[] = []
    for (const waymark of waymarks) made.push(await waymark.createProject({ name: 'Shop' }))
    projects = [made[0]!, made[1]!]
    client = await connectToClickHouse(sharded)
    const batch = Array.from({ length: 400 }, (_, i) => ({
      uuid: `01900000-0000-7000-8000-${String(i).padStart(12, '0')}`,
      event: ['seen', 'put', 'paid'][i % 3],
      distinct_id: `u${(Math.floor(i / 2) * 7) % 40}`,
      timestamp: new Date(Date.UTC(2026, 0, 5) + i * 900_000).toISOString(),
      properties: { price: i % 11, $session_id: `s${i % 60}`, $set: { plan: ['free', 'team'][i % 2] } },
    }))
    const merges = Array.from({ length: 12 }, (_, i) => ({
      uuid: `01900000-0000-7000-9000-${String(i).padStart(12, '0')}`,
      event: '$identify',
      distinct_id: `u${i}`,
      timestamp: '2026-01-08T00:00:00Z',
      properties: { $anon_distinct_id: `u${i + 20}` },
    }))
    for (const project of projects) {
      await project.ingest({ batch: batch as never })
      await project.ingest({ batch: merges as never })
    }
  })
  afterAll(async () => {
    for (const waymark of waymarks) await waymark.close()
    await client.close()
    await server.close()
  })

  test('each shard has a part of them, and each event is on one', async () => {
    await sql('select count() from events')
    const found = (await rows('SELECT shardNum() AS shard, count() FROM events GROUP BY shard ORDER BY shard')) as number[][]
    expect(found.map(([shard]) => shard)).toEqual([1, 2])
    expect(Math.min(...found.map(([, events]) => Number(events)))).toBeGreaterThan(100)
    expect(await rows('SELECT uniqExact(uuid) = count() FROM events')).toEqual([[1]])
  })

  test.each([
    'select event, count(), uniq(person_id), sum(properties.price) from events group by 1 order by 1',
    'select person.properties.plan, count() from events group by 1 order by 1',
    "select count() from events where person_id in (select person_id from events where event = 'paid' and properties.price > 8)",
    "select a.event, count() from events a join (select person_id, count() as n from events where event = 'paid' group by 1) b on a.person_id = b.person_id where b.n > 3 group by 1 order by 1",
    'select count(), max(c) from (select person_id, count() as c from events group by 1)',
    'select distinct_id, row_number() over (partition by event order by timestamp, uuid) as n from events order by timestamp, uuid limit 20',
    'select event, timestamp from events order by timestamp desc, uuid limit 5',
    'select count() from persons',
    'select quantile(0.5)(properties.price), median(properties.price) from events',
    "with paid as (select person_id, min(timestamp) as at from events where event = 'paid' group by 1) select count() from events e join paid on e.person_id = paid.person_id where e.timestamp > paid.at",
  ])('%s', async (query) => expect((await sql(query)) as unknown[]).not.toHaveLength(0))

  const series = ['seen', 'put', 'paid'].map((event) => ({ kind: 'EventsNode', event }))
  const dateRange = { date_from: '2026-01-05', date_to: '2026-01-10' }
  test.each([
    ['trends', { kind: 'TrendsQuery', series, dateRange }],
    ['persons', { kind: 'TrendsQuery', series: series.map((one) => ({ ...one, math: 'dau' })), dateRange }],
    ['a breakdown', { kind: 'TrendsQuery', series, dateRange, breakdownFilter: { breakdown: 'plan', breakdown_type: 'person' } }],
    ['a funnel', { kind: 'FunnelsQuery', series, dateRange }],
    ['retention', { kind: 'RetentionQuery', retentionFilter: { period: 'Day', totalIntervals: 5 }, dateRange }],
    ['stickiness', { kind: 'StickinessQuery', series, dateRange }],
    ['lifecycle', { kind: 'LifecycleQuery', series: [series[0]], dateRange }],
    ['paths', { kind: 'PathsQuery', pathsFilter: { includeEventTypes: ['custom_event'] }, dateRange }],
  ])('%s', async (_, query) => expect((await agree(query)) as unknown[]).not.toHaveLength(0))

  test('removals reach all shards', async () => {
    const countPrices = 'select countIf(properties.price is not null), count() from events'
    for (const project of projects) await project.removeProperty('event', 'price')
    expect(await sql(countPrices)).toEqual([[0, 412]])
    const ofUser = { kind: 'SqlLikeQuery', query: "select distinct toString(person_id) from events where distinct_id = 'u3'" } as const
    for (const project of projects) {
      const { results } = (await project.query(ofUser)) as unknown as { results: [string][] }
      await project.deletePersons([results[0]![0]], true)
    }
    const left = (await sql('select count(), uniq(person_id) from events')) as number[][]
    expect(left[0]![0]).toBeLessThan(412)
  })

  test('duplicates are found whichever shard has the first', async () => {
    const again = Array.from({ length: 20 }, (_, i) => ({
      uuid: `01900000-0000-7000-8000-${String(i + 100).padStart(12, '0')}`,
      event: 'seen',
      distinct_id: `other ${i}`,
    }))
    const before = await sql('select count() from events')
    for (const project of projects) expect(await project.ingest({ batch: again as never })).toMatchObject({ duplicates: 20 })
    expect(await sql('select count() from events')).toEqual(before)
  })

  test('a database keeps its layout', async () => {
    const failure = (clickhouse: object) =>
      open({ dataDir: ':memory:', engine: { clickhouse: clickhouse as never } }).then(
        () => null,
        (error: Error) => error.message,
      )
    expect(await failure(address)).toMatch(/divided among shards. Open it with `cluster` and `sharded`/)
    const plain = await open({ dataDir: ':memory:', engine: { clickhouse: { ...address, database: 'plain' } } })
    await plain.close()
    const asShards = { ...address, database: 'plain', cluster: twoShards.cluster, sharded: true }
    expect(await failure(asShards)).toMatch(/was created without `sharded`/)
    expect(await failure({ ...address, sharded: true })).toMatch(/needs the name of the cluster/)
    expect(await failure({ ...address, cluster: 'nowhere', sharded: true })).toMatch(/no cluster nowhere/)
  })

  test('every statement that makes tables is one of ClickHouse', async () => {
    for (const statement of [...createClickHouseTables(layout, 'waymark'), knowInsertsAgain(7, layout)]) {
      const [[text]] = (await rows(`SELECT formatQuerySingleLine(unhex('${Buffer.from(statement).toString('hex')}'))`)) as [[string]]
      if (statement.startsWith('CREATE')) {
        expect(text).toContain('ON CLUSTER shop')
        expect(text).toMatch(/ENGINE = (Replicated(Replacing)?MergeTree\('\/clickhouse\/waymark\/\{database\}\/\{table\}\/|Distributed\()/)
      }
    }
    const places = createClickHouseTables(layout, 'waymark').filter((one) => one.includes("/{shard}', '{replica}'"))
    expect(places).toHaveLength(1)
    expect(places[0]).toContain('TABLE IF NOT EXISTS events_local')
  })
})
