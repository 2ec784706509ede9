import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { ClickHouseClient } from '../../src/engine/storage/clickhouse/client.ts'
import { type LocalWaymark, open } from '../../src/engine.ts'
import type { LocalProject } from '../../src/project.ts'
import { hasClickHouse, openChdb } from './chdb.ts'

// Plugins get the same stored events from both engines.

describe.skipIf(!hasClickHouse)('stored events on both engines', () => {
  let client: ClickHouseClient
  let waymarks: LocalWaymark[]
  let projects: LocalProject[]
  beforeAll(async () => {
    client = await openChdb()
    waymarks = [await open({ dataDir: ':memory:', engine: { clickhouse: { client } } }), await open({ dataDir: ':memory:' })]
    projects = await Promise.all(waymarks.map((one) => one.createProject({ name: 'Shop', timezone: 'America/New_York' })))
  })
  afterAll(async () => {
    for (const one of waymarks) await one.close()
    await client.close()
  })

  test('are the same, as a range and by position', async () => {
    const batch = Array.from({ length: 25 }, (_, i) => ({
      uuid: `01900000-0000-7000-8000-0000000000${String(i).padStart(2, '0')}`,
      event: `event ${i}`,
      distinct_id: `u${i % 4}`,
      timestamp: new Date(Date.UTC(2026, 2, 8, 6, 59, 30 - i, i)).toISOString(),
      properties: { i, text: `"é"\n'${i}'`, nested: { a: [1, null] }, $set: { plan: `p${i}` } },
    }))
    for (const project of projects) await project.ingest({ batch })
    const read = async (project: LocalProject, after: number, events: number) => {
      const found = await project.storedEvents.range({ after, to: project.position, events, characters: 100_000 })
      return { ...found, events: found.events.map(({ person_id, ...rest }) => rest) }
    }
    const [clickHouse, duckDb] = projects as [LocalProject, LocalProject]
    for (const [after, events] of [
      [0, 1000],
      [0, 7],
      [12, 5],
      [25, 5],
    ] as const)
      expect(await read(clickHouse, after, events)).toEqual(await read(duckDb, after, events))
    expect((await read(clickHouse, 0, 1000)).events).toHaveLength(25)
    const [a, b] = await Promise.all(projects.map((one) => one.storedEvents.at([3, 9, 99])))
    expect(a!.map(({ event }) => event)).toEqual(b!.map(({ event }) => event))
    expect(a).toHaveLength(2)
  })
})
