import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { MemoryShare } from '../../../src/lib/memory/memory-share.ts'

beforeEach(() => vi.useFakeTimers())
afterEach(() => vi.useRealTimers())

const holderNamed = (name: string, evicted: string[]) => ({
  isInUse: false,
  evict() {
    if (this.isInUse) return false
    evicted.push(name)
    return true
  },
})

test('a holder that nobody used for the time is evicted, the others stay', () => {
  const evicted: string[] = []
  const share = new MemoryShare(100, 1_000)
  const [old, used, busy] = ['old', 'used', 'busy'].map((name) => holderNamed(name, evicted)) as [
    never,
    never,
    ReturnType<typeof holderNamed>,
  ]
  for (const holder of [busy, old, used]) share.take(holder, 10)
  busy.isInUse = true
  for (let i = 0; i < 4; i++) {
    vi.advanceTimersByTime(400)
    share.touch(used)
  }
  expect(evicted).toEqual(['old'])
  expect(share.taken).toBe(20)
  busy.isInUse = false
  vi.advanceTimersByTime(500)
  expect(evicted).toEqual(['old', 'busy'])
  vi.advanceTimersByTime(2_000)
  expect(evicted).toEqual(['old', 'busy', 'used'])
  expect(share.taken).toBe(0)
  expect(vi.getTimerCount()).toBe(0)
})

test('what was evicted and taken again is idle after the whole time', () => {
  const evicted: string[] = []
  const share = new MemoryShare(100, 1_000)
  const holder = holderNamed('a', evicted)
  share.take(holder, 10)
  vi.advanceTimersByTime(2_000)
  expect(share.take(holder, 60)).toBe(true)
  vi.advanceTimersByTime(900)
  expect(evicted).toEqual(['a'])
  vi.advanceTimersByTime(1_000)
  expect(evicted).toEqual(['a', 'a'])
})

test('without a time nothing is idle', () => {
  const evicted: string[] = []
  const share = new MemoryShare(100)
  share.take(holderNamed('a', evicted), 10)
  expect(vi.getTimerCount()).toBe(0)
})
