import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { ClickHouseClient } from '../../src/engine/storage/clickhouse/client.ts'
import { asked, asViewer, type Customers, openCustomers } from '../queries/viewer/customers.ts'
import { mutated } from '../queries/viewer/mutated.ts'
import { hasClickHouse, openChdb, testShards } from './chdb.ts'

// Viewers whose events are in ClickHouse: the filter lies under the plan there, too.

describe.skipIf(!hasClickHouse)('viewers on ClickHouse', () => {
  let client: ClickHouseClient
  let opened: Customers
  beforeAll(async () => {
    client = await openChdb()
    opened = await openCustomers(600, { engine: { clickhouse: { client } } })
  })
  afterAll(async () => {
    await opened.directory.close()
    await client.close()
  })

  /** Fails for the rows of one of the other customers. */
  const failing = (of: string) => `intDiv(1, if(${of}properties.customer = 'bolt', 0, 1))`
  test.each<[shape: string, query: (x: (of: string) => string) => string]>([
    ['a condition', (x) => `select count() from events where ${x('')} < 3`],
    ['one beside another', (x) => `select count() from events where event = 'order' and ${x('')} < 3`],
    ['a condition that is nearly free', (x) => `select count() from events where ${x('')} < 3 and timestamp > '2026-03-01'`],
    ['a sum', (x) => `select sum(${x('')}) from events`],
    ['a key', (x) => `select ${x('')} as k, count() from events group by k order by k`],
    ['an order', (x) => `select event from events order by ${x('')}, event limit 3`],
    ['a condition of a count', (x) => `select countIf(${x('')} < 3) from events`],
    ['a condition of a join', (x) => `select count() from events a join events b on a.uuid = b.uuid and ${x('a.')} = ${x('b.')}`],
    ['the right side of a join', (x) => `select count() from events a left join events b on a.uuid = b.uuid and ${x('b.')} < 3`],
    ['a query inside', (x) => `select count() from (select ${x('')} as x from events) where x < 3`],
    ['a set', (x) => `select count() from events where 1 in (select ${x('')} + 1 from events)`],
    ['a window', (x) => `select max(${x('')}) over (partition by event) from events order by 1 limit 3`],
    [
      'a name for a query',
      (x) => `with s as (select ${x('')} as x from events) select (select count() from s where x < 2), (select max(x) from s)`,
    ],
  ])('compute nothing for the rows of others: %s', async (_, query) => {
    const statement = { kind: 'SqlLikeQuery', query: query(failing) } as const
    const seen = await asked(opened.all, asViewer(statement))
    expect(seen).toHaveProperty('answer')
    expect(seen).toEqual(await asked(opened.own, statement))
    expect(await asked(opened.all, statement), 'fails without the filter').toHaveProperty('code')
  })

  // Shards answer in any order, and so does a limit without one.
  test.skipIf(testShards)('asks what it likes, and gets no number of others', async () => {
    expect(await mutated(opened, 150, 3)).toEqual([])
  })
})
