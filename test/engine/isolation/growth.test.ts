import { expect, test } from 'vitest'
import { Growth } from '../../../src/engine/isolation/growth.ts'
import type { WireBatch } from '../../../src/events/ingestion/wire-batch.ts'
import { deferred } from '../../../src/lib/flow/deferred.ts'

const batch = (firstSeq: number, bytes: number) => ({ firstSeq, bytes }) as WireBatch

const start = () => {
  const told: number[][] = []
  let next = deferred<void>()
  const growth = new Growth((batches) => {
    told.push(batches.map(({ firstSeq }) => firstSeq))
    next.resolve()
    next = deferred()
  })
  return { told, growth, notified: () => next.promise }
}

test('small batches are sent together, without being asked for', async () => {
  const { told, growth, notified } = start()
  const first = notified()
  growth.add(batch(1, 300))
  growth.add(batch(2, 300))
  await new Promise(setImmediate)
  growth.add(batch(3, 300))
  await first
  expect(told).toEqual([[1, 2, 3]])
  const second = notified()
  growth.add(batch(4, 300))
  await second
  expect(told).toEqual([[1, 2, 3], [4]])
})

test('large ones, and what the engine has to read from the log, are sent at the end of the turn', async () => {
  const { told, growth } = start()
  growth.add(batch(1, 300))
  growth.add(batch(2, 1 << 20))
  expect(told).toEqual([])
  await new Promise(setImmediate)
  expect(told).toEqual([[1, 2]])
  growth.add(null)
  await new Promise(setImmediate)
  expect(told).toEqual([[1, 2], []])
})

test('what waits is sent once when it is flushed, and nothing is sent when nothing waits', async () => {
  const { told, growth, notified } = start()
  growth.flush()
  growth.add(batch(1, 300))
  growth.add(null)
  growth.flush()
  growth.flush()
  await new Promise(setImmediate)
  expect(told).toEqual([[1]])
  const later = notified()
  growth.add(batch(2, 300))
  await later
  expect(told).toEqual([[1], [2]])
})
