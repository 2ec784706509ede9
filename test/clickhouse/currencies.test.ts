import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type LocalWaymark, open } from '../../src/engine.ts'
import type { LocalProject } from '../../src/project.ts'
import { events, merged, persons, rates, revenues, statements } from '../service/currencies/cases.ts'
import { hasClickHouse, testLayout } from './chdb.ts'
import { type ClickHouseHttpServer, startClickHouseServer } from './http-server.ts'

// Amounts in one currency, on ClickHouse: the rows of DuckDB (test/service/currencies/currencies.test.ts), to the last bit.

describe.skipIf(!hasClickHouse)('amounts in one currency', () => {
  let server: ClickHouseHttpServer
  let waymark: LocalWaymark
  let project: LocalProject
  beforeAll(async () => {
    server = await startClickHouseServer()
    const { origin: url, username, password } = new URL(server.url)
    const engine = { clickhouse: { url, username, password: decodeURIComponent(password), database: 'currencies', ...testLayout } }
    waymark = await open({ dataDir: ':memory:', engine, currencyRates: rates })
    project = await waymark.createProject({ name: 'Shop' })
    await project.ingest({ batch: events })
  })
  afterAll(async () => {
    await waymark?.close()
    await server?.close()
  })

  test.each(statements)('%s', async (query, rows) => {
    expect((await project.query({ kind: 'SqlLikeQuery', query })).results).toEqual(rows)
  })

  test('what each person has paid', async () => {
    const shop = await waymark.createProject({ name: 'Of persons' })
    await shop.ingest({ batch: persons })
    await shop.ingest({ batch: merged })
    for (const [query, rows] of revenues) expect((await shop.query({ kind: 'SqlLikeQuery', query })).results, query).toEqual(rows)
  })
})
