import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { hasClickHouse, openChdb } from '../../clickhouse/chdb.ts'
import { type Customers, openCustomers } from './customers.ts'
import { mutated } from './mutated.ts'

// 10,000 requests of a viewer, and no number of another customer: on each engine.

const seedsFrom = (first: number) => Array.from({ length: 10 }, (_, i) => first + i)

describe('in the embedded store', () => {
  let opened: Customers
  beforeAll(async () => {
    opened = await openCustomers(600)
  })
  afterAll(() => opened.directory.close())

  test.each(seedsFrom(100))('1,000 requests of the seed %i', async (seed) => {
    expect(await mutated(opened, 1000, seed)).toEqual([])
  })
})

describe.skipIf(!hasClickHouse)('in ClickHouse', () => {
  let client: Awaited<ReturnType<typeof openChdb>>
  let opened: Customers
  beforeAll(async () => {
    client = await openChdb()
    opened = await openCustomers(600, { engine: { clickhouse: { client } } })
  })
  afterAll(async () => {
    await opened.directory.close()
    await client.close()
  })

  test.each(seedsFrom(200))('1,000 requests of the seed %i', async (seed) => {
    expect(await mutated(opened, 1000, seed)).toEqual([])
  })
})
