import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { ClickHouseClient } from '../../src/engine/storage/clickhouse/client.ts'
import type { LocalWaymark } from '../../src/engine.ts'
import type { EngineChoice } from '../../src/index.ts'
import {
  contentsOf,
  drawEvents,
  errors,
  idOf,
  isKept,
  keep,
  months,
  mustBeThere,
  now,
  openWith,
  personIds,
  retention,
  secretName,
  send,
  sendWithSecrets,
  timezone,
} from '../engine/backend/keeping-cases.ts'
import { hasClickHouse, openChdb } from './chdb.ts'

describe.skipIf(!hasClickHouse)('on ClickHouse', () => {
  let client: ClickHouseClient & { close(): Promise<void> }
  let waymarks: LocalWaymark[]
  const clock = { now: 0 }
  beforeAll(async () => {
    client = (await openChdb()) as typeof client
    waymarks = [await openWith(clock, { clickhouse: { client } } as EngineChoice), await openWith(clock)]
  })
  afterAll(async () => {
    for (const waymark of waymarks) await waymark.close()
    await client.close()
    expect(errors).toEqual([])
  })

  test('old events and idle persons go as they do in a file', async () => {
    const events = drawEvents(7, 120)
    const counts = []
    for (const waymark of waymarks) {
      clock.now = 0
      const project = await waymark.createProject({ timezone })
      await send(project, events, clock)
      clock.now = now
      await keep(waymark, project, retention)
      await mustBeThere(project, events.filter(isKept), false)
      counts.push(await project.removeOld())
      const active = (person: number) => events.some((one) => one.person === person && (isKept(one) || one.at >= months[18]))
      expect(await personIds(project)).toEqual([...new Set(events.map(({ person }) => person))].filter(active).map(idOf).sort())
    }
    expect(counts[0]).toEqual(counts[1])
    expect(counts[0]!.events).toBe(events.filter((one) => !isKept(one)).length)
  })

  test('a removed property leaves the same on both', async () => {
    clock.now = now
    const found = []
    for (const waymark of waymarks) {
      const project = await waymark.createProject({ timezone })
      await sendWithSecrets(project, 5, true)
      for (const scope of ['event', 'person', 'group_0'] as const) await project.removeProperty(scope, secretName)
      const { persons, ...rest } = await contentsOf(project)
      const properties = (persons as [string, object][]).map(([, one]) => JSON.stringify(Object.entries(one).sort())).sort()
      expect((await project.properties()).filter(({ name }) => name === secretName)).toEqual([])
      found.push({ ...rest, persons: properties })
    }
    expect(found[0]).toEqual(found[1])
  })
})
