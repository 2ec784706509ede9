import { expect, test } from 'vitest'
import { LagBackpressure } from '../../../src/engine/isolation/lag-backpressure.ts'
import { RecentWaits } from '../../../src/events/ingestion/applying/recent-waits.ts'
import { deferred } from '../../../src/lib/flow/deferred.ts'

const kilobyte = 1024

test('a batch waits while the engine lags, and is released when the engine ends', async () => {
  let isFollowed = true
  const room = new LagBackpressure(64 * kilobyte, () => isFollowed)
  room.enter(1, 20 * kilobyte)
  const entered = deferred<string>()
  const waiting = room.admit(kilobyte, false, async () => entered.resolve('entered'))
  expect(await Promise.race([entered.promise, new Promise((resolve) => setImmediate(resolve, 'waits'))])).toBe('waits')

  isFollowed = false
  room.release()
  await waiting
  expect(await room.admit(100 * kilobyte, false, async () => 'taken')).toBe('taken')
  room.enter(2, 100 * kilobyte)

  isFollowed = true // the engine reads earlier batches from the log, so they do not count
  expect(await room.admit(kilobyte, false, async () => 'taken')).toBe('taken')
})

test('while queries come, less may be ahead of them', async () => {
  const queries = new RecentWaits()
  const room = new LagBackpressure(240 * kilobyte, () => true, queries)
  room.enter(1, 20 * kilobyte)
  expect(await room.admit(kilobyte, false, async () => 'taken')).toBe('taken')
  queries.note()
  const entered = deferred<string>()
  const waiting = room.admit(kilobyte, false, async () => entered.resolve('entered'))
  expect(await Promise.race([entered.promise, new Promise((resolve) => setImmediate(resolve, 'waits'))])).toBe('waits')
  room.leave(1)
  await waiting
})
