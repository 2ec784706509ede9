import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { redshift } from '../../../src/service/exports/destinations/redshift.ts'
import { type Postgres, startPostgres, whyNoPostgres } from '../../harness/postgres.ts'
import { eventOf, openShop, outside, type Shop } from './shop.ts'

// The statements for Redshift, on PostgreSQL, whose protocol and older syntax it has.

const why = whyNoPostgres()
if (why) console.warn(`NOT RUN: exports to Redshift: ${why}`)

describe.skipIf(why !== null)('on PostgreSQL', () => {
  let shop: Shop
  let server: Postgres
  const config = (more: object = {}) => ({
    user: 'waymark',
    password: 'any',
    host: '127.0.0.1',
    port: server.port,
    database: 'postgres',
    ...more,
  })
  beforeAll(async () => {
    shop = await openShop()
    await shop.ingest(3000)
    server = await startPostgres()
  })
  afterAll(async () => {
    await server?.stop()
    await shop?.close()
  })
  beforeEach(async () => {
    for (const table of ['events', 'people', 'waymark_published_runs'])
      await server.sql.run(`CREATE TABLE IF NOT EXISTS unused(); DROP TABLE IF EXISTS ${table}`)
  })
  const rows = (sql: string) => server.sql.rows(sql)

  test('every row has the values of its event, and publishing twice leaves each once', async () => {
    for (const attempt of [1, 2]) {
      expect(await shop.run(redshift, config(), { attempt })).toMatchObject({ rows: 3000 })
      const sums = await rows(
        "SELECT count(*)::int AS n, count(DISTINCT uuid)::int AS uuids, sum((properties::json->>'price')::int)::int AS total FROM events",
      )
      expect(sums).toEqual([{ n: 3000, uuids: 3000, total: (3000 * 2999) / 2 }])
    }
    const read = await rows(`SELECT uuid, event, distinct_id, ip, properties::json->>'note' AS note, set::json AS set,
      to_char(timestamp AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') AS timestamp FROM events ORDER BY uuid LIMIT 20`)
    expect(read).toEqual(
      Array.from({ length: 20 }, (_, n) => {
        const { uuid, event, distinct_id, timestamp, properties } = eventOf(n)
        return { uuid, event, distinct_id, ip: '10.0.0.1', note: properties.note, set: { plan: 'pro' }, timestamp }
      }),
    )
  })

  test('a table that is there gets the columns that it lacks; rows without an identity are added once', async () => {
    await server.sql.run('CREATE TABLE IF NOT EXISTS events (uuid varchar(200), own integer)')
    for (const key of ['a', 'a', 'b']) await shop.run(redshift, config(), { identity: [], key })
    expect(await rows('SELECT count(*)::int AS n, count(own)::int AS own, count(timestamp)::int AS times FROM events')).toEqual([
      { n: 6000, own: 0, times: 6000 },
    ])
    await shop.run(redshift, config({ table_name: 'people' }), { model: 'persons' })
    expect(await rows('SELECT count(*)::int AS n, count(DISTINCT distinct_id)::int AS ids FROM people')).toEqual([{ n: 7, ids: 7 }])
  })

  test('settings are checked step by step', async () => {
    const { signal } = new AbortController()
    const failures = async (more: object) => {
      const steps = redshift.steps(redshift.config.parse(config(more)), outside)
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
    expect(await failures({ schema: 'nowhere' })).toEqual([null, expect.stringContaining('no schema nowhere'), expect.any(String)])
    expect(redshift.config.safeParse(config({ mode: 'COPY' })).error?.issues[0]).toMatchObject({
      path: ['mode'],
      message: expect.stringContaining('Use the mode INSERT'),
    })
    expect(redshift.config.parse({ ...config(), port: undefined })).toMatchObject({ port: 5439, properties_data_type: 'varchar' })
  })
})
