import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { watchMemory } from '../../../../src/engine/storage/duckdb/memory-watch.ts'

beforeEach(() => {
  vi.useFakeTimers()
})
afterEach(() => {
  vi.useRealTimers()
})

/** A process whose memory the test sets. */
function watched(most: number) {
  const memory = { native: 100, counted: 50 }
  const asked: number[] = []
  const watch = watchMemory({
    most,
    everyMs: 10,
    native: () => memory.native,
    counted: async () => asked.push(memory.counted) && memory.counted,
  })
  const stopped: string[] = []
  return { memory, asked, stopped, follow: (name: string) => watch.follow(() => stopped.push(name)) }
}
const looks = (count: number) => vi.advanceTimersByTimeAsync(10 * count)

test('a statement with which the process grows beyond what the engine counts is stopped', async () => {
  const { memory, stopped, follow } = watched(1000)
  follow('a')
  await looks(3)
  memory.native += 1001
  await looks(1)
  expect(stopped).toEqual(['a'])
})

test('what the engine counts is its own business', async () => {
  const { memory, stopped, follow } = watched(1000)
  follow('a')
  await looks(3)
  memory.native += 5000
  memory.counted += 4500
  await looks(3)
  expect(stopped).toEqual([])
})

test('of several statements the one that memory grew most with is stopped, and the next one only when that has ended', async () => {
  const { memory, stopped, follow } = watched(1000)
  const end = follow('early')
  await looks(3)
  memory.native += 900
  follow('late')
  await looks(3)
  memory.native += 2000
  await looks(5)
  expect(stopped).toEqual(['early'])
  end()
  await looks(1)
  expect(stopped).toEqual(['early', 'late'])
})

test('the engine is asked once for a statement that grows little, and never for one that is soon over', async () => {
  const { asked, follow } = watched(1000)
  const end = follow('quick')
  await looks(1)
  end()
  expect(asked).toEqual([])
  follow('long')
  await looks(20)
  expect(asked).toEqual([50])
})

test('nobody looks while nothing runs', async () => {
  const { follow } = watched(1000)
  const end = follow('a')
  expect(vi.getTimerCount()).toBe(1)
  end()
  end()
  expect(vi.getTimerCount()).toBe(0)
})
