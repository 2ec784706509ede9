import { expect, test } from 'vitest'
import { deferred } from '../../../src/lib/flow/deferred.ts'
import { Texts } from '../../../src/lib/text/texts.ts'
import { openWorld, TestLog } from './harness.ts'

// A pipeline that follows the log of another process, which asks how many events of a batch were stored before.

/** A log whose reader learns of new records when it is told. */
class FollowedLog extends TestLog {
  private growth = deferred<void>()
  private toldSeq = 0
  private isClosed = false

  tell(): void {
    this.toldSeq = this.lastSeq
    this.growth.resolve()
    this.growth = deferred()
  }

  close(): void {
    this.isClosed = true
    this.growth.resolve()
  }

  async grown(seq: number): Promise<boolean> {
    while (!this.isClosed && this.toldSeq <= seq) await this.growth.promise
    return !this.isClosed
  }
}

const uuid = (n: number) => `0190a000-0000-7000-8000-${n.toString(16).padStart(12, '0')}`
const write = async (log: FollowedLog, numbers: readonly number[]) => {
  const payloads = Texts.of(numbers.map((n) => JSON.stringify({ event: 'e', distinct_id: `u${n}`, properties: {} })))
  const records = {
    kind: 'event',
    receivedAt: 1_768_000_000_000,
    sentAt: null,
    historical: true,
    ip: null,
    uuids: numbers.map(uuid),
    payloads,
  } as const
  return (await log.append(records)).firstSeq
}

test('a batch that has not been read yet is counted as soon as it is, before it is committed', async () => {
  const log = new FollowedLog()
  const world = await openWorld({ log })
  const first = await write(log, [1, 2, 3])
  const second = await write(log, [3, 4, 1])
  const commit = deferred<void>()
  world.beforeCommit = () => commit.promise
  const asked = [world.pipeline.duplicatesOf(first, 3, 0), world.pipeline.duplicatesOf(second, 3, 0)]
  log.tell()
  expect(await Promise.all(asked)).toEqual([0, 2])
  commit.resolve()
  expect(await world.rows('SELECT count(*)::INTEGER AS n FROM events')).toEqual([{ n: 4 }])
  expect(world.commits).toBe(1)
  expect(await world.pipeline.duplicatesOf(second, 3, 0)).toBe(2) // long after it was committed
  await world.close()
})

test('a batch that was read with others before, or never comes, is counted from the store', async () => {
  const log = new FollowedLog()
  const world = await openWorld({ log })
  const first = await write(log, [1, 2])
  log.tell()
  await world.pipeline.caughtUp()
  await world.restart()
  expect(await world.pipeline.duplicatesOf(first, 2, 0)).toBe(0) // it was replayed, or stored by an earlier process
  const gap = log.lastSeq + 1
  const asked = world.pipeline.duplicatesOf(gap, 1, 0)
  log.lastSeq = gap // lost
  await write(log, [3])
  log.tell()
  expect(await asked).toBe(1)
  await world.close()
})

test('a question about a batch that never comes ends when the project is closed', async () => {
  const log = new FollowedLog()
  const world = await openWorld({ log })
  const asked = world.pipeline.duplicatesOf(1, 1, 0)
  asked.catch(() => undefined)
  log.close()
  await world.close()
  await expect(asked).rejects.toMatchObject({ code: 'closed' })
})
