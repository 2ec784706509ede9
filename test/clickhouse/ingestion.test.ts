import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { ClickHouseClient } from '../../src/engine/storage/clickhouse/client.ts'
import { type IngestionCase, runIngestionCase } from '../events/ingestion/cases.ts'
import { assertVisitsHold } from '../events/ingestion/cookieless-commands.ts'
import { openWorld } from '../events/ingestion/harness.ts'
import { assertModelHolds, uuid } from '../events/ingestion/identity-commands.ts'
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
    const { restart } = world
    return Object.assign(world, {
      killAt: store.killAt,
      died: store.died,
      async restart() {
        await restart()
        world.errors.length = 0 // of the process that died
      },
    })
  }

  for (const file of files) {
    const { suite, cases } = JSON.parse(readFileSync(join(folder, file), 'utf8')) as { suite: string; cases: IngestionCase[] }
    test.each(cases)(`${suite}: $name`, async (one) => {
      expect(await runIngestionCase(one, await clickHouseWorldStore(client))).toEqual([])
    })
  }

  test('random visitors without cookies, against the model and from the log alone', () => assertVisitsHold({ open, numRuns: 6 }))

  test('a process that dies at any change of the store leaves what the next one goes on from', async () => {
    const event = (event: string, distinct_id: string, n: number, properties: object) => ({
      event,
      distinct_id,
      uuid: uuid(n),
      timestamp: '2026-01-10T00:00:00Z',
      properties,
    })
    const first = [event('visit', 'a', 1, { $set: { p: 1 } }), event('visit', 'b', 2, { $set: { q: 1 } }), event('visit', 'c', 3, { n: 1 })]
    const second = [
      event('$identify', 'b', 4, { $anon_distinct_id: 'a', $set: { p: 2 } }),
      event('$groupidentify', 'b', 5, { $group_type: 'org', $group_key: '1', $group_set: { size: 1 } }),
      event('visit', 'c', 6, { n: 2, $set: { p: 3 } }),
    ]
    const endOf = async (kill: number | null): Promise<{ readonly state: object; readonly died: boolean }> => {
      const world = await open()
      await world.pipeline.ingest(first)
      await world.rows('SELECT 1')
      if (kill !== null) world.killAt(kill)
      await world.pipeline.ingest(second)
      await world.pipeline.caughtUp().catch(() => undefined)
      const died = world.errors.length > 0
      await world.restart()
      const state: Record<string, unknown> = {}
      for (const table of ['events', 'event_names', 'persons', 'distinct_ids', 'person_merges', 'merge_journal', 'groups', 'property_keys'])
        state[table] = await world.rows(`SELECT * FROM ${table} ORDER BY ALL`)
      await world.close()
      return { state, died }
    }
    const { state } = await endOf(null)
    let deaths = 0
    for (let kill = 0, died = true; died || kill % 2 === 1; kill++) {
      const end = await endOf(kill)
      expect(end.state, `killed at change ${kill >> 1}${kill % 2 ? ', which was done all the same' : ''}`).toEqual(state)
      died = end.died
      if (died) deaths++
    }
    expect(deaths).toBeGreaterThan(20)
  })

  test('any commands give the people and groups of the model', () => assertModelHolds({ open, numRuns: 10 }))

  test('no crash between two changes of the store loses or doubles anything', () => assertModelHolds({ open, numRuns: 15, kills: true }))
})
