import { expect, test } from 'vitest'
import { random } from '../../../bench/random.ts'
import { countsInMemory, countsOfServers, type RequestWindow } from '../../../src/doors/http/access/request-counts.ts'
import { statesInMemory } from '../../../src/lib/flow/states.ts'

const windows: readonly RequestWindow[] = [
  { name: 'api', caller: 'key', count: 8, seconds: 60 },
  { name: 'api', caller: 'key', count: 20, seconds: 600 },
  { name: 'query', caller: 'user', count: 12, seconds: 120 },
]

test.each([1, 2, 3, 4, 5, 6])(
  'what servers count together is a window that is never too short, and at most a slice too long: seed %i',
  async (seed) => {
    const draw = random(seed)
    const counts = countsOfServers(statesInMemory())
    const taken = new Map(windows.map((window) => [window, [] as number[]]))
    let now = Date.UTC(2026, 3, 1)
    let refusals = 0
    for (let i = 0; i < 1_000; i++) {
      now += Math.floor(draw() * draw() * 30_000)
      const asked = draw() < 0.7 ? windows : windows.slice(0, 2)
      const rooms = await counts.take(asked, now)
      for (const [n, window] of asked.entries()) {
        const ms = window.seconds * 1000
        const since = (time: number) => taken.get(window)!.filter((one) => one > time).length
        expect(rooms[n]!.remaining, `${window.seconds} s at ${i}`).toBeLessThanOrEqual(Math.max(0, window.count - since(now - ms)))
        expect(rooms[n]!.remaining, `${window.seconds} s at ${i}`).toBeGreaterThanOrEqual(window.count - since(now - ms - ms / 60))
      }
      const full = asked.findIndex((_, n) => rooms[n]!.remaining === 0)
      if (full < 0) {
        for (const window of asked) taken.get(window)!.push(now)
        continue
      }
      refusals++
      now += rooms[full]!.reset * 1000
      expect((await counts.take([asked[full]!], now))[0]!.remaining, 'after the seconds that were named').toBeGreaterThan(0)
      taken.get(asked[full]!)!.push(now)
    }
    expect(refusals).toBeGreaterThan(20)
  },
)

test.each([
  ['of one process', () => countsInMemory()],
  ['of servers', () => countsOfServers(statesInMemory())],
])('a request that one window refuses counts in none of them: %s', async (_, counts) => {
  const all = counts()
  const now = Date.UTC(2026, 3, 1)
  const [minute, , query] = windows as [RequestWindow, RequestWindow, RequestWindow]
  for (let i = 0; i < 8; i++) expect((await all.take([minute, query], now))[1]!.remaining).toBe(12 - i)
  for (let i = 0; i < 5; i++) expect((await all.take([query, minute], now)).map(({ remaining }) => remaining)).toEqual([4, 0])
  expect((await all.take([query], now))[0]!.remaining).toBe(4)
  expect((await all.take([query], now))[0]!.remaining).toBe(3)
})
