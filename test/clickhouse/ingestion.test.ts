import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { ClickHouseClient } from '../../src/storage/clickhouse/client.ts'
import { type IngestionCase, runIngestionCase } from '../ingestion/cases.ts'
import { openWorld } from '../ingestion/harness.ts'
import { assertModelHolds } from '../ingestion/identity-commands.ts'
import { hasClickHouse, openChdb } from './chdb.ts'
import { clickHouseWorldStore } from './world-store.ts'

const folder = resolve(import.meta.dirname, '../../../shared/conformance/api')
const files = existsSync(folder) ? readdirSync(folder).filter((file) => /^ingestion_.*\.json$/.test(file)) : []

describe.skipIf(!hasClickHouse)('events on their way into ClickHouse', () => {
  let client: ClickHouseClient
  beforeAll(async () => {
    client = await openChdb()
  })
  afterAll(() => client.close())

  const open = async () => {
    const store = await clickHouseWorldStore(client)
    const world = await openWorld({ store })
    return Object.assign(world, { killAt: store.killAt })
  }

  for (const file of files) {
    const { suite, cases } = JSON.parse(readFileSync(join(folder, file), 'utf8')) as { suite: string; cases: IngestionCase[] }
    test.each(cases)(`${suite}: $name`, async (one) => {
      expect(await runIngestionCase(one, await clickHouseWorldStore(client))).toEqual([])
    })
  }

  test('any commands give the people and groups of the model', () => assertModelHolds({ open, numRuns: 10 }))

  test('no crash between two changes of the store loses or doubles anything', () => assertModelHolds({ open, numRuns: 15, kills: true }))
})
