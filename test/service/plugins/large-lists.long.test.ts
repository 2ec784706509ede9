import { afterAll, expect, test } from 'vitest'
import type { JsonObject } from '../../../src/service/plugins/ports.ts'
import { closeSharedSandbox, createWorld, eventOf, pluginOf } from './world.ts'

afterAll(closeSharedSandbox)

test('a list of events that is larger than the heap of a thread passes in parts', async () => {
  const world = createWorld()
  const code = `export const processEvent = (event) => ({ ...event, properties: { length: event.properties.text.length } })`
  await world.runtime.use(1, [pluginOf(code)])
  const large = Array.from({ length: 100 }, () => eventOf({ text: 'x'.repeat(3_900_000) }))
  const passed = await world.runtime.transform(1, large)
  expect(new Set(passed.map((event) => (event!.properties as JsonObject).length))).toEqual(new Set([3_900_000]))
  await world.runtime.close()
})
