import { expect, test } from 'vitest'
import { deferred } from '../../../src/lib/flow/deferred.ts'
import { createCaptures } from '../../../src/service/plugins/captures.ts'

// What waits for the log: it is in memory, and plugins do not wait for it.

const eventOf = (characters: number) => ({ event: 'e', distinct_id: 'd', timestamp: null, properties: { text: 'x'.repeat(characters) } })

const start = () => {
  const taken: number[] = []
  let log = deferred<void>()
  const captures = createCaptures(
    async (_, events) => {
      taken.push(events.length)
      await log.promise
    },
    () => undefined,
    { events: 100, bytesOfProject: 32_000, bytesOfServer: 256_000 },
  )
  const writeAll = async () => {
    log.resolve()
    await new Promise(setImmediate)
    log = deferred()
  }
  /** How many events of this length a project may capture. */
  const most = (projectId: number, characters: number) => {
    const event = eventOf(characters)
    for (let n = 0; ; n++) {
      try {
        captures.add(projectId, event)
      } catch {
        return n
      }
    }
  }
  return { captures, taken, writeAll, most }
}

test('events of a project are counted, and their bytes are too', async () => {
  const { most, taken, writeAll } = start()
  expect([most(1, 10), most(2, 3_900)]).toEqual([101, 9]) // one of each is on its way to the log
  await writeAll()
  expect(taken).toEqual([1, 1, 100, 8])
  expect(most(2, 3_900)).toBe(9)
})

test('those of all projects together too', async () => {
  const { most, writeAll } = start()
  const all = Array.from({ length: 12 }, (_, i) => most(i, 3_900))
  expect(all.reduce((sum, n) => sum + n)).toBe(64)
  expect(all.at(-1)).toBe(0)
  await writeAll()
  expect(most(11, 3_900)).toBeGreaterThan(0)
})
