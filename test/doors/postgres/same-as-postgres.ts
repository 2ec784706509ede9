import pg from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Postgres, startPostgres, whyNoPostgres } from '../../harness/postgres.ts'
import { events } from './drawn-events.ts'
import { drawFrom, drawnSelect } from './drawn-selects.ts'
import { type Served, served } from './served.ts'

// Drawn statements in PostgreSQL's dialect have the answers of a PostgreSQL with the same rows. What differs on purpose is in docs/postgres.md, and is not drawn.

const missing = whyNoPostgres()

const plain = (value: unknown): unknown => {
  if (value instanceof Date) return value.toISOString()
  if (typeof value === 'number') return Number(value.toPrecision(9)) + 0
  return typeof value === 'string' && /^-?\d+(\.\d+)?(e[+-]?\d+)?$/.test(value) ? Number(Number(value).toPrecision(9)) + 0 : value
}

const answerOf = async (client: pg.Client, sql: string): Promise<unknown> => {
  try {
    const { rows } = await client.query({ text: sql, rowMode: 'array' })
    const all = (rows as unknown as unknown[][]).map((row) => JSON.stringify(row.map(plain)))
    return / order by [\d ,a-z]*(limit|offset|$)/.test(sql) && !/partition|string_agg/.test(sql) ? all : all.sort()
  } catch (error) {
    return `refused: ${(error as { code: string }).code}`
  }
}

export function sameAsPostgres(statements: number, seed: number): void {
  let server: Served
  let real: Postgres
  let [asked, model]: pg.Client[] = []
  beforeAll(async () => {
    if (missing) return
    server = await served(events, ['--api-limit', '100000'])
    real = await startPostgres()
    model = new pg.Client({ host: '127.0.0.1', port: real.port, user: 'waymark', database: 'postgres' })
    await model.connect()
    await model.query("set time zone 'UTC'")
    asked = await server.client()
    await model.query('create table events (uuid uuid, event text, timestamp timestamptz, distinct_id text, properties jsonb)')
    const { rows } = await asked.query(
      'select uuid, event, timestamp::text as timestamp, distinct_id, properties::text as properties from events',
    )
    expect(rows.length).toBe(events.length)
    for (const row of rows)
      await model.query('insert into events values ($1, $2, $3, $4, $5)', [
        row.uuid,
        row.event,
        row.timestamp,
        row.distinct_id,
        row.properties,
      ])
    for (const event of ['buy', 'view'])
      await model.query(
        `create view ${event} as select uuid, timestamp, distinct_id, properties->>'plan' as plan, (properties->>'price')::float8 as price, (properties->>'n')::float8 as n, (properties->>'gift')::bool as gift from events where event = '${event}'`,
      )
  }, 90_000)
  afterAll(async () => {
    await model?.end()
    await server?.close()
    await real?.stop()
  })

  test(`${statements} drawn statements have the answers of PostgreSQL`, async ({ skip }) => {
    if (missing) skip(missing)
    const draw = drawFrom(seed)
    const different: string[] = []
    let [answered, refused] = [0, 0]
    for (let i = 0; i < statements; i++) {
      const sql = drawnSelect(draw)
      const expected = await answerOf(model!, sql)
      const found = await answerOf(asked!, sql)
      if (typeof expected === 'string') refused++
      else answered++
      if (typeof expected === 'string' && typeof found === 'string') continue
      if (JSON.stringify(found) !== JSON.stringify(expected))
        different.push(
          `${sql}\n  PostgreSQL ${JSON.stringify(expected).slice(0, 500)}\n  Waymark    ${JSON.stringify(found).slice(0, 500)}`,
        )
    }
    expect(different.slice(0, 10), `${different.length} of ${statements} with the seed ${seed}`).toEqual([])
    expect(answered).toBeGreaterThan(refused * 5)
  }, 240_000)
}
