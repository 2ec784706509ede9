import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { WhenIdle } from '../../../src/lib/memory/when-idle.ts'

beforeEach(() => vi.useFakeTimers())
afterEach(() => vi.useRealTimers())

const world = () => {
  const state = { isBusy: false, done: 0 }
  const idle = new WhenIdle(
    1_000,
    () => state.isBusy,
    () => state.done++,
  )
  return { state, idle }
}

test('once nothing was used for the whole time, and once only', () => {
  const { state, idle } = world()
  vi.advanceTimersByTime(10_000)
  expect(state.done).toBe(0) // it was never used
  idle.used()
  vi.advanceTimersByTime(900)
  idle.used()
  vi.advanceTimersByTime(900)
  expect(state.done).toBe(0)
  vi.advanceTimersByTime(100)
  expect(state.done).toBe(1)
  vi.advanceTimersByTime(10_000)
  expect(state.done).toBe(1)
  idle.used()
  vi.advanceTimersByTime(1_000)
  expect(state.done).toBe(2)
})

test('what is still in use is not idle', () => {
  const { state, idle } = world()
  idle.used()
  state.isBusy = true
  vi.advanceTimersByTime(5_500)
  expect(state.done).toBe(0)
  state.isBusy = false
  vi.advanceTimersByTime(1_000)
  expect(state.done).toBe(1)
})

test('nothing happens after it is closed', () => {
  const { state, idle } = world()
  idle.used()
  idle.close()
  vi.advanceTimersByTime(5_000)
  expect(state.done).toBe(0)
})
