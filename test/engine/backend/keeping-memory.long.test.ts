import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { open } from '../../../src/engine.ts'

// A property is removed from more than the memory holds.

let folder: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'waymark-keeping-'))
})
afterEach(() => rm(folder, { recursive: true, force: true }))

test.each([
  { title: 'wide events', events: 20_000, bytes: 8_000, memoryLimit: '128MB', persons: 3_000 },
  { title: 'many events', events: 300_000, bytes: 16, memoryLimit: '128MB', persons: 60_000 },
])('$title', { timeout: 600_000 }, async ({ events, bytes, memoryLimit, persons }) => {
  const waymark = await open({ dataDir: join(folder, 'data'), memoryLimit })
  try {
    const project = await waymark.createProject()
    const word = 'abcdefgh'.repeat(bytes / 8)
    const size = bytes > 1_000 ? 500 : 5_000
    for (let first = 0; first < events; first += size)
      await project.ingest({
        batch: Array.from({ length: size }, (_, i) => ({
          event: 'visit',
          distinct_id: `p${(first + i) % persons}`,
          timestamp: '2026-01-01T00:00:00Z',
          properties: { secret: first + i, kept: `${first + i} ${word}`, $set: { secret: first + i, kept: 'yes' } },
        })),
      })
    const one = async (query: string) => (await project.query<[number]>({ kind: 'SqlLikeQuery', query })).results[0]![0]
    expect(await one('select count() from events where properties.secret is not null')).toBe(events)
    const sum = await one('select sum(length(properties.kept)) from events')
    expect(await project.removeProperty('event', 'secret')).toEqual({ events, persons: 0, groups: 0 })
    expect(await project.removeProperty('person', 'secret')).toEqual({ events, persons, groups: 0 })
    expect(await one('select count() from events where properties.secret is not null')).toBe(0)
    expect(await one(`select count() from persons where properties.secret is not null`)).toBe(0)
    expect(await one(`select count() from persons where properties.kept = 'yes'`)).toBe(persons)
    expect(await one('select sum(length(properties.kept)) from events')).toBe(sum)
  } finally {
    await waymark.close()
  }
})
