import { expect, test } from 'vitest'
import type { EventRange, EventReader, StoredEvent, StoredEvents } from '../../../../src/service/plugins/delivery/ports.ts'
import { sharedReads } from '../../../../src/service/plugins/delivery/shared-reads.ts'

const store = (count: number) => {
  const reads: EventRange[] = []
  const reader: EventReader = {
    async range(range): Promise<StoredEvents> {
      reads.push(range)
      if (range.after === 13) throw new Error('unlucky')
      const through = Math.min(range.to, count, range.after + range.events)
      const events = Array.from(
        { length: Math.max(0, through - range.after) },
        (_, i) => ({ position: range.after + i + 1 }) as StoredEvent,
      )
      return { events, through: through < Math.min(count, range.to) ? through : range.to }
    },
    at: async () => [],
  }
  return { reads, reader }
}
const range = (after: number, events = 10, to = 100): EventRange => ({ after, to, events, characters: 1000 })

test('what several configs of a project want is read once; each project has its own', async () => {
  const { reads, reader } = store(100)
  const shared = sharedReads()
  const [one, other] = [shared.of(1, reader), shared.of(2, reader)]
  const found = await Promise.all([one.range(range(0)), one.range(range(0)), one.range(range(0, 50))])
  expect(reads).toHaveLength(1)
  expect(found.map(({ through }) => through)).toEqual([10, 10, 10])
  await other.range(range(0))
  await one.range(range(10))
  expect(reads).toHaveLength(3)
})

test('nobody gets more events than there is room for', async () => {
  const { reads, reader } = store(100)
  const one = sharedReads().of(1, reader)
  await one.range(range(0, 50))
  expect((await one.range(range(0, 3))).events).toHaveLength(3)
  expect(reads).toHaveLength(2)
})

test('a read that fails is not kept, and few are', async () => {
  const { reads, reader } = store(1000)
  const one = sharedReads().of(1, reader)
  for (let i = 0; i < 2; i++) await expect(one.range(range(13))).rejects.toThrow('unlucky')
  expect(reads).toHaveLength(2)
  for (let after = 100; after < 200; after++) await one.range(range(after))
  reads.length = 0
  await one.range(range(199))
  await one.range(range(100))
  expect(reads.map(({ after }) => after)).toEqual([100])
})
