import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { EventLists } from '../../../src/core/lists/event-lists.ts'
import { CalendarDays } from '../../../src/core/lists/kept/calendar-days.ts'
import { SplitCounts } from '../../../src/core/lists/kept/day-counts.ts'
import { KeptCounts } from '../../../src/core/lists/kept/kept-counts.ts'
import { PageStore } from '../../../src/core/lists/pages/page-store.ts'
import type { EventBatch } from '../../../src/core/lists/ports.ts'
import { zoneOf } from '../../../src/lib/time/zone.ts'

const batchOf = (first: number, count: number): EventBatch => ({
  person: Int32Array.from({ length: count }, (_, i) => i % 5),
  time: Float64Array.from({ length: count }, (_, i) => first + i),
  event: new Int32Array(count),
  seq: Float64Array.from({ length: count }, (_, i) => first + i + 1),
})

test('pages that are written anew have as many events as before, or nobody reads them', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'waymark-page-sums-'))
  try {
    const store = new PageStore(folder, 100_000, 1_000)
    const source = { events: async (_: number, __: number, take: (batch: EventBatch) => void) => take(batchOf(0, 50)) }
    const made = () => store.make(source, (batch) => batch, Int32Array.of(10, 10, 10, 10, 10), 50, { mark: '', survivorOf: new Map() }, 0)
    const whole = await made()
    whole.add(batchOf(50, 3))
    expect((await store.rewrite(whole)).events).toBe(53)
    const miscounted = await made()
    miscounted.add(batchOf(50, 3))
    miscounted.pages!.moved -= 1
    await expect(store.rewrite(miscounted)).rejects.toEqual(expect.objectContaining({ invariant: 'pages have every event' }))
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
})

test('a page that nobody has looked at is checked before a person moves out of it', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'waymark-page-sums-'))
  try {
    const store = new PageStore(folder, 100_000, 1_000)
    const source = { events: async (_: number, __: number, take: (batch: EventBatch) => void) => take(batchOf(0, 50)) }
    const lists = await store.make(source, (batch) => batch, Int32Array.of(10, 10, 10, 10, 10), 50, { mark: '', survivorOf: new Map() }, 0)
    const path = join(lists.pages!.folder, 'records')
    const bytes = await readFile(path)
    bytes[8]! ^= 1
    await writeFile(path, bytes)
    expect(() => lists.merge(3, 1)).toThrow('other bytes than were written')
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
})

test('counts of days that have more events than the lists are not read', () => {
  const lists = new EventLists()
  const kept = new KeptCounts(lists)
  const condition = { byEvent: Uint8Array.of(1), others: 0, columns: [], split: null, number: null }
  const counts = new SplitCounts(new CalendarDays(zoneOf('UTC')))
  counts.of(0).add(0, 0)
  kept.find('visited', condition)
  kept.keep('visited', counts, 1e6)
  lists.add(batchOf(0, 4))
  expect(() => kept.find('visited', condition)).toThrow(expect.objectContaining({ invariant: 'counts within lists' }))
})
