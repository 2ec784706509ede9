import { expect, test } from 'vitest'
import { type Closable, OpenLimit } from '../../../src/engine/backend/open-limit.ts'

// Which projects are closed when too many are open.

class Fake implements Closable {
  uses = 0
  usedAt = 0
  closed = 0
  private readonly limit: () => OpenLimit
  constructor(limit: () => OpenLimit) {
    this.limit = limit
  }
  async retire(): Promise<boolean> {
    await Promise.resolve()
    if (this.uses > 0) return false
    this.closed++
    this.limit().leave(this)
    return true
  }
}

const made = (most: number) => {
  const limit = new OpenLimit(most)
  const fakes = Array.from({ length: 6 }, () => new Fake(() => limit))
  return { limit, fakes }
}

test('the one that was used least recently is closed before another is opened', async () => {
  const { limit, fakes } = made(3)
  for (const [i, fake] of fakes.slice(0, 3).entries()) {
    fake.usedAt = [5, 1, 9][i]!
    await limit.enter(fake)
  }
  await limit.enter(fakes[3]!)
  expect(fakes.map(({ closed }) => closed)).toEqual([0, 1, 0, 0, 0, 0])
  fakes[3]!.usedAt = 20
  await limit.enter(fakes[4]!)
  expect(fakes.map(({ closed }) => closed)).toEqual([1, 1, 0, 0, 0, 0])
  expect(limit.size).toBe(3)
})

test('one that is in use is never closed: an opening waits for it, and then goes beyond the limit', async () => {
  const { limit, fakes } = made(2)
  for (const fake of fakes.slice(0, 2)) {
    fake.uses = 1
    await limit.enter(fake)
  }
  const opening = limit.enter(fakes[2]!)
  fakes[1]!.uses = 0
  limit.idles(fakes[1]!)
  await opening
  expect([limit.size, fakes[0]!.closed, fakes[1]!.closed]).toEqual([2, 0, 1])
  fakes[2]!.uses = 1
  await limit.enter(fakes[3]!) // after its patience
  expect(limit.size).toBe(3)
  fakes[0]!.uses = 0
  limit.idles(fakes[0]!)
  await expect.poll(() => limit.size).toBe(2)
})

test('when memory is short, everything that nothing uses is closed', async () => {
  const { limit, fakes } = made(5)
  for (const fake of fakes.slice(0, 4)) await limit.enter(fake)
  fakes[1]!.uses = 1
  expect(await limit.release(fakes[0]!)).toBe(true)
  expect(fakes.map(({ closed }) => closed)).toEqual([0, 0, 1, 1, 0, 0])
  expect(await limit.release(fakes[0]!)).toBe(false)
})
