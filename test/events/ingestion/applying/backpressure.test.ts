import { expect, test } from 'vitest'
import { Backpressure } from '../../../../src/events/ingestion/applying/backpressure.ts'

test('callers that wait when it is closed go on', async () => {
  const room = new Backpressure(100)
  room.enter(30)
  const asked: string[] = []
  const live = room.admit(10, false, async () => asked.push('live'))
  const past = room.admit(10, true, async () => asked.push('past'))
  await new Promise(setImmediate)
  expect(asked).toEqual([])
  room.close()
  await Promise.all([live, past])
  expect(asked).toEqual(['live', 'past'])
})
