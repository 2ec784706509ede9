import { expect, test } from 'vitest'
import { LagBackpressure } from '../../src/isolation/lag-backpressure.ts'
import { deferred } from '../../src/lib/deferred.ts'

const kilobyte = 1024

test('a batch waits for an engine that is behind, and no longer than it lives', async () => {
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

  isFollowed = true // what came meanwhile is read from the log: nobody waits for it
  expect(await room.admit(kilobyte, false, async () => 'taken')).toBe('taken')
})
