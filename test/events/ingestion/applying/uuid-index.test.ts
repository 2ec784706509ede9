import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, describe, expect, test } from 'vitest'
import { DamagedRunError, fileMedium, memoryMedium, mergedBlocks, openFile, Run } from '../../../../src/events/ingestion/uuids/run.ts'
import { UuidRuns } from '../../../../src/events/ingestion/uuids/runs.ts'
import { UuidSet } from '../../../../src/events/ingestion/uuids/uuid-set.ts'
import { sortRecords } from '../../../../src/events/ingestion/uuids/words.ts'
import { nameUuid } from '../../../../src/lib/ids/name-uuid.ts'
import { putWords } from '../../../../src/lib/ids/uuid-words.ts'
import { assertGenerated } from '../../../harness/assert-generated.ts'
import { openWorld } from '../harness.ts'

const namespace = '6ba7b810-9dad-11d1-80b4-00c04fd430c8'
const uuid = (n: number) => nameUuid(namespace, String(n))
const recordsOf = (uuids: readonly string[]) => {
  const records = new Uint32Array(uuids.length * 4)
  for (const [i, one] of uuids.entries()) putWords(one, records, i * 4)
  return records
}
const textOf = (records: Uint32Array, at: number) => [0, 1, 2, 3].map((k) => records[at + k]!.toString(16).padStart(8, '0')).join('')
const texts = (records: Uint32Array) => Array.from({ length: records.length / 4 }, (_, i) => textOf(records, i * 4))

const folder = mkdtempSync(join(tmpdir(), 'waymark-uuids-'))
afterAll(() => rmSync(folder, { recursive: true }))

test('words keep every digit', () => {
  assertGenerated(fc.property(fc.uuid(), (one) => textOf(recordsOf([one]), 0) === one.replaceAll('-', '')))
})

test('records sort like their texts', () => {
  const anyUuid = fc.oneof(
    fc.uuid(),
    fc.nat(300).map((n) => `0190b5a4-7c00-7000-8000-${n.toString(16).padStart(12, '0')}`),
    fc.nat(300).map((n) => `${n.toString(16).padStart(8, '0')}-0000-0000-0000-000000000000`),
  )
  assertGenerated(
    fc.property(fc.array(anyUuid), (uuids) => {
      expect(texts(sortRecords(recordsOf(uuids)))).toEqual(texts(recordsOf(uuids)).sort())
    }),
  )
})

test('a set has exactly what was added', () => {
  const set = new UuidSet(4)
  const all = recordsOf(Array.from({ length: 2000 }, (_, i) => (i === 7 ? '00000000-0000-0000-0000-000000000000' : uuid(i))))
  for (let i = 0; i < 1000; i++) set.add(all, i * 4)
  for (let i = 0; i < 1000; i++) set.add(all, i * 4)
  expect(set.size).toBe(1000)
  expect(Array.from({ length: 2000 }, (_, i) => set.has(all, i * 4)).filter(Boolean)).toHaveLength(1000)
  expect(texts(set.records()).sort()).toEqual(texts(all.subarray(0, 4000)).sort())
})

describe.each(['memory', 'file'])('a run in a %s', (where) => {
  const medium = (name: string) => (where === 'file' ? fileMedium(join(folder, name)) : memoryMedium())

  test.each([0, 1, 255, 256, 257, 3000])('of %i uuids has these and no others', async (count) => {
    const mine = sortRecords(recordsOf(Array.from({ length: count }, (_, i) => uuid(i))))
    const run = await Run.write(medium(`has-${count}`), { from: 1, to: count }, count, 1, [mine])
    for (let i = 0; i < count; i++) expect(run.has(mine, i * 4)).toBe(true)
    const others = recordsOf(Array.from({ length: 3000 }, (_, i) => uuid(-1 - i)))
    for (let i = 0; i < 3000; i++) expect(run.has(others, i * 4)).toBe(false)
    run.close()
  })

  test('several runs are merged into one', async () => {
    const parts = [0, 1, 2].map((k) => sortRecords(recordsOf(Array.from({ length: 700 + k }, (_, i) => uuid(i * 3 + k)))))
    const runs = await Promise.all(parts.map((part, k) => Run.write(medium(`part-${k}`), { from: k, to: k }, part.length / 4, 1, [part])))
    const all = texts(
      recordsOf([...parts.flatMap((part) => texts(part))].map((t) => t.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-'))),
    ).sort()
    const merged = [...mergedBlocks(runs)].flatMap((block) => texts(block))
    expect(merged).toEqual(all)
    for (const run of runs) run.close()
  })
})

test('memory for a uuid in a run stays under two bytes', async () => {
  const count = 100_000
  const run = await Run.write(memoryMedium(), { from: 1, to: count }, count, 1, [
    sortRecords(recordsOf(Array.from({ length: count }, (_, i) => uuid(i)))),
  ])
  expect(run.memory / count).toBeLessThan(2)
})

describe('files', () => {
  const fresh = (name: string) => join(mkdtempSync(join(folder, `${name}-`)))
  const part = (from: number, to: number) => recordsOf(Array.from({ length: to - from + 1 }, (_, i) => uuid(from + i)))
  const fill = async (path: string, store = 1) => {
    const runs = UuidRuns.open(path, store, 300)
    await runs.add({ from: 1, to: 100 }, part(1, 100))
    await runs.add({ from: 101, to: 200 }, part(101, 200))
    await runs.add({ from: 201, to: 300 }, part(201, 300))
    await runs.close()
  }

  test('survive a restart', async () => {
    const path = fresh('restart')
    await fill(path)
    const runs = UuidRuns.open(path, 1, 300)
    expect([runs.toSeq, runs.count]).toEqual([300, 300])
    expect(runs.has(part(250, 250), 0)).toBe(true)
    await runs.close()
  })

  test.each<[string, (path: string) => void, number, number]>([
    ['of another store are removed', () => {}, 2, 0],
    [
      'cut short are removed, and those after them',
      (path) => writeFileSync(join(path, '101-200.uuids'), readFileSync(join(path, '101-200.uuids')).subarray(0, 900)),
      1,
      100,
    ],
    ['with a damaged filter are removed', (path) => damage(join(path, '201-300.uuids'), 1700), 1, 200],
    ['not finished are removed', (path) => writeFileSync(join(path, '301-400.uuids.new'), 'x'), 1, 300],
    ['lost leave what is before them', (path) => rmSync(join(path, '101-200.uuids')), 1, 100],
  ])('%s', async (_, harm, store, toSeq) => {
    const path = fresh('harm')
    await fill(path)
    harm(path)
    const runs = UuidRuns.open(path, store, 300)
    expect(runs.toSeq).toBe(toSeq)
    await runs.close()
    expect(readdirSync(path)).toHaveLength(toSeq / 100)
  })

  test('beyond the store are removed', async () => {
    const path = fresh('beyond')
    await fill(path)
    const runs = UuidRuns.open(path, 1, 250)
    expect(runs.toSeq).toBe(200)
    await runs.close()
  })

  test('a damaged page is detected when it is read', async () => {
    const path = join(fresh('page'), 'run')
    await Run.write(fileMedium(path), { from: 1, to: 100 }, 100, 1, [sortRecords(part(1, 100))]).then((run) => run.close())
    damage(path, 40)
    const run = Run.open(openFile(path), 1)!
    expect(() => run.has(part(5, 5), 0)).toThrow(DamagedRunError)
    run.close()
  })
})

function damage(path: string, at: number): void {
  const bytes = readFileSync(path)
  bytes[at]! ^= 0x55
  writeFileSync(path, bytes)
}

describe('the same uuid twice in a project', () => {
  const event = (n: number, more: object = {}) => ({ event: 'e', distinct_id: 'd', uuid: uuid(n), ...more })
  const stored = (world: Awaited<ReturnType<typeof openWorld>>) => world.rows('SELECT count(*)::INTEGER AS n FROM events')

  test('is stored once, in one batch and over batches', async () => {
    const world = await openWorld()
    expect(await world.pipeline.ingest([event(1), event(2), event(1, { event: 'other' })])).toMatchObject({ accepted: 2, duplicates: 1 })
    expect(await world.pipeline.ingest([event(3), event(2)])).toMatchObject({ accepted: 1, duplicates: 1 })
    const both = await Promise.all([world.pipeline.ingest([event(4), event(5)]), world.pipeline.ingest([event(5), event(4)])])
    expect(both.map(({ accepted, duplicates }) => [accepted, duplicates])).toEqual([
      [2, 0],
      [0, 2],
    ])
    expect(await stored(world)).toEqual([{ n: 5 }])
    await world.close()
  })

  test('is detected in any spelling', async () => {
    const world = await openWorld()
    await world.pipeline.ingest([event(1)])
    const spellings = [uuid(1).toUpperCase(), uuid(1).replaceAll('-', ''), `{${uuid(1)}}`, `urn:uuid:${uuid(1)}`]
    const answer = await world.pipeline.ingest(spellings.map((spelling) => event(1, { uuid: spelling })))
    expect(answer).toMatchObject({ accepted: 0, duplicates: 4 })
    await world.close()
  })

  test('is known after a restart and after a rebuild from the log', async () => {
    const world = await openWorld({ uuidFolder: join(folder, 'restarted') })
    await world.pipeline.ingest([event(1), event(2), event(1)])
    await world.restart()
    expect(await world.pipeline.ingest([event(1), event(3)])).toMatchObject({ accepted: 1, duplicates: 1 })
    await world.rebuild()
    expect(await world.pipeline.ingest([event(2), event(3), event(4)])).toMatchObject({ accepted: 1, duplicates: 2 })
    expect(await stored(world)).toEqual([{ n: 4 }])
    await world.close()
  })

  test('is known after many restarts, each of which leaves a run that the next process need not make', async () => {
    const path = join(folder, 'many-restarts')
    const world = await openWorld({ uuidFolder: path })
    const events = (from: number, to: number) => Array.from({ length: to - from }, (_, i) => event(from + i))
    for (let start = 0; start < 10; start++) {
      const [from, to] = [start * 2100, (start + 1) * 2100]
      expect(await world.pipeline.ingest(events(from, to))).toMatchObject({ accepted: 2100, duplicates: 0 })
      await world.restart()
      const runs = readdirSync(path)
      expect(runs.filter((name) => name.endsWith(`-${to}.uuids`))).toHaveLength(1)
      expect(runs.length).toBeLessThanOrEqual(9)
    }
    expect(await world.pipeline.ingest(events(0, 21_001))).toMatchObject({ accepted: 1, duplicates: 21_000 })
    await world.close()
  })

  test('a batch sent again changes nothing', async () => {
    const world = await openWorld()
    const batch = [
      event(1, { properties: { $set: { n: 1 } } }),
      { event: '$identify', distinct_id: 'd', uuid: uuid(2), properties: { $anon_distinct_id: 'a' } },
      { event: '$groupidentify', distinct_id: 'd', uuid: uuid(3), properties: { $group_type: 'c', $group_key: 'k', $group_set: { x: 1 } } },
    ]
    const all = async () => ({
      persons: await world.rows('SELECT * FROM persons'),
      groups: await world.rows('SELECT * FROM groups'),
      keys: await world.rows('SELECT * FROM property_keys ORDER BY ALL'),
      names: await world.rows('SELECT * FROM event_names ORDER BY ALL'),
      events: await world.rows('SELECT * FROM events'),
    })
    await world.pipeline.ingest(batch)
    const before = await all()
    world.now = new Date('2026-01-16T00:00:00Z')
    expect(await world.pipeline.ingest(batch)).toMatchObject({ accepted: 0, duplicates: 3 })
    expect(await all()).toEqual(before)
    await world.close()
  })
})
