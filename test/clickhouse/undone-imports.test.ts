import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { ClickHouseClient } from '../../src/engine/storage/clickhouse/client.ts'
import type { LocalWaymark } from '../../src/engine.ts'
import type { EngineChoice } from '../../src/index.ts'
import { errors, openWith } from '../engine/backend/keeping-cases.ts'
import {
  drawSteps,
  importIdOf,
  left,
  mustBeLeft,
  peopleOf,
  propertiesMustBeThere,
  send,
  storedBy,
  uuidsOf,
} from '../engine/backend/undone-imports-cases.ts'
import { hasClickHouse, openChdb } from './chdb.ts'

describe.skipIf(!hasClickHouse)('on ClickHouse', () => {
  let client: ClickHouseClient & { close(): Promise<void> }
  let waymarks: LocalWaymark[]
  const clock = { now: Date.UTC(2026, 2, 1) }
  beforeAll(async () => {
    client = (await openChdb()) as typeof client
    waymarks = [await openWith(clock, { clickhouse: { client } } as EngineChoice), await openWith(clock)]
  })
  afterAll(async () => {
    for (const waymark of waymarks) await waymark.close()
    await client.close()
    expect(errors).toEqual([])
  })

  test('an undone import leaves the same as in a file', async () => {
    const steps = drawSteps(5)
    const found = []
    for (const waymark of waymarks) {
      const project = await waymark.createProject({})
      for (const step of steps) await send(project, step)
      const counts = await project.removeImport(importIdOf(1))
      await mustBeLeft(project, left(storedBy(steps), [1]))
      await propertiesMustBeThere(project)
      const people = await peopleOf(project)
      const properties = (await project.properties()).map(({ scope, name }) => `${scope} ${name}`).sort()
      for (const step of steps) if (step.source === 1) await send(project, { ...step, source: 4 })
      found.push({ counts, people, properties, uuids: await uuidsOf(project), later: await project.importedEvents(importIdOf(4)) })
    }
    expect(found[0]).toEqual(found[1])
    expect(found[0]!.later).toBeGreaterThan(0)
  })
})
